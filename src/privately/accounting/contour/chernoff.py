"""Chernoff bounds: quick, and enough to tell that one direction is far below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privately.accounting.compositions import Composition
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.laying import Whole
from privately.accounting.contour.saddle import Saddle
from privately.accounting.contour.sampled_gaussian import Grid
from privately.accounting.elementary import UNIT, Floats, log_between
from privately.accounting.losses import GaussianLoss, LaplaceLoss, SampledGaussianLoss
from privately.accounting.roads import DEAD_ENDS

_STEEPER = np.array([0.75, 0.9, 1.1, 1.5, 2.0, 2.8, 4.0, 6.0, 9.0])
"""Heights that are tried for the other direction, over that of the first."""
_CLEARLY = 0.01


def chernoff(whole: Whole, b: float, epsilon: float) -> float:
    """ln D at epsilon, a float within a unit of rounding of the true one, from above."""
    mass = whole.log_mass_above(b)
    slack = 8 * UNIT * ((b + 1) * (abs(epsilon) + 1) + abs(mass))
    return mass - b * epsilon + log_chernoff(b) + slack


def log_chernoff(height: float) -> float:
    """ln of the largest value of e^(-bx) (1 - e^-x), from above: b ln b - (b + 1) ln(b + 1)."""
    small, large = log_between(height)[1], log_between(height, 1)[0]
    return height * small - (height + 1) * large + 16 * UNIT * (height + 1) * (abs(small) + abs(large) + 1)


@dataclass(frozen=True)
class Known:
    """A composition that was answered, and the points it was answered by."""

    composition: Composition
    saddle: Saddle
    whole: Whole

    def is_mirror_far_below(self, composition: Composition, epsilon: float, log_delta: float) -> bool:
        """Whether ln D is at most this for the same composition in the other direction: by the points of this one.

        Theorem: both directions of a sampled Gaussian are means over the same normal x of powers of the same ratio.
        Reference: Zhu-Dong-Wang 2022, Theorem 11
        Proof: docs/theory/accounting/contour.md#far-below
        Checked-by: tests/accounting/contour/test_chernoff.py::test_the_other_direction_by_the_same_points
        """
        grids = self.mirrored() if are_mirrored(self.composition, composition) else None
        if grids is None:
            return False
        try:
            height = _lowest(grids, self.whole.gaussian, self.saddle.c * _STEEPER, epsilon, log_delta)
            if height is None:
                return False
            return chernoff(Whole(grids, self.whole.gaussian, height), height, epsilon) <= log_delta
        except DEAD_ENDS:
            return False

    def mirrored(self) -> list[tuple[Grid | Laplaces, int]] | None:
        """The points for the other direction; None where some do not serve both."""
        found: list[tuple[Grid | Laplaces, int]] = []
        for grid, times in self.whole.grids:
            match grid:
                case Grid():
                    found.append((grid.mirrored(), times))
                case Laplaces():
                    found.append((grid, times))
                case _:
                    return None
        return found


def _lowest(
    grids: Sequence[tuple[Grid | Laplaces, int]], gaussian: float, heights: Floats, epsilon: float, log_delta: float
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
            if law.direction == facing.direction or law.mu_squared != facing.mu_squared or law.rate != facing.rate:
                return False
        elif not isinstance(law, (GaussianLoss, LaplaceLoss)) or law != facing:
            return False
    return True
