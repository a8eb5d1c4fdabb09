"""What is seen from several heights at once is what is seen from each."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privately.accounting.contour.rough_samples import FACTORS, MIDDLE, RoughSample
from privately.accounting.contour.sampled_gaussian import SampledGaussian

LAWS = [(0.5, 0.01, True), (0.5, 0.01, False), (1.0, 0.1, True), (2.0, 0.3, False), (4.0, 0.01, True)]


def sample(mu: float, rate: float, removes: bool, highest: float = 64.0) -> RoughSample:
    return SampledGaussian(mu=mu, rate=rate, removes=removes).rough(highest)


@pytest.mark.parametrize(("mu", "rate", "removes"), LAWS)
@pytest.mark.parametrize("c", [0.5, 3.0, 20.0])
def test_the_ladder(mu: float, rate: float, removes: bool, c: float) -> None:
    sketch = sample(mu, rate, removes)
    ladder = sketch.ladder(c)
    assert ladder.heights[MIDDLE] == c
    for place, (factor, level) in enumerate(zip(FACTORS, ladder.levels(), strict=True)):
        assert ladder.heights[place] == pytest.approx(c * factor)
        k, mean, variance = sketch.cumulants(ladder.heights[place])
        assert level == pytest.approx(k, rel=1e-9, abs=1e-12)
        assert ladder.rung(place) == pytest.approx((k, mean, variance), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("mu", "rate", "removes"), LAWS[:2])
def test_shares(mu: float, rate: float, removes: bool) -> None:
    c = 4.0
    ladder = sample(mu, rate, removes).ladder(c)
    x = np.linspace(-12, 16, 20_001)
    grown = rate * np.exp(mu * x - mu * mu / 2)
    whole = 1 - rate + grown
    weights = np.exp(-x * x / 2) * whole ** (c + 1 if removes else -c)
    weights, share = weights / weights.sum(), grown / whole
    mean = float(weights @ share)
    found = ladder.shares(MIDDLE)
    assert found[0] == pytest.approx(mean, rel=1e-3)
    assert found[1] == pytest.approx(float(weights @ share**2) / mean**2 - 1, rel=1e-2)


def test_steep_laws_stay_within_the_range_of_floats() -> None:
    steep = sample(4.0, 0.01, True, highest=256.0)
    assert steep.tame < 100
    assert all(math.isfinite(level) for level in steep.ladder(100.0).levels())
    for removes in (True, False):
        gentle = sample(0.5, 0.01, removes)
        for part in (0.999, 1.001):
            ladder = gentle.ladder(part * gentle.tame / FACTORS[-1])
            assert ladder.levels() == pytest.approx([gentle.cumulants(b)[0] for b in ladder.heights], rel=1e-9)
