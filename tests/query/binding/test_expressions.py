"""Expressions mean what SQL means by them."""

import math
import random
import re
from datetime import date, datetime, time, timedelta
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from sqlglot import exp

from privately.errors import NotSupported, UnknownBounds
from privately.plans import Filter, Identity, Scan, Type, Value, scan_of
from privately.plans.meaning import evaluate
from privately.query.binding.expressions import BINDERS, DATE_PARTS, NAMED, TYPES
from privately.query.grammar import UNDERSTOOD
from tests.query.binding.statements import conditions
from tests.query.binding.tables import VISITS, ask, condition, refusal, shown

GOOD = (Path(__file__).parents[1] / "good.sql").read_text(encoding="utf-8").splitlines()
BEGINNING = "SELECT COUNT(*) FROM visits WHERE "
CONDITIONS = [line.removeprefix(BEGINNING) for line in GOOD if line.startswith(BEGINNING)]
NATIVE = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}


def rows(count: int) -> list[tuple[Value, ...]]:
    """Rows within the declared bounds, many of them NULL somewhere."""
    drawn = random.Random(7)
    cities = [
        "",
        "a",
        "ab",
        "New York",
        "new",
        "São Paulo",
        "it's",
        "100%",
        "a\\",
        "x",
        "3",
        "4.5",
        "2024-01-01",
        "ABC",
    ]

    def row() -> tuple[Value, ...]:
        day = date(2023, 12, 1) + timedelta(days=drawn.randrange(500))
        values: list[Value] = [
            drawn.randrange(-20, 40),
            drawn.choice([0, 1, 2, 3, 17, 18, 20, 65, 120]),
            drawn.choice([0.0, 0.5, 1.25, 2.5, 3.0, 3.45, 3.5, 99.99, 100.0, 1000.0]),
            drawn.choice("abc"),
            drawn.choice(cities),
            drawn.random() < 0.5,
            day,
            datetime.combine(day, time(drawn.randrange(24), drawn.randrange(60))),
            drawn.choice([-1e300, -1.0, 0.0, 1e9]),
            drawn.choice([-1.0, -0.75, 0.0, 0.5, 1.0]),
            drawn.randrange(1, 6),
        ]
        return tuple(None if drawn.random() < 0.15 and at != 10 else one for at, one in enumerate(values))

    return [row() for _ in range(count)]


TABLE = rows(300)


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    columns = ", ".join(f"{column.name} {NATIVE[column.type]}" for column in VISITS.columns)
    connection.execute(f"CREATE TABLE visits ({columns})")
    connection.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * len(VISITS.columns))})", TABLE)
    return connection


def true_rows(text: str) -> list[int]:
    """The rows for which a condition is true, by the meaning of its expression."""
    source = ask(BEGINNING + text).aggregation.source
    assert isinstance(source, Filter)
    found = []
    for number, row in enumerate(TABLE):
        values: dict[Identity, Value] = dict(zip(scan_of(source).identities, row, strict=True))
        if evaluate(source.condition, values) is True:
            found.append(number)
    return found


DIFFERENT = {
    "CAST(city AS INTEGER) = 3": "an error there, NULL here",
    "city::DOUBLE > 3": "an error there, NULL here",
    "CAST(city AS DATE) = '2024-01-01'": "an error there, NULL here",
    "CAST(city AS TIMESTAMP) > '2024-01-01 12:00:00'": "an error there, NULL here",
    "TRY_CAST(city AS BIGINT) = 3": "4.5 is read as a whole number there",
    "CAST(cost AS INTEGER) = 3": "halves are rounded to even numbers there",
    "GREATEST(age, size) > 3": "NULL is passed over there",
    "LEAST(age, size, 7) > 3": "NULL is passed over there",
    "GREATEST(day, DATE '2024-01-01') > '2024-06-01'": "NULL is passed over there",
    "LN(cost) > 3": "the logarithm of 0 is an error there",
    "city LIKE '100\\%'": "no escape there",
    "city LIKE 'a\\\\'": "no escape there",
    "cost / age > 10": "a division by 0 is infinite there",
}


def test_differences_are_looked_at() -> None:
    assert set(DIFFERENT) <= set(CONDITIONS)


@pytest.mark.parametrize("text", [text for text in CONDITIONS if text not in DIFFERENT])
def test_conditions_mean_what_duckdb_means(text: str, engine: duckdb.DuckDBPyConnection) -> None:
    found = engine.execute(f"SELECT rowid FROM visits WHERE {text} ORDER BY rowid").fetchall()
    assert true_rows(text) == [number for (number,) in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cost / age > 10", lambda row: row[1] and row[2] is not None and row[2] / row[1] > 10),
        ("GREATEST(age, size) > 3", lambda row: row[1] is not None and max(row[1], row[10]) > 3),
        ("LN(cost) > 3", lambda row: row[2] and math.log(row[2]) > 3),
        ("city LIKE '100\\%'", lambda row: row[4] == "100%"),
        ("TRY_CAST(city AS BIGINT) = 3", lambda row: row[4] == "3"),
        ("CAST(cost AS INTEGER) = 3", lambda row: row[2] in {2.5, 3.0, 3.45}),
    ],
)
def test_where_others_differ_this_is_meant(text: str, wanted: object) -> None:
    assert callable(wanted)
    assert true_rows(text) == [number for number, row in enumerate(TABLE) if wanted(row)]


@given(conditions())
@settings(max_examples=150)
def test_drawn_conditions_are_bound_and_total(text: str) -> None:
    source = ask(BEGINNING + text).aggregation.source
    assert isinstance(source, Filter)
    assert isinstance(source.source, Scan)
    for row in TABLE[:10]:
        values: dict[Identity, Value] = dict(zip(source.source.identities, row, strict=True))
        assert evaluate(source.condition, values) in {True, False, None}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("age BETWEEN 1 AND 2", "and(greater_or_equal(age, 1), less_or_equal(age, 2))"),
        ("age > 1 AND urgent AND size = 2", "and(greater(age, 1), urgent, equal(size, 2))"),
        ("city ILIKE 'A%'", "like(lower(city), 'a%')"),
        ("city NOT LIKE 'a'", "not(like(city, 'a'))"),
        ("LEAST(GREATEST(free, 0), 9) > 1", "greater(clamp(free, 0, 9), 1)"),
        ("GREATEST(LEAST(9, free), 0) > 1", "greater(clamp(free, 0, 9), 1)"),
        ("LEAST(GREATEST(free, 9), 0) > 1", "greater(least(greatest(free, 9), 0), 1)"),
        ("LEAST(LEAST(free, 9), 0) > 1", "greater(least(least(free, 9), 0), 1)"),
        ("age > 1 + 2 * 3", "greater(age, 7)"),
        ("age > -1", "greater(age, -1)"),
        ("age = NULL", "equal(age, None)"),
        ("ROUND(cost, 1) > 1", "greater(divide(round(multiply(cost, 10)), 10), 1)"),
        ("DATE_DIFF('day', day, seen) > 1", "greater(days_between(day, to_date(seen)), 1)"),
        ("day - DATE '2024-01-01' > 1", "greater(days_between(datetime.date(2024, 1, 1), day), 1)"),
        ("age IN (1, size)", "or(equal(age, 1), equal(age, size))"),
        ("CASE ward WHEN 'a' THEN 1 END = 1", "equal(case(equal(ward, 'a'), 1, None), 1)"),
        ("urgent IS NOT TRUE", "not(coalesce(urgent, False))"),
        ("CONCAT(city, 'a') = 'b'", "equal(concatenate(coalesce(city, ''), 'a'), 'b')"),
        ("CAST(age AS INTEGER) = 1", "equal(age, 1)"),
        ("seen > '2024-01-01'", "greater(seen, datetime.date(2024, 1, 1))"),
    ],
)
def test_plans_of_conditions(text: str, wanted: str) -> None:
    assert shown(condition(text)) == wanted


def test_null_takes_no_bounds_away() -> None:
    question = ask("SELECT SUM(CASE WHEN urgent THEN size END) AS s FROM visits")
    ((_, tally),) = question.aggregation.tallies
    assert tally.reach == 5


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("wrad = 'a'", "wrad"),
        ("age > 1 AND city + 1 > 2", "city + 1"),
        ("LOWER(UPPER(age)) = 'a'", "age"),
        ("age > (cost AND urgent)", "cost AND urgent"),
        ("EXTRACT(CENTURY FROM day) = 1", "day"),
        ("CAST(age AS DECIMAL) = 1", "age"),
    ],
)
def test_the_part_that_is_wrong_is_pointed_at(text: str, part: str) -> None:
    error, found = refusal(BEGINNING + text)
    assert isinstance(error, NotSupported)
    assert part in found
    assert len(found) < 30


def test_integers_must_fit() -> None:
    error, found = refusal(BEGINNING + "patient_id + 1 > 2")
    assert isinstance(error, UnknownBounds)
    assert found == "patient_id + 1"


def test_every_node_of_the_list_has_a_place_where_it_is_bound() -> None:
    listed = (
        "Select Subquery With CTE TableAlias From Table Identifier Where Group Having Order Ordered Limit Alias "
        "Star Var DataType Count CountIf Distinct Sum Avg Median Quantile PercentileCont WithinGroup Filter "
        "Variance VariancePop Stddev StddevPop"
    )
    elsewhere = set(listed.split())
    assert {kind.__name__ for kind in UNDERSTOOD} == elsewhere | {kind.__name__ for kind in BINDERS}


def test_types_and_parts_of_dates_are_all_there() -> None:
    assert set(TYPES.values()) == set(Type)
    assert set(DATE_PARTS.values()) == {
        *("year", "quarter", "month", "day", "weekday", "day_of_year", "hour", "minute"),
    }


def test_functions_are_listed_for_people() -> None:
    """Each by one of its names."""
    text = (Path(__file__).parents[3] / "docs" / "query.md").read_text(encoding="utf-8")
    table = text.partition("| of a row | |")[2].partition("\n\n")[0].upper()
    listed = set(re.findall(r"[A-Z_]+", table))
    functions = [kind for kind in BINDERS if issubclass(kind, exp.Func) and kind is not exp.Anonymous]
    missing = [kind for kind in functions if not listed & {name.upper() for name in (*kind.sql_names(), kind.__name__)}]
    assert not missing
    assert {name.upper() for name in NAMED} - {"DATEPART"} <= listed
