"""Where the worst pair is, roughly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.accounting.two_outcomes.search import NothingFound, apart, apart_a_little, concentrated, reach, worst

WIDTH = Fraction(1, 10**6)


def test_both_ways_to_measure_agree() -> None:
    y, z = np.log(np.array([[0.4], [0.01]])), np.array([[0.01], [0.02]])
    t = np.array([[1.0, 1.5, 2.0, 4.0]])
    assert apart_a_little(y, z, t) == pytest.approx(apart(y, z, t), rel=1e-6)


def test_reach_is_where_the_bound_is_met() -> None:
    y, t = np.log(np.array([0.3, 1e-3, 1e-40])), np.array([1.0, 1.1, 3.0])
    z = reach(y, t, np.full(3, 0.2))
    met = apart(y[:, None], z, t[None, :])
    capped = np.exp(y[:, None] + z) + np.exp(y[:, None]) > 1 - 1e-9
    assert np.where(capped, 0.2, met) == pytest.approx(np.full((3, 3), 0.2), rel=1e-6)


def test_randomized_response_at_zero() -> None:
    """At an epsilon of 0 the worst pair is symmetric, and held by both directions of order 1."""
    found = worst(concentrated(0.5), DeltaAt(Fraction(0), WIDTH), -2.0, 0.0)
    assert math.exp(found.log_p) + math.exp(found.log_q) == pytest.approx(1)
    assert found.sides == (1.0, -1.0)
    assert found.log_ratio * math.tanh(found.log_ratio / 2) == pytest.approx(0.5)
    assert found.low == pytest.approx(-found.log_ratio)


def test_nothing_is_found() -> None:
    with pytest.raises(NothingFound):
        worst(concentrated(1e-6), EpsilonAt(Fraction(1, 2), WIDTH), -2.0, 0.0)
