"""Report noisy max: noise on every score, and the place of the largest; with Laplace noise its lead comes for free.

Integers tie. Ties are broken as if every score had a uniform fraction of its own behind the point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, Literal

import numpy as np

from privately.errors import InvalidParameter
from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteExponential, DiscreteLaplace
from privately.mechanisms.error_bars import half_width, largest
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy, Alignment, Mechanism
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.scores import selection_fields, worst_scores
from privately.noise import add
from privately.noise.draws import MAX_SIZE
from privately.noise.kernels import Draws
from privately.noise.samplers import NARROWEST, WIDEST
from privately.rounding import Number, rational

Noise = Literal["discrete_laplace", "discrete_exponential"]


_CHOICE = """
def noisy_max(scores: private, scale):
    noisy = []
    for score in scores:
        noisy.append(score + NOISE(scale))
    best = max(noisy)
    tied = [i for i in range(len(noisy)) if noisy[i] == best]
    winner = tied[uniform(len(tied))]
"""
_LEAD = """
    if len(tied) > 1:
        return [winner, 0]
    second = max([noisy[i] for i in range(len(noisy)) if i != winner])
    runners_up = len([i for i in range(len(noisy)) if noisy[i] == second])
    lead = best - second
    if flip(Fraction(runners_up, runners_up + 1)):
        lead = lead - 1
    return [winner, lead]
"""
_PROGRAMS = {
    noise: Program(_CHOICE.replace("NOISE", noise) + "    return winner\n")
    for noise in ("discrete_laplace", "discrete_exponential")
}


@dataclass(frozen=True, init=False)
class NoisyMax(Mechanism):
    """The place of the largest noisy score: PureDP with epsilon = 2 sensitivity/scale, or half that if `monotone`.

    >>> from privately.guarantees import Sensitivity
    >>> NoisyMax(scale=2, candidates=5).guarantee(Sensitivity(value=1, norm="Linf"))
    PureDP(epsilon=1)
    """

    justification = Alignment(shifts="the winner's noise by the largest change of a score minus its own change")

    scale: Fraction
    candidates: int
    noise: Noise
    monotone: bool
    grid: Grid

    def __init__(
        self,
        *,
        scale: Number,
        candidates: int,
        noise: Noise = "discrete_exponential",
        monotone: bool = False,
        grid: Number | None = None,
    ) -> None:
        if noise not in _PROGRAMS:
            raise InvalidParameter("noise", f"{noise!r} is neither of {', '.join(_PROGRAMS)}.")
        object.__setattr__(self, "noise", noise)
        _initialize(self, scale, candidates, monotone=monotone, grid=grid)

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Number,
        sensitivity: Sensitivity,
        *,
        candidates: int,
        noise: Noise = "discrete_exponential",
        monotone: bool = False,
        grid: Number | None = None,
    ) -> NoisyMax:
        """The least noise with this epsilon."""
        scale = _scale_for(epsilon, sensitivity, Grid(grid), monotone=monotone)
        return cls(scale=scale, candidates=candidates, noise=noise, monotone=monotone, grid=grid)

    @classmethod
    def for_accuracy(
        cls,
        *,
        error: Number,
        confidence: Number,
        candidates: int,
        noise: Noise = "discrete_exponential",
        monotone: bool = False,
        grid: Number | None = None,
    ) -> NoisyMax:
        """The most noise with which the chosen score is within `error` of the best with this confidence."""

        def made(scale: Fraction) -> NoisyMax:
            return cls(scale=scale, candidates=candidates, noise=noise, monotone=monotone, grid=grid)

        return made(_most_noise(made, error, confidence, Grid(grid)))

    @property
    def program(self) -> Program:
        """One text for each kind of noise."""
        return _PROGRAMS[self.noise]

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP from the spread of the changes."""
        return _derive(self, sensitivity, self.noise, gap=False)

    def run(self, value: Any, randomness: Randomness) -> int:
        """The place of the winner among the scores."""
        return _winner(_noisy(self, value, self.noise, randomness), randomness)[0]

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """How far below the best score the chosen one may be: the noise of the winner minus that of the best."""
        return _accuracy(self, confidence, self.noise)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The scores in steps, and the scale."""
        return {"scores": self.grid.snap(value, self.candidates).tolist(), "scale": self.scale / self.grid.unit}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[Any], list[Any]]:
        """One candidate gains what all others lose, from far behind."""
        return _worst_case(self, sensitivity)


@dataclass(frozen=True, init=False)
class NoisyMaxWithGap(Mechanism):
    """The place of the largest noisy score and its lead over the second, for the price of the place alone.

    >>> from privately.guarantees import Sensitivity
    >>> NoisyMaxWithGap(scale=2, candidates=5).guarantee(Sensitivity(value=1, norm="Linf"))
    PureDP(epsilon=1)
    """

    justification = Alignment(shifts="the winner's noise so that its lead over the best of the others stays the same")
    program = Program(_CHOICE.replace("NOISE", "discrete_laplace") + _LEAD)

    scale: Fraction
    candidates: int
    monotone: bool
    grid: Grid

    def __init__(self, *, scale: Number, candidates: int, monotone: bool = False, grid: Number | None = None) -> None:
        _initialize(self, scale, candidates, monotone=monotone, grid=grid)
        if self.candidates < 2:
            raise InvalidParameter("candidates", "there is no lead over nobody; give at least 2.")

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Number,
        sensitivity: Sensitivity,
        *,
        candidates: int,
        monotone: bool = False,
        grid: Number | None = None,
    ) -> NoisyMaxWithGap:
        """The least noise with this epsilon."""
        scale = _scale_for(epsilon, sensitivity, Grid(grid), monotone=monotone)
        return cls(scale=scale, candidates=candidates, monotone=monotone, grid=grid)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, candidates: int, monotone: bool = False, grid: Number | None = None
    ) -> NoisyMaxWithGap:
        """The most noise with which the chosen score is within `error` of the best with this confidence."""

        def made(scale: Fraction) -> NoisyMaxWithGap:
            return cls(scale=scale, candidates=candidates, monotone=monotone, grid=grid)

        return made(_most_noise(made, error, confidence, Grid(grid)))

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP from the spread of the changes."""
        return _derive(self, sensitivity, "discrete_laplace", gap=True)

    def run(self, value: Any, randomness: Randomness) -> tuple[int, Fraction]:
        """The place of the winner, and its lead, rounded down to the grid."""
        noisy = _noisy(self, value, "discrete_laplace", randomness)
        winner, ties = _winner(noisy, randomness)
        if ties > 1:
            return winner, Fraction(0)
        others = np.delete(noisy, winner)
        second = others.max()
        runners_up = int(np.count_nonzero(others == second))
        short = bool(randomness.bernoulli(probability=Fraction(runners_up, runners_up + 1), size=1)[0])
        return winner, (int(noisy[winner]) - int(second) - short) * self.grid.unit

    def interval(self, confidence: Number) -> Fraction:
        """How far the lead may be from the winner's true lead over the best of the others, which may be negative.

        Theorem: if all noise is within w of zero, leads are within 2w of the truth, and their floor within 2w + 1.
        Reference: triangle inequality
        Proof: docs/theory/mechanisms.md#utility-of-noisy-max
        Checked-by: tests/mechanisms/test_noisy_max.py::test_leads_are_as_close_to_the_truth_as_stated
        """
        return self.accuracy(confidence=confidence).error + self.grid.unit

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """How far below the best score the chosen one may be."""
        return _accuracy(self, confidence, "discrete_laplace")

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The scores in steps, and the scale."""
        return {"scores": self.grid.snap(value, self.candidates).tolist(), "scale": self.scale / self.grid.unit}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[Any], list[Any]]:
        """One candidate gains what all others lose, from far behind."""
        return _worst_case(self, sensitivity)


def _initialize(
    mechanism: NoisyMax | NoisyMaxWithGap, scale: Number, candidates: int, *, monotone: bool, grid: Number | None
) -> None:
    fields = selection_fields(scale=scale, candidates=candidates, monotone=monotone, grid=grid, most=MAX_SIZE)
    for name, value in fields.items():
        object.__setattr__(mechanism, name, value)


def _spread(sensitivity: Sensitivity, grid: Grid, *, monotone: bool) -> int:
    """In steps, where changes are whole numbers."""
    change = floor(grid.steps(sensitivity.to("Linf"), 1).value)
    return change if monotone else 2 * change


def _scale_for(epsilon: Number, sensitivity: Sensitivity, grid: Grid, *, monotone: bool) -> Fraction:
    return _spread(sensitivity, grid, monotone=monotone) * grid.unit / rational(epsilon, "epsilon", above=0)


def _most_noise(
    made: Callable[[Fraction], NoisyMax | NoisyMaxWithGap], error: Number, confidence: Number, grid: Grid
) -> Fraction:
    allowed = rational(error, "error", minimum=0)

    def fits(steps: Fraction) -> bool:
        return made(steps * grid.unit).accuracy(confidence=confidence).error <= allowed

    return largest(fits, lowest=NARROWEST, highest=WIDEST, field="error") * grid.unit


def _law(mechanism: NoisyMax | NoisyMaxWithGap, noise: Noise) -> DiscreteLaplace | DiscreteExponential:
    steps = mechanism.scale / mechanism.grid.unit
    return DiscreteLaplace(scale=steps) if noise == "discrete_laplace" else DiscreteExponential(scale=steps)


def _derive(mechanism: NoisyMax | NoisyMaxWithGap, sensitivity: Sensitivity, noise: Noise, *, gap: bool) -> Derivation:
    return rules.noisy_max(
        noise=noise,
        scale=mechanism.scale / mechanism.grid.unit,
        spread=_spread(sensitivity, mechanism.grid, monotone=mechanism.monotone),
        gap=gap,
        neighbors=sensitivity.neighbors,
    )


def _noisy(mechanism: NoisyMax | NoisyMaxWithGap, value: Any, noise: Noise, randomness: Randomness) -> Draws:
    scores = mechanism.grid.snap(value, mechanism.candidates)
    return add(scores, randomness.draw(_law(mechanism, noise), size=mechanism.candidates))


def _winner(noisy: Draws, randomness: Randomness) -> tuple[int, int]:
    """The place of one of the largest, and how many of them there are."""
    tied = np.flatnonzero(noisy == noisy.max())
    return int(tied[int(randomness.uniform(upper=tied.size, size=1)[0])]), tied.size


def _accuracy(mechanism: NoisyMax | NoisyMaxWithGap, confidence: Number, noise: Noise) -> Accuracy:
    """If all noise is within w of zero, nobody overtakes from over 2w behind; from over w, if none is negative.

    Theorem: the winner's score is below the best by at most its noise minus that of the best.
    Reference: definition of the winner
    Proof: docs/theory/mechanisms.md#utility-of-noisy-max
    Checked-by: tests/mechanisms/test_noisy_max.py::test_the_chosen_score_is_as_good_as_stated
    """
    widest = half_width(_law(mechanism, noise), confidence, mechanism.candidates)
    steps = 2 * widest if noise == "discrete_laplace" else widest
    error = steps * mechanism.grid.unit + 2 * mechanism.grid.rounding
    return Accuracy(error=error, confidence=rational(confidence, "confidence"), measure="the score below the best")


def _worst_case(mechanism: NoisyMax | NoisyMaxWithGap, sensitivity: Sensitivity) -> tuple[list[Any], list[Any]]:
    return worst_scores(
        sensitivity,
        scale=mechanism.scale,
        candidates=mechanism.candidates,
        monotone=mechanism.monotone,
        grid=mechanism.grid,
        whole_steps=True,
    )
