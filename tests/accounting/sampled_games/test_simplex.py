"""Linear programs."""

from __future__ import annotations

import numpy as np
import pytest

from privately.accounting.sampled_games.simplex import Simplex


def test_the_largest_value_is_found() -> None:
    """x + y <= 4, x + 3 y <= 6: of 3 x + 5 y it is 14, at (3, 1)."""
    columns = np.array([[1.0, 1.0, 1.0, 0.0], [1.0, 3.0, 0.0, 1.0]])
    simplex = Simplex(columns, np.array([4.0, 6.0]), [2, 3])
    prices = simplex.prices(np.array([3.0, 5.0, 0.0, 0.0]), 1.0, 1e-12)
    assert prices @ np.array([4.0, 6.0]) == pytest.approx(14)
    assert dict(zip(simplex.basis, simplex.amounts, strict=True)) == pytest.approx({0: 3.0, 1: 1.0})
    again = simplex.prices(np.array([1.0, 9.0, 0.0, 0.0]), 1.0, 1e-12)
    assert again @ np.array([4.0, 6.0]) == pytest.approx(18)


def test_what_seems_unbounded_is_left_out() -> None:
    columns = np.array([[1.0, -1.0, 1.0]])
    simplex = Simplex(columns, np.array([1.0]), [2])
    assert np.isfinite(simplex.prices(np.array([1.0, 1.0, 0.0]), 1.0, 1e-12)).all()
