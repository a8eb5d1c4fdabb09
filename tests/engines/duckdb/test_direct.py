"""Groups that are counted at once: the reference's whole numbers, of a file and of a prepared copy."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from privately.engines.duckdb.counting import count, direct_counts
from privately.engines.duckdb.direct import direct_of
from privately.engines.duckdb.emission import program
from privately.engines.duckdb.stored import Stored
from privately.plans import (
    Aggregation,
    BinCounts,
    Column,
    Filter,
    Identity,
    Key,
    RowCount,
    Scan,
    StepSum,
    Table,
    Tally,
    Unit,
    UnitCount,
    call,
    constant,
)
from tests.engines import reference
from tests.engines.duckdb.inside import KEY, connection_with, hashed, stored
from tests.engines.duckdb.test_choosing import COLUMNS, FOUND, IDENTITIES, aggregation_table, question
from tests.engines.duckdb.test_histograms import _copied, _tables

NAN = (1, "a", float("nan"), 7, True)


def asked(
    by: str, unit: Unit, *, filtered: bool = False, columns: tuple[Column, ...] = COLUMNS, high: int = 800
) -> Aggregation:
    """Counts and sums, no bins."""
    found = question(2, by=by, filtered=filtered)
    scan = Scan(table=Table(name="t", columns=columns, unit=unit), identities=IDENTITIES)
    source = replace(found.source, source=scan) if isinstance(found.source, Filter) else scan
    _, _, cost, age, _ = scan.fields
    tallies: tuple[Tally, ...] = (
        StepSum(argument=cost, step=Fraction(1, 8), low=-4, high=high),
        RowCount(argument=cost),
        StepSum(argument=age, step=Fraction(1), low=3, high=100),
        RowCount(),
        RowCount(argument=age),
        StepSum(argument=call("add", cost, constant(1)), step=Fraction(1, 4), low=0, high=400),
        StepSum(argument=cost, step=Fraction(1, 4), low=0, high=30),
    )
    named = tuple((Identity(number=70 + place, name="n"), tally) for place, tally in enumerate(tallies))
    return replace(found, source=source, tallies=named)


def table_with(rows: Sequence[Sequence[Any]], columns: Sequence[Column] = COLUMNS) -> Any:
    return connection_with(list(zip((column.name for column in columns), FOUND, strict=True)), rows)


def table_of(aggregation: Aggregation) -> Stored:
    return stored(aggregation_table(aggregation), FOUND)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("by", ["", "ward", "rest", "both"])
@pytest.mark.parametrize("filtered", [False, True])
def test_integers_are_the_references(by: str, *, filtered: bool) -> None:
    aggregation = asked(by, Unit(), filtered=filtered)
    direct = direct_of(aggregation, table_of(aggregation), KEY)
    assert direct is not None
    exact = program(aggregation, table_of(aggregation), KEY)
    seen = set()
    with duckdb.connect() as hashing:
        for rows in _tables(12):
            wanted = reference.run(aggregation, rows, hashed(hashing))
            with table_with(rows) as connection:
                found = direct_counts(connection, direct)
                assert found in (None, wanted)
                assert count(connection, replace(exact, direct=direct)) == wanted
                seen.add(found is None)
    assert seen == {True, False}, "some tables have doubles that are no numbers"


@pytest.mark.parametrize("unit", [Unit(), Unit(column="who", rows=12)])
@pytest.mark.parametrize("by", ["", "ward", "rest", "both"])
def test_a_copy_is_counted_at_once(by: str, unit: Unit) -> None:
    aggregation = asked(by, unit)
    for rows in _tables(6):
        with table_with(rows) as connection, duckdb.connect() as hashing:
            direct = direct_of(aggregation, _copied(aggregation, connection), KEY)
            assert direct is not None
            assert all(one.kind == "whole" for one in direct.totals)
            assert direct_counts(connection, direct) == reference.run(aggregation, rows, hashed(hashing))


def test_sums_are_of_doubles_where_that_is_quicker_and_known_to_be_exact() -> None:
    aggregation = asked("ward", Unit())
    table = table_of(aggregation)

    def kinds_in(stored_as: Stored) -> list[str]:
        direct = direct_of(aggregation, stored_as, KEY)
        assert direct is not None
        return [one.kind for one in direct.totals]

    found = kinds_in(table)
    assert found == ["doubles", "count", "value", "whole", "count", "whole", "doubles"]
    steps = 804
    assert kinds_in(replace(table, most_rows=2**53 // steps)) == found
    assert "doubles" in kinds_in(replace(table, most_rows=2**53 // steps + 1)), "of the sum of fewer steps"
    assert kinds_in(replace(table, most_rows=2**53 // steps + 1))[0] == "whole"
    assert "doubles" not in kinds_in(replace(table, most_rows=2**52))
    assert "doubles" not in kinds_in(replace(table, endless=frozenset({2})))
    assert kinds_in(replace(table, endless=frozenset({3}))) == found


def test_one_cell_that_is_no_number_is_counted_again() -> None:
    aggregation = asked("ward", Unit())
    direct = direct_of(aggregation, table_of(aggregation), KEY)
    assert direct is not None
    rows = [(1, "a", 2.0, 7, True), NAN, (1, "a", float("inf"), 7, True), (1, "a", None, 7, True)]
    with table_with(rows) as connection:
        assert direct_counts(connection, direct) is None
        found = count(connection, replace(program(aggregation, table_of(aggregation), KEY), direct=direct))
    assert found["a",][:4] == (16, 1, 28, 4)
    with table_with([(1, "a", 2.0, 7, True), (*NAN[:1], "b", *NAN[2:])]) as connection:
        assert direct_counts(connection, direct) is not None, "nobody asks for that group"


def test_only_what_is_needed_is_read() -> None:
    aggregation = asked("ward", Unit())
    alone = replace(aggregation, tallies=aggregation.tallies[:2])
    direct = direct_of(alone, table_of(alone), KEY)
    assert direct is not None
    assert "CASE" not in direct.text
    assert '"age"' not in direct.text


def test_questions_that_are_counted_otherwise() -> None:
    plain = asked("ward", Unit())
    assert direct_of(plain, table_of(plain), KEY) is not None
    _, _, cost, age, _ = plain.source.fields
    bins = BinCounts(argument=cost, lower=Fraction(0), width=Fraction(1), bins=10)
    more = replace(plain, tallies=(*plain.tallies, (Identity(number=90, name="n"), bins)))
    assert direct_of(more, table_of(more), KEY) is None
    people = asked("ward", Unit(column="who", rows=2))
    assert direct_of(people, table_of(people), KEY) is None, "rows have to be chosen"
    bounded = replace(table_of(people), bounded=True)
    assert direct_of(people, bounded, KEY) is not None
    named = replace(people, tallies=((Identity(number=90, name="n"), UnitCount()),))
    assert direct_of(named, bounded, KEY) is None
    for unit in (Unit(column="who", rows=2, groups=1), Unit(column="who", rows=2, rows_per_group=1)):
        limited = asked("ward", unit)
        assert direct_of(limited, replace(table_of(limited), bounded=True), KEY) is None
    cut = tuple(replace(one, length=4) if one.name == "ward" else one for one in COLUMNS)
    shorter = asked("ward", Unit(), columns=cut)
    assert direct_of(shorter, table_of(shorter), KEY) is None, "longer texts may become keys"
    day = Key(identity=Identity(number=50, name="k"), expression=call("to_date", constant("2024-01-01")))
    assert direct_of(replace(plain, keys=(day,)), table_of(plain), KEY) is None, "days cannot be sent as they are"
    whole = Key(identity=Identity(number=50, name="k"), expression=age, values=(7, None))
    assert direct_of(replace(plain, keys=(whole,)), table_of(plain), KEY) is not None
