"""Points laid in a few operations are as near to the law as claimed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from privately.accounting.contour import swift_points
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.contour.swift_points import SwiftPoints, normal_weights, short_below
from privately.accounting.elementary import ERROR, UNIT, exp_one
from privately.accounting.roads import NotApplicable
from tests.accounting.contour import exact_transforms
from tests.accounting.contour.exact_transforms import precision

CASES = [
    (0.5, 0.01, 25.0, 0.1875, 20.0),
    (1.25, 0.001, 5.0, 0.125, 22.0),
    (0.05, 0.5, 60.0, 0.25, 12.0),
    (3.0, 1e-6, 1.0, 0.0625, 16.0),
]


def laid(mu: float, rate: float, step: float, right: float) -> SwiftPoints:
    law = SampledGaussian(mu=mu, rate=rate, removes=True)
    return SwiftPoints.laid(law, step, -math.ceil(10 / step), math.ceil(right / step))


def test_steps_are_short_numbers() -> None:
    for step in (0.5, 0.4999, 0.171875, 0.0123, 1e-3):
        found = short_below(step)
        assert step * 7 / 8 < found <= step
        assert (found * 2 ** (4 - math.frexp(found)[1])).is_integer()


@pytest.mark.parametrize("step", [0.5, 0.171875, 0.01171875])
def test_normal_weights(step: float) -> None:
    weights = normal_weights(short_below(step))
    step, middle = short_below(step), weights.size // 2
    with precision(200):
        for j in (0, 1, -1, 7, middle // 3, middle, -middle):
            truth = arb(step) * (-((arb(step) * j) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
            assert abs(arb(float(weights[middle + j])) / truth - 1) <= 8 * UNIT


def are_within(points: SwiftPoints) -> bool:
    """Whether losses and shares are as near to the truth as is claimed."""
    law, step = points.law, points.extent.step
    with precision(200):
        for place in range(0, points.size, 3):
            t = arb(law.mu) * (arb(points.extent.first) + place * arb(step)) - arb(law.mu) ** 2 / 2
            row = arb(law.rate) * t.exp()
            loss, share = (1 - arb(law.rate) + row).log(), row / (1 - arb(law.rate) + row)
            off = abs(arb(float(points.loss[place])) - loss)
            if not off <= points.drift * share + 8 * UNIT + ERROR * abs(loss):
                return False
            if not abs(arb(float(points.share[place])) / share - 1) <= 1.1 * points.drift + 8 * UNIT:
                return False
    return True


@pytest.mark.parametrize(("mu", "rate", "c", "step", "right"), CASES)
def test_losses_and_shares(mu: float, rate: float, c: float, step: float, right: float) -> None:
    del c
    assert are_within(laid(mu, rate, step, right))


@pytest.mark.parametrize("wrong", [1e-12, -1e-14])
def test_a_wrong_ratio_would_be_noticed(monkeypatch: pytest.MonkeyPatch, wrong: float) -> None:
    """Planted: exponentials that are off by more than was proved."""
    monkeypatch.setattr(swift_points, "exp_one", lambda x: exp_one(x) * (1 + wrong))
    assert not are_within(laid(0.5, 0.01, 0.1875, 20.0))


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_transforms_on_the_real_line(case: tuple[float, float, float, float, float], removes: bool) -> None:
    """M(c) by the points, within what is said of it; with fewer of them, too."""
    mu, rate, c, step, right = case
    for wider in (1, 4, 8):
        points = laid(mu, rate, min(wider * step, 1.0), right)
        law = SampledGaussian(mu=mu, rate=rate, removes=removes)
        _, (means,) = points.tilted([law.power(c)])
        missing = law.aliasing(c, 0.0, points.extent.step) + points.outside(means)
        with precision(200):
            truth = exact_transforms.sampled_gaussian(mu, rate, removes, c).real
            off = float(abs(arb(means.total) / truth - 1).upper())
        assert off <= points.doubt(means, missing)
        assert wider > 1 or points.doubt(means, missing) <= 1e-11


def test_ends_are_needed() -> None:
    """Planted: points that end too early miss more than their errors."""
    points = laid(0.5, 0.01, 0.1875, 2.0)
    _, (means,) = points.tilted([1.5])
    with precision(200):
        truth = exact_transforms.sampled_gaussian(0.5, 0.01, True, 0.5).real
        off = float(abs(arb(means.total) / truth - 1).upper())
    assert points.doubt(means, 0.0) < off <= points.doubt(means, points.outside(means))


def test_means_are_sums() -> None:
    points = laid(0.5, 0.01, 0.1875, 20.0)
    rows, (one, other) = points.tilted([3.0, -2.0])
    for row, means in zip(rows, (one, other), strict=True):
        assert np.allclose(row, points.base * np.exp(means.power * points.loss), rtol=1e-12)
        assert means.total == pytest.approx(row.sum(), rel=1e-12)
        assert means.loss_square == pytest.approx(row @ points.loss**2, rel=1e-12)
        shares = means.share, means.share_square
        assert shares == pytest.approx([row @ points.share**k for k in (1, 2)], rel=1e-12)
        assert (means.first, means.last) == (row[0], row[-1])


def test_what_floats_do_not_hold_is_refused() -> None:
    law = SampledGaussian(mu=1.0, rate=0.01, removes=True)
    for first, last in ((-200, 40), (-40, 200), (4, 40)):
        with pytest.raises(NotApplicable):
            SwiftPoints.laid(law, 0.25, first, last)
    with pytest.raises(NotApplicable):
        SwiftPoints.laid(SampledGaussian(mu=1.0, rate=0.6, removes=True), 0.25, -40, 40)
    with pytest.raises(NotApplicable):
        laid(1.0, 0.01, 0.25, 30.0).tilted([40.0])
