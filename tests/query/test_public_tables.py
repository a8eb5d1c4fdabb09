"""Rows of a public table are the groups, and no others."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privately.engines.protocol import Counts, Group
from privately.errors import InvalidParameter
from privately.plans import Aggregation, Column, Key, Question, Table, Unit
from privately.query.allocation import Budget, allocated
from privately.query.binding import bind
from privately.query.drawing import Noise, NoisyNumber, NoisyPair, drawn
from privately.query.listing import groups_of, public_groups
from privately.query.public_tables import PublicTable, read_keys
from privately.query.uses import uses
from tests.plans.small import AMOUNT, Row, field, pairs, row_pairs
from tests.plans.test_stability import CHANGES
from tests.query.small_questions import NoNoise, counted, question

TABLE = Table(
    name="visits",
    columns=(Column(name="ward", type="text", length=10), Column(name="level", type="integer", bounds=(0, 9))),
    unit=Unit(),
)
BY_BOTH = "SELECT level, ward, COUNT(*) AS n FROM visits GROUP BY level, ward"
DATA = {"ward": ["a", "b", "a", None], "level": [1, 2, 1, 2]}


@pytest.mark.parametrize("made", [pa.table, pd.DataFrame, pl.DataFrame])
def test_tables_of_all_libraries(made: Any) -> None:
    if made is pd.DataFrame:
        public = read_keys(pd.DataFrame({"ward": pd.array(DATA["ward"], dtype="string"), "level": DATA["level"]}))
    else:
        public = read_keys(made(DATA))
    question = bind(BY_BOTH, {"visits": TABLE}, keys=public)
    assert groups_of(question) == ((1, "a"), (2, "b"), (2, None))
    assert public_groups(question) == question.aggregation.listed_groups == 3


def test_names_of_columns_are_those_of_the_question() -> None:
    public = PublicTable(columns=("STATION", "Level"), rows=(("a", 1),))
    question = bind(BY_BOTH.replace("level, ward,", "level, ward AS station,"), {"visits": TABLE}, keys=public)
    assert groups_of(question) == ((1, "a"),)


def test_more_combinations_than_could_be_answered_need_not_be() -> None:
    rows = tuple((f"w{one}", one % 10) for one in range(20_000))
    question = bind(BY_BOTH, {"visits": TABLE}, keys=PublicTable(columns=("ward", "level"), rows=rows))
    assert public_groups(question) == 20_000


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (pa.table({"ward": ["a"]}), "exactly the columns of GROUP BY"),
        (pa.table({**DATA, "more": [1, 2, 3, 4]}), "nothing is grouped by more"),
        (pa.table({"ward": ["a"], "level": ["1"]}), "'1' is no integer"),
        (pa.table({"ward": pa.array([], pa.string()), "level": pa.array([], pa.int64())}), "list between 1 and"),
        (pa.table([pa.array(["a"]), pa.array(["b"])], names=["ward", "Ward"]), "the same name"),
        (7, "neither lists by name nor a table"),
        ("ward", "neither lists by name nor a table"),
    ],
)
def test_what_is_no_list_of_groups_is_refused(keys: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        bind(BY_BOTH, {"visits": TABLE}, keys=read_keys(keys))


# --- neighbours -----------------------------------------------------------------------------------------------------

KINDS = [("a", 1), ("a", 2), ("b", 1), ("b", None)]
OTHERS: list[Row] = [(2, "a", 1), (2, "b", 2), (3, "b", None)]
LIMITS = [(1, 1, 1), (2, 2, 2), (2, 1, 2), (3, 2, 2), (3, 3, 1)]
LISTS = [listed for size in range(1, 4) for listed in combinations([("a", 1), ("a", 2), ("b", 1), ("b", None)], size)]


def units() -> Iterator[Unit]:
    for change in CHANGES:
        yield Unit(change=change)
        for rows, groups, per_group in LIMITS:
            yield Unit(column="person", rows=rows, groups=groups, rows_per_group=per_group, change=change)


def asked_of(unit: Unit, groups: tuple[Group, ...]) -> Question:
    """Everything that is released with noise, for the groups of a public table of parts and amounts."""
    plain = question("rows", "units", "sum", "loose mean", "variance", unit=unit)
    amount = Key(identity=AMOUNT, expression=field(plain.aggregation.source, AMOUNT), values=(1, 2, None))
    aggregation = replace(plain.aggregation, keys=(*plain.aggregation.keys, amount), combinations=groups)
    return replace(plain, aggregation=aggregation)


def neighbours(unit: Unit) -> list[tuple[list[Row], list[Row]]]:
    if unit.column is None:
        return list(row_pairs(unit.change, KINDS, OTHERS))
    return list(pairs(unit.change, 3 if unit.change == "add_remove" else 2, KINDS, OTHERS))


@cache
def counts_of(unit: Unit) -> list[tuple[Counts, Counts]]:
    """What an engine counts of all neighbours; it does not matter which groups are listed."""
    asked, listed, known = asked_of(unit, LISTS[0]), neighbours(unit), dict[str, Counts]()
    for table in (table for pair in listed for table in pair):
        if repr(table) not in known:
            known[repr(table)] = counted(asked, table)
    return [(known[repr(one)], known[repr(other)]) for one, other in listed]


def farthest(unit: Unit, groups: tuple[Group, ...]) -> list[tuple[int, int]]:
    """How far what is released for each use really moves, by the way that adds noise: L1, and L2 squared."""
    asked, known = asked_of(unit, groups), dict[int, list[list[int]]]()
    plan = allocated(uses(asked), len(groups), Budget(currency="epsilon", amount=Fraction(1)))
    found = [(0, 0)] * len(plan)
    for pair in counts_of(unit):
        for counts in pair:
            if id(counts) not in known:
                noise = drawn(plan, asked.aggregation, counts, groups_of(asked), NoNoise())
                known[id(counts)] = [_numbers(one) for one in noise]
        for at, (first, second) in enumerate(zip(*(known[id(one)] for one in pair), strict=True)):
            moved = [abs(x - y) for x, y in zip(first, second, strict=True)]
            found[at] = max(found[at][0], sum(moved)), max(found[at][1], sum(by**2 for by in moved))
    return found


def _numbers(noise: Noise) -> list[int]:
    if isinstance(noise, NoisyPair):
        return [*noise.above, *noise.below]
    assert isinstance(noise, NoisyNumber)
    return [*noise.numbers]


def test_all_neighbours_of_small_tables() -> None:
    """No unit moves the numbers of listed groups further than is paid for, whichever groups a public table lists."""
    reached = 0
    for unit in units():
        for groups in LISTS:
            for use, (one, two) in zip(uses(asked_of(unit, groups)), farthest(unit, groups), strict=True):
                assert one <= use.moves[0].value, (unit, groups, use)
                assert two <= use.moves[1].value ** 2, (unit, groups, use)
                reached += one == use.moves[0].value
    assert reached > 100


def test_a_group_that_is_answered_twice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Aggregation, "_check_combinations", lambda *_: None)
    twice = (("a", 1), ("a", 1))
    moves = [use.moves[0].value for use in uses(asked_of(Unit(), twice))]
    assert any(one > move for (one, _), move in zip(farthest(Unit(), twice), moves, strict=True))


def test_a_unit_that_is_taken_to_be_in_one_group_is_noticed() -> None:
    unit, narrow = (Unit(column="person", rows=2, groups=groups, rows_per_group=1) for groups in (2, 1))
    moves = [use.moves[0].value for use in uses(asked_of(narrow, LISTS[-1]))]
    assert any(one > move for (one, _), move in zip(farthest(unit, LISTS[-1]), moves, strict=True))
