"""Blocks of steps of one range, and the normal noise that costs more."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from privately import accounting as acc
from privately.accounting.adaptive import blocks
from privately.accounting.adaptive.blocks import Normal, distance, in_blocks, in_pairs, of_many_ranges
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import WORK, in_every_order, in_one_order
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable
from tests.accounting.adaptive.brute import Floats

TENTH = Fraction(1, 10)


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    in_blocks.cache_clear()
    yield
    in_blocks.cache_clear()


def played(times: int) -> Curve:
    return in_every_order(((TENTH, times),), 1e-6, WORK[1] / 3)


def normal(mu: mpf, loss: mpf) -> mpf:
    """The profile of normal noise."""
    return mp.ncdf(mu / 2 - loss / mu) - mp.exp(loss) * mp.ncdf(-mu / 2 - loss / mu)


@pytest.mark.parametrize("times", [100, 93])
def test_blocks_cost_less_than_their_noise(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five blocks, of equal length or not, against all steps in one game, from the other side."""
    monkeypatch.setattr(blocks, "_BLOCK", 20)
    found = in_blocks(TENTH, times, 1e-6, WORK[0])
    curve = played(times)
    mu = mp.sqrt(mpf(found.law.mu_squared.numerator) / found.law.mu_squared.denominator)
    infinite = mpf(found.infinite.numerator) / found.infinite.denominator
    assert infinite < mpf("1e-12")
    for loss, least in zip(curve.losses[::23], curve.lower()[::23], strict=True):
        assert least <= infinite + (1 - infinite) * normal(mu, mpf(loss)) + mpf(10) ** -15


def test_the_distance_is_nearly_the_least() -> None:
    """At loss 0 the profile of normal noise is 2 F(mu/2) - 1; less noise would not do there."""
    curve = played(99)
    mu = distance(curve)
    at_zero = curve.lower()[-curve.first]
    least = mp.findroot(lambda m: 2 * mp.ncdf(m / 2) - 1 - at_zero, 0.5)
    assert least <= mu <= least * 1.003
    assert not blocks._is_below(curve, float(least) * 0.999)


def test_too_little_noise_would_be_noticed() -> None:
    """Half a per cent less, and some value of the game is above."""
    curve = played(99)
    mu = mpf(distance(curve)) * mpf("0.99")
    assert any(least > normal(mu, mpf(loss)) for loss, least in zip(curve.losses[::9], curve.lower()[::9], strict=True))


@pytest.mark.parametrize(("times", "often"), [pytest.param(12, [3], marks=pytest.mark.slow), (11, [1, 2])])
def test_pairs_of_blocks(times: int, often: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Three blocks of four steps, or one of three and two of four, against all steps in one game."""
    monkeypatch.setattr(blocks, "_LONGEST_OF_PAIRS", 4)
    monkeypatch.setattr(blocks, "_SHORTEST_OF_PAIRS", 1)
    monkeypatch.setattr(blocks, "_PLACES", 40)
    in_pairs.cache_clear()
    found = in_pairs(Fraction(1, 2), times, 1e-6, WORK[0])
    in_pairs.cache_clear()
    assert [count for _, count in found.parts] == often
    curve = in_every_order(((Fraction(1, 2), times),), 1e-6, WORK[1])
    losses, least = curve.losses[::100], curve.lower()[::100]
    steps = [law for law, count in found.parts for _ in range(count)]
    above = profile_of(steps, losses) + float(found.infinite)
    assert (least <= above * (1 + 1e-12)).all()
    assert above[0] <= least[0] * 1.2
    assert (profile_of(steps[:-1], losses) < least).any()


def profile_of(laws: list[FiniteLoss], losses: Floats) -> Floats:
    """By enumeration."""
    first, second = np.ones(1), np.ones(1)
    for law in laws:
        masses = np.array([[float(one[0]), float(other[0])] for one, other in law.outcomes])
        first, second = (np.outer(*both).ravel() for both in ((first, masses[:, 0]), (second, masses[:, 1])))
    return np.array([np.maximum(first - np.exp(loss) * second, 0).sum() for loss in losses])


def test_large_steps_are_refused() -> None:
    with pytest.raises(NotApplicable):
        in_blocks(Fraction(4), 10**4, 1e-6, WORK[-1])
    with pytest.raises(NotApplicable):
        in_pairs(Fraction(3), 10**4, 1e-6, WORK[-1])


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "times"), [("0.1", 10_000), ("0.001", 10**6)])
def test_long_runs(epsilon: str, times: int) -> None:
    found = acc.epsilon(acc.Repeat(event=acc.Exponential(epsilon=epsilon), times=times), delta="1e-6")
    assert "blocks" in found.method
    assert found.width <= found.lower * Fraction(15, 10**4)


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
