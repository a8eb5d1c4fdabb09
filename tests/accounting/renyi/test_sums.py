"""Discrete noise on Poisson samples against sums in 40 digits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately.accounting.losses import (
    DIRECTIONS,
    Direction,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
)
from privately.accounting.renyi.amplification import Joined, Kept
from privately.accounting.renyi.moments import Moments
from privately.accounting.renyi.sampled import Enclosed
from privately.accounting.renyi.sums import GaussianSum, sampled_discrete_gaussian, sampled_discrete_laplace
from tests.accounting.renyi import exact_moments as exact
from tests.accounting.renyi.exact_moments import PLACES, gap

TIGHT = 1e-6


def normal(variance: Fraction, sensitivity: int, rate: Fraction, direction: Direction) -> Moments:
    law = SampledDiscreteGaussianLoss(variance=variance, sensitivity=sensitivity, rate=rate, direction=direction)
    return sampled_discrete_gaussian(law)


def double(scale: Fraction, sensitivity: int, rate: Fraction, direction: Direction) -> Moments:
    law = SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity, rate=rate, direction=direction)
    return sampled_discrete_laplace(law)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("variance", "sensitivity", "rate"), [("1", 1, "1/10"), ("25/3", 4, "1/100"), ("1/2", 1, "9/10")]
)
def test_discrete_gaussian(variance: str, sensitivity: int, rate: str, direction: Direction) -> None:
    v, q = Fraction(variance), Fraction(rate)
    found = normal(v, sensitivity, q, direction)
    assert isinstance(found, Enclosed)
    for c in PLACES:
        width = int(14 * sensitivity * (c + 2) + 20 * v)
        truth = exact.discrete(exact.normal_weight(v), sensitivity, width, q, c, removes=direction == "remove")
        assert 0 <= gap(found.above(c), truth) < (TIGHT if c >= 1 else 1e-3)
        assert found.rough(float(c)) == pytest.approx(float(truth), rel=1e-3)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("scale", "sensitivity", "rate"), [("3", 2, "1/10"), ("10", 30, "1/100"), ("1/2", 2, "9/10")])
def test_discrete_laplace(scale: str, sensitivity: int, rate: str, direction: Direction) -> None:
    b, q = Fraction(scale), Fraction(rate)
    found = double(b, sensitivity, q, direction)
    assert isinstance(found, Enclosed)
    for c in PLACES:
        width = int(100 * b) + sensitivity
        truth = exact.discrete(exact.laplace_weight(b), sensitivity, width, q, c, removes=direction == "remove")
        assert 0 <= gap(found.above(c), truth) < (TIGHT if c >= 1 else 1e-3)
        assert found.rough(float(c)) == pytest.approx(float(truth), rel=1e-3)


def test_forgotten_ends_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a range too short, only the bound on what is beyond keeps the truth between the ends."""
    monkeypatch.setattr("privately.accounting.renyi.sums._WIDTH", 3.0)
    truth = exact.discrete(exact.normal_weight(Fraction(25)), 5, 300, Fraction(1, 10), Fraction(2), removes=True)
    law = GaussianSum(25.0, 5, 0.1, removes=True)
    low, high = law.log_mass(2.0)
    assert low < truth < high
    monkeypatch.setattr(GaussianSum, "_beyond", lambda *arguments: 0.0)
    low, high = law.log_mass(2.0)
    assert not low < truth < high


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_beyond_the_range_of_floats(direction: Direction) -> None:
    """Too many points, too large losses, too large a rate: the general bounds serve."""
    tenth, kinds = Fraction(1, 10), {"remove": Kept, "add": Joined}
    assert isinstance(double(Fraction(1, 1000), 2, tenth, direction), kinds[direction])
    assert isinstance(double(Fraction(10**6), 10**5, tenth, direction), kinds[direction])
    assert isinstance(double(Fraction(1), 2, 1 - Fraction(1, 2**60), direction), kinds[direction])
    assert isinstance(normal(Fraction(10**15), 10**7, tenth, direction), kinds[direction])
    wide = normal(Fraction(10**12), 10**6, tenth, direction)
    twin = exact.sampled_normal(Fraction(1), tenth, Fraction(2), removes=direction == "remove")
    assert 0 <= gap(wide.above(Fraction(2)), twin) < 1.1
    assert wide.rough(2.0) == pytest.approx(float(wide.above(Fraction(2))), rel=1e-3)
    steep = normal(Fraction(1, 100), 3, tenth, direction)
    assert steep.above(Fraction(2)) > 0
