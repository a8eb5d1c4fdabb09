"""Report noisy max: noise on every score, and the place of the largest; with Laplace noise its lead comes for free.

Integers tie. Ties are broken as if every score had a uniform fraction of its own behind the point.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any, Literal, Self, Unpack

import numpy as np

from privately.errors import InvalidParameter
from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteExponential, DiscreteLaplace
from privately.mechanisms.choice_errors import (
    lead_half_width,
    scales_behind,
    steps_behind,
    steps_behind_two_sided,
    two_sided,
)
from privately.mechanisms.error_bars import miss_of, read_confidence
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy, Alignment, Mechanism, set_fields
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.selection import Choice, Selection, below_the_best, needed, usual_scale
from privately.mechanisms.threshold_accuracy import most_noise
from privately.noise import add
from privately.noise.kernels import Draws
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
class NoisyMax(Selection, Mechanism):
    """The place of the largest noisy score: PureDP with epsilon = 2 sensitivity/scale, or half that if `monotone`.

    >>> from privately.guarantees import Sensitivity
    >>> NoisyMax(scale=2, candidates=5).guarantee(Sensitivity(value=1, norm="Linf"))
    PureDP(epsilon=1)
    """

    whole_scores = True
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
        super().__init__(scale=scale, candidates=candidates, monotone=monotone, grid=grid)
        if not isinstance(noise, str) or noise not in _PROGRAMS:
            raise InvalidParameter("noise", f"{noise!r} is neither of {', '.join(_PROGRAMS)}.")
        set_fields(self, noise=noise)

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Number,
        sensitivity: Sensitivity,
        *,
        noise: Noise = "discrete_exponential",
        **choice: Unpack[Choice],
    ) -> Self:
        """The least noise with this epsilon."""
        scale = cls(scale=usual_scale(choice), noise=noise, **choice).scale_for_epsilon(epsilon, sensitivity)
        return cls(scale=scale, noise=noise, **choice)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, noise: Noise = "discrete_exponential", **choice: Unpack[Choice]
    ) -> Self:
        """The most noise with which the chosen score is within `error` of the best with this confidence."""
        scale = cls(scale=usual_scale(choice), noise=noise, **choice).scale_for_accuracy(error, confidence)
        return cls(scale=scale, noise=noise, **choice)

    def scale_for_accuracy(self, error: Number, confidence: Number) -> Fraction:
        """The largest with which `interval` is at most `error`; whole numbers do not grow in proportion to it."""
        allowed = floor((rational(error, "error", above=0) - 2 * self.grid.rounding) / self.grid.unit)
        if allowed < 0:
            raise InvalidParameter("error", "cannot be met: it is below one step of the grid.")
        others, unit = self.candidates - 1, self.grid.unit
        behind = needed(scales_behind(best=1, others=others, miss=miss_of(confidence)))
        if self.noise == "discrete_exponential":
            return unit * (allowed + 1) / behind
        return unit * most_noise(
            two_sided, error=allowed, confidence=confidence, queries=others, answers=0, grid=Grid(None)
        )

    @property
    def program(self) -> Program:
        """One text for each kind of noise."""
        return _PROGRAMS[self.noise]

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP from the spread of the changes."""
        scale, spread = self.scale / self.grid.unit, self.spread(sensitivity) / self.grid.unit
        return rules.noisy_max(noise=self.noise, scale=scale, spread=spread, gap=False, neighbors=sensitivity.neighbors)

    def run(self, value: Any, randomness: Randomness) -> int:
        """The place of the winner among the scores."""
        return winner_of(self.noisy(value, randomness), randomness)[0]

    def noisy(self, value: Any, randomness: Randomness) -> Draws:
        """All noisy scores in steps: to work with, not to release."""
        law = self._law(self.scale / self.grid.unit)
        return add(self.read(value).steps, randomness.draw(law, size=self.candidates))

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """`interval` as a statement."""
        return below_the_best(self.interval(confidence), confidence)

    def interval(self, confidence: Number) -> Fraction:
        """How far below the best score the chosen one may be, from the exact law, whatever the scores are.

        Without a grid it is the least w for exponential noise; for Laplace noise ties count as lost, so it may be one
        step more, and above a scale of 64 steps a 32nd part of the scale.

        Theorem: the choice is hardest if all others are w + 1 steps behind one best; the winner's score is below the
            best by at most its noise minus that of the best.
        Reference: definition of the winner
        Proof: docs/theory/mechanisms.md#utility-of-noisy-max
        Checked-by: tests/mechanisms/test_noisy_max.py::test_the_chosen_score_is_as_good_as_stated
        """
        scale, others = self.scale / self.grid.unit, self.candidates - 1
        if self.noise == "discrete_exponential":
            behind = steps_behind(scale=scale, others=others, miss=miss_of(confidence))
        else:
            behind = steps_behind_two_sided(scale=scale, others=others, confidence=read_confidence(confidence))
        return behind * self.grid.unit + 2 * self.grid.rounding

    def _law(self, steps: Fraction) -> DiscreteLaplace | DiscreteExponential:
        return DiscreteLaplace(scale=steps) if self.noise == "discrete_laplace" else DiscreteExponential(scale=steps)


@dataclass(frozen=True, init=False)
class NoisyMaxWithGap(Selection, Mechanism):
    """The place of the largest noisy score and its lead over the second, for the price of the place alone.

    >>> from privately.guarantees import Sensitivity
    >>> NoisyMaxWithGap(scale=2, candidates=5).guarantee(Sensitivity(value=1, norm="Linf"))
    PureDP(epsilon=1)
    """

    whole_scores = True
    justification = Alignment(shifts="the winner's noise so that its lead over the best of the others stays the same")
    program = Program(_CHOICE.replace("NOISE", "discrete_laplace") + _LEAD)

    scale: Fraction
    candidates: int
    monotone: bool
    grid: Grid

    def __init__(self, *, scale: Number, candidates: int, monotone: bool = False, grid: Number | None = None) -> None:
        super().__init__(scale=scale, candidates=candidates, monotone=monotone, grid=grid)
        if self.candidates < 2:
            raise InvalidParameter("candidates", "there is no lead over nobody; give at least 2.")

    def scale_for_accuracy(self, error: Number, confidence: Number) -> Fraction:
        """That of the choice."""
        return self.choice.scale_for_accuracy(error, confidence)

    @cached_property
    def choice(self) -> NoisyMax:
        """The same without the lead."""
        return NoisyMax(
            scale=self.scale,
            candidates=self.candidates,
            noise="discrete_laplace",
            monotone=self.monotone,
            grid=self.grid.step,
        )

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP from the spread of the changes; the lead costs nothing more."""
        scale, spread = self.scale / self.grid.unit, self.spread(sensitivity) / self.grid.unit
        return rules.noisy_max(
            noise="discrete_laplace", scale=scale, spread=spread, gap=True, neighbors=sensitivity.neighbors
        )

    def run(self, value: Any, randomness: Randomness) -> tuple[int, Fraction]:
        """The place of the winner, and its lead, rounded down to the grid."""
        noisy = self.choice.noisy(value, randomness)
        winner, ties = winner_of(noisy, randomness)
        if ties > 1:
            return winner, Fraction(0)
        others = np.delete(noisy, winner)
        second = others.max()
        runners_up = int(np.count_nonzero(others == second))
        short = bool(randomness.bernoulli(probability=Fraction(runners_up, runners_up + 1), size=1)[0])
        return winner, (int(noisy[winner]) - int(second) - short) * self.grid.unit

    def interval(self, confidence: Number) -> Fraction:
        """How far the lead may be from the winner's true lead over the best of the others, which may be negative.

        The least w for two candidates. For more of them two chances are added up, of which the smaller hardly counts.
        """
        width = lead_half_width(
            scale=self.scale / self.grid.unit, others=self.candidates - 1, confidence=read_confidence(confidence)
        )
        return width * self.grid.unit + 2 * self.grid.rounding

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """How far below the best score the chosen one may be."""
        return self.choice.accuracy(confidence=confidence)


def winner_of(noisy: Draws, randomness: Randomness) -> tuple[int, int]:
    """The place of one of the largest, and how many of them there are."""
    tied = np.flatnonzero(noisy == noisy.max())
    return int(tied[int(randomness.uniform(upper=tied.size, size=1)[0])]), tied.size
