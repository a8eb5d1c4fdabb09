"""Rarely sampled Gaussians: epsilon and delta beside a high-precision integral, and what comes of jumps."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx

from privately.accounting.compositions import Composition
from privately.accounting.contour import jumps
from privately.accounting.contour.jumps import JUMPS, MORE_JUMPS, JumpIntegral
from privately.accounting.contour.road import exp_of
from privately.accounting.losses import LaplaceLoss, SampledGaussianLoss
from privately.accounting.roads import NotApplicable

WIDTH = Fraction(1, 10**6)
HALF = (
    SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 1000), direction="remove"),
    SampledGaussianLoss(mu_squared=Fraction(2), rate=Fraction(1, 2000), direction="remove"),
)


def steps(multiplier: str, rate: str, times: int) -> Composition:
    law = SampledGaussianLoss(mu_squared=1 / Fraction(multiplier) ** 2, rate=Fraction(rate), direction="remove")
    return Composition(parts=((law, times),))


def exact_delta(composition: Composition, places: list[Fraction], c: int, period: int, reach: int) -> list[arb]:
    """D at these epsilons: the integral along Re z = c with many digits, of the whole law, without any split."""
    before, ctx.prec = ctx.prec, 140
    try:
        laws = []
        for law, times in composition.parts:
            assert isinstance(law, SampledGaussianLoss)
            mu = arb(law.mu_squared.numerator).sqrt() / arb(law.mu_squared.denominator).sqrt()
            rate = arb(law.rate.numerator) / law.rate.denominator
            height = arb(1) / 2
            points = []
            for place in range(-190, 450):
                x = acb(arb(place) / 16, height)
                loss = (1 + rate * ((mu * x - mu * mu / 2).exp() - 1)).log()
                turn = (acb(0, 2 * arb.pi() / period) * loss).exp()
                points.append([(-x * x / 2 + (c + 1) * loss).exp() / 16 / (2 * arb.pi()).sqrt(), turn])
            laws.append((points, times))
        found = [acb(0) for _ in places]
        for n in range(reach * period // 6):
            z, whole = acb(c, 2 * arb.pi() * n / period), acb(1)
            for points, times in laws:
                total = acb(0)
                for point in points:
                    total += point[0]
                    point[0] *= point[1]
                whole *= total**times
            part = whole / (z * (z + 1)) * (1 if n else arb(1) / 2)
            for place, epsilon in enumerate(places):
                found[place] += part * (-z * (arb(epsilon.numerator) / epsilon.denominator)).exp()
        return [2 * one.real / period for one in found]
    finally:
        ctx.prec = before


@pytest.mark.parametrize(
    ("composition", "delta", "setting"),
    [
        (steps("1", "0.001", 200), "1e-8", (3, 13, 700)),
        pytest.param(steps("0.7", "1e-4", 10_000), "1e-5", (2, 16, 1500), marks=pytest.mark.slow),
        pytest.param(
            Composition(parts=((HALF[0], 150), (HALF[1], 100))), "1e-7", (3, 16, 2400), marks=pytest.mark.slow
        ),
    ],
)
def test_answers_contain_the_truth(composition: Composition, delta: str, setting: tuple[int, int, int]) -> None:
    """The integral is too large by less than the first of its aliases, e^(-c period) times at most 1."""
    found = MORE_JUMPS.epsilon(composition, Fraction(delta), WIDTH)
    assert found.width <= WIDTH * found.upper / 10
    middle = (Fraction(found.lower) + Fraction(found.upper)) / 2
    at = [Fraction(found.lower), Fraction(found.upper), middle]
    low, high, near = (float(one.mid()) for one in exact_delta(composition, at, *setting))
    slack = 2 * math.exp(-setting[0] * setting[1])
    assert low >= float(Fraction(delta))
    assert high - slack <= float(Fraction(delta))
    other = MORE_JUMPS.delta(composition, middle, Fraction(1, 10**5))
    assert other.lower <= near
    assert near - slack <= other.upper
    assert other.width <= Fraction(1, 10**5) * other.upper


def test_where_few_take_part() -> None:
    """Known before by Renyi divergences only: [0.034, 1.51] and [0.003, 1.19]."""
    found = MORE_JUMPS.epsilon(steps("0.7", "1e-5", 100_000), Fraction(1, 10**8), WIDTH)
    assert 0.05785633 < found.lower < found.upper < 0.05785634
    found = MORE_JUMPS.epsilon(steps("0.5", "1e-5", 10_000), Fraction(1, 10**8), WIDTH)
    assert found.lower > 0.91
    assert found.width < WIDTH * found.upper


def laid(composition: Composition, delta: float) -> jumps.Both:
    sums = jumps._Sums(composition, math.log(delta), 300.0)
    return sums.at(sums.first_guess(math.log(delta)), math.log(delta))


def brute(integral: JumpIntegral, w: float) -> complex:
    """The transform of jumps at w as `_transform` has it, by fine sums over real x."""
    x = np.arange(-11, 30, 2.0**-12)
    whole = alone = 1.0 + 0j
    for (near, _, times), (view, _) in zip(integral.grids, integral.layout.views, strict=True):
        law = near.law
        loss = np.log1p(law.rate * np.expm1(law.mu * x - law.mu**2 / 2))
        growth = np.exp(np.minimum(law.split.steepness * (x - law.split.at), 300.0))
        base = np.exp(-x * x / 2 + (integral.c + 1) * loss) * 2.0**-12 / math.sqrt(2 * math.pi)
        turned = np.exp(1j * w * (loss - float(view.centre)))
        scale = (base * np.exp(-growth)).sum()
        kept = (base * np.exp(-growth) * turned).sum() / scale
        jumped = (base * -np.expm1(-growth) * turned).sum() / scale
        whole, alone = whole * (kept + jumped) ** times, alone * kept**times
    return complex((whole - alone) / integral.often)


@pytest.mark.parametrize("composition", [steps("0.7", "1e-3", 500), Composition(parts=((HALF[0], 150), (HALF[1], 99)))])
def test_the_transform_of_jumps(composition: Composition) -> None:
    integral = laid(composition, 1e-6).jumps
    values, errors = integral._transform()
    for n in (0, 1, 7, len(values) // 4):
        assert abs(values[n] - brute(integral, integral.places[n])) <= errors[n] + 1e-11
    assert errors[7] < 1e-8


def test_jumps_beyond_the_last_frequency() -> None:
    """What is claimed there is above what is there."""
    integral = laid(steps("0.7", "1e-3", 500), 1e-6).jumps
    for part in (0.3, 0.6, 1.0):
        count = max(int(part * integral.layout.count), 1)
        cut = JumpIntegral.__new__(JumpIntegral)
        cut.grids, cut.ratios, cut.often = integral.grids, integral.ratios, integral.often
        layout = replace(integral.layout, count=count)
        last = layout.step * count
        there = max(abs(brute(integral, w)) for w in np.linspace(last, 1.5 * last, 7))
        assert cut._truncated(layout) >= there / (math.pi * last)


def test_forgotten_jumps_are_found_out() -> None:
    """Without what comes of jumps, upper ends would be below the truth."""
    composition, delta = steps("1", "0.001", 200), Fraction(1, 10**8)
    true = Fraction(MORE_JUMPS.epsilon(composition, delta, WIDTH).lower)
    sums = jumps._Sums(composition, math.log(delta), 300.0)
    both = sums.at(float(true), math.log(delta))
    assert both.upper(true) >= delta
    assert Fraction(exp_of(both.near.upper(float(true - both.near.centre))).upper) < delta * Fraction(9, 10)


def test_refusals() -> None:
    with pytest.raises(NotApplicable, match="so few steps"):
        MORE_JUMPS.epsilon(steps("1", "0.001", 10), Fraction(1, 10**6), WIDTH)
    with pytest.raises(NotApplicable, match="sampled Gaussians alone"):
        MORE_JUMPS.epsilon(Composition(parts=((LaplaceLoss(epsilon=Fraction(1)), 100),)), Fraction(1, 10**6), WIDTH)


def test_the_first_try_is_one_of_all() -> None:
    """What the short road finds, the long one finds too."""
    composition, delta = steps("0.7", "1e-5", 100_000), Fraction(1, 10**8)
    assert JUMPS.epsilon(composition, delta, WIDTH) == MORE_JUMPS.epsilon(composition, delta, WIDTH)
    assert JUMPS.often == MORE_JUMPS.often[:1]
