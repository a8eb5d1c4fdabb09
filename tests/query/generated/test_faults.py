"""Planted faults are all found, within fewer cases than the fast suite tries."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest

from privately.errors import Refused
from privately.query import bind, uses
from tests.query.generated.cases import Case, drawn, wrong
from tests.query.generated.claims import claims
from tests.query.generated.counting import texts
from tests.query.generated.faults import FAULTS, OF_THE_BINDER

BUDGET = 200


@cache
def case(seed: int) -> Case:
    return drawn(Random(seed))


@cache
def written(seed: int) -> Any:
    return said(case(seed))


def said(one: Case) -> Any:
    """All that a fault could change: what is asked of the engine, and what is claimed of the answer."""
    question = one.question
    if question is None:
        return None
    claimed = [(claim.places, claim.one, claim.two, claim.largest) for claim in claims(question, [])]
    return texts(one.declared, question.aggregation), claimed, uses.uses(question)


def changed(seeds: range, *, bound_again: bool) -> Iterator[Case]:
    """The cases that are not what they were; all others would be answered as before."""
    for seed in seeds:
        new = rebound(case(seed)) if bound_again else case(seed)
        if said(new) != written(seed):
            yield new


def rebound(old: Case) -> Case:
    try:
        question = bind(old.statement.text, {"t": old.declared.table}, keys=old.statement.keys)
    except Refused:
        return old
    return replace(old, question=question)


def test_there_are_enough() -> None:
    assert len(FAULTS) >= 25


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(BUDGET):  # before anything is planted
        written(seed)
    FAULTS[fault](monkeypatch)
    assert any(wrong(one) for one in changed(range(BUDGET), bound_again=fault in OF_THE_BINDER))


def test_without_a_fault_nothing_has_changed() -> None:
    assert not list(changed(range(30), bound_again=True))
