"""Which Parallels an event runs, how often, and what is beside them."""

from __future__ import annotations

import pytest

from privately import accounting as acc
from privately.accounting.chosen_parts.divided import Divided
from privately.accounting.terms import flatten
from privately.errors import NoSuchRule

ONE, OTHER = acc.Laplace(scale=2), acc.Gaussian(noise_multiplier=2)
PARTS = acc.Parallel(events=[ONE, OTHER])


def test_runs_are_counted_wherever_they_are() -> None:
    event = acc.Sequence(
        events=[
            PARTS,
            ONE,
            acc.Repeat(event=acc.Sequence(events=[PARTS, PARTS, OTHER]), times=3),
        ]
    )
    found = Divided.of(event)
    assert list(found.runs.values()) == [7]
    (met,) = found.runs
    assert [dict(flatten(part)) for part in met] == [{ONE: 1}, {OTHER: 1}]
    assert flatten(acc.Sequence(events=found.others)) == {ONE: 1, OTHER: 3}


def test_samples_of_parts_are_parts_of_samples() -> None:
    found = Divided.of(acc.Repeat(event=acc.PoissonSample(event=PARTS, rate="0.1"), times=4))
    ((met, times),) = found.runs.items()
    assert times == 4
    assert {term for part in met for term in flatten(part)} == {
        acc.PoissonSample(event=one, rate="0.1") for one in (ONE, OTHER)
    }


def test_parts_of_which_one_covers_all_others_are_none() -> None:
    covered = acc.Parallel(events=[ONE, acc.Laplace(scale=3)])
    found = Divided.of(acc.Sequence(events=[covered, acc.Repeat(event=PARTS, times=0)]))
    assert not found.runs
    assert flatten(acc.Sequence(events=found.others)) == {ONE: 1}


def test_parts_within_parts_are_refused() -> None:
    with pytest.raises(NoSuchRule):
        Divided.of(acc.Parallel(events=[ONE, acc.Repeat(event=PARTS, times=3)]))
