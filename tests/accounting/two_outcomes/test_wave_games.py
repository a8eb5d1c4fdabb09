"""Some steps of zCDP, of few kinds, in any order, from above."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privately.accounting.adaptive.curves import Curve
from privately.accounting.questions import DeltaAt
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import games, wave_games
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.smooth import Smooth
from privately.accounting.two_outcomes.wave_games import above
from privately.accounting.two_outcomes.waves import Lattice, Wave

from . import brute

TENTH, FIFTH = Concentrated(Fraction(1, 10)), Concentrated(Fraction(1, 5))


def at(curve: Curve, epsilon: float) -> float:
    """Not below the profile: the value at the place before."""
    return float(curve.upper[math.floor(epsilon / curve.step)])


@pytest.mark.slow
def test_one_step_is_the_statement() -> None:
    curve = above(((TENTH, 1),), 1e-6)
    for place in (0, 10, 60, 170):
        known = answer(TENTH, DeltaAt(Fraction(place * curve.step), Fraction(1, 10**6)))
        assert float(known.lower) <= curve.upper[place] <= float(known.upper) * 1.003 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [
        ((TENTH, 3),),
        ((TENTH, 2), (FIFTH, 1)),
        ((Concentrated(Fraction(1, 80)), 30),),
        ((Concentrated(Fraction(1, 100)), 12), (Concentrated(Fraction(1, 50)), 12)),
    ],
)
def test_no_strategy_is_above(parts: wave_games.Parts) -> None:
    """Nor far below; delta within a hundredth."""
    upper, lower = above(parts, 1e-6), games.below(parts, 1e-6)
    reached = lower.lower()
    for epsilon in np.arange(0.0, 4.0, 0.25):
        least = float(np.interp(epsilon, lower.losses, reached))
        if least > 1e-6:
            most = float(np.exp(np.interp(epsilon, upper.losses, np.log(upper.upper))))
            assert least * (1 - 1e-3) <= most <= least * 1.015


@pytest.mark.slow
@pytest.mark.parametrize("left", [(0.1, 0.2), (0.05, 0.1, 0.2)])
def test_every_order_is_within(left: tuple[float, ...]) -> None:
    """Also orders that are chosen in the light of what came out."""
    known = {rho: brute.pairs(rho * (1 - 1e-4), 6 if len(left) == 3 else 30) for rho in left}
    curve = above(tuple((Concentrated(Fraction(rho)), 1) for rho in left), 1e-4)
    for epsilon in (0.0, 0.7, 1.6):
        assert brute.in_any_order(known, left, epsilon) <= at(curve, epsilon)


@pytest.mark.slow
def test_a_step_that_is_left_out_is_missed() -> None:
    less, all_of_it = above(((TENTH, 1), (FIFTH, 1)), 1e-6), games.below(((TENTH, 2), (FIFTH, 1)), 1e-6)
    assert at(less, 1.0) < np.interp(1.0, all_of_it.losses, all_of_it.lower())


def test_all_that_may_be_left_is_looked_at() -> None:
    times = 2, 1, 3
    levels = list(wave_games._levels(times))
    assert [{sum(left) for left in level} for level in levels] == [{k} for k in range(1, 7)]
    assert {left for level in levels for left in level} == set(product(range(3), range(2), range(4))) - {(0, 0, 0)}
    assert wave_games._less((2, 0, 3), 2) == (2, 0, 2)


def test_the_larger_value_counts_everywhere() -> None:
    curve = above(((TENTH, 1),), 1e-6)
    lattice = Lattice(curve.step, curve.upper.size)
    flat = np.full(curve.upper.size, 0.01)
    tries = [Wave(one, Smooth.of(one, lattice.far, lattice.step), 0.1) for one in (curve.upper, flat)]
    worst = wave_games._worst(tries, lattice.step)
    assert (worst.upper >= np.maximum(curve.upper, flat) * (1 - 1e-12)).all()
    assert worst.total == 0.1


MANY = tuple((Concentrated(Fraction(k, 100)), 1) for k in range(1, 13))


@pytest.mark.parametrize("parts", [((TENTH, 51),), MANY, ((Concentrated(Fraction(300)), 1),)])
def test_too_many_steps(parts: wave_games.Parts) -> None:
    with pytest.raises(NotApplicable, match="lattice"):
        above(parts, 1e-6)
