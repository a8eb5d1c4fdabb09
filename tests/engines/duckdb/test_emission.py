"""Random plans over small hostile tables: DuckDB's whole numbers are the reference's."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privately.engines.duckdb.emission import program
from privately.engines.duckdb.literals import NAMES
from privately.plans import (
    Aggregation,
    BinCounts,
    Column,
    Constant,
    Expression,
    Field,
    Filter,
    Identity,
    Key,
    Project,
    Relation,
    RowCount,
    Scan,
    StepSum,
    Table,
    Tally,
    Type,
    Unit,
    UnitCount,
    call,
    constant,
)
from tests.engines import reference
from tests.engines.duckdb.inside import KEY, answer, hashed, stored

COLUMNS = (
    Column(name="who", type="integer"),
    Column(name="ward", type="text", categories=("a", "b", "it's", ""), length=2),
    Column(name="cost", type="real", bounds=("-0.1", 100)),
    Column(name="age", type="integer", bounds=(-5, 120)),
    Column(name="free", type="real"),
    Column(name="note", type="text", length=3),
    Column(name="new", type="boolean"),
    Column(name="day", type="date"),
    Column(name="at", type="timestamp"),
    Column(name="code", type="integer"),
)
FOUND = ("BIGINT", "VARCHAR", "DOUBLE", "BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP", "BIGINT")
SCAN_IDS = tuple(Identity(number=place, name=column.name) for place, column in enumerate(COLUMNS))

_REALS = st.sampled_from(
    [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 0.5, 1.5, 99.99, 100.0, 1e308, -1e308, 5e-324, 0.1, 7.25]
)
_WHOLE = st.sampled_from([0, 1, 2, 3, -5, 120, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**53 + 1, 17])
_TEXTS = st.sampled_from(["a", "b", "ab", "abc", "abcdef", "", "it's", "\0", "é", "\\", "12", "a\0", "%", "👨‍👩‍👧"])
_DATES = st.sampled_from([date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), date(1969, 12, 31)])
_TIMES = st.sampled_from([datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(2024, 2, 29, 12, 1)])


def _or_null(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), values, values, values)


ROWS = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 0, 1, 1, None, 2**62]),
        *map(_or_null, (_TEXTS, _REALS, _WHOLE, _REALS, _TEXTS, st.booleans(), _DATES, _TIMES, _WHOLE)),
    ),
    min_size=1,
    max_size=6,
)

Draw = Callable[[st.SearchStrategy[Any]], Any]


def _one(draw: Draw, *ways: Callable[[], Any]) -> Any:
    return draw(st.sampled_from(ways))()


def _expression(draw: Draw, fields: tuple[Field, ...], kind: Type, deep: int) -> Any:  # noqa: C901 - a table
    """Some expression of a type."""
    here = [field for field in fields if field.known.type is kind]
    if deep == 0 or draw(st.integers(0, 2)) == 0:
        return draw(st.sampled_from(here)) if here else _constant(draw, kind)

    def of(other: Type) -> Any:
        return _expression(draw, fields, other, deep - 1)

    def number() -> Any:
        return of(draw(st.sampled_from([Type.INTEGER, Type.REAL])))

    def small() -> Expression:
        return call("clamp", of(Type.INTEGER), constant(-100), constant(100))

    def bounded() -> Expression:
        return call("clamp", number(), constant(-1000.5), constant(1000.25))

    match kind:
        case Type.INTEGER:
            return _one(
                draw,
                *(
                    [
                        lambda: call(draw(st.sampled_from(["add", "subtract", "multiply"])), small(), small()),
                        lambda: call("modulo", of(Type.INTEGER), small()),
                        lambda: call(draw(st.sampled_from(["floor", "ceiling", "round"])), bounded()),
                        lambda: call("to_integer", of(draw(st.sampled_from([Type.REAL, Type.TEXT, Type.BOOLEAN])))),
                        lambda: call(draw(st.sampled_from(["year", "quarter", "weekday", "hour"])), of(Type.TIMESTAMP)),
                        lambda: call(draw(st.sampled_from(["month", "day", "day_of_year", "minute"])), of(Type.DATE)),
                        lambda: call("days_between", of(Type.DATE), of(Type.DATE)),
                        lambda: call("length", of(Type.TEXT)),
                    ]
                ),
            )
        case Type.REAL:
            return _one(
                draw,
                *(
                    [
                        lambda: call(
                            draw(st.sampled_from(["add", "subtract", "multiply", "divide"])), of(Type.REAL), number()
                        ),
                        lambda: call(draw(st.sampled_from(["square_root", "logarithm", "exponential"])), number()),
                        lambda: call(draw(st.sampled_from(["negate", "absolute"])), of(Type.REAL)),
                        lambda: call(draw(st.sampled_from(["greatest", "least"])), of(Type.REAL), number()),
                        lambda: call("to_real", of(draw(st.sampled_from([Type.INTEGER, Type.TEXT])))),
                        lambda: call("case", of(Type.BOOLEAN), number(), of(Type.REAL)),
                        lambda: call("coalesce", of(Type.REAL), number()),
                    ]
                ),
            )
        case Type.TEXT:
            return _one(
                draw,
                *(
                    [
                        lambda: call(draw(st.sampled_from(["lower", "upper", "trim"])), of(Type.TEXT)),
                        lambda: call("substring", of(Type.TEXT), constant(2), constant(1)),
                        lambda: call("concatenate", of(Type.TEXT), of(Type.TEXT)),
                        lambda: call("to_text", of(draw(st.sampled_from([Type.INTEGER, Type.DATE, Type.BOOLEAN])))),
                        lambda: call("null_if", of(Type.TEXT), of(Type.TEXT)),
                    ]
                ),
            )
        case Type.BOOLEAN:
            other = draw(st.sampled_from([Type.TEXT, Type.DATE, Type.TIMESTAMP, Type.BOOLEAN]))
            signs = ["equal", "not_equal", "less", "less_or_equal", "greater", "greater_or_equal"]
            return _one(
                draw,
                *(
                    [
                        lambda: call(draw(st.sampled_from(signs)), number(), number()),
                        lambda: call(draw(st.sampled_from(signs)), of(other), of(other)),
                        lambda: call(draw(st.sampled_from(["and", "or"])), of(Type.BOOLEAN), of(Type.BOOLEAN)),
                        lambda: call("not", of(Type.BOOLEAN)),
                        lambda: call("is_null", of(other)),
                        lambda: call("in", of(Type.TEXT), constant("a"), constant("it's")),
                        lambda: call(
                            "like", of(Type.TEXT), constant(draw(st.sampled_from(["a%", "%", "_", "\\", "%\\%"])))
                        ),
                        lambda: call(
                            draw(st.sampled_from(["starts_with", "ends_with", "contains"])),
                            of(Type.TEXT),
                            of(Type.TEXT),
                        ),
                    ]
                ),
            )
        case Type.DATE:
            return call("to_date", of(draw(st.sampled_from([Type.TEXT, Type.TIMESTAMP]))))
        case Type.TIMESTAMP:
            return call("to_timestamp", of(draw(st.sampled_from([Type.TEXT, Type.DATE]))))


def _constant(draw: Draw, kind: Type) -> Constant:
    values: dict[Type, tuple[Any, ...]] = {
        Type.INTEGER: (0, 1, -3, 17),
        Type.REAL: (0.0, 0.5, -1e308, 99.99),
        Type.TEXT: ("", "a", "\0", "it's"),
        Type.BOOLEAN: (True, False),
        Type.DATE: (date(2024, 2, 29),),
        Type.TIMESTAMP: (datetime(2024, 2, 29, 12, 1),),
    }
    return constant(draw(st.sampled_from([None, *values[kind]])), kind)


def _tally(draw: Draw, fields: tuple[Field, ...]) -> Tally:
    def number() -> Any:
        return _expression(draw, fields, draw(st.sampled_from([Type.INTEGER, Type.REAL])), draw(st.integers(0, 1)))

    def step() -> Fraction:
        found: Fraction = draw(st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(3, 2), Fraction(1, 2**20)]))
        return found

    def bins() -> int:
        found: int = draw(st.sampled_from([1, 30, 30]))
        return found

    found: Tally = _one(
        draw,
        RowCount,
        lambda: RowCount(argument=_expression(draw, fields, draw(st.sampled_from(list(Type))), 1)),
        lambda: StepSum(argument=number(), step=step(), low=-50, high=10**6),
        lambda: StepSum(argument=number(), step=step(), low=0, high=2**62 - 1),
        UnitCount,
        lambda: BinCounts(argument=number(), lower=Fraction(-1), width=Fraction(7, 2), bins=bins()),
        lambda: BinCounts(argument=number(), lower=Fraction(-1), width=Fraction(7, 2), bins=bins()),
    )
    return found


@st.composite
def aggregations(draw: Draw) -> Aggregation:
    unit = draw(
        st.sampled_from(
            [
                Unit(),
                Unit(column="who", rows=2),
                Unit(column="note", rows=1),
                Unit(column="who", rows=4, groups=1),
                Unit(column="who", rows=6, groups=1),
                Unit(column="who", rows=4, groups=2, rows_per_group=1),
                Unit(column="who", rows=3, rows_per_group=2),
            ]
        )
    )
    source: Relation = Scan(table=Table(name="t", columns=COLUMNS, unit=unit), identities=SCAN_IDS)
    if draw(st.booleans()):
        source = Filter(source=source, condition=_expression(draw, source.fields, Type.BOOLEAN, 2))
    if draw(st.booleans()):
        made = [(field.identity, field) for field in source.fields if draw(st.integers(0, 3))]
        kinds = draw(st.lists(st.sampled_from(list(Type)), max_size=2))
        new = [
            (Identity(number=100 + place, name="new"), _expression(draw, source.fields, kind, 2))
            for place, kind in enumerate(kinds)
        ]
        if made or new:
            source = Project(source=source, outputs=(*made, *new))
    keys = []
    for place in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from([Type.TEXT, Type.TEXT, Type.BOOLEAN, Type.INTEGER, Type.DATE]))
        expression = _expression(draw, source.fields, kind, draw(st.integers(0, 1)))
        listed = {Type.TEXT: ("a", "it's", None), Type.BOOLEAN: (True,), Type.INTEGER: (1, 17, None)}.get(kind)
        values = draw(st.sampled_from([None, listed]))
        keys.append(Key(identity=Identity(number=200 + place, name="k"), expression=expression, values=values))
    tallies = tuple(
        (Identity(number=300 + place, name="n"), _tally(draw, source.fields))
        for place in range(draw(st.integers(1, 3)))
    )
    return Aggregation(source=source, keys=tuple(keys), tallies=tallies)


def check_against_the_reference(aggregation: Aggregation, rows: list[tuple[Any, ...]]) -> None:
    with duckdb.connect() as connection:
        wanted = reference.run(aggregation, rows, hashed(connection))
    assert answer(aggregation, FOUND, rows) == wanted


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(aggregations(), ROWS)
def test_integers_are_the_references(aggregation: Aggregation, rows: list[tuple[Any, ...]]) -> None:
    check_against_the_reference(aggregation, rows)


@pytest.mark.slow
@settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(aggregations(), ROWS)
def test_integers_are_the_references_at_length(aggregation: Aggregation, rows: list[tuple[Any, ...]]) -> None:
    check_against_the_reference(aggregation, rows)


def test_types_of_the_sources_are_those_of_the_plan() -> None:
    assert tuple(NAMES[column.type] for column in COLUMNS) == FOUND


def test_counts_are_shared_with_sums_of_the_same_values() -> None:
    scan = Scan(table=Table(name="t", columns=COLUMNS, unit=Unit()), identities=SCAN_IDS)
    cost, age = scan.fields[2], scan.fields[3]
    tallies: tuple[Tally, ...] = (
        RowCount(argument=cost),
        StepSum(argument=cost, step=Fraction(1, 100), low=0, high=10**4),
        RowCount(argument=age),
        RowCount(),
    )
    named = tuple((Identity(number=300 + place, name="n"), tally) for place, tally in enumerate(tallies))
    aggregation = Aggregation(source=scan, keys=(), tallies=named)
    text = program(aggregation, stored(scan.table, FOUND), KEY)
    assert text.first.count("a1") == 2, "worked out, and gathered once"
    assert "t1.count AS t0, t1.value AS t1" in text.groups
    assert "count(a2) AS t2" in text.first, "nobody adds up ages"
    copied = replace(stored(scan.table, FOUND), as_declared=True)
    assert "count(a1) AS t0, coalesce(sum(a1), 0) AS t1" in program(aggregation, copied, KEY).first
    rows = [(1, "a", cost, age, *(None,) * 6) for cost, age in ((float("nan"), 1), (1e308, None), (None, 2), (1.0, 3))]
    assert answer(aggregation, FOUND, rows) == {(): (2, 10_100, 3, 4)}
