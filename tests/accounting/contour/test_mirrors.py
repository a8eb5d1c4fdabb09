"""Bounds by the points that were laid for the other direction are bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.compositions import Composition
from privately.accounting.contour import mirrors, road
from privately.accounting.contour.integral import Integral
from privately.accounting.contour.mirrors import are_mirrored
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.losses import (
    DIRECTIONS,
    Direction,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)


def sampled(mu: float, rate: float, direction: Direction, times: int = 1) -> Composition:
    law = SampledGaussianLoss(mu_squared=Fraction(mu) ** 2, rate=Fraction(rate), direction=direction)
    return Composition(parts=((law, times),))


@pytest.mark.parametrize(("sigma", "times"), [(1.25, 1000), (2.0, 200), (0.5, 10**5)])
def test_the_other_direction_by_the_same_points(sigma: float, times: int) -> None:
    """The points that were laid for one direction give a bound on ln M of the other, hardly above the truth."""
    one, other = (sampled(1 / sigma, 0.01, direction, times) for direction in DIRECTIONS)
    road.epsilon(one, Fraction(1, 10**6), Fraction(1, 10**6))
    known = road._LAST.known
    assert known is not None
    assert are_mirrored(known.composition, other)
    assert not are_mirrored(known.composition, one)
    mirrored = known.mirrored()
    assert mirrored is not None
    law = SampledGaussian.of(other.parts[0][0])  # type: ignore[arg-type]
    for b in (known.layout.c / 2, known.layout.c):
        low, high = law.grid(b, b, 0.0, 40.0).log_mass(b)
        found = mirrored[0][0].log_mass_above(b)
        assert low <= found
        assert found <= high + 1e-6 * abs(high) + 1e-9
        assert mirrored[0][0].levels(np.array([b])).item() == pytest.approx(low, rel=1e-5)


def test_other_compositions_are_not_mirrored() -> None:
    one = sampled(0.5, 0.01, "remove", 1000)
    for law, times in (
        (SampledGaussianLoss(mu_squared=Fraction(1, 4), rate=Fraction(1, 100), direction="add"), 999),
        (SampledGaussianLoss(mu_squared=Fraction(1, 3), rate=Fraction(1, 100), direction="add"), 1000),
        (SampledGaussianLoss(mu_squared=Fraction(1, 4), rate=Fraction(1, 99), direction="add"), 1000),
        (SampledLaplaceLoss(epsilon=Fraction(1, 2), rate=Fraction(1, 100), direction="add"), 1000),
    ):
        assert not are_mirrored(one, Composition(parts=((law, times),)))
    assert not are_mirrored(one, Composition(parts=(*one.parts, (GaussianLoss(mu_squared=Fraction(1)), 1))))
    finite = Composition(parts=((response(Fraction(1)), 2),))
    assert not are_mirrored(finite, finite)


@pytest.mark.parametrize(("mu", "times"), [(0.5, 1000), (0.5, 10**4), (0.5, 10**6), (1.25, 10**4)])
def test_what_is_below_is_certain(monkeypatch: pytest.MonkeyPatch, mu: float, times: int) -> None:
    """Shown by a Chernoff bound or by the sum, and only just where it is true."""
    remove, add = (sampled(mu, 0.01, direction, times) for direction in DIRECTIONS)
    delta = Fraction(1, 10**6)
    upper = Fraction(road.epsilon(remove, delta, delta).upper)
    known = road._LAST.known
    assert known is not None
    assert known.is_mirror_below(add, upper, math.log(delta))
    assert not known.is_mirror_below(remove, upper, math.log(delta))
    for epsilon in (upper, upper * Fraction(9, 10)):
        truth = road.delta(add, epsilon, Fraction(1, 10**6))
        assert not known.is_mirror_below(add, epsilon, math.log(truth.lower) - 1e-9)
        if times > 1000 and mu == 0.5:
            assert known.is_mirror_below(add, epsilon, math.log(truth.upper) + 1e-3)
    monkeypatch.setattr(mirrors, "chernoff", lambda *_: 0.0)
    monkeypatch.setattr(Integral, "upper", lambda *_: 0.0)
    assert not known.is_mirror_below(add, upper, math.log(delta))


def test_what_the_sum_misses_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum that is far too short for the other direction shows nothing, and would be wrong if it forgot the rest."""
    remove, add = (sampled(0.5, 0.01, direction, 10**4) for direction in DIRECTIONS)
    delta = Fraction(1, 10**6)
    upper = Fraction(road.epsilon(remove, delta, delta).upper)
    known = road._LAST.known
    assert known is not None
    short = replace(known, layout=replace(known.layout, count=2))
    assert not short.is_mirror_below(add, upper, math.log(delta))


def test_noise_beside_samples_is_the_same_in_both_directions() -> None:
    beside = ((GaussianLoss(mu_squared=Fraction(1, 100)), 1), (LaplaceLoss(epsilon=Fraction(1, 50)), 3))
    one, other = (Composition(parts=(*beside, *sampled(0.5, 0.01, way, 300).parts)) for way in DIRECTIONS)
    assert are_mirrored(one, other)
    delta = Fraction(1, 10**6)
    upper = road.epsilon(one, delta, delta).upper
    assert road.is_at_most(other, Fraction(upper), delta)
    least = road.delta(other, Fraction(upper), delta).lower
    assert not road.is_at_most(other, Fraction(upper), Fraction(least) * Fraction(999, 1000))


def test_many_laws_in_the_other_direction() -> None:
    """By the points of the first, only where it is true."""

    def many(direction: Direction) -> Composition:
        parts = [sampled(0.5 + k / 40, 0.01 + k / 1000, direction, 100).parts[0] for k in range(12)]
        return Composition(parts=tuple(parts))

    remove, add = many("remove"), many("add")
    delta = Fraction(1, 10**6)
    upper = Fraction(road.epsilon(remove, delta, delta).upper)
    known = road._LAST.known
    assert known is not None
    assert known.mirrored() is not None
    assert known.is_mirror_below(add, upper, math.log(delta))
    assert not known.is_mirror_below(remove, upper, math.log(delta))
    truth = road.delta(add, upper, Fraction(1, 10**6))
    assert not known.is_mirror_below(add, upper, math.log(truth.lower) - 1e-9)


def test_one_number_that_differs_is_enough() -> None:
    """Beside noise that is the same: mu, the rate, the direction, how often, and the noise itself."""
    law = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 10), direction="remove")
    facing, noise = replace(law, direction="add"), LaplaceLoss(epsilon=Fraction(1))
    one = Composition(parts=((law, 5), (noise, 2)))
    assert are_mirrored(one, Composition(parts=((facing, 5), (noise, 2))))
    for parts in (
        ((replace(facing, mu_squared=Fraction(2)), 5), (noise, 2)),
        ((replace(facing, rate=Fraction(1, 5)), 5), (noise, 2)),
        ((law, 5), (noise, 2)),
        ((facing, 6), (noise, 2)),
        ((facing, 5), (noise, 3)),
        ((facing, 5), (LaplaceLoss(epsilon=Fraction(2)), 2)),
    ):
        assert not are_mirrored(one, Composition(parts=parts))
