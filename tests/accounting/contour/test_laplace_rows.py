"""Many sampled Laplaces in one row: the same bounds as for each law alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.contour import laplace_rows, layers
from privately.accounting.contour.laplace_rows import SampledLaplaces, is_tame
from privately.accounting.contour.rough_bundles import Unlaid
from privately.accounting.contour.sampled_laplace import SampledLaplace
from privately.accounting.contour.streamed import Streamed
from privately.accounting.roads import NotApplicable

PARAMETERS = [(0.05, 0.5, 3), (1.0, 0.01, 100), (0.3, 1e-4, 7), (6.0, 0.2, 1), (2.0, 0.9, 2), (9.5, 1e-6, 50)]
C, HIGHEST, REACH, QUIET = 1.5, 2.4, 9.0, 40.0
FREQUENCIES = np.array([0.7, 4.0, 30.0])


def laws(removes: bool) -> list[tuple[SampledLaplace, int]]:
    return [(SampledLaplace(epsilon, rate, removes), times) for epsilon, rate, times in PARAMETERS]


@pytest.mark.parametrize("quiet", [QUIET, 2.0])
@pytest.mark.parametrize("removes", [True, False])
def test_they_tell_the_same(removes: bool, quiet: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one law after the other, whose bounds are held against the truth elsewhere; also where points miss much."""
    (row,) = SampledLaplaces.some(laws(removes))
    grid = row.grid(C, HIGHEST, REACH, quiet)
    alone = Streamed([(law, times, quiet + np.log(6.0 * times)) for law, times in laws(removes)], C, HIGHEST, REACH)
    assert grid.size == alone.size
    assert not grid.is_endless
    assert grid.log_mass_above(HIGHEST) == pytest.approx(alone.log_mass_above(HIGHEST), rel=1e-12)
    monkeypatch.setattr(layers, "_CELLS", laplace_rows._CELLS)
    assert grid.decay(C, FREQUENCIES) == pytest.approx(alone.decay(C, FREQUENCIES), rel=1e-9)
    seen, known = grid.view(C, REACH), alone.view(C, REACH)
    assert seen.log_mass == pytest.approx(known.log_mass, rel=1e-12)
    assert float(Fraction(seen.centre) - Fraction(known.centre)) == pytest.approx(0, abs=1e-12)
    (found, bounds), (other, off) = (view.transforms(0.05, 100) for view in (seen, known))
    assert (np.abs(found - other) <= bounds + off + 1e-12).all()
    assert bounds == pytest.approx(off, rel=0.5)
    grid.atoms(C, seen, 1)


@pytest.mark.parametrize("removes", [True, False])
def test_a_first_look(removes: bool) -> None:
    (row,) = SampledLaplaces.some(laws(removes))
    sketches = [(law.rough(HIGHEST), times) for law, times in laws(removes)]
    for place in range(3):
        known = sum(times * sketch.cumulants(C)[place] for sketch, times in sketches)
        assert row.rough(HIGHEST).cumulants(C)[place] == pytest.approx(known, rel=1e-6)


def test_a_first_look_at_full_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept of them, as there may be many."""
    (row,) = SampledLaplaces.some(laws(True))
    kept = row.rough(HIGHEST)
    monkeypatch.setattr(laplace_rows, "AT_ONCE", row.number)
    again = row.rough(HIGHEST)
    assert isinstance(again, Unlaid)
    assert again.cumulants(C) == kept.cumulants(C)
    assert again.levels(np.array([C])) == kept.levels(np.array([C]))


def test_rows_of_one_direction_and_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace_rows, "AT_ONCE", 4)
    rows = list(SampledLaplaces.some([*laws(True), *laws(False)]))
    assert [(row.removes, row.number) for row in rows] == [(True, 4), (True, 2), (False, 4), (False, 2)]
    assert sum(sum(row.times) for row in rows) == 2 * sum(times for _, _, times in PARAMETERS)


def test_large_losses_stay_alone() -> None:
    assert is_tame(SampledLaplace(10.0, 0.1, True))
    assert not is_tame(SampledLaplace(10.5, 0.1, True))
    (row,) = SampledLaplaces.some(laws(True))
    with pytest.raises(NotApplicable):
        row.grid(1e5, 2e5, 1.0, QUIET).view(1e5, 1.0)
