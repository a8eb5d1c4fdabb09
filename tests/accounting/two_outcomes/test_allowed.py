"""What a statement allows: a pair that violates one order is refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated
from privately.accounting.two_outcomes.pairs import TwoOutcomes

PAIR = TwoOutcomes(Decimal("0.01"), Decimal("0.0001"))
SUMMIT = max((Fraction(n, 100) for n in range(101, 500)), key=lambda t: PAIR.apart(t).lower)


def test_concentrated() -> None:
    """Just enough is allowed, and a part in a million less is not, though nearly all orders hold."""
    rho = Fraction(PAIR.apart(SUMMIT).upper)
    assert Concentrated(rho * (1 + Fraction(1, 10**6))).exceeded(PAIR, SUMMIT)[0] <= 0
    assert Concentrated(rho * (1 - Fraction(1, 10**6))).exceeded(PAIR, SUMMIT)[0] > 0
    assert PAIR.apart(Fraction(2)).upper < rho * (1 - Fraction(1, 10**6))


@pytest.mark.parametrize("violated", [Fraction(3, 2), Fraction(2), Fraction(8)])
def test_every_listed_order_counts(violated: Fraction) -> None:
    exact = {t: t * Fraction(PAIR.apart(t).upper) for t in (Fraction(3, 2), Fraction(2), Fraction(8))}
    assert AtOrders(tuple(exact.items())).exceeded(PAIR, Fraction(2))[0] <= 0
    exact[violated] *= 1 - Fraction(1, 10**9)
    excess, at = AtOrders(tuple(exact.items())).exceeded(PAIR, Fraction(2))
    assert excess > 0
    assert at == violated


def test_what_many_steps_keep() -> None:
    """Divergences add up, at every order."""
    bounds = ((Fraction(2), Fraction(1, 5)), (Fraction(8), Fraction(1)))
    assert Concentrated(Fraction(1, 10)).repeated(7) == Concentrated(Fraction(7, 10))
    assert AtOrders(bounds).repeated(7) == AtOrders(((Fraction(2), Fraction(7, 5)), (Fraction(8), Fraction(7))))


def test_both_directions_count() -> None:
    """Of the mirrored pair the other direction is the larger one."""
    mirrored = TwoOutcomes(1 - PAIR.q, 1 - PAIR.p)
    enough = 2 * Fraction(PAIR.apart(Fraction(2)).upper)
    forward = 2 * Fraction(mirrored.apart(Fraction(2)).upper)
    assert forward < enough
    excess, at = AtOrders(((Fraction(2), forward),)).exceeded(mirrored, Fraction(2))
    assert excess > 0
    assert at == -1
    assert AtOrders(((Fraction(2), enough),)).exceeded(mirrored, Fraction(2))[0] <= 0
