"""The Laplace mechanism on integers: discrete Laplace noise on every entry."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteLaplace
from privately.mechanisms.additive import Answer, add_noise, saturating, spread_over
from privately.mechanisms.error_bars import half_width, largest
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy, Alignment, Mechanism
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.noise.samplers import NARROWEST, WIDEST
from privately.rounding import Number, rational, whole


@dataclass(frozen=True, init=False)
class Laplace(Mechanism):
    """value + noise, where P(noise = k) is in proportion to exp(-|k|/scale).

    PureDP with epsilon = L1 sensitivity/scale.

    Values are integers; with a `grid`, a power of two, floats are rounded to its multiples first.

    >>> from privately.guarantees import Sensitivity
    >>> Laplace(scale=10).guarantee(Sensitivity(value=1))
    PureDP(epsilon=0.1)
    >>> print(Laplace(scale=10).interval(confidence="0.95"))
    30
    """

    justification = Alignment(shifts="each entry's noise by the difference of the values")
    program = Program("""
def laplace(values: private, scale):
    answers = []
    for value in values:
        answers.append(value + discrete_laplace(scale))
    return answers
""")

    scale: Fraction
    grid: Grid
    dimension: int

    def __init__(self, *, scale: Number, grid: Number | None = None, dimension: int = 1) -> None:
        object.__setattr__(self, "grid", Grid(grid))
        steps = rational(scale, "scale", above=0) / self.grid.unit
        rational(steps, "scale", minimum=NARROWEST, maximum=WIDEST)
        object.__setattr__(self, "scale", rational(scale, "scale"))
        object.__setattr__(self, "dimension", whole(dimension, "dimension"))

    @classmethod
    def for_epsilon(
        cls, epsilon: Number, sensitivity: Sensitivity, *, grid: Number | None = None, dimension: int = 1
    ) -> Laplace:
        """The least noise with this epsilon."""
        exact, points = rational(epsilon, "epsilon", above=0), Grid(grid)
        steps = points.steps(sensitivity.to("L1", dimension=dimension), dimension)
        return cls(scale=steps.value * points.unit / exact, grid=grid, dimension=dimension)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, grid: Number | None = None, dimension: int = 1
    ) -> Laplace:
        """The most noise, hence the most privacy, with which all entries are within `error` with this confidence."""
        allowed, points = rational(error, "error", minimum=0), Grid(grid)
        widest = floor((allowed - points.rounding) / points.unit)

        def fits(scale: Fraction) -> bool:
            return half_width(DiscreteLaplace(scale=scale), confidence, dimension) <= widest

        steps = largest(fits, lowest=NARROWEST, highest=WIDEST, field="error")
        return cls(scale=steps * points.unit, grid=grid, dimension=dimension)

    @property
    def law(self) -> DiscreteLaplace:
        """The law of the noise, in steps of the grid."""
        return DiscreteLaplace(scale=self.scale / self.grid.unit)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP with epsilon = sensitivity/scale, in L1."""
        steps = self.grid.steps(sensitivity.to("L1", dimension=self.dimension), self.dimension)
        return saturating(rules.discrete_laplace(scale=self.law.scale, sensitivity=steps))

    def run(self, value: Any, randomness: Randomness) -> Answer:
        """One noisy number, or a noisy vector."""
        return add_noise(value, self.law, self.grid, self.dimension, randomness)

    def interval(self, confidence: Number) -> Fraction:
        """The least w such that all entries are within w of the truth with this confidence."""
        return half_width(self.law, confidence, self.dimension) * self.grid.unit + self.grid.rounding

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """The same as a statement."""
        return Accuracy(
            error=self.interval(confidence), confidence=rational(confidence, "confidence"), measure="the largest error"
        )

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The values in steps, and the scale."""
        return {"values": self.grid.snap(value, self.dimension).tolist(), "scale": self.law.scale}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[Any], list[Any]]:
        """One entry takes the whole change; on a grid, as far as rounding can bring it."""
        steps = self.grid.steps(sensitivity.to("L1", dimension=self.dimension), self.dimension)
        before, after = spread_over(self.dimension, floor(steps.value))
        return self.grid.values(before), self.grid.values(after)
