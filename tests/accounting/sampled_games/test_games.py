"""Games of sampled steps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.losses import DIRECTIONS
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.games import Kind, above, below
from privately.accounting.two_outcomes.allowed import AtOrders

RANGE = Kind(Fraction(1), Fraction(1, 4))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_tests_are_below_upper_values(direction: str) -> None:
    """And near them, where they count."""
    played = above(RANGE, 3, DIRECTIONS[0] if direction == DIRECTIONS[0] else DIRECTIONS[1], 1e-4)
    curve = below(played, 3)
    upper, lower = played.profile.values, curve.lower()
    assert (lower <= upper * (1 + 1e-12)).all()
    near = (upper > 1e-3) & (played.way.lattice.losses >= 0)
    assert (lower[near] >= upper[near] * 0.97).all()


def test_what_is_out_of_reach_is_refused() -> None:
    with pytest.raises(NotApplicable):
        above(Kind(Fraction(1), 1 - Fraction(1, 2**30)), 2, "remove", 1e-6)
    with pytest.raises(NotApplicable):
        above(Kind(Fraction(1), Fraction(1, 10**7)), 10**9, "remove", 1e-6)


@pytest.mark.slow
def test_jumps_after_many_steps() -> None:
    """More steps than are played one by one: from above by jumps."""
    played = above(RANGE, 45, "remove", 1e-3)
    lower = below(played, 45).lower()
    assert (lower <= played.profile.values * (1 + 1e-12)).all()
    near = (played.profile.values > 3e-3) & (played.way.lattice.losses >= 0)
    assert (lower[near] >= played.profile.values[near] * 0.9).all()


@pytest.mark.slow
def test_listed_orders() -> None:
    kind = Kind(AtOrders(((Fraction(2), Fraction(1, 2)),)), Fraction(1, 4))
    played = above(kind, 3, "remove", 1e-3)
    lower = below(played, 3).lower()
    assert (lower <= played.profile.values * (1 + 1e-12)).all()
    near = (played.profile.values > 3e-3) & (played.way.lattice.losses >= 0)
    assert np.median(lower[near] / played.profile.values[near]) > 0.9
    with pytest.raises(NotApplicable):
        above(kind, 11, "remove", 1e-3)
