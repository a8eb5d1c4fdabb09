"""One step of bounded range before what statements allow."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.ranged import (
    chances_on,
    concentrated,
    with_range,
    with_tests_of_a_range,
)
from privately.accounting.two_outcomes.steps import start
from privately.accounting.two_outcomes.touching import touching
from privately.accounting.two_outcomes.wave_games import alone
from privately.accounting.two_outcomes.waves import Lattice, Wave, Waves, tails

from . import brute
from .ranges import pairs_of_range

TENTH, HALF = Concentrated(Fraction(1, 10)), Fraction(1, 2)
LATTICE = Lattice(0.025, 160)


def last_step() -> Wave:
    lines = touching(TENTH, 1e-8)
    return alone(TENTH, Waves(lines, LATTICE), lines)


def before(wave: Wave, size: Fraction) -> Wave:
    return with_range(wave, chances_on(size, LATTICE.step), size, LATTICE)


@pytest.mark.parametrize("size", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_a_range_is_concentrated(size: Fraction) -> None:
    """No pair of two outcomes needs more, and one that is even needs nearly so much if the range is small."""
    needed = max(brute.apart(p, q) for p, q in pairs_of_range(float(size), 121))
    assert needed <= concentrated(size)
    if size < 1:
        assert needed > 0.98 * concentrated(size)  # a ninth in place of an eighth would be too little


def test_no_pair_of_a_range_is_above() -> None:
    """With any pair of the range first, and then any that is allowed; a smaller range is caught."""
    known, wave = brute.pairs(0.1 * (1 - 1e-4), 60), last_step()
    right, wrong = (before(wave, size).upper for size in (HALF, Fraction(2, 5)))
    missed = 0
    for place in (0, 9, 30, 60, 90):
        epsilon = place * LATTICE.step
        best = max(
            p * brute.one_step(known, epsilon - math.log(p / q))
            + (1 - p) * brute.one_step(known, epsilon - math.log((1 - p) / (1 - q)))
            for p, q in pairs_of_range(0.5, 121)
        )
        assert 0.97 * right[place] < best <= right[place]
        missed += best > wrong[place]
    assert missed == 5


def test_beyond_the_last_place_all_steps_are_one_statement() -> None:
    """Also where the window is short: its last value is not carried into it, and nothing is lost."""
    short, step = Lattice(LATTICE.step, 60), LATTICE.step
    wave = last_step()
    cut = Wave(wave.upper[:60], wave.smooth, wave.total)
    found = with_range(cut, chances_on(HALF, step), HALF, short)
    whole = before(wave, HALF)
    assert (found.upper >= whole.upper[:60] * (1 - 1e-9)).all()
    assert (found.upper <= tails(found.total, np.arange(60.0) * step)).all()
    assert found.total >= 0.1 + 1 / 32


def test_tests_of_a_range_are_possible() -> None:
    """After one step none is above the closed form, at any place, and the best are next to it; after two a search."""
    step = 0.0125
    grown, y = math.exp(0.5), np.exp(np.linspace(0.0, 1.2, 61))
    once = with_tests_of_a_range(start(step, 120), chances_on(HALF, step))
    reached = (once.powers - y[:, None] * once.prices).max(axis=1)
    known = np.where(y < grown, (math.sqrt(grown) - np.sqrt(y)) ** 2 / (grown - 1), 0.0)
    assert (reached <= known).all()
    assert (reached >= known - 1e-4).all()
    twice = with_tests_of_a_range(once, chances_on(HALF, step))
    again = (twice.powers - y[:, None] * twice.prices).max(axis=1)
    t = np.linspace(0.0, 0.5, 401)[:, None]
    up = (grown - np.exp(t)) / (grown - 1)

    def one(at: np.ndarray) -> np.ndarray:
        inside = (math.sqrt(grown) - np.sqrt(at)) ** 2 / (grown - 1)
        found: np.ndarray = np.where((at > 1 / grown) & (at < grown), inside, np.maximum(1 - at, 0.0))
        return found

    best = (up * one(y * np.exp(-t)) + (1 - up) * one(y * np.exp(0.5 - t))).max(axis=0)
    assert (again <= best * (1 + 1e-4) + 1e-9).all()
    assert (again >= best - 2e-4).all()


@pytest.mark.parametrize(
    ("size", "step"), [(Fraction(1, 10), 0.02), (Fraction(41), 0.1), (Fraction(10), 0.3)], ids=["small", "large", "far"]
)
def test_ranges_that_are_not_played(size: Fraction, step: float) -> None:
    with pytest.raises(NotApplicable, match="range"):
        chances_on(size, step)
