"""What the best pair of bounded range gains."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.elementary import Floats
from privately.accounting.sampled_games.ranges import Ranged
from tests.accounting.sampled_games.examples import RATES, payoff, profile, way


@pytest.mark.parametrize("rate", RATES)
def test_no_pair_of_bounded_range_gains_more(rate: str) -> None:
    """Two outcomes at the ends of a range, on a fine grid: some come near."""
    one, known = way(rate), profile()
    rule = Ranged(Fraction(1), one.ratios, one.doubt)
    for place in (0, 8, 20):
        y = math.exp(place * known.lattice.step)
        most, values = rule.most(*one.payoffs(known, place)), []
        for z in np.linspace(math.exp(-1), 1, 400).tolist():
            weight = (math.e * z - 1) / ((math.e - 1) * z)
            values.append(weight * payoff(one, y, z) + (1 - weight) * payoff(one, y, math.e * z))
        assert max(values) <= most <= max(values) * 1.02


def test_between_columns() -> None:
    """A payoff of two slopes on few columns: the best chord begins between them, and is found without a grid."""
    ratios = np.array([0.0, 0.5, 1.0, 1.5, 3.0])
    payoffs = np.array([0.0, 0.0, 0.1, 0.6, 2.4])
    most = Ranged(Fraction(1), ratios, 1e-13).most(payoffs, 1.2)
    z = np.linspace(math.exp(-1), 1, 20_001)
    weight = (math.e * z - 1) / ((math.e - 1) * z)
    values = weight * np.interp(z, ratios, payoffs) + (1 - weight) * np.interp(math.e * z, ratios, payoffs)
    assert values.max() <= most <= values.max() * 1.001


def skewed(size: float, rate: float, direction: str) -> tuple[Floats, Floats]:
    """Pairs of two outcomes at the ends of a range, on a sample: a row for each, with the row and without it."""
    share = 1 / (1 + np.exp(-np.linspace(-size - 12, 12, 700)))
    q = np.stack([share, 1 - share], 1)
    p = q * [math.exp(size), 1.0]
    p /= p.sum(axis=1)[:, None]
    return ((1 - rate) * q + rate * p, q) if direction == "remove" else (p, (1 - rate) * p + rate * q)


def of_two(p: Floats, q: Floats, alpha: float) -> float:
    """The best of these pairs, followed by the best one after each outcome; between places the second is too much."""
    places = np.linspace(-45, 60, 21_000)
    second = np.array([np.maximum(p - y * q, 0).sum(axis=1).max() for y in np.exp(places)])
    return float((p * np.interp(math.log(alpha) + np.log(q) - np.log(p), places, second)).sum(axis=1).max())


@pytest.mark.parametrize("size", [12, *(pytest.param(size, marks=pytest.mark.slow) for size in (6, 16))])
def test_two_samples_of_large_ranges(size: int) -> None:
    event = acc.Repeat(event=acc.PoissonSample(event=acc.Exponential(epsilon=size), rate="0.1"), times=2)
    for epsilon in (Fraction(size), Fraction(3 * size, 2)):
        truth = max(of_two(*skewed(size, 0.1, way), math.exp(epsilon)) for way in ("remove", "add"))
        found = acc.delta(event, epsilon)
        assert truth * (1 - 1e-4) <= found.upper
        assert found.lower <= truth * (1 + 2e-3)
        assert found.upper <= truth * 1.005 + 1e-9


@pytest.mark.parametrize("size", [9, 12])
def test_ten_samples_of_large_ranges_are_narrow(size: int) -> None:
    found = acc.epsilon(
        acc.Repeat(event=acc.PoissonSample(event=acc.Exponential(epsilon=size), rate="0.1"), times=10), "1e-6"
    )
    assert found.width <= found.lower / 1000
