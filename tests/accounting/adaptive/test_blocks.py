"""Blocks of steps of many ranges, and the normal noise that costs more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from privately.accounting.adaptive import blocks
from privately.accounting.adaptive.blocks import Normal, distance, of_many_ranges
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import WORK, in_every_order, in_one_order

TENTH = Fraction(1, 10)


def played(times: int) -> Curve:
    return in_every_order(((TENTH, times),), 1e-6, WORK[1] / 3)


def normal(mu: mpf, loss: mpf) -> mpf:
    """The profile of normal noise."""
    return mp.ncdf(mu / 2 - loss / mu) - mp.exp(loss) * mp.ncdf(-mu / 2 - loss / mu)


def test_the_distance_is_nearly_the_least() -> None:
    """At loss 0 the profile of normal noise is 2 F(mu/2) - 1; less noise would not do there."""
    curve = played(99)
    mu = distance(curve)
    at_zero = curve.lower()[-curve.first]
    least = mp.findroot(lambda m: 2 * mp.ncdf(m / 2) - 1 - at_zero, 0.5)
    assert least <= mu <= least * 1.003
    assert not blocks.is_below(curve, float(least) * 0.999)


def test_too_little_noise_would_be_noticed() -> None:
    """Half a per cent less, and some value of the game is above."""
    curve = played(99)
    mu = mpf(distance(curve)) * mpf("0.99")
    assert any(least > normal(mu, mpf(loss)) for loss, least in zip(curve.losses[::9], curve.lower()[::9], strict=True))


def test_blocks_of_many_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of different ranges cost at least as much as all of them in one order; half of the noise does not."""
    monkeypatch.setattr(blocks, "_BLOCK_OF_MANY", 4)
    ranges = tuple((Fraction(k, 100), 1) for k in range(11, 31))
    of_many_ranges.cache_clear()
    found = of_many_ranges(ranges, 1e-6, WORK[1])
    of_many_ranges.cache_clear()
    assert isinstance(found, Normal)
    curve = in_one_order(ranges, 1e-6, WORK[1])
    mu = mp.sqrt(mpf(found.law.mu_squared.numerator) / found.law.mu_squared.denominator)
    infinite = mpf(found.infinite.numerator) / found.infinite.denominator
    some = [pair for pair in zip(curve.losses[::40], curve.lower()[::40], strict=True) if pair[1] > 1e-7]
    assert all(least <= infinite + normal(mu, mpf(loss)) for loss, least in some)
    assert any(least > infinite + normal(mu * mp.sqrt("0.5"), mpf(loss)) for loss, least in some)


def test_every_block_of_many_ranges_may_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.array([0.2, 0.1, 1e-3])
    curve = Curve(0.1, 0, 10, values, np.zeros(3), np.zeros(3))
    asked = []

    def played(_ranges: object, rare: float, _work: float, count: int) -> Curve:
        asked.append((rare, count))
        return curve

    monkeypatch.setattr(blocks, "within_budget", played)
    of_many_ranges.cache_clear()
    for largest in (Fraction(1, 5), Fraction(1, 2)):
        found = of_many_ranges(((TENTH, 2000), (largest, 2000)), 1e-3, WORK[1])
        rare, count = asked.pop()
        assert count > 1
        assert rare * count <= 1e-3 * (1 + 1e-12)
        assert found.infinite >= min(count * Fraction(1, 1001), Fraction(1))
    of_many_ranges.cache_clear()
