"""Noise on samples of fixed size: the glued law, against its own definition in high precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest

from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
)
from privately.accounting.renyi.amplification import Mixed
from privately.accounting.renyi.fixed_size import Glued, _gained, _lost, gaussian_halves, laplace_halves
from privately.accounting.renyi.laws import moments_of
from privately.accounting.renyi.moments import Moments
from tests.accounting.renyi import exact_moments as exact
from tests.accounting.renyi.exact_moments import PLACES, gap

DIGITS = 20
RATES = [Fraction(1, 100), Fraction(1, 2), Fraction(1, 1000)]


def glued(base: Any, rate: Fraction) -> Glued:
    found = moments_of(GluedLoss(base=base, rate=rate))
    assert isinstance(found, Glued)
    return found


def above_one(u: Any, c: Any) -> Any:
    """What an outcome of ratio r > 1 adds to the moment, less 1: u^(c+1) above 0 and u^-c below it, less the atom."""
    return u ** (c + 1) + u**-c - u - 1


def normal_truth(mu: Fraction, rate: Fraction, c: Fraction) -> Any:
    with mp.workdps(DIGITS):
        m, q, power = exact._real(mu), exact._real(rate), exact._real(c)

        def term(x: Any) -> Any:
            return mp.npdf(x) * above_one(1 - q + q * mp.exp(m * x - m * m / 2), power)

        far = (power + 1) * m
        ends = sorted(
            {m / 2, *(place for place in (m / 2 + k for k in range(0, 16, 3))), *(far + k for k in range(-9, 14, 3))}
        )
        return mp.log(1 + mp.quad(term, [end for end in ends if end >= m / 2]))


def laplace_truth(epsilon: Fraction, rate: Fraction, c: Fraction) -> Any:
    with mp.workdps(DIGITS):
        e, q, power = exact._real(epsilon), exact._real(rate), exact._real(c)

        def term(loss: Any) -> Any:
            return above_one(1 - q + q * mp.exp(loss), power)

        inside = mp.quad(lambda loss: mp.exp(-(e + loss) / 2) / 4 * term(loss), [0, e / 2, e])
        return mp.log(1 + mp.exp(-e) / 2 * term(e) + inside)


def discrete_truth(weight: Callable[[int], Any], shift: int, width: int, rate: Fraction, c: Fraction) -> Any:
    with mp.workdps(DIGITS):
        q, power = exact._real(rate), exact._real(c)
        weights = {k: weight(k) for k in range(-width - shift, width + 1)}
        total = sum(weights[k] for k in range(-width, width + 1))
        ratios = ((k, weights[k - shift] / weights[k]) for k in range(-width, width + 1))
        return mp.log(1 + sum(weights[k] * above_one(1 - q + q * r, power) for k, r in ratios if r > 1) / total)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("size", [Fraction(1, 10), Fraction(1), Fraction(2)])
def test_glued_laws(size: Fraction, rate: Fraction) -> None:
    for base, truth in ((GaussianLoss(mu_squared=size**2), normal_truth), (LaplaceLoss(epsilon=size), laplace_truth)):
        found = glued(base, rate)
        for c in PLACES[::2]:
            value = truth(size, rate, c)
            assert 0 <= gap(found.above(c), value) < (0.05 if size < 1 and c * rate <= Fraction(1, 50) else 0.5)
            assert found.rough(float(c)) == pytest.approx(float(found.above(c)), rel=0.01 if c >= 1 else 0.5)


@pytest.mark.parametrize("rate", RATES)
def test_glued_laws_of_discrete_noise(rate: Fraction) -> None:
    for c in PLACES[1:6]:
        scale, variance = Fraction(3), Fraction(4)
        found: Moments = glued(DiscreteLaplaceLoss(scale=scale, sensitivity=4), rate)
        value = discrete_truth(exact.laplace_weight(scale), 4, 200, rate, c)
        assert 0 <= gap(found.above(c), value) < 1
        found = glued(DiscreteGaussianLoss(variance=variance, sensitivity=2), rate)
        value = discrete_truth(exact.normal_weight(variance), 2, 60, rate, c)
        assert 0 <= gap(found.above(c), value) < 1
        assert found.rough(float(c)) == pytest.approx(float(found.above(c)), rel=1e-3)


@pytest.mark.parametrize("false", ["remove", "add"])
def test_one_direction_alone_is_refuted(false: str) -> None:
    found = glued(GaussianLoss(mu_squared=Fraction(1)), Fraction(1, 100))
    one: Moments = getattr(found, false)
    assert gap(one.above(Fraction(2)), normal_truth(Fraction(1), Fraction(1, 100), Fraction(2))) < -0.1


@pytest.mark.parametrize("c", [0.5, 1.0, 12.0])
@pytest.mark.parametrize("mu", [0.1, 1.0])
def test_what_is_gained_and_lost(mu: float, c: float) -> None:
    """The two parts of the correction; that the loss is (1-q)^(c-1) times smaller for large c cannot be left out."""
    rate, halves = 0.5, gaussian_halves(GaussianLoss(mu_squared=Fraction(mu) ** 2))
    assert halves is not None
    above, below, distance = (float(half.upper) for half in (halves.above, halves.below, halves.distance))

    def mixed(x: Any) -> Any:
        return 1 - rate + rate * mp.exp(mu * x - mu * mu / 2)

    def gained(x: Any) -> Any:
        return mp.npdf(x) * (mixed(x) ** -c - 1 + c * (mixed(x) - 1))

    def lost(x: Any) -> Any:
        return mp.npdf(x) * (mixed(x) ** (c + 1) - 1 - (c + 1) * (mixed(x) - 1))

    with mp.workdps(DIGITS):
        assert mp.quad(gained, [mu / 2, mu + 2, mu + 14]) <= _gained(c, rate, above, distance) * (1 + 1e-9)
        taken = mp.quad(lost, [-14, -4, 0, mu / 2])
        assert taken >= _lost(c, rate, below) * (1 - 1e-9)
        assert c <= 1 or taken < _lost(1.0, rate, below) * c * (c + 1) / 2


@pytest.mark.parametrize("size", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_halves(size: Fraction) -> None:
    with mp.workdps(DIGITS):
        m = exact._real(size)
        for halves, parts in (
            (gaussian_halves(GaussianLoss(mu_squared=size**2)), _normal_halves(m)),
            (laplace_halves(LaplaceLoss(epsilon=size)), _laplace_halves(m)),
        ):
            assert halves is not None
            for found, truth in zip((halves.above, halves.below, halves.distance), parts, strict=True):
                assert (
                    mp.mpf(str(found.lower)) * (1 - mp.mpf("1e-15"))
                    <= truth
                    <= mp.mpf(str(found.upper)) * (1 + mp.mpf("1e-15"))
                )


def _normal_halves(m: Any) -> tuple[Any, Any, Any]:
    def excess(x: Any) -> Any:
        return mp.exp(m * x - m * m / 2) - 1

    up, down = [m / 2, m + 2, 2 * m + 4, 2 * m + 14], [-14, -4, 0, m / 2]
    return (
        mp.quad(lambda x: mp.npdf(x) * excess(x) ** 2, up),
        mp.quad(lambda x: mp.npdf(x) * excess(x) ** 2, sorted(down)),
        mp.quad(lambda x: mp.npdf(x) * excess(x), up),
    )


def _laplace_halves(e: Any) -> tuple[Any, Any, Any]:
    def density(loss: Any) -> Any:
        return mp.exp(-(e + loss) / 2) / 4

    top, bottom = mp.exp(-e) / 2, mp.mpf(1) / 2
    return (
        top * mp.expm1(e) ** 2 + mp.quad(lambda loss: density(loss) * mp.expm1(loss) ** 2, [0, e]),
        bottom * mp.expm1(-e) ** 2 + mp.quad(lambda loss: density(loss) * mp.expm1(loss) ** 2, [-e, 0]),
        top * mp.expm1(e) + mp.quad(lambda loss: density(loss) * mp.expm1(loss), [0, e]),
    )


def test_beyond_reach() -> None:
    """Noise so small that squares are out of range: the general bound serves."""
    half = Fraction(1, 2)
    assert gaussian_halves(GaussianLoss(mu_squared=Fraction(10**6))) is None
    assert laplace_halves(LaplaceLoss(epsilon=Fraction(10**6))) is None
    found = glued(GaussianLoss(mu_squared=Fraction(10**6)), half)
    assert found.above(Fraction(1)) <= Mixed(found.base, half).above(Fraction(1))
    assert math.isfinite(found.rough(1.0))


def test_the_largest_loss() -> None:
    found = glued(LaplaceLoss(epsilon=Fraction(1)), Fraction(1, 10))
    assert float(found.largest) == pytest.approx(math.log(0.9 + 0.1 * math.e))
    assert found.above(Fraction(10**6)) <= 10**6 * found.largest
    assert glued(GaussianLoss(mu_squared=Fraction(1)), Fraction(1, 10)).largest == math.inf
