"""Which functions are tried."""

from __future__ import annotations

import numpy as np

from privately.accounting.two_outcomes.families import Arc, AtCorner, families
from privately.accounting.two_outcomes.majorants import Powers
from privately.accounting.two_outcomes.sketches import Sketch

from .listed import COARSE, FOUR, TIMES, found


def test_of_one_order() -> None:
    even, known = families(FOUR, 5.0)
    assert 0.2 < even < 0.3
    assert known[0] == Arc((0, 0))
    assert isinstance(known[1], AtCorner)
    assert all(family.is_even == (family.rows == (0, 1)) for family in known)
    late = [family for family in known if family.is_tried(50)]
    assert late == list(known[:2])


def test_shares_touch_at_both_losses() -> None:
    """Shares are between 0 and 1; where the profile is as steep as the order, it alone counts."""
    sketch, powers = Sketch.of(found(), FOUR, COARSE, TIMES), Powers(FOUR, COARSE)
    corner = families(FOUR, 5.0)[1][1]
    tried = corner.at(sketch, powers, 40)
    assert tried.rows == (0, 1)
    assert tried.start in {-offset for offset in corner.offsets(COARSE)}
    assert ((tried.shares >= 0) & (tried.shares <= 1)).all()
    assert (tried.shares[20:] > 0.99).all()
    assert np.isfinite(tried.shares).all()
