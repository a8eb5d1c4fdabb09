"""Which questions are counted the quick way, and that no number depends on what others have."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from privately.engines.duckdb import choices
from privately.engines.duckdb.choices import choice_of, rounded_sizes
from privately.plans import Aggregation, BinCounts, Column, Identity, Key, Scan, StepSum, Table, Unit, UnitCount
from tests.engines.duckdb.inside import KEY, stored
from tests.engines.duckdb.test_choosing import COLUMNS, FOUND, IDENTITIES, aggregation_table, question


def _asked(unit: Unit, columns: tuple[Column, ...] = COLUMNS) -> Aggregation:
    asked = question(3, by="ward", filtered=False)
    scan = Scan(table=Table(name="t", columns=columns, unit=unit), identities=IDENTITIES)
    return replace(asked, source=scan)


def _is_quick(asked: Aggregation, found: tuple[str, ...] = FOUND) -> bool:
    return choice_of(asked, stored(aggregation_table(asked), found), KEY) is not None


def test_units_that_are_whole_numbers() -> None:
    assert _is_quick(_asked(Unit(column="who", rows=3)))
    assert _is_quick(_asked(Unit(column="who", rows=3)), ("INTEGER", *FOUND[1:]))


def test_the_way_does_not_depend_on_how_many_rows_there_are() -> None:
    asked = _asked(Unit(column="who", rows=3))
    declared = stored(aggregation_table(asked), FOUND)
    assert choice_of(asked, replace(declared, most_rows=2**30 + 1), KEY) is not None


@pytest.mark.parametrize(
    "unit",
    [
        Unit(),
        Unit(column="ward", rows=3),
        Unit(column="who", rows=3, groups=2),
        Unit(column="who", rows=3, rows_per_group=1),
    ],
)
def test_other_units(unit: Unit) -> None:
    assert not _is_quick(_asked(unit))


@pytest.mark.parametrize("found", ["DOUBLE", "VARCHAR", "HUGEINT", "UBIGINT"])
def test_the_way_does_not_depend_on_how_units_are_kept(found: str) -> None:
    assert _is_quick(_asked(Unit(column="who", rows=3)), (found, *FOUND[1:]))


def test_a_prepared_copy_has_no_rows_to_choose() -> None:
    asked = _asked(Unit(column="who", rows=3))
    assert choice_of(asked, replace(stored(aggregation_table(asked), FOUND), bounded=True), KEY) is None


def test_groups_that_nobody_listed_have_no_numbers() -> None:
    """Numbers of those that were found would depend on what others have."""
    asked = question(3, by="ward", filtered=False)
    (key,) = asked.keys
    assert not _is_quick(replace(asked, keys=(Key(identity=key.identity, expression=key.expression),)))


def test_numbers_of_groups_follow_from_the_question() -> None:
    asked = question(3, by="both", filtered=True)
    choice = choice_of(asked, stored(aggregation_table(asked), FOUND), KEY)
    assert choice is not None
    assert choice.groups == tuple((ward, new) for ward in ("a", "b", "it's", None) for new in (True, None))
    assert choice.sizes[0] == len(choice.groups) + 1
    assert "f0" in choice.rows, "a row that is filtered away takes its place among those of the unit"
    assert "WHERE u IS NOT NULL" in choice.rows


def test_null_is_whatever_is_no_category() -> None:
    """Then it need not be looked for among the categories, row by row; but a row that is filtered away has no group."""
    for filtered in (False, True):
        asked = question(3, by="rest", filtered=filtered)
        choice = choice_of(asked, stored(aggregation_table(asked), FOUND), KEY)
        assert choice is not None
        assert choice.rest == (0 if filtered else 4)
        assert ("coalesce(enum_code" in choice.rows) == filtered
        assert " IN (" not in choice.rows
    asked = question(3, by="rest", filtered=False)
    fewer = replace(asked, keys=(replace(asked.keys[0], values=("a", None)),))
    choice = choice_of(fewer, stored(aggregation_table(fewer), FOUND), KEY)
    assert choice is not None
    assert (choice.rest, " IN (" in choice.rows) == (0, True), "the other categories are not NULL"


def test_what_does_not_go_into_a_number() -> None:
    asked = question(3, by="ward", filtered=False)
    age = asked.source.fields[3]
    wide = tuple(
        (identity, StepSum(argument=age, step=Fraction(1, 2**20), low=0, high=2**31 - 3))
        for identity, _ in asked.tallies[:2]
    )
    assert _is_quick(replace(asked, tallies=wide[:1]))
    assert not _is_quick(replace(asked, tallies=wide))
    assert not _is_quick(replace(asked, tallies=((asked.tallies[0][0], UnitCount()),)))


def test_bins_of_all_tallies_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = question(3, by="ward", filtered=False)
    bins = BinCounts(argument=asked.source.fields[3], lower=Fraction(0), width=Fraction(7), bins=10)
    twice = replace(asked, tallies=tuple((identity, bins) for identity, _ in asked.tallies[:2]))
    groups = len(choice_groups(twice)) + 1
    monkeypatch.setattr(choices, "MOST_SLOTS", groups * 2 * (10 + 2))
    assert _is_quick(twice)
    monkeypatch.setattr(choices, "MOST_SLOTS", groups * 2 * (10 + 2) - 1)
    assert not _is_quick(twice)


def choice_groups(asked: Aggregation) -> tuple[object, ...]:
    choice = choice_of(asked, stored(aggregation_table(asked), FOUND), KEY)
    assert choice is not None
    return choice.groups


def test_bases_are_rounded_where_numbers_get_no_longer() -> None:
    assert rounded_sizes((51, 25_600_002)) == (51, 2**25)
    assert rounded_sizes((51, 65_538)) == (51, 65_538), "another bit"
    assert rounded_sizes((3, 2, 1000, 60)) == (3, 2, 1024, 64)
    assert rounded_sizes((7,)) == (7,)
    for sizes in [(2, 3), (5, 5, 5), (4, 2**31 + 1, 2**29)]:
        rounded = rounded_sizes(sizes)
        assert all(one <= other for one, other in zip(sizes, rounded, strict=True))
        assert (math.prod(rounded) - 1).bit_length() == (math.prod(sizes) - 1).bit_length()


def test_steps_are_sent_in_as_few_bytes_as_hold_them() -> None:
    asked = question(2, by="ward", filtered=False)
    choice = choice_of(asked, stored(aggregation_table(asked), FOUND), KEY)
    assert choice is not None
    assert "AS INTEGER) AS d3" in choice.rows
    wide = (*COLUMNS[:2], Column(name="cost", type="real", bounds=(-(2**32), 2**31)), *COLUMNS[3:])
    scan = Scan(table=Table(name="t", columns=wide, unit=Unit(column="who", rows=2)), identities=IDENTITIES)
    tally = StepSum(argument=scan.fields[2], step=Fraction(2), low=-(2**31), high=2**30)
    whole = replace(asked, source=scan, keys=(), tallies=((Identity(number=60, name="n"), tally),))
    choice = choice_of(whole, stored(aggregation_table(whole), FOUND), KEY)
    assert choice is not None
    assert "AS BIGINT) AS d2" in choice.rows, "one bound is not of 32 bits"
