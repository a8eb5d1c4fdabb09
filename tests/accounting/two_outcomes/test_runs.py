"""Runs of one choice."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.two_outcomes import runs
from privately.accounting.two_outcomes.choices import Table, table
from privately.accounting.two_outcomes.games import _runs
from privately.accounting.two_outcomes.runs import _outcomes, with_runs
from privately.accounting.two_outcomes.steps import start, with_tests

from .listed import FOUR

STEP, PLACES = 0.01, 200
CHANCES = table(FOUR, STEP, PLACES)


def exact(p: float, q: float, times: int, epsilon: float) -> float:
    """What so many steps of one pair reveal."""
    return sum(
        math.comb(times, k)
        * max(0.0, p**k * (1 - p) ** (times - k) - math.exp(epsilon) * q**k * (1 - q) ** (times - k))
        for k in range(times + 1)
    )


def test_as_many_steps_of_one_pair() -> None:
    """Of one choice alone: nearly what it reveals, and never more."""
    choice = CHANCES.choices[3]
    curve = with_runs(start(STEP, PLACES), Table(STEP, PLACES, (choice,)), 6)
    for place in (0, 10, 50, 90):
        truth = exact(choice.p, choice.q, 6, place * STEP)
        image = exact(1 - choice.q, 1 - choice.p, 6, place * STEP)
        assert curve.lower()[place] <= max(truth, image) * (1 + 1e-12)
        assert curve.lower()[place] == pytest.approx(max(truth, image), rel=0.02)


@pytest.mark.parametrize("mirrored", [False, True])
def test_outcomes_are_two_laws(mirrored: bool) -> None:
    found = list(_outcomes(CHANCES.choices[5], 9, mirrored=mirrored))
    first, second, losses = (np.array(part) for part in zip(*found, strict=True))
    assert [first.sum(), second.sum()] == pytest.approx([1, 1])
    assert np.log(first / second) == pytest.approx(losses)


def test_what_is_left_out_only_costs_power(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = with_runs(start(STEP, PLACES), CHANCES, 4).lower()
    monkeypatch.setattr(runs, "_RARE", 0.1)
    assert (with_runs(start(STEP, PLACES), CHANCES, 4).lower() <= whole + 1e-12).all()


@pytest.mark.slow
def test_one_after_the_other_is_not_worth_less() -> None:
    """Choices in the light of what was seen are worth a little more than runs."""
    apart = start(STEP, PLACES)
    for _ in range(4):
        apart = with_tests(apart, CHANCES)
    together = with_runs(start(STEP, PLACES), CHANCES, 4)
    assert together.lower()[100] <= apart.lower()[100] <= 2 * together.lower()[100]


@pytest.mark.parametrize("times", [1, 100, 101, 107, 5000])
def test_runs_hold_all_steps(times: int) -> None:
    found = list(_runs(times))
    assert sum(found) == times
    assert set(found[:100]) == {1}
    assert all(length <= max(sum(found[:k]) // 20, 1) for k, length in enumerate(found))
    assert Fraction(len(found)) < 400
