"""What floating point, overflow and missing values do to sums in databases: here, nothing.

Each trap is shown to be one, on plain DuckDB where it is DuckDB's, and then asked as a question.
"""

import math
from itertools import permutations
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from privately.engines.duckdb.connection import Setup, connect
from privately.engines.duckdb.counting import count
from privately.engines.duckdb.emission import program
from privately.engines.duckdb.literals import NAMES
from privately.engines.duckdb.sources import frame
from privately.engines.duckdb.stored import Stored
from privately.errors import UnknownBounds
from privately.plans import Column, StepSum, Table, Unit
from privately.query import bind
from tests.engines.duckdb.inside import KEY, answer

HUGE = 2.0**61
COLUMNS = (
    Column(name="x", type="real", bounds=(-(2**61), 2**61)),
    Column(name="n", type="integer", bounds=(-(2**61), 2**61)),
    Column(name="word", type="text", length=20),
    Column(name="cost", type="real", bounds=(0, 200_000)),
    Column(name="fine", type="real", bounds=(-(2**61), 2**61), step=1),
)
TABLE = Table(name="t", columns=COLUMNS, unit=Unit())
FOUND = tuple(NAMES[column.type] for column in COLUMNS)


def row(
    *,
    x: float | None = None,
    n: int | None = None,
    word: str | None = None,
    cost: float | None = None,
    fine: float | None = None,
) -> Any:
    return x, n, word, cost, fine


def asked(text: str, *rows: Any) -> tuple[Any, ...]:
    """The whole numbers of a question without groups."""
    question = bind(f"SELECT {text} FROM t", {"t": TABLE})
    return answer(question.aggregation, FOUND, rows)[()]


def plain(text: str, values: list[Any], kind: str) -> Any:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (v {kind})")
        connection.executemany("INSERT INTO t VALUES (?)", [[value] for value in values])
        return connection.execute(f"SELECT {text} FROM t").fetchall()[0][0]


# --- sums do not depend on the order of rows --------------------------------------------------------------------------


def test_the_order_of_rows_changes_sums_of_doubles_and_none_of_ours() -> None:
    values = [HUGE, 1.0, -HUGE, 1.0, 3.0]
    orders = list(permutations(values))
    assert len({plain("sum(v)", list(order), "DOUBLE") for order in orders[::24]}) > 1
    text = "SUM(x), AVG(x), VARIANCE(x), SUM(n), AVG(n), SUM(fine)"
    found = {asked(text, *(row(x=one, n=int(one), fine=one) for one in order)) for order in orders[::24]}
    assert len(found) == 1
    assert 5 in next(iter(found))  # where one step is 1, the small ones are not lost beside the large


def test_one_row_moves_a_sum_by_no_more_than_its_bound() -> None:
    """A double sum absorbs small rows beside a large one: without it, they all come back at once."""
    small = [0.5] * 40
    assert plain("sum(v)", [2.0**53, *small], "DOUBLE") - plain("sum(v)", small, "DOUBLE") != 2.0**53
    question = bind("SELECT SUM(cost) FROM t", {"t": TABLE})
    ((_, tally),) = question.aggregation.tallies
    assert isinstance(tally, StepSum)
    rows = [row(cost=one) for one in [0.1] * 30]
    with_, without = asked("SUM(cost)", row(cost=1e300), *rows)[0], asked("SUM(cost)", *rows)[0]
    assert with_ - without == tally.high


RISING = {
    "SQRT(cost)": 200_000**0.5,
    "SQRT(n)": 2**30.5,
    "LN(GREATEST(cost, 1))": math.log(200_000),
    "LN(cost + 0.25)": math.log(200_000.25),
    "EXP(cost / -1000)": 1.0,
    "EXP(LEAST(GREATEST(x, -900), 3))": math.exp(3),
    "ROUND(SQRT(cost)) - 447": 447.0,
}


def test_functions_that_rise_keep_every_row_within_the_bounds_of_their_argument() -> None:
    """The neighbour of a table of one row is the empty one: what the row adds is what it moves. Each is a group."""
    values = [0.0, -0.0, 5e-324, 1e-300, 0.5, 1.0, 2.0, math.e, 199_999.9, 200_000.0, 1e300, -1.0, math.inf, math.nan]
    whole = [int(min(one, HUGE)) if math.isfinite(one) else None for one in values]
    words = [str(place) for place in range(len(values))]
    rows = [row(x=one, cost=one, n=n, word=at) for one, n, at in zip(values, whole, words, strict=True)]
    text = ", ".join(f"SUM({one}) AS s{place}" for place, one in enumerate(RISING))
    aggregation = bind(f"SELECT {text} FROM t GROUP BY word", {"t": TABLE}, keys={"word": words}).aggregation
    found = answer(aggregation, FOUND, rows)
    for place, ((_, tally), reach) in enumerate(zip(aggregation.tallies, RISING.values(), strict=True)):
        assert isinstance(tally, StepSum)
        assert float(tally.reach * tally.step) == pytest.approx(reach, rel=1e-6)
        added = [numbers[place] for numbers in found.values()]
        assert len(added) == len(values)
        assert all(tally.low <= one <= tally.high or one == 0 for one in added)
        assert max(map(abs, added)) >= tally.reach - 1


# --- nothing overflows, and nothing wraps -----------------------------------------------------------------------------


def test_sums_grow_beyond_64_bits() -> None:
    largest = 2**61
    rows = [row(n=largest, x=HUGE)] * 40
    total, *_ = asked("SUM(n)", *rows)
    assert total == 40 * largest > 2**63
    assert asked("SUM(n)", *rows, *[row(n=-largest)] * 80)[0] == -40 * largest


@pytest.mark.parametrize(
    "text", ["n + n", "n * 2", "n * n", "-n - n", "ABS(n) + 2 * ABS(n)", "FLOOR(x * 8)", "CEIL(x * 8)", "ROUND(x * 8)"]
)
def test_arithmetic_that_might_overflow_is_refused_before(text: str) -> None:
    """In DuckDB the overflow of one row is an error, and an error tells that there is such a row."""
    with pytest.raises(duckdb.Error, match=r"[Oo]verflow"):
        plain("sum(v * v)", [2**61], "BIGINT")
    with pytest.raises(UnknownBounds, match="64 bits"):
        bind(f"SELECT SUM({text}) FROM t", {"t": TABLE})


# --- what is no number is NULL, for every row alike ------------------------------------------------------------------

NOTHING = {
    "1 / (x - x)": 5.0,
    "LN(cost - cost)": 5.0,
    "SQRT(-1 - cost)": 5.0,
    "EXP(x)": 1e10,
    "n % 0": None,
    "TRY_CAST(word AS INTEGER)": None,
    "CAST(word AS INTEGER)": None,
    "CAST(word AS DOUBLE)": None,
    "CAST(word AS DATE)": None,
    "CAST(x * 8 AS INTEGER)": HUGE,
    "GREATEST(x, n)": None,
    "LEAST(n, cost)": None,
}


@pytest.mark.parametrize("text", NOTHING)
def test_what_cannot_be_computed_is_missing_and_no_error(text: str) -> None:
    value = NOTHING[text]
    bad = row(x=value, cost=value, n=7, word="a")
    assert asked(f"COUNT({text}), COUNT(*)", bad) == (0, 1)
    assert asked(f"COUNT({text}), COUNT(*)", bad, bad) == (0, 2)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_adds_nothing(odd: float) -> None:
    """least(nan, 200000) is 200000, and one NaN makes a whole sum NaN."""
    assert math.isnan(plain("sum(v)", [math.nan, 1.0], "DOUBLE"))
    assert plain("least(v, 200000)", [math.nan], "DOUBLE") == 200_000
    good = [row(x=1.0, cost=1.0, fine=1.0), row(x=2.0, cost=2.0, fine=2.0)]
    text = "SUM(x), STDDEV(cost), COUNT(cost), SUM(LEAST(GREATEST(x, 0), 200000)), MEDIAN(LEAST(GREATEST(n, 0), 3))"
    bad = row(x=odd, cost=odd, fine=odd)
    assert asked(text, *good, bad) == asked(text, *good)
    more = "SUM(fine), AVG(fine), MEDIAN(cost), MEDIAN(fine), SUM(LEAST(x, 5)), COUNT_IF(x < 9)"
    assert asked(more, *good, bad) == asked(more, *good)
    assert asked("COUNT(*)", *good, bad) == (3,)


@pytest.mark.parametrize("condition", ["x > 0", "x <= 0", "NOT x > 0", "x = x", "x <> 1", "x IN (1, 2)"])
def test_no_condition_holds_of_nan(condition: str) -> None:
    """For DuckDB NaN is larger than all numbers, and equal to itself."""
    assert plain("v > 0 AND v = v", [math.nan], "DOUBLE") is True
    assert asked(f"COUNT_IF({condition})", row(x=math.nan)) == (0,)


def test_zeros_are_one_number_whatever_their_sign() -> None:
    assert asked("COUNT_IF(x = 0), COUNT(1 / x), SUM(x)", row(x=-0.0), row(x=0.0)) == (2, 0, 0)


# --- files say of their own values what is not so ---------------------------------------------------------------------


def test_the_least_and_largest_value_that_a_file_names_are_not_trusted() -> None:
    """Writers leave NaN out of them, and then DuckDB takes for granted that every value lies between."""
    table = Table(name="t", columns=(Column(name="x", type="real", bounds=(0, 5)),), unit=Unit())
    source = frame(pa.table({"x": [math.nan, 1.0, 2.0]}))
    stored = Stored(table=table, relation=source.relation, names=("x",), found=("DOUBLE",))
    asked_for = program(bind("SELECT COUNT(x) FROM t", {"t": table}).aggregation, stored, KEY)
    with duckdb.connect() as trusting, connect(Setup(paths=source.paths)) as ours:
        assert count(trusting, asked_for) == {(): (3,)}
        assert count(ours, asked_for) == {(): (2,)}
