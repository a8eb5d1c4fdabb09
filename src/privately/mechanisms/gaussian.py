"""The Gaussian mechanism on integers: rounded normal noise on every entry."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import RoundedNormal
from privately.mechanisms.additive import Answer, add_noise, saturating, spread_over
from privately.mechanisms.error_bars import half_width, largest
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.noise.samplers import NARROWEST, WIDEST_GAUSSIAN
from privately.rounding import Enclosure, Number, rational, whole


@dataclass(frozen=True, init=False)
class Gaussian(Mechanism):
    """value + round(N): GaussianDP with mu = L2 sensitivity/standard deviation, hence zCDP with mu^2/2.

    round(value + N) = value + round(N) for integers, so this is the continuous mechanism, post-processed.

    >>> from privately.guarantees import Sensitivity
    >>> Gaussian(standard_deviation=10).guarantee(Sensitivity(value=1, norm="L2"))
    GaussianDP(mu=0.1)
    """

    justification = Theorem(reference="Dong-Roth-Su 2022; docs/theory/noise.md#why-rounded-normal-noise-is-gaussian")
    program = Program("""
def gaussian(values: private, standard_deviation):
    answers = []
    for value in values:
        answers.append(value + rounded_gaussian(standard_deviation))
    return answers
""")

    standard_deviation: Fraction
    grid: Grid
    dimension: int

    def __init__(self, *, standard_deviation: Number, grid: Number | None = None, dimension: int = 1) -> None:
        object.__setattr__(self, "grid", Grid(grid))
        exact = rational(standard_deviation, "standard_deviation", above=0)
        rational(exact / self.grid.unit, "standard_deviation", minimum=NARROWEST, maximum=WIDEST_GAUSSIAN)
        object.__setattr__(self, "standard_deviation", exact)
        object.__setattr__(self, "dimension", whole(dimension, "dimension"))

    @classmethod
    def for_mu(
        cls, mu: Number, sensitivity: Sensitivity, *, grid: Number | None = None, dimension: int = 1
    ) -> Gaussian:
        """The least noise with this mu."""
        exact, points = rational(mu, "mu", above=0), Grid(grid)
        steps = points.steps(sensitivity.to("L2", dimension=dimension), dimension)
        return cls(standard_deviation=steps.value * points.unit / exact, grid=grid, dimension=dimension)

    @classmethod
    def for_rho(
        cls, rho: Number, sensitivity: Sensitivity, *, grid: Number | None = None, dimension: int = 1
    ) -> Gaussian:
        """The least noise with this rho, of twelve digits: mu = sqrt(2 rho), rounded down."""
        mu = Enclosure.of(2 * rational(rho, "rho", above=0)).sqrt().lower
        return cls.for_mu(Fraction(mu), sensitivity, grid=grid, dimension=dimension)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, grid: Number | None = None, dimension: int = 1
    ) -> Gaussian:
        """The most noise, hence the most privacy, with which all entries are within `error` with this confidence."""
        allowed, points = rational(error, "error", minimum=0), Grid(grid)
        widest = floor((allowed - points.rounding) / points.unit)

        def fits(deviation: Fraction) -> bool:
            return half_width(RoundedNormal(standard_deviation=deviation), confidence, dimension) <= widest

        steps = largest(fits, lowest=NARROWEST, highest=WIDEST_GAUSSIAN, field="error")
        return cls(standard_deviation=steps * points.unit, grid=grid, dimension=dimension)

    @property
    def law(self) -> RoundedNormal:
        """The law of the noise, in steps of the grid."""
        return RoundedNormal(standard_deviation=self.standard_deviation / self.grid.unit)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """GaussianDP with mu = sensitivity/standard deviation, in L2."""
        steps = self.grid.steps(sensitivity.to("L2", dimension=self.dimension), self.dimension)
        return saturating(rules.rounded_gaussian(standard_deviation=self.law.standard_deviation, sensitivity=steps))

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
        """The values in steps, and the standard deviation."""
        return {
            "values": self.grid.snap(value, self.dimension).tolist(),
            "standard_deviation": self.law.standard_deviation,
        }

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[Any], list[Any]]:
        """One entry takes the whole change; on a grid, as far as rounding can bring it."""
        steps = self.grid.steps(sensitivity.to("L2", dimension=self.dimension), self.dimension)
        before, after = spread_over(self.dimension, floor(steps.value))
        return self.grid.values(before), self.grid.values(after)
