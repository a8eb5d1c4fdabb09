"""Permute-and-flip: never worse than the exponential mechanism at the same epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.errors import InvalidParameter
from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteExponential
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness, flip_exp
from privately.mechanisms.scores import read_scores, selection_fields, spread_of, worst_scores
from privately.noise.draws import MAX_SIZE
from privately.noise.samplers import NARROWEST, WIDEST
from privately.rounding import Enclosure, Number, rational, whole


@dataclass(frozen=True, init=False)
class PermuteAndFlip(Mechanism):
    """Candidates in random order, each accepted with probability exp(-gap/scale): PureDP with 2 sensitivity/scale.

    With `monotone` scores, which all move the same way between neighbours, epsilon is sensitivity/scale.

    >>> from privately.guarantees import Sensitivity
    >>> PermuteAndFlip(scale=2, candidates=5).guarantee(Sensitivity(value=1, norm="Linf"))
    PureDP(epsilon=1)
    """

    justification = Theorem(reference="McKenna-Sheldon 2020; docs/theory/mechanisms.md#permute-and-flip")
    program = Program("""
def permute_and_flip(scores: private, scale):
    best = max(scores)
    waiting = [i for i in range(len(scores))]
    while True:
        i = waiting.pop(uniform(len(waiting)))
        if flip_exp(Fraction(best - scores[i]) / scale):
            return i
""")

    scale: Fraction
    candidates: int
    monotone: bool
    grid: Grid

    def __init__(self, *, scale: Number, candidates: int, monotone: bool = False, grid: Number | None = None) -> None:
        fields = selection_fields(scale=scale, candidates=candidates, monotone=monotone, grid=grid, most=MAX_SIZE)
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def for_epsilon(
        cls,
        epsilon: Number,
        sensitivity: Sensitivity,
        *,
        candidates: int,
        monotone: bool = False,
        grid: Number | None = None,
    ) -> PermuteAndFlip:
        """The sharpest choice with this epsilon."""
        spread = spread_of(sensitivity, Grid(grid), monotone=monotone)
        scale = spread / rational(epsilon, "epsilon", above=0)
        return cls(scale=scale, candidates=candidates, monotone=monotone, grid=grid)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, candidates: int, monotone: bool = False, grid: Number | None = None
    ) -> PermuteAndFlip:
        """The most privacy with which the chosen score is within `error` of the best with this confidence."""
        slack = rational(error, "error", above=0) - 2 * Grid(grid).rounding
        per_scale = _odds(whole(candidates, "candidates", maximum=MAX_SIZE) - 1, confidence)
        if slack <= 0 or per_scale <= 0:
            raise InvalidParameter("error", "cannot be met: it is below one step of the grid, or nothing is to choose.")
        return cls(scale=slack / per_scale, candidates=candidates, monotone=monotone, grid=grid)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP from the spread of the changes."""
        spread = spread_of(sensitivity, self.grid, monotone=self.monotone)
        return rules.permute_and_flip(scale=self.scale, spread=spread, neighbors=sensitivity.neighbors)

    def run(self, value: Any, randomness: Randomness) -> int:
        """The place of the chosen candidate among the scores.

        Theorem: the first success in a random order of independent coins is uniform among all successes; and a discrete
            exponential variable reaches a whole gap with probability exp(-gap/scale).
        Reference: symmetry
        Proof: docs/theory/mechanisms.md#permute-and-flip-all-at-once
        Checked-by: tests/mechanisms/test_permute_and_flip.py::test_choices_have_the_exact_probabilities
        """
        scores = read_scores(value, self.grid, self.candidates)
        successes = _successes(scores.gaps(), self.scale / scores.unit, randomness)
        return int(successes[int(randomness.uniform(upper=len(successes), size=1)[0])])

    def accuracy(self, *, confidence: Number, best: int = 1) -> Accuracy:
        """How far below the best score the chosen one may be, if at least `best` candidates have that score.

        Theorem: P(score <= best - scale t) <= (|R| - |R_OPT|) exp(-t).
        Reference: union bound over the candidates that are not best
        Proof: docs/theory/mechanisms.md#utility-of-permute-and-flip
        Checked-by: tests/mechanisms/test_permute_and_flip.py::test_the_utility_theorem_holds_exactly
        """
        others = self.candidates - whole(best, "best", maximum=self.candidates)
        odds = _odds(others, confidence)
        return Accuracy(
            error=self.scale * odds + 2 * self.grid.rounding,
            confidence=rational(confidence, "confidence"),
            measure="the score below the best",
        )

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The scores in steps, and the scale."""
        scores = read_scores(value, self.grid, self.candidates)
        return {"scores": scores.steps.tolist(), "scale": self.scale / scores.unit}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[Any], list[Any]]:
        """One candidate gains what all others lose, from far behind."""
        return worst_scores(
            sensitivity,
            scale=self.scale,
            candidates=self.candidates,
            monotone=self.monotone,
            grid=self.grid,
            whole_steps=False,
        )


def _successes(gaps: NDArray[Any], scale: Fraction, randomness: Randomness) -> Sequence[int] | NDArray[np.intp]:
    """Whose coins accept, one for each; if no noise has this scale, by the whole part of gap/scale and the rest."""
    if NARROWEST <= scale <= WIDEST:
        return np.flatnonzero(randomness.draw(DiscreteExponential(scale=scale), size=gaps.size) >= gaps)
    exponents = [int(gap) / scale for gap in gaps]
    reached = randomness.draw(DiscreteExponential(scale=1), size=gaps.size).tolist()
    return [i for i, x in enumerate(exponents) if reached[i] >= floor(x) and flip_exp(x - floor(x), randomness)]


def _odds(others: int, confidence: Number) -> Fraction:
    certain = rational(confidence, "confidence", above=0)
    if certain >= 1:
        raise InvalidParameter("confidence", "must be below 1.")
    odds = Fraction(others) / (1 - certain)
    return Fraction(0) if odds <= 1 else Enclosure.of(odds).log().claim()
