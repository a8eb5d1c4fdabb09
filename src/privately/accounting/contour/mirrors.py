"""A composition in the other direction, by the points that were laid for the first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privately.accounting.compositions import Composition
from privately.accounting.contour.bundles import Bundle
from privately.accounting.contour.chernoff import chernoff
from privately.accounting.contour.integral import Integral
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.laying import Layout, Whole
from privately.accounting.contour.sampled_gaussian import STEEPER, Grid
from privately.accounting.contour.view import enlarged, exp_above
from privately.accounting.elementary import Floats
from privately.accounting.losses import GaussianLoss, LaplaceLoss, SampledGaussianLoss
from privately.accounting.roads import DEAD_ENDS

_STEEPER = np.array([0.75, 0.9, 1.1, 1.5, 2.0, 2.8, 4.0, 6.0, 9.0])
"""Heights that are tried for the other direction, over that of the first."""
_SOME = np.array([0.9, 1.5, 2.8])
"""The same where there are many points."""
_CLEARLY = 0.01

Mirrored = Grid | Laplaces | Bundle


@dataclass(frozen=True)
class Known:
    """A composition that was answered, and the points it was answered by."""

    composition: Composition
    layout: Layout

    @classmethod
    def of(cls, composition: Composition, layout: Layout | None) -> Known | None:
        """None where some points would not serve the other direction: nothing is kept for nothing."""
        is_of_use = layout and all(isinstance(grid, Mirrored) for grid, _ in layout.whole.grids)
        return cls(composition, layout) if layout and is_of_use else None

    def is_mirror_below(self, composition: Composition, epsilon: Fraction, log_delta: float) -> bool:
        """Whether ln D is at most this for the same composition in the other direction: by the points of this one.

        Theorem: both directions of a sampled Gaussian are means over the same normal x of powers of the same ratio.
        Reference: Zhu-Dong-Wang 2022, Theorem 11
        Proof: docs/theory/accounting/contour.md#far-below
        Checked-by: tests/accounting/contour/test_mirrors.py::test_the_other_direction_by_the_same_points
        """
        grids = self.mirrored() if are_mirrored(self.composition, composition) else None
        if grids is None:
            return False
        c, gaussian, near = self.layout.c, self.layout.gaussian, float(epsilon)
        try:
            known = _looked_at(grids, c) if not gaussian else None
            if known is None:
                heights = c * (_SOME if any(isinstance(grid, Bundle) for grid, _ in grids) else _STEEPER)
                height = _lowest(grids, gaussian, heights, near, log_delta)
            else:
                height = _lowest_of(known, near, log_delta)
            if height is not None and chernoff(Whole(grids, gaussian, height), height, near) <= log_delta:
                return True
            integral = Integral(self._laid(Whole(grids, gaussian, c, near)))
            s = float(epsilon - integral.centre)
            return integral.upper(math.nextafter(s, -math.inf)) <= math.nextafter(log_delta, -math.inf)
        except DEAD_ENDS:
            return False

    def _laid(self, whole: Whole) -> Layout:
        """A sum of the same length for the other direction; it may be too short, but says how much it misses."""
        reach = self.layout.step * self.layout.count
        views = whole.views(reach)
        falls, atoms = whole.falls(views, np.array([reach * (1 - 2.0**-40)]), 0.0)
        return replace(
            self.layout,
            views=views,
            atoms=atoms,
            log_mass=whole.log_mass([view.log_mass for view, _ in views]),
            truncated=enlarged(exp_above(-float(falls[0])) / (3.14159 * reach)),
            whole=whole,
        )

    def mirrored(self) -> list[tuple[Mirrored, int]] | None:
        """The points for the other direction; None where some do not serve both."""
        found: list[tuple[Mirrored, int]] = []
        for grid, times in self.layout.whole.grids:
            match grid:
                case Grid() | Bundle():
                    found.append((grid.mirrored(), times))
                case Laplaces():
                    found.append((grid, times))
                case _:
                    return None
        return found


def _looked_at(grids: Sequence[tuple[Mirrored, int]], c: float) -> list[tuple[float, float]] | None:
    """Heights, with K nearly, at which sums for a law alone were taken along with the first direction's."""
    if len(grids) != 1 or not isinstance(grids[0][0], Grid):
        return None
    grid, times = grids[0][0], grids[0][1]
    heights = [c * factor for factor in STEEPER]
    looks = [grid.looks.get(grid.law.power(height)) for height in heights]
    pairs = zip(heights, looks, strict=True)
    return [(b, times * math.log1p(look.above)) for b, look in pairs if look and look.above > -1] or None


def _lowest_of(known: Sequence[tuple[float, float]], epsilon: float, log_delta: float) -> float | None:
    """As `_lowest`, where K is known."""
    level, height = min((k - b * epsilon + b * math.log(b) - (b + 1) * math.log(b + 1), b) for b, k in known)
    return height if level < log_delta - _CLEARLY else None


def _lowest(
    grids: Sequence[tuple[Mirrored, int]], gaussian: float, heights: Floats, epsilon: float, log_delta: float
) -> float | None:
    """At which of these heights a Chernoff bound is lowest, nearly; None where that seems to be above ln delta."""
    levels = (heights + 1) * (gaussian / 2 * heights) - heights * epsilon
    levels += heights * np.log(heights) - (heights + 1) * np.log(heights + 1)
    for grid, times in grids:
        levels += times * grid.levels(heights)
    place = int(levels.argmin())
    return float(heights[place]) if levels[place] < log_delta - _CLEARLY else None


def are_mirrored(one: Composition, other: Composition) -> bool:
    """Whether these are the same mechanisms in different directions; samples of normal noise, beside noise."""
    if len(one.parts) != len(other.parts):
        return False
    for (law, times), (facing, as_often) in zip(one.parts, other.parts, strict=True):
        if times != as_often:
            return False
        if isinstance(law, SampledGaussianLoss) and isinstance(facing, SampledGaussianLoss):
            if law.direction == facing.direction:
                return False
            if law.mu_squared is not facing.mu_squared and law.mu_squared != facing.mu_squared:
                return False
            if law.rate is not facing.rate and law.rate != facing.rate:
                return False
        elif not isinstance(law, (GaussianLoss, LaplaceLoss)) or law != facing:
            return False
    return True
