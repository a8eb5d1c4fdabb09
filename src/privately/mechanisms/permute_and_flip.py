"""Permute-and-flip: never worse than the exponential mechanism at the same epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteExponential
from privately.mechanisms.choice_errors import scales_behind
from privately.mechanisms.error_bars import miss_of
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness, flip_exp
from privately.mechanisms.selection import Selection, below_the_best
from privately.noise.samplers import NARROWEST, WIDEST
from privately.rounding import Enclosure, Number, whole


@dataclass(frozen=True, init=False)
class PermuteAndFlip(Selection, Mechanism):
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

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP from the spread of the changes."""
        spread = self.spread(sensitivity)
        return rules.permute_and_flip(scale=self.scale, spread=spread, neighbors=sensitivity.neighbors)

    def run(self, value: Any, randomness: Randomness) -> int:
        """The place of the chosen candidate among the scores.

        Theorem: the first success in a random order of independent coins is uniform among all successes; and a discrete
            exponential variable reaches a whole gap with probability exp(-gap/scale).
        Reference: symmetry
        Proof: docs/theory/mechanisms.md#permute-and-flip-all-at-once
        Checked-by: tests/mechanisms/test_permute_and_flip.py::test_choices_have_the_exact_probabilities
        """
        scores = self.read(value)
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
        odds = others / miss_of(confidence)
        behind = Enclosure.of(odds).log().claim() if odds > 1 else Fraction(0)
        return below_the_best(self.scale * behind + 2 * self.grid.rounding, confidence)

    def interval(self, confidence: Number, *, best: int = 1) -> Fraction:
        """The same from the exact law: without a grid, the least w that holds for all scores, to twelve digits.

        The choice is hardest if all others are hardly more than w behind the `best`. Where over 250 of them are
        expected to accept, the interval of the exponential mechanism stands in, wider by ln(1 + 1/best) scales at most.
        """
        others = self.candidates - whole(best, "best", maximum=self.candidates)
        behind = scales_behind(best=best, others=others, miss=miss_of(confidence))
        return self.scale * behind + 2 * self.grid.rounding


def _successes(gaps: NDArray[Any], scale: Fraction, randomness: Randomness) -> Sequence[int] | NDArray[np.intp]:
    """Whose coins accept, one for each; if no noise has this scale, by the whole part of gap/scale and the rest."""
    if NARROWEST <= scale <= WIDEST:
        return np.flatnonzero(randomness.draw(DiscreteExponential(scale=scale), size=gaps.size) >= gaps)
    exponents = [int(gap) / scale for gap in gaps]
    reached = randomness.draw(DiscreteExponential(scale=1), size=gaps.size).tolist()
    return [i for i, x in enumerate(exponents) if reached[i] >= floor(x) and flip_exp(x - floor(x), randomness)]
