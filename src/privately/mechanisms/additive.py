"""What the mechanisms that add noise to numbers share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import Law
from privately.mechanisms.error_bars import half_width
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy
from privately.mechanisms.randomness import Randomness
from privately.noise import add
from privately.noise.samplers import NARROWEST, WIDEST
from privately.rounding import Number, rational

Answer = int | float | NDArray[np.int64] | NDArray[np.float64]
Norm = Literal["L1", "L2"]


class NoiseOnEveryEntry(ABC):
    """Independent noise of one `law`, in steps of the grid, on every entry of a vector that changes in some `norm`."""

    norm: ClassVar[Norm]
    grid: Grid
    dimension: int

    @property
    @abstractmethod
    def law(self) -> Law:
        """The law of the noise, in steps of the grid."""

    def change(self, sensitivity: Sensitivity) -> Sensitivity:
        """How far the vectors of neighbours lie apart, in steps."""
        return change_in_steps(sensitivity, self.norm, self.grid, self.dimension)

    def run(self, value: Any, randomness: Randomness) -> Answer:
        """One noisy number, or a noisy vector."""
        return add_noise(value, self.law, self.grid, self.dimension, randomness)

    def interval(self, confidence: Number) -> Fraction:
        """The least w such that all entries are within w of the truth with this confidence."""
        return half_width(self.law, confidence, self.dimension) * self.grid.unit + self.grid.rounding

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """The same as a statement."""
        return largest_error(self.interval(confidence), confidence)

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[Any], list[Any]]:
        """One entry takes the whole change; on a grid, as far as rounding can bring it."""
        before, after = spread_over(self.dimension, floor(self.change(sensitivity).value))
        return self.grid.values(before), self.grid.values(after)


def add_noise(value: Any, law: Law, grid: Grid, dimension: int, randomness: Randomness) -> Answer:
    """The value on its grid, plus independent noise on every entry; a number for a number, a vector for a vector."""
    steps = grid.snap(value, dimension)
    noisy = grid.back(add(steps, randomness.draw(law, size=dimension)))
    return noisy if np.ndim(value) else noisy.item()


def change_in_steps(sensitivity: Sensitivity, norm: Norm, grid: Grid, dimension: int) -> Sensitivity:
    """How far vectors on the grid lie apart in this norm, in steps."""
    return grid.steps(sensitivity.to(norm, dimension=dimension), dimension)


def read_scale(scale: Number, name: str, unit: Fraction, *, highest: Fraction = WIDEST) -> Fraction:
    """A scale of noise that can be drawn, if noise comes in such units."""
    exact = rational(scale, name, above=0)
    rational(exact / unit, name, minimum=NARROWEST, maximum=highest)
    return exact


def largest_error(error: Fraction, confidence: Number) -> Accuracy:
    """What is said of all entries at once."""
    return Accuracy(error=error, confidence=rational(confidence, "confidence"), measure="the largest error")


def saturating(exact: Derivation) -> Derivation:
    """The sums are exact; what leaves is saturated at 64 bits, or rounded to a float."""
    return rules.postprocessing(exact, description="saturated at the ends of 64 bits; with a grid, rounded to a float")


def spread_over(dimension: int, change: int) -> tuple[list[int], list[int]]:
    """Two vectors that differ in their first entry alone."""
    rest = [0] * (dimension - 1)
    return [0, *rest], [change, *rest]
