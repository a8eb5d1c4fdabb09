"""Lines above everything that is allowed."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.supports import Limit, delta_above, epsilon_above, support, weighed
from privately.rounding import Enclosure

ORDERS = [Fraction(2), Fraction(7, 2), Fraction(1), Fraction(0), Fraction(-2), Fraction(11, 10)]


def random_pairs(seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(seed)
    return [
        (random.dirichlet(np.full(n, 0.7)), random.dirichlet(np.full(n, 0.7))) for n in (2, 3, 5) for _ in range(40)
    ]


def bound(p: np.ndarray, q: np.ndarray, t: float) -> float:
    """F(t) of any pair."""
    if t in {0, 1}:
        p, q = (p, q) if t else (q, p)
        return float((p * np.log(p / q)).sum())
    return math.log(float((p**t * q ** (1 - t)).sum())) / (t * (t - 1))


@pytest.mark.parametrize("t", ORDERS)
def test_no_allowed_pair_is_above_a_support(t: Fraction) -> None:
    """A pair is allowed what it has; whatever the line touches, it lies above."""
    for p, q in random_pairs(1):
        own = bound(p, q, float(t))
        if own > 50:
            continue
        for low, high in ((-0.5, 0.5), (-2.0, 3.0), (-0.01, 1.0)):
            line = support([Limit(t, Fraction(own))], Decimal(low), Decimal(high))
            revealed = float(np.maximum(p - float(line.alpha.lower) * q, 0).sum())
            assert revealed <= float(line.delta.upper) * (1 + 1e-9) + 1e-12


def test_two_orders_together() -> None:
    for p, q in random_pairs(2):
        first, second = (Limit(t, Fraction(bound(p, q, float(t)))) for t in (Fraction(2), Fraction(0)))
        if max(first.bound, second.bound) > 50:
            continue
        both = weighed(first, second, Decimal("-0.7"), Decimal("0.9"), Enclosure.of(Fraction(11, 10)))
        line = support(both, Decimal("-0.7"), Decimal("0.9"))
        revealed = float(np.maximum(p - float(line.alpha.lower) * q, 0).sum())
        assert revealed <= float(line.delta.upper) * (1 + 1e-9) + 1e-12


def test_a_forgotten_part_is_noticed() -> None:
    """Without the slope at the lower loss the line would be below a pair that is allowed: the test above can fail."""
    p, q = np.array([0.3, 0.7]), np.array([0.1, 0.9])
    own = bound(p, q, 2.0)
    line = support([Limit(Fraction(2), Fraction(own))], Decimal(math.log(7 / 9)), Decimal(math.log(3)))
    revealed = float(np.maximum(p - float(line.alpha.lower) * q, 0).sum())
    assert revealed == pytest.approx(float(line.delta.upper), rel=1e-9)
    smaller = support([Limit(Fraction(2), Fraction(own) * 99 / 100)], Decimal(math.log(7 / 9)), Decimal(math.log(3)))
    assert revealed > float(smaller.delta.upper)


def test_lines_that_are_not_quite_enough_do_not_count() -> None:
    """From next to the right place, on either side of it, come the same ends as from far away."""
    limits, low, epsilon = [Limit(Fraction(3), Fraction(1, 10))], Decimal("-0.1"), Fraction(1)
    known = delta_above(limits, low, Decimal("1.5"), epsilon).upper
    place = Decimal("1.5")
    for _ in range(12):
        line = support(limits, low, place)
        place -= (line.alpha.log() - epsilon).lower / line.alpha_slope.lower
    back = epsilon_above(limits, low, Decimal("1.5"), Fraction(known)).upper
    for aside in ("1e-10", "-1e-10", "1e-13"):
        assert abs(delta_above(limits, low, place + Decimal(aside), epsilon).upper / known - 1) < Decimal("1e-14")
        assert abs(epsilon_above(limits, low, place + Decimal(aside), Fraction(known)).upper - back) < Decimal("1e-14")


def test_lines_for_what_is_asked() -> None:
    """From either side: one leads back to the other."""
    limits, low = [Limit(Fraction(3), Fraction(1, 2))], Decimal("-0.1")
    for high in (Decimal(3), Decimal("4.5")):
        epsilon = epsilon_above(limits, low, high, Fraction(1, 1000))
        delta = delta_above(limits, low, high, Fraction(epsilon.upper))
        assert delta.upper == pytest.approx(Decimal("0.001"), rel=Decimal("1e-12"))


def test_losses_in_the_wrong_order() -> None:
    with pytest.raises(NotApplicable, match="told apart"):
        support([Limit(Fraction(2), Fraction(1))], Decimal(1), Decimal(0))
