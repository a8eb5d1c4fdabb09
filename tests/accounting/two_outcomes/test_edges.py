"""The edge of what is allowed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated
from privately.accounting.two_outcomes.edges import edge

from .brute import apart


def test_pairs_are_just_allowed() -> None:
    y = np.log([0.3, 0.05, 1e-4])
    z, orders = edge(Concentrated(Fraction(1, 20)), y)
    for log_q, ratio in zip(y, z, strict=True):
        assert apart(np.exp(log_q + ratio), np.exp(log_q)) == pytest.approx(0.05, rel=1e-4)
    assert list(orders) == sorted(orders)


def test_listed_orders_hold_it() -> None:
    _, orders = edge(AtOrders(((Fraction(2), Fraction(1, 10)), (Fraction(8), Fraction(2, 5)))), np.log([0.1, 1e-6]))
    assert set(orders) <= {2.0, 8.0}
