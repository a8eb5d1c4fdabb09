"""What the mechanisms that add noise to numbers share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import Derivation, rules
from privately.laws import Law
from privately.mechanisms.grids import Grid
from privately.mechanisms.randomness import Randomness
from privately.noise import add

Answer = int | float | NDArray[np.int64] | NDArray[np.float64]


def add_noise(value: Any, law: Law, grid: Grid, dimension: int, randomness: Randomness) -> Answer:
    """The value on its grid, plus independent noise on every entry; a number for a number, a vector for a vector."""
    steps = grid.snap(value, dimension)
    noisy = grid.back(add(steps, randomness.draw(law, size=dimension)))
    return noisy if np.ndim(value) else noisy.item()


def saturating(exact: Derivation) -> Derivation:
    """The sums are exact; what leaves is saturated at 64 bits, or rounded to a float."""
    return rules.postprocessing(exact, description="saturated at the ends of 64 bits; with a grid, rounded to a float")


def spread_over(dimension: int, change: int) -> tuple[list[int], list[int]]:
    """Two vectors that differ in their first entry alone."""
    rest = [0] * (dimension - 1)
    return [0, *rest], [change, *rest]
