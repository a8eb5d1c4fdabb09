"""One sampled step."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.losses import Direction
from privately.accounting.sampled_games.profiles import Lattice, Profile
from privately.accounting.sampled_games.ranges import Ranged
from privately.accounting.sampled_games.steps import raised
from tests.accounting.sampled_games.examples import HALF, bounded, way
from tests.accounting.two_outcomes.brute import pairs

FINE = Lattice(0.02, -60, 180)


@pytest.mark.slow
def test_one_step_is_the_sample() -> None:
    """Which is known exactly, for statements and for ranges: q D(1 + (e^epsilon - 1)/q)."""
    one = way("0.2", FINE)
    rule = Ranged(Fraction(1), one.ratios, one.doubt)
    stated = raised(Profile.start(FINE), one, (bounded(one), bounded(one))).values
    ranged = raised(Profile.start(FINE), one, (rule, rule)).values
    for place in (0, 10, 50):
        epsilon = place * FINE.step
        event = acc.PoissonSample(event=acc.ZCDP(rho=HALF.rho), rate="0.2")
        exact = float(acc.delta(event, Fraction(epsilon)).upper)
        assert exact * (1 - 1e-9) <= stated[place - FINE.first] <= exact * 1.02
        y = 1 + math.expm1(epsilon) / 0.2
        known = 0.2 * max(math.exp(0.5) - math.sqrt(y), 0.0) ** 2 / (math.e - 1) if y < math.e else 0.0
        assert known * (1 - 1e-9) <= ranged[place - FINE.first] <= known * 1.02 + 1e-12


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_two_steps_against_a_search(direction: Direction) -> None:
    """The second step the best of some pairs after either outcome of the first, by plain sums.

    Additions are played by themselves here: their values are those of removals with both laws exchanged.
    """
    one = way("0.2", FINE)
    rule = bounded(one), bounded(one, is_low=True)
    played = raised(raised(Profile.start(FINE), one, rule), one, rule)
    played = played if direction == "remove" else played.mirrored
    found, zero = played.values, -played.lattice.first
    known = [(p, q) for pair in pairs(0.5, 12) for p, q in (pair, (1 - pair[1], 1 - pair[0]))]

    def sampled(p: float, q: float) -> list[tuple[float, float]]:
        both = [(p, q), (1 - p, 1 - q)]
        if direction == "remove":
            return [(0.8 * b + 0.2 * a, b) for a, b in both]
        return [(a, 0.8 * a + 0.2 * b) for a, b in both]

    outcomes = [sampled(p, q) for p, q in known]

    def value(y: float) -> float:
        return max(1 - y, 0.0, *(sum(max(a - y * b, 0.0) for a, b in one) for one in outcomes))

    best = 0.0
    for place in (-10, 0, 10, 50):
        y = math.exp(place * FINE.step)
        searched = max(sum(a * value(y * b / a) for a, b in one) for one in outcomes)
        assert searched <= found[place + zero]
        best = max(best, searched / max(found[place + zero], 1e-12))
    assert best > 0.9
    assert np.isfinite(found).all()
