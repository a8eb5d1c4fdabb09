"""Planted faults are all found, within no more cases than the fast suite tries.

`FOUND_BY` says which case finds a fault, so that it is tried first; if the generator changes, the others follow.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from privately.errors import Refused
from privately.query import bind
from tests.query.generated.cases import Case, drawn, wrong
from tests.query.generated.faults import FAULTS, IN_ARRAYS, IN_ONE_PASS, OF_COPIES
from tests.query.generated.faults_of_groups import OF_GROUPS

BUDGET = 500
FOUND_BY = {
    "a group that a public table lists twice is answered twice": 4,
    "groups are shown by their numbers of rows": 93,
    "a unit is claimed to have one of the values that nobody listed": 70,
    "the threshold is one too low": 24,
    "each of a unit's groups may take the whole delta": 70,
    "a replaced unit is claimed to have the values of one that comes or goes": 117,
    "people whose numbers are alike when they are rounded are one": 32,
    "a number that is too large is an error": 64,
    "rows of all units are ranked together": 10,
    "one row too many of a unit counts": 3,
    "one group too many of a unit counts": 216,
    "groups of a unit are not limited": 216,
    "rows of a unit in a group are not limited": 73,
    "which rows count depends on how many others there are": 29,
    "rows without a unit are one unit's": 16,
    "people are told apart by what is left of their names after cutting": 9,
    "rows are counted where units should be": 9,
    "real numbers are not brought within their bounds": 10,
    "whole numbers are not brought within their bounds": 2,
    "NaN is brought to the upper bound": 113,
    "NULL counts as a value": 2,
    "sums are made of doubles": 1,
    "a row is in two bins": 4,
    "a condition that is unknown is taken for true": 5,
    "a replaced unit is taken for one that comes or goes": 44,
    "a unit is claimed to be in one group": 13,
    "a unit is claimed to have one row in a group": 3,
    "a sum is claimed to move by its upper bound": 3,
    "a unit is counted once, in however many groups it is": 13,
    "rows are counted as if each were in another group, in L2": 3,
    "counts in bins are claimed to be one number for each group": 124,
    "a NULL that is counted with the rows is forgotten in two-sided sums": 36,
    "half of a two-sided sum is claimed": 3,
    "the upper bound of a sum is halved, and nothing is brought to it": 3,
    "one row too many of a unit": 44,
    "one row too few": 159,
    "rows of all units together": 152,
    "rows that a condition leaves out": 41,
    "sums without what is below 0": 44,
    "NULL is in the first bin": 4,
    "all rows of a unit are kept": 3,
    "steps are one too many": 10,
    "rows of nobody are kept": 16,
}


@cache
def case(seed: int) -> Case:
    return drawn(Random(seed))


def cases(first: Case) -> Iterator[Case]:
    """Bound as the binder is now: the fault may be in it."""
    yield rebound(first)
    yield from (drawn(Random(seed)) for seed in range(BUDGET))


def rebound(old: Case) -> Case:
    try:
        question = bind(old.statement.text, {"t": old.declared.table}, keys=old.statement.keys)
    except Refused:
        return old
    return replace(old, question=question)


def test_there_are_enough() -> None:
    assert len(FAULTS) >= 25


@pytest.mark.parametrize("fault", [*FAULTS, *IN_ARRAYS, *IN_ONE_PASS, *OF_COPIES, *OF_GROUPS])
def test_planted_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, copies = case(FOUND_BY.get(fault, 0)), fault in OF_COPIES
    (FAULTS | IN_ARRAYS | IN_ONE_PASS | OF_COPIES | OF_GROUPS)[fault](monkeypatch)
    assert any(wrong(one, by_copy=copies) for one in cases(first))


def test_without_a_fault_nothing_is_found() -> None:
    for seed in sorted({0, *FOUND_BY.values()}):
        assert not wrong(case(seed), by_copy=seed in (3, 10))
