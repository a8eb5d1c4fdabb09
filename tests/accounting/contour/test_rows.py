"""Rows of points: laws of few points all at once, others one by one, which comes to the same."""

from __future__ import annotations

import numpy as np
import pytest

from privately.accounting.contour import rows
from privately.accounting.roads import NotApplicable
from tests.accounting.contour.test_finites import COUNT, ROW, STEP, C


@pytest.mark.parametrize("cells", [1, 4000])
def test_some_laws_at_a_time(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    view = ROW.view(C, 0.0)
    known, off = view.transforms(STEP, COUNT)
    monkeypatch.setattr(rows, "_CELLS", cells * COUNT)
    found, bounds = view.transforms(STEP, COUNT)
    monkeypatch.setattr(rows, "_FEW", 1)
    alone, others = view.transforms(STEP, COUNT)
    assert (np.abs(known - found) <= off + bounds).all()
    assert (np.abs(known - alone) <= off + others).all()
    assert max(bounds.max(), others.max()) <= 1e-8


def test_a_law_of_which_nothing_is_known_is_refused_without_a_warning() -> None:
    points = ROW.points
    row = rows.Row.of(ROW.segments, ROW.times, points, C)
    with pytest.raises(NotApplicable):
        row.view(0 * points.loss, np.inf)
