"""Where lines touch: at pairs that are just allowed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.touching import touching

from .brute import apart


def test_from_even_to_rare() -> None:
    found = touching(Concentrated(Fraction(1, 20)), 1e-10)
    assert found.rho >= 0.05
    assert found.highs[0] == -found.lows[0]
    assert found.shares[0] == 0.5
    assert list(found.orders) == sorted(found.orders)
    for k in (0, 40, 90):
        q = -np.expm1(found.lows[k]) / (np.exp(found.highs[k]) - np.exp(found.lows[k]))
        assert apart(q * np.exp(found.highs[k]), q) == pytest.approx(0.05, rel=1e-3)


def test_between_two_of_them() -> None:
    found = touching(Concentrated(Fraction(1, 20)), 1e-10)
    high, low, order, share = found.at(np.array([0.0, 40.5]))
    assert high[0] == found.highs[0]
    assert found.highs[40] < high[1] < found.highs[41]
    assert found.lows[40] < low[1] < found.lows[41]
    assert order[0] == 1
    assert list(share) == [0.5, 1.0]


def test_losses_beyond_floats_are_left_out_without_a_warning() -> None:
    found = touching(Concentrated(Fraction(10**18)), 1e-10)
    assert (found.highs + found.lows >= 0).all()
