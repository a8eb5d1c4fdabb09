"""The Laplace mechanism on integers: discrete Laplace noise on every entry."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from privately.accounting import events
from privately.accounting.events import Event
from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteLaplace
from privately.mechanisms.additive import NoiseOnEveryEntry, change_in_steps, read_scale, saturating
from privately.mechanisms.error_bars import most_noise
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Alignment, Mechanism, set_fields
from privately.mechanisms.neighborhoods import some_change
from privately.mechanisms.programs import Program
from privately.rounding import Number, rational, whole


@dataclass(frozen=True, init=False)
class Laplace(NoiseOnEveryEntry, Mechanism):
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
    norm = "L1"
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
        points = Grid(grid)
        exact = read_scale(scale, "scale", points.unit)
        set_fields(self, scale=exact, grid=points, dimension=whole(dimension, "dimension"))

    @classmethod
    def for_epsilon(
        cls, epsilon: Number, sensitivity: Sensitivity, *, grid: Number | None = None, dimension: int = 1
    ) -> Laplace:
        """The least noise with this epsilon."""
        exact, points = rational(epsilon, "epsilon", above=0), Grid(grid)
        steps = some_change(change_in_steps(sensitivity, "L1", points, dimension).value)
        return cls(scale=steps * points.unit / exact, grid=grid, dimension=dimension)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, grid: Number | None = None, dimension: int = 1
    ) -> Laplace:
        """The most noise, hence the most privacy, with which all entries are within `error` with this confidence."""

        def noisy(steps: Fraction) -> Laplace:
            return cls(scale=steps * Grid(grid).unit, grid=grid, dimension=dimension)

        return noisy(most_noise(lambda steps: noisy(steps).interval(confidence), error))

    @property
    def law(self) -> DiscreteLaplace:
        """The law of the noise, in steps of the grid."""
        return DiscreteLaplace(scale=self.scale / self.grid.unit)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP with epsilon = sensitivity/scale, in L1."""
        return saturating(rules.discrete_laplace(scale=self.law.scale, sensitivity=self.change(sensitivity)))

    def event(self, sensitivity: Sensitivity) -> Event:
        """Integers change by whole steps."""
        change = self.change(sensitivity)
        whole_steps = floor(change.value)
        if not whole_steps:
            return super().event(sensitivity)
        return events.DiscreteLaplace(scale=self.law.scale, sensitivity=whole_steps, neighbors=change.neighbors)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The values in steps, and the scale."""
        return {"values": self.grid.snap(value, self.dimension).tolist(), "scale": self.law.scale}
