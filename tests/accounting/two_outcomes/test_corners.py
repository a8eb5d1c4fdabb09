"""Pairs that two orders hold."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.corners import Corner, edge

from .listed import held

THREE = AtOrders(((Fraction(2), Fraction(1, 10)), (Fraction(8), Fraction(2, 5)), (Fraction(32), Fraction(2))))


def pair(corner: Corner) -> tuple[float, float]:
    """From its losses."""
    q = math.expm1(-corner.down) / (math.exp(-corner.down) - math.exp(corner.up))
    return q * math.exp(corner.up), q


def test_the_even_pair() -> None:
    found = edge(THREE, 5.0)
    even = found.corners[0]
    assert even.is_even
    assert even.up == even.down == found.even
    p, q = pair(even)
    moments = [math.log(held(p, q, float(a))) / float((a - 1) * bound) for a, bound in THREE.bounds]
    assert max(moments) == pytest.approx(1)
    assert moments[even.rows[0]] == max(moments)
    assert even.rows[1] == even.rows[0] + len(moments)


def test_two_orders_hold_each_corner() -> None:
    found = edge(THREE, 5.0)
    assert len(found.corners) > 1
    for corner in found.corners[1:]:
        p, q = pair(corner)
        moments = [math.log(held(p, q, float(a))) / float((a - 1) * bound) for a, bound in THREE.bounds]
        assert [moments[row] for row in corner.rows] == pytest.approx([1, 1], abs=1e-6)
        assert max(moments) < 1 + 1e-6
    assert set(found.arcs) >= {row for corner in found.corners[1:] for row in corner.rows}
