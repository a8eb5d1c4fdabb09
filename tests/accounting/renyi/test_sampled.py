"""Noise on Poisson samples against integrals in 40 digits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest

from privately.accounting.losses import DIRECTIONS, Direction, SampledGaussianLoss, SampledLaplaceLoss
from privately.accounting.renyi.moments import Moments
from privately.accounting.renyi.sampled import Enclosed, sampled_gaussian, sampled_laplace
from tests.accounting.renyi import exact_moments as exact
from tests.accounting.renyi.exact_moments import PLACES, gap

TIGHT = 1e-6
SLACK = -1e-18
NORMAL = [("1", "1/100"), ("1/20", "1/10000"), ("3", "1/2"), ("1", "1/1000000"), ("1/2", "99/100")]
LAPLACE = [("1", "1/100"), ("1/20", "1/1000"), ("6", "1/2"), ("2", "99/100")]


def normal(mu: Fraction, rate: Fraction, direction: Direction) -> Moments:
    return sampled_gaussian(SampledGaussianLoss(mu_squared=mu**2, rate=rate, direction=direction))


def double(epsilon: Fraction, rate: Fraction, direction: Direction) -> Moments:
    return sampled_laplace(SampledLaplaceLoss(epsilon=epsilon, rate=rate, direction=direction))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("mu", "rate"), NORMAL)
def test_sampled_gaussian(mu: str, rate: str, direction: Direction) -> None:
    m, q = Fraction(mu), Fraction(rate)
    found = normal(m, q, direction)
    for c in [*PLACES[::2], Fraction(40)]:
        truth = exact.sampled_normal(m, q, c, removes=direction == "remove")
        tight = TIGHT if c >= 1 else 1e-3  # the smallest moments are differences of larger numbers
        assert 0 <= gap(found.above(c), truth) < tight
        assert found.rough(float(c)) == pytest.approx(float(truth), rel=1e-3)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("epsilon", "rate"), LAPLACE)
def test_sampled_laplace(epsilon: str, rate: str, direction: Direction) -> None:
    e, q = Fraction(epsilon), Fraction(rate)
    found = double(e, q, direction)
    for c in [*PLACES[::2], Fraction(60)]:
        truth = exact.sampled_laplace(e, q, c, removes=direction == "remove")
        assert 0 <= gap(found.above(c), truth) < (TIGHT if c >= 1 else 1e-3)
        assert found.rough(float(c)) == pytest.approx(float(truth), rel=1e-3)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_orders_that_are_no_floats(direction: Direction) -> None:
    """Also very low ones, where the divergence is that of a slightly higher order."""
    for c in (Fraction(1, 3), Fraction(10**12 + 1, 3 * 10**11), Fraction(1, 10**9)):
        truth = exact.sampled_normal(Fraction(1), Fraction(1, 10), c, removes=direction == "remove")
        assert 0 <= gap(normal(Fraction(1), Fraction(1, 10), direction).above(c), truth) < 0.01


def test_the_reference_itself() -> None:
    """The fine sum against quadrature, and at rate 1 against the formula."""
    for way in (True, False):
        case = Fraction(1), Fraction(1, 10), Fraction(2)
        assert abs(exact.sampled_normal(*case, removes=way) - exact.steep_sampled_normal(*case, removes=way)) < 1e-20
        whole = exact.sampled_normal(Fraction(2), Fraction(1), Fraction(3), removes=way)
        assert float(whole) == pytest.approx(3 * 4 * 2)


def test_rounding_the_order_down_is_refuted() -> None:
    c = Fraction(1, 3)
    truth = exact.sampled_normal(Fraction(1), Fraction(1, 10), c, removes=True)
    law = normal(Fraction(1), Fraction(1, 10), "remove")
    assert isinstance(law, Enclosed)
    assert gap(Fraction(law.law.log_mass(float(c) - 2.0**-30)[1]), truth) < 0


@pytest.mark.thinned(2)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("mu", "c"), [("30", "3"), ("1", "800"), ("1000", "1/2")])
def test_beyond_the_range_of_floats(mu: str, c: str, direction: Direction) -> None:
    m, q, place = Fraction(mu), Fraction(1, 100), Fraction(c)
    truth = exact.steep_sampled_normal(m, q, place, removes=direction == "remove")
    found = normal(m, q, direction)
    assert SLACK <= gap(found.above(place), truth) < 0.1
    assert found.rough(float(place)) == pytest.approx(float(found.above(place)), rel=0.5)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_rates_near_one_and_large_losses(direction: Direction) -> None:
    near = 1 - Fraction(1, 2**60)
    for c in (Fraction(1), Fraction(5)):
        truth = exact.sampled_normal(Fraction(1), near, c, removes=direction == "remove")
        assert 0 <= gap(normal(Fraction(1), near, direction).above(c), truth) < 1
        truth = exact.sampled_laplace(Fraction(1000), Fraction(1, 10), c, removes=direction == "remove")
        assert SLACK <= gap(double(Fraction(1000), Fraction(1, 10), direction).above(c), truth) < 0.1


def test_the_largest_loss() -> None:
    tenth = Fraction(1, 10)
    assert normal(Fraction(1), tenth, "remove").largest == math.inf
    assert float(normal(Fraction(1), tenth, "add").largest) == pytest.approx(-math.log(0.9))
    assert float(double(Fraction(1), tenth, "remove").largest) == pytest.approx(math.log(0.9 + 0.1 * math.e))
    assert float(double(Fraction(1), tenth, "add").largest) == pytest.approx(-math.log(0.9 + 0.1 / math.e))
    assert double(Fraction(1), tenth, "add").above(Fraction(10**6)) <= 10**6 * double(Fraction(1), tenth, "add").largest


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_divergence_grows_with_the_order(direction: Direction) -> None:
    places = [Fraction(k, 8) for k in range(1, 400, 7)]
    for found in (normal(Fraction(2), Fraction(1, 50), direction), double(Fraction(2), Fraction(1, 50), direction)):
        divergences = [found.above(c) / c for c in places]
        assert all(low <= high * (1 + Fraction(1, 10**8)) for low, high in pairwise(divergences))
