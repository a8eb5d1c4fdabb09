"""Orders that are tried for a step of zCDP."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import searched
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.majorants import Powers, above, lowered
from privately.accounting.two_outcomes.searched import Searched, TwoOrders, families, orders
from privately.accounting.two_outcomes.sketches import Found, Lattice, Sketch

from .listed import FOUR, TIMES, found

RHO = Fraction(1, 20)
NORMAL = Concentrated(RHO)
LATTICE = Lattice(0.03, 160, 16, 2.0)


def test_many_orders_and_those_that_others_list() -> None:
    known = orders(RHO, 5.0, [Fraction(4)])
    assert (Fraction(4), 4 * RHO) in known.bounds
    excess = np.array([float(order - 1) for order, _ in known.bounds])
    assert (np.diff(excess) > 0).all()
    assert (excess[1:] < excess[:-1] * 1.021).all()
    assert all(bound == order * RHO for order, bound in known.bounds)
    with pytest.raises(NotApplicable, match="too large"):
        orders(Fraction(10**6), 5.0, [])


def known() -> tuple[Powers, Sketch]:
    """Before 0.14 y^-3."""
    return Powers(orders(RHO, 5.0, [Fraction(4)]), LATTICE, 1), Sketch.of(found(LATTICE), FOUR, LATTICE, TIMES)


def worth(families: list[TwoOrders | Searched]) -> np.ndarray:
    """A step, over what follows it."""
    powers, sketch = known()
    upper = np.ones((LATTICE.places, 3))
    after = Found(upper, np.zeros(LATTICE.places), np.zeros((LATTICE.places, 2)), np.zeros((LATTICE.places, 2)))
    with np.errstate(all="ignore"):
        for family in families:
            tried = family.at(sketch, powers, LATTICE.places)
            lowered(after, powers, above(sketch, powers, tried), family.offsets(LATTICE))
    ratio: np.ndarray = after.upper / found(LATTICE).upper
    return ratio


def test_two_orders_before_a_tail() -> None:
    """A tail of order 4 grows by its moment, and by no less; nearer to 0 a higher order keeps large losses out."""
    powers, _ = known()
    row = int(np.flatnonzero(powers.exponents == -3.0)[0])
    grown = math.exp(12 * float(RHO))
    both = worth([TwoOrders(float(RHO), row)])
    assert (both[100:130] >= grown).all()
    assert (both[100:130] <= grown * 1.004).all()
    assert (worth([Searched(searched.touched(NORMAL, 0.03, 5.0, 1e-10))])[100:130] > grown).all()


def test_families() -> None:
    listed = orders(RHO, 5.0, [Fraction(4)])
    tried = families(NORMAL, listed, [Fraction(4)], LATTICE, 1e-10)
    powers, sketch = known()
    for family in tried:
        rows = family.at(sketch, powers, LATTICE.places).rows
        assert all(np.max(row) < powers.exponents.size for row in rows)
        assert family.is_tried(3)
        assert len(family.offsets(LATTICE)) > LATTICE.down
    assert not TwoOrders(float(RHO)).is_tried(0)
