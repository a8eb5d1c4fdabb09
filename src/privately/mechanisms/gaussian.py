"""The Gaussian mechanism on integers: rounded normal noise on every entry."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privately.accounting import events
from privately.accounting.events import Event
from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import RoundedNormal
from privately.mechanisms.additive import NoiseOnEveryEntry, change_in_steps, read_scale, saturating
from privately.mechanisms.error_bars import most_noise
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Mechanism, Theorem, set_fields
from privately.mechanisms.neighborhoods import some_change
from privately.mechanisms.programs import Program
from privately.noise.samplers import WIDEST_GAUSSIAN
from privately.rounding import Enclosure, Number, rational, whole


@dataclass(frozen=True, init=False)
class Gaussian(NoiseOnEveryEntry, Mechanism):
    """value + round(N): GaussianDP with mu = L2 sensitivity/standard deviation, hence zCDP with mu^2/2.

    round(value + N) = value + round(N) for integers, so this is the continuous mechanism, post-processed.

    >>> from privately.guarantees import Sensitivity
    >>> Gaussian(standard_deviation=10).guarantee(Sensitivity(value=1, norm="L2"))
    GaussianDP(mu=0.1)
    """

    justification = Theorem(reference="Dong-Roth-Su 2022; docs/theory/noise.md#why-rounded-normal-noise-is-gaussian")
    norm = "L2"
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
        points = Grid(grid)
        exact = read_scale(standard_deviation, "standard_deviation", points.unit, highest=WIDEST_GAUSSIAN)
        set_fields(self, standard_deviation=exact, grid=points, dimension=whole(dimension, "dimension"))

    @classmethod
    def for_mu(
        cls, mu: Number, sensitivity: Sensitivity, *, grid: Number | None = None, dimension: int = 1
    ) -> Gaussian:
        """The least noise with this mu."""
        exact, points = rational(mu, "mu", above=0), Grid(grid)
        steps = some_change(change_in_steps(sensitivity, "L2", points, dimension).value)
        return cls(standard_deviation=steps * points.unit / exact, grid=grid, dimension=dimension)

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

        def noisy(steps: Fraction) -> Gaussian:
            return cls(standard_deviation=steps * Grid(grid).unit, grid=grid, dimension=dimension)

        return noisy(most_noise(lambda steps: noisy(steps).interval(confidence), error, highest=WIDEST_GAUSSIAN))

    @property
    def law(self) -> RoundedNormal:
        """The law of the noise, in steps of the grid."""
        return RoundedNormal(standard_deviation=self.standard_deviation / self.grid.unit)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """GaussianDP with mu = sensitivity/standard deviation, in L2."""
        return saturating(
            rules.rounded_gaussian(standard_deviation=self.law.standard_deviation, sensitivity=self.change(sensitivity))
        )

    def event(self, sensitivity: Sensitivity) -> Event:
        """Its noise in units of the change."""
        change = self.change(sensitivity)
        if not change.value:
            return super().event(sensitivity)
        return events.Gaussian(noise_multiplier=self.law.standard_deviation / change.value, neighbors=change.neighbors)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The values in steps, and the standard deviation."""
        return {
            "values": self.grid.snap(value, self.dimension).tolist(),
            "standard_deviation": self.law.standard_deviation,
        }
