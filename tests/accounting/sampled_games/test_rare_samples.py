"""Few samples so rare that one of them at most counts, against brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.elementary import Floats
from privately.accounting.sampled_games.road import METHOD

RHO, RATE, DELTA = 0.5, 1e-4, 1e-6
ORDERS = 1 + np.geomspace(1e-3, 60.0, 400)


@lru_cache(maxsize=1)
def base() -> tuple[Floats, Floats]:
    """The logarithm of what one statement reveals at most, at some losses."""
    losses = np.linspace(0.0, 9.0, 181)
    deltas = [float(acc.delta(acc.ZCDP(rho=str(RHO)), loss).upper) for loss in losses.tolist()]
    return losses, np.log(np.array(deltas))


def once(y: Floats) -> Floats:
    """The profile of one sample: q times that of the statement."""
    alpha = 1 + (y - 1) / RATE
    loss = np.abs(np.log(np.maximum(alpha, 1e-9)))
    known = np.exp(np.interp(loss, *base()))
    found = RATE * np.where(alpha >= 1, known, 1 - alpha + alpha * known)
    return np.where(alpha > 0, found, 1 - y)


def is_allowed(p: float, q: float) -> bool:
    """At many orders, in both directions."""
    for a, b in ((p, q), (q, p)):
        powers = np.logaddexp(
            ORDERS * math.log(a) + (1 - ORDERS) * math.log(b),
            ORDERS * math.log1p(-a) + (1 - ORDERS) * math.log1p(-b),
        )
        if (powers > RHO * ORDERS * (ORDERS - 1)).any():
            return False
    return True


@lru_cache(maxsize=1)
def pairs() -> list[tuple[float, float]]:
    """Of two outcomes, with the largest p for each q."""
    found = []
    for q in np.geomspace(1e-7, 0.5, 60).tolist():
        low, high = q, 1 - 1e-9
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if is_allowed(middle, q) else (low, middle)
        found.append((low, q))
    return found


def twice(epsilon: float) -> float:
    """A pair of two outcomes, or its mirror image, and then the best of all."""
    y, best = math.exp(epsilon), 0.0
    for p, q in pairs():
        for one, other in ((p, q), (1 - q, 1 - p)):
            weights, ratios = np.array([other, 1 - other]), np.array([one / other, (1 - one) / (1 - other)])
            s = 1 + RATE * (ratios - 1)
            best = max(best, float((weights * s * once(y / s)).sum()))
    return best


@pytest.mark.slow
def test_two_rare_samples() -> None:
    """Brute force is not above, and next to it; what basic composition says is twice as much."""
    event = acc.Repeat(event=acc.PoissonSample(event=acc.ZCDP(rho=str(RHO)), rate=str(RATE)), times=2)
    found = acc.epsilon(event, str(DELTA))
    assert METHOD in found.method
    assert twice(float(found.upper)) <= DELTA
    assert twice(float(found.lower) * 0.99) > DELTA
    single = acc.epsilon(acc.PoissonSample(event=acc.ZCDP(rho=str(RHO)), rate=str(RATE)), str(DELTA / 2))
    assert found.upper < Fraction(3, 2) * single.lower


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "rate", "times"),
    [
        (acc.ZCDP(rho="0.5"), "1e-4", 10),
        (acc.ZCDP(rho="2"), "1e-5", 10),
        (acc.Renyi(bounds={2: 1, 8: 4}), "1e-5", 10),
    ],
)
def test_rare_samples_are_narrow(event: acc.Event, rate: str, times: int) -> None:
    """More than about one step at a share of delta, and far less than the sum of these."""
    steps = acc.Repeat(event=acc.PoissonSample(event=event, rate=rate), times=times)
    found = acc.epsilon(steps, str(DELTA))
    assert METHOD in found.method
    assert found.upper < found.lower * Fraction(1002, 1000)
    one = acc.epsilon(acc.PoissonSample(event=event, rate=rate), str(DELTA / times))
    assert one.lower * Fraction(9, 10) < found.upper < times * one.upper


@pytest.mark.slow
def test_a_thousand_rare_samples() -> None:
    """As a long run: above normal noise on samples and what fewer of them reveal, and not far above."""
    step = acc.PoissonSample(event=acc.ZCDP(rho=str(RHO)), rate="1e-5")
    found = acc.epsilon(acc.Repeat(event=step, times=1000), str(DELTA))
    noise = acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="1e-5"), times=1000)
    fewer = acc.epsilon(acc.Repeat(event=step, times=16), str(DELTA))
    assert METHOD in found.method
    assert max(acc.epsilon(noise, str(DELTA)).lower, fewer.lower) <= found.lower
    assert found.upper < found.lower * Fraction(105, 100)
