"""Laws that are laid whenever they are needed: as if they had been kept."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.contour import bundles
from privately.accounting.contour.bundles import grids
from privately.accounting.contour.protocols import Law
from privately.accounting.contour.sampled_laplace import SampledLaplace
from privately.accounting.contour.streamed import Streamed

C, HIGHEST, REACH, QUIET = 5.0, 7.0, 2.0, 40.0
PARTS: list[tuple[Law, int]] = [
    (SampledLaplace(epsilon=epsilon, rate=rate, removes=True), times)
    for epsilon, rate, times in [(1.0, 0.1, 3), (0.5, 0.3, 1), (0.2, 0.01, 10), (2.0, 0.05, 1)]
]


def test_they_tell_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = grids(PARTS, C, HIGHEST, REACH, [QUIET] * len(PARTS))
    monkeypatch.setattr(bundles, "_MOST_ALONE", 1)
    monkeypatch.setattr(bundles, "_STREAMED", 3)
    found = [grid for grid, _ in grids(PARTS, C, HIGHEST, REACH, [QUIET] * len(PARTS))]
    assert [len(grid.rows) for grid in found if isinstance(grid, Streamed)] == [3, 1]
    assert not any(grid.is_endless or grid.atoms(C, grid.view(C, REACH), 1) for grid in found)
    assert sum(grid.size for grid in found) == sum(grid.size for grid, _ in kept)
    views, apart = [grid.view(C, REACH) for grid in found], [(grid.view(C, REACH), n) for grid, n in kept]
    assert all(not view.weights.size for view in views)
    assert sum(Fraction(view.centre) for view in views) == sum(n * Fraction(view.centre) for view, n in apart)
    for end, sign in ((0, -1), (1, 1)):
        total = sum(n * view.log_mass[end] for view, n in apart)
        assert 0 <= sign * (sum(view.log_mass[end] for view in views) - total) <= 1e-12
    assert sum(grid.log_mass_above(3.0) for grid in found) >= sum(n * grid.log_mass_above(3.0) for grid, n in kept)
    frequencies = np.array([0.5, 2.0])
    falls = sum(n * grid.decay(C, frequencies) for grid, n in kept)
    assert np.all(sum(grid.decay(C, frequencies) for grid in found) <= falls)
    assert sum(grid.decay(C, frequencies) for grid in found) == pytest.approx(falls, rel=1e-5)
    monkeypatch.setattr("privately.accounting.contour.streamed._AT_ONCE", 1)
    each = [view.transforms(0.05, 9) for view in views]
    truth = np.prod([(1 + view.transforms(0.05, 9)[0]) ** n for view, n in apart], axis=0)
    assert np.prod([1 + seen for seen, _ in each], axis=0) == pytest.approx(truth, rel=1e-12)
    assert all(error.min() > 0 and error.max() < 1e-9 for _, error in each)
