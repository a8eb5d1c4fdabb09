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
from tests.query.generated.faults import FAULTS, IN_ARRAYS, OF_COPIES

BUDGET = 500
FOUND_BY = {
    "rows of all units are ranked together": 8,
    "one row too many of a unit counts": 1,
    "one group too many of a unit counts": 53,
    "groups of a unit are not limited": 53,
    "rows of a unit in a group are not limited": 1,
    "which rows count depends on how many others there are": 7,
    "rows without a unit are one unit's": 3,
    "people are told apart by what is left of their names after cutting": 18,
    "rows are counted where units should be": 61,
    "whole numbers are not brought within their bounds": 1,
    "NaN is brought to the upper bound": 39,
    "a condition that is unknown is taken for true": 21,
    "a text that is no number is an error": 1,
    "a replaced unit is taken for one that comes or goes": 16,
    "a unit is claimed to be in one group": 164,
    "a unit is claimed to have one row in a group": 3,
    "a sum is claimed to move by its upper bound": 152,
    "a unit is counted once, in however many groups it is": 164,
    "rows are counted as if each were in another group, in L2": 3,
    "counts in bins are claimed to be one number for each group": 230,
    "a NULL that is counted with the rows is forgotten in two-sided sums": 181,
    "groups that nobody listed are counted": 7,
    "one row too many of a unit": 44,
    "one row too few": 98,
    "rows of all units together": 36,
    "rows that a condition leaves out": 85,
    "sums without what is below 0": 36,
    "all rows of a unit are kept": 3,
    "steps are one too many": 99,
    "rows of nobody are kept": 3,
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


@pytest.mark.parametrize("fault", [*FAULTS, *IN_ARRAYS, *OF_COPIES])
def test_planted_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, copies = case(FOUND_BY.get(fault, 0)), fault in OF_COPIES
    (FAULTS | IN_ARRAYS | OF_COPIES)[fault](monkeypatch)
    assert any(wrong(one, by_copy=copies) for one in cases(first))


def test_without_a_fault_nothing_is_found() -> None:
    for seed in sorted({0, *FOUND_BY.values()}):
        assert not wrong(case(seed), by_copy=seed in (3, 99))
