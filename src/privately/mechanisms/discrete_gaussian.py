"""Discrete Gaussian noise on every entry: zCDP, and never GaussianDP."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from privately.accounting import events
from privately.accounting.events import Event
from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteGaussian as Law
from privately.mechanisms.additive import NoiseOnEveryEntry, change_in_steps, saturating
from privately.mechanisms.error_bars import most_noise
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Mechanism, Theorem, set_fields
from privately.mechanisms.neighborhoods import some_change
from privately.mechanisms.programs import Program
from privately.noise.samplers import NARROWEST, WIDEST_GAUSSIAN
from privately.rounding import Number, rational, whole


@dataclass(frozen=True, init=False)
class DiscreteGaussian(NoiseOnEveryEntry, Mechanism):
    """value + noise, where P(noise = k) is in proportion to exp(-k^2/(2 variance)).

    ZCDP with rho = L2 sensitivity^2/(2 variance).

    >>> from privately.guarantees import Sensitivity
    >>> DiscreteGaussian(variance=50).guarantee(Sensitivity(value=1, norm="L2"))
    ZCDP(rho=0.01)
    """

    justification = Theorem(
        reference="Canonne-Kamath-Steinke 2020, Theorem 4; docs/theory/mechanisms.md#discrete-gaussian-noise"
    )
    norm = "L2"
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
        points, exact = Grid(grid), rational(variance, "variance", above=0)
        rational(exact / points.unit**2, "variance", minimum=NARROWEST**2, maximum=WIDEST_GAUSSIAN**2)
        set_fields(self, variance=exact, grid=points, dimension=whole(dimension, "dimension"))

    @classmethod
    def for_rho(
        cls, rho: Number, sensitivity: Sensitivity, *, grid: Number | None = None, dimension: int = 1
    ) -> DiscreteGaussian:
        """The least noise with this rho."""
        exact, points = rational(rho, "rho", above=0), Grid(grid)
        steps = some_change(change_in_steps(sensitivity, "L2", points, dimension).value)
        return cls(variance=(steps * points.unit) ** 2 / (2 * exact), grid=grid, dimension=dimension)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, grid: Number | None = None, dimension: int = 1
    ) -> DiscreteGaussian:
        """The most noise, hence the most privacy, with which all entries are within `error` with this confidence."""

        def noisy(steps: Fraction) -> DiscreteGaussian:
            return cls(variance=steps * Grid(grid).unit ** 2, grid=grid, dimension=dimension)

        return noisy(
            most_noise(
                lambda steps: noisy(steps).interval(confidence), error, lowest=NARROWEST**2, highest=WIDEST_GAUSSIAN**2
            )
        )

    @property
    def law(self) -> Law:
        """The law of the noise, in steps of the grid."""
        return Law(variance=self.variance / self.grid.unit**2)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """ZCDP with rho = sensitivity^2/(2 variance), in L2."""
        return saturating(rules.discrete_gaussian(variance=self.law.variance, sensitivity=self.change(sensitivity)))

    def event(self, sensitivity: Sensitivity) -> Event:
        """One integer changes by whole steps; of vectors only ZCDP is known."""
        change = self.change(sensitivity)
        whole_steps = floor(change.value)
        if self.dimension > 1 or not whole_steps:
            return super().event(sensitivity)
        return events.DiscreteGaussian(variance=self.law.variance, sensitivity=whole_steps, neighbors=change.neighbors)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The values in steps, and the variance."""
        return {"values": self.grid.snap(value, self.dimension).tolist(), "variance": self.law.variance}
