"""All steps of a statement about listed orders, from above."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.adaptive.curves import Curve
from privately.accounting.questions import DeltaAt
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import games, listed_games
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.listed_games import above_steps, blocks
from privately.accounting.two_outcomes.road import answer

from .listed import FOUR, pairs, raised


def brute(order: float, bound: float, times: int) -> tuple[np.ndarray, np.ndarray]:
    """A profile that is reached, at very many y, nearly the largest."""
    y = np.exp(np.linspace(-9.0, 9.0, 9001))
    values, known = np.maximum(1 - y, 0.0), pairs(order, bound, 120)
    for _ in range(times):
        values = raised(known, y, values)
    return y, values


@pytest.mark.slow
@pytest.mark.parametrize(("order", "bound"), [(4.0, 0.1), (1.5, 0.1), (2.0, 1.0)])
@pytest.mark.parametrize("times", [2, 3])
def test_no_strategy_is_above(order: float, bound: float, times: int) -> None:
    """Steps chosen in the light of those before: nearly the upper values, and never above them, between places too."""
    curve = above_steps(AtOrders(((Fraction(order), Fraction(str(bound))),)), times, 1e-4)
    y, worth = brute(order, bound, times)
    places = np.exp(curve.losses)
    kept = (y >= 1) & (y < 20)
    upper = np.interp(y[kept], places, curve.upper)
    assert (worth[kept] <= upper * (1 + 2e-5)).all()
    assert (worth[kept] >= upper * 0.9).all()


@pytest.mark.slow
def test_moments_that_are_too_small_are_noticed() -> None:
    """With bounds that are a little less than allowed, upper values would be below a strategy."""
    curve = above_steps(AtOrders(((Fraction(4), Fraction("0.096")),)), 2, 1e-4)
    y, worth = brute(4.0, 0.1, 2)
    kept = (y >= 1.2) & (y < 12)
    assert (worth[kept] > np.interp(y[kept], np.exp(curve.losses), curve.upper)).mean() > 0.5


def epsilon_of(curve: Curve, values: np.ndarray, delta: float) -> float:
    return float(np.interp(-math.log(delta), -np.log(np.maximum(values, 1e-300)), curve.losses))


@pytest.mark.slow
def test_tests_are_close() -> None:
    upper, lower = above_steps(FOUR, 4, 1e-6), games.below(((FOUR, 4),), 1e-6)
    least, most = epsilon_of(lower, lower.lower(), 1e-6), epsilon_of(upper, upper.upper, 1e-6)
    assert least <= most <= least * 1.001


@pytest.mark.parametrize("times", [1, 99, 101, 1000, 12345])
def test_blocks_hold_all_steps(times: int) -> None:
    found = blocks(times)
    assert sum(steps * many for steps, many in found) == times
    assert max(steps for steps, _ in found) <= listed_games.MOST_STEPS
    assert max(steps for steps, _ in found) - min(steps for steps, _ in found) <= 1


def test_even_pairs_of_large_bounds() -> None:
    """One step of {4: 1}: at losses near 0 the even pair is the worst, and nothing more is said of it."""
    statement = AtOrders(((Fraction(4), Fraction(1)),))
    curve = above_steps(statement, 1, 1e-6)
    for place in (0, 2, 5):
        truth = answer(statement, DeltaAt(Fraction(place * curve.step), Fraction(1, 10**6)))
        assert truth.upper <= curve.upper[place] <= float(truth.lower) * 1.005


def test_too_large_losses() -> None:
    with pytest.raises(NotApplicable, match="too large"):
        above_steps(AtOrders(((Fraction(101, 100), Fraction(1, 10)),)), 2, 1e-6)
