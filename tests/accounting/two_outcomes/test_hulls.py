"""Convex functions below some values."""

from __future__ import annotations

import numpy as np
import pytest

from privately.accounting.two_outcomes.hulls import convex


def test_convex_functions() -> None:
    """Bumps are cut off, from above; what is convex stays as it is."""
    y = np.exp(np.arange(50) * 0.1)
    smooth = np.maximum(1 - y / 100, 0) ** 2
    bumpy = smooth + np.where(np.arange(50) % 7 == 3, 0.01, 0.0)
    found = convex(bumpy, 0.1)
    assert (found >= smooth).all()
    assert (found <= bumpy).all()
    assert found[3] < bumpy[3] - 0.005
    assert convex(smooth, 0.1) == pytest.approx(smooth)
