"""One step before the largest statement and normal noise."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.after_largest import Largest, reach
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.touching import touching

from .test_before_normal import delta, pairs

RAREST = 1e-8


@lru_cache(maxsize=1)
def tenth() -> Largest:
    return Largest.of(Concentrated(Fraction(1, 10)), RAREST)


def with_noise(x: float, epsilon: float) -> float:
    """W_x, by its masses."""
    base = tenth().base
    losses = np.arange(-base.masses.size, base.masses.size + 1) * base.step
    kept = base.all_masses > 1e-12
    return base.infinite + math.fsum(
        mass * (delta(2 * x, epsilon - loss) if x else max(1 - math.exp(epsilon - loss), 0.0))
        for mass, loss in zip(base.all_masses[kept].tolist(), losses[kept].tolist(), strict=True)
    )


def strategy(rho: float, x: float, epsilon: float) -> float:
    """One step before W_x, by some pairs in both directions."""
    best = 0.0
    for p, q in pairs(rho, 10):
        for one, two in ((p, q), (1 - q, 1 - p)):
            up, down = math.log(one / two), math.log((1 - one) / (1 - two))
            best = max(best, one * with_noise(x, epsilon - up) + (1 - one) * with_noise(x, epsilon - down))
    return best


@pytest.mark.parametrize(("x", "rho", "near"), [(0.0, 0.1, 0.1), (0.02, 0.05, 0.05), (0.3, 0.09, 0.1)])
def test_one_step_before_noise(x: float, rho: float, near: float) -> None:
    """No pair is above, and much less noise is not enough; lines for one rho hold for others."""
    before = tenth().before(x)
    found = before.step(before.lines(touching(Concentrated(Fraction(near)), RAREST)), rho)
    more = rho * (1.3 if x == 0 else 1.2)
    excess = before.excess(found, more)
    assert excess < 0.01
    for place in (0, 20, 70, 150):
        epsilon = place * before.lattice.step
        least = strategy(rho, x, epsilon)
        assert least <= found[place] * (1 + 1e-9)
        assert least <= (1 + excess) * with_noise(x + more, epsilon) + found[-1]
    assert before.excess(found, 0.9 * rho) == math.inf


def test_a_lesser_statement_instead() -> None:
    """With noise for the rest it is not more than the largest."""
    before = tenth().instead(Concentrated(Fraction(1, 20)))
    alone = tenth().base.without(before.upper.size)
    assert (before.upper <= alone * (1 + 1e-6)).all()
    found = before.step(before.lines(touching(Concentrated(Fraction(1, 10)), RAREST)), 0.1)
    assert (found >= alone[: found.size] * (1 - 1e-6)).all()
    with pytest.raises(NotApplicable, match="too many"):
        reach(1.0, 1e-8, 1e-5)
