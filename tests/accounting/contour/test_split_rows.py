"""Many laws that are split: as each alone, and next to nothing of them is kept."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.contour import laying
from privately.accounting.contour.laying import Whole
from privately.accounting.contour.saddle import Outline, Saddle, shape
from privately.accounting.contour.split import Law
from privately.accounting.contour.split_points import Split
from privately.accounting.contour.split_rows import MOST_KEPT, jump_grids, near_grids, sketched, split_alike
from privately.accounting.contour.splitting import jump_mass
from privately.accounting.losses import SampledGaussianLoss
from tests.accounting.contour.test_split import exact

QUIET = 36.0
MANY = [(Law(1.0, 1 / (1000 + 20 * place), Split(4.5, 6.25)), 1 + place % 2) for place in range(24)]
OTHERS = [(Law(1.5, 1 / (800 + 20 * place), Split(5.0, 7.0)), 1) for place in range(4)]
PARTS = [*MANY, *OTHERS]


def losses(number: int) -> list[tuple[SampledGaussianLoss, int]]:
    return [
        (SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 1000 + place), direction="remove"), 1)
        for place in range(number)
    ]


@pytest.mark.parametrize("place", [0, 13, 23, 25])
def test_each_law_is_enclosed(place: int) -> None:
    """Beside many digits, and never wider than some times what the law alone has."""
    law, step = PARTS[place][0], 60.0
    near, jumps = near_grids(PARTS, 60.0, 80.0, [QUIET] * 28)[place], jump_grids(PARTS, 4.0, 5.0, QUIET)[place]
    assert near.law == jumps.law == law
    low, high = near.log_mass(60.0)
    truth = math.log(exact(law, 60.0, 0.0, jumps=False).real)
    assert low - 1e-15 <= truth <= high + 1e-15
    assert high - low < 1e-9
    least, most = jumps.mass(4.0)
    true = exact(law, 4.0, 0.0, jumps=True).real
    assert least * (1 - 1e-15) <= true <= most * (1 + 1e-15)
    assert most - least < 1e-9 * true
    for view, c, jumpy in ((near.view(60.0, 0.0), 60.0, False), (jumps.view(4.0, 0.01), 4.0, True)):
        found, error = view.transforms(step, 6)
        whole = exact(law, c, 0.0, jumps=jumpy)
        turned = exact(law, c, 6 * step, jumps=jumpy) / whole * np.exp(-6j * step * float(view.centre))
        assert abs(found[5] + 1 - turned) <= error[5] + 1e-14
        assert error[5] < 1e-8


def test_falls_are_those_of_a_law_alone() -> None:
    """What was best for the first law is nearly best for the others, and never more than all tries together."""
    grids, frequencies = near_grids(PARTS, 60.0, 80.0, [QUIET] * 28), np.array([100.0, 1000.0, 5000.0])
    jumps = jump_grids(PARTS, 4.0, 5.0, QUIET)
    for grid, jumped in zip(grids, jumps, strict=True):
        alone = grid.law.grid(60.0, 80.0, 0.0, QUIET).decay(60.0, frequencies)
        assert (grid.decay(60.0, frequencies) <= alone * (1 + 1e-6) + 1e-9).all()
        assert (grid.decay(60.0, frequencies) >= 0.9 * alone - 1e-9).all()
        rest = grid.law.jumps(4.0, 5.0, QUIET).rest(4.0, 1000.0)
        assert 0.98 * rest <= jumped.rest(4.0, 1000.0) <= 1.5 * rest


def test_near_losses_and_jumps_on_the_same_points_are_not_mixed_up() -> None:
    """Both are looked up by their law, their points and the height."""
    near, jumps = near_grids(PARTS, 4.0, 5.0, [QUIET] * 28)[0], jump_grids(PARTS, 4.0, 5.0, QUIET)[0]
    jumps.spaced = near.spaced
    assert near.steps is jumps.steps
    both = near.weights(4.0).total + jumps.weights(4.0).total
    assert near.weights(4.0).total > 1000 * jumps.weights(4.0).total > 0
    assert both == pytest.approx(float((near.steps.base * np.exp(5 * near.steps.loss)).sum()), rel=1e-9)


def test_points_are_not_kept() -> None:
    parts = [(Law(1.0, 1 / (1000 + place), Split(4.5, 6.25)), 1) for place in range(300)]
    tracemalloc.start()
    whole = Whole([(grid, 1) for grid in near_grids(parts, 60.0, 80.0, [QUIET] * 300)], 0.0, 60.0)
    views = whole.views(1000.0)
    assert len(views) == 300
    assert whole.log_mass_above(80.0) > 0
    assert tracemalloc.get_traced_memory()[1] < 3e6
    tracemalloc.stop()


def test_how_far_to_go_is_told_by_all_laws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some laws tell where to look first; if they promise too much, no less is asked of the whole."""
    parts = [(Law(1.0, 1 / (1000 + place), Split(4.5, 6.25)), 1) for place in range(80)]
    outline = Outline(sketched(parts), 0.0)
    saddle = Saddle(60.0, *outline.cumulants(60.0))
    contour = shape(outline, saddle, saddle.epsilon, math.log(1e-8))
    honest = laying.lay(parts, 0.0, contour, 1e-8, 1 << 40)
    assert honest.truncated < 1e-7
    thin = Whole.thinned

    def promising(self: Whole, most: int) -> Whole:
        return Whole([(grid, 64 * times) for grid, times in thin(self, most).grids], 0.0, self.c)

    monkeypatch.setattr(Whole, "thinned", promising)
    misled = laying.lay(parts, 0.0, contour, 1e-8, 1 << 40)
    assert (misled.count, misled.truncated) == (honest.count, honest.truncated)


def test_few_laws_are_laid_alone() -> None:
    few = PARTS[:MOST_KEPT]
    assert all(grid.is_kept for grid in near_grids(few, 60.0, 80.0, [QUIET] * MOST_KEPT))
    assert all(grid.is_kept for grid in jump_grids(few, 4.0, 5.0, QUIET))
    assert sketched(few) == few


def test_alike_laws_have_one_split() -> None:
    found = split_alike(losses(300), 1e-9)
    assert len({law.split for law, _ in found}) <= 2
    assert [times for _, times in found] == [1] * 300
    assert sorted(law.rate for law, _ in found) == sorted(float(law.rate) for law, _ in losses(300))
    assert 1e-7 < sum(jump_mass(law) for law, _ in found) < 1e-6


def test_sketches_are_near() -> None:
    """Some laws for many: as many steps, and about the same transform."""
    parts = [(Law(1.0, 1 / (1000 + place), Split(4.5, 6.25)), 2) for place in range(300)]
    some = sketched(parts)
    assert len(some) < 20
    assert sum(times for _, times in some) == 600
    whole, rough = (Outline(which, 0.0).cumulants(50.0) for which in (parts, some))
    assert whole == pytest.approx(rough, rel=1e-3)
