"""Many laws in one row."""

from __future__ import annotations

import numpy as np
import pytest

from privately.accounting.contour import segments
from privately.accounting.contour.segments import Segments, packs


def test_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """All are there, in order; a row is too long only where one law is."""
    monkeypatch.setattr(segments, "MOST_TOGETHER", 10)
    sizes = [3, 4, 4, 20, 1, 9, 1]
    found = [sizes[part] for part in packs(sizes)]
    assert found == [[3, 4], [4], [20], [1, 9], [1]]


def test_segments() -> None:
    some = Segments(np.array([2, 3]))
    assert some.places.tolist() == [0, 1, 0, 1, 2]
    assert some.spread(np.array([5.0, 7.0])).tolist() == [5, 5, 7, 7, 7]
    assert some.sums(np.arange(5.0)).tolist() == [1, 9]
