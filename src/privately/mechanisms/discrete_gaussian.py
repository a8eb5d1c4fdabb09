"""Discrete Gaussian noise on every entry: zCDP, and never GaussianDP."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteGaussian as Law
from privately.mechanisms.additive import Answer, add_noise, saturating, spread_over
from privately.mechanisms.error_bars import half_width, largest
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.noise.samplers import NARROWEST, WIDEST_GAUSSIAN
from privately.rounding import Number, rational, whole


@dataclass(frozen=True, init=False)
class DiscreteGaussian(Mechanism):
    """value + noise, where P(noise = k) is in proportion to exp(-k^2/(2 variance)).

    ZCDP with rho = L2 sensitivity^2/(2 variance).

    >>> from privately.guarantees import Sensitivity
    >>> DiscreteGaussian(variance=50).guarantee(Sensitivity(value=1, norm="L2"))
    ZCDP(rho=0.01)
    """

    justification = Theorem(
        reference="Canonne-Kamath-Steinke 2020, Theorem 4; docs/theory/mechanisms.md#discrete-gaussian-noise"
    )
    program = Program("""
def gaussian(values: private, variance):
    answers = []
    for value in values:
        answers.append(value + discrete_gaussian(variance))
    return answers
""")

    variance: Fraction
    grid: Grid
    dimension: int

    def __init__(self, *, variance: Number, grid: Number | None = None, dimension: int = 1) -> None:
        object.__setattr__(self, "grid", Grid(grid))
        exact = rational(variance, "variance", above=0)
        rational(exact / self.grid.unit**2, "variance", minimum=NARROWEST**2, maximum=WIDEST_GAUSSIAN**2)
        object.__setattr__(self, "variance", exact)
        object.__setattr__(self, "dimension", whole(dimension, "dimension"))

    @classmethod
    def for_rho(
        cls, rho: Number, sensitivity: Sensitivity, *, grid: Number | None = None, dimension: int = 1
    ) -> DiscreteGaussian:
        """The least noise with this rho."""
        exact, points = rational(rho, "rho", above=0), Grid(grid)
        steps = points.steps(sensitivity.to("L2", dimension=dimension), dimension)
        return cls(variance=(steps.value * points.unit) ** 2 / (2 * exact), grid=grid, dimension=dimension)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, grid: Number | None = None, dimension: int = 1
    ) -> DiscreteGaussian:
        """The most noise, hence the most privacy, with which all entries are within `error` with this confidence."""
        allowed, points = rational(error, "error", minimum=0), Grid(grid)
        widest = floor((allowed - points.rounding) / points.unit)

        def fits(variance: Fraction) -> bool:
            return half_width(Law(variance=variance), confidence, dimension) <= widest

        steps = largest(fits, lowest=NARROWEST**2, highest=WIDEST_GAUSSIAN**2, field="error")
        return cls(variance=steps * points.unit**2, grid=grid, dimension=dimension)

    @property
    def law(self) -> Law:
        """The law of the noise, in steps of the grid."""
        return Law(variance=self.variance / self.grid.unit**2)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """ZCDP with rho = sensitivity^2/(2 variance), in L2."""
        steps = self.grid.steps(sensitivity.to("L2", dimension=self.dimension), self.dimension)
        return saturating(rules.discrete_gaussian(variance=self.law.variance, sensitivity=steps))

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
        """The values in steps, and the variance."""
        return {"values": self.grid.snap(value, self.dimension).tolist(), "variance": self.law.variance}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[Any], list[Any]]:
        """One entry takes the whole change; on a grid, as far as rounding can bring it."""
        steps = self.grid.steps(sensitivity.to("L2", dimension=self.dimension), self.dimension)
        before, after = spread_over(self.dimension, floor(steps.value))
        return self.grid.values(before), self.grid.values(after)
