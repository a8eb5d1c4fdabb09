"""Permute-and-flip: never worse than the exponential mechanism at the same epsilon."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteExponential
from privately.mechanisms.choice_errors import scales_behind
from privately.mechanisms.error_bars import miss_of
from privately.mechanisms.grids import Grid
from privately.mechanisms.levels import Levels, read_ranges
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness, flip_exp
from privately.mechanisms.scores import MAX_CANDIDATES, Scores
from privately.mechanisms.selection import Selection, below_the_best
from privately.noise.samplers import NARROWEST, WIDEST
from privately.rounding import Enclosure, Number, whole

_MOST_COINS = 10**6
"""Of so many candidates each gets its coin; of more, it is quicker to look at levels."""


@dataclass(frozen=True, init=False)
class PermuteAndFlip(Selection, Mechanism):
    """Candidates in random order, each accepted with probability exp(-gap/scale): PureDP with 2 sensitivity/scale.

    With `monotone` scores, which all move the same way between neighbours, epsilon is sensitivity/scale.

    >>> from privately.guarantees import Sensitivity
    >>> PermuteAndFlip(scale=2, candidates=5).guarantee(Sensitivity(value=1, norm="Linf"))
    PureDP(epsilon=1)
    """

    justification = Theorem(reference="McKenna-Sheldon 2020; docs/theory/mechanisms.md#permute-and-flip")
    most_candidates = MAX_CANDIDATES
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
        if scores.steps.size > _MOST_COINS:
            return next(_accepted(scores, None, self.scale, randomness))[0]
        successes = _successes(scores.gaps(), self.scale / scores.unit, randomness)
        return int(successes[int(randomness.uniform(upper=len(successes), size=1)[0])])

    def accepted_in_ranges(self, scores: Any, widths: ArrayLike, randomness: Randomness) -> Iterator[tuple[int, int]]:
        """Where candidates come in ranges of one score: those that are accepted, in random order, and there is one.

        The range of each, and its place there: to work with, not to release, as ranges may depend on the data.
        """
        read, sizes, kept = read_ranges(scores, widths, grid=self.grid, candidates=self.candidates)
        for piece, place in _accepted(read, sizes, self.scale, randomness):
            yield int(kept[piece]), place

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


def _accepted(
    scores: Scores, widths: NDArray[np.int64] | None, scale: Fraction, randomness: Randomness
) -> Iterator[tuple[int, int]]:
    """The pieces of those that are accepted, in random order, and their places there; the best are among them.

    Theorem: the first success in a random order of independent coins is uniform among all successes. Accepting with
        exp(-level/8) first, and those that are with exp(level/8 - gap/scale) when their turn comes, accepts with
        exp(-gap/scale); the order is independent of either coin, and of who it is in a level.
    Reference: symmetry; McKenna-Sheldon 2020
    Proof: docs/theory/mechanisms.md#permute-and-flip-all-at-once
    Checked-by: tests/mechanisms/test_permute_and_flip.py::test_choices_by_levels_have_the_exact_probabilities,
        tests/mechanisms/test_permute_and_flip.py::test_ranges_have_the_exact_probabilities
    """
    by_level = Levels.of(scores, widths, scale)
    gone: dict[int, list[int]] = {}
    for kind in randomness.accepted(counts=by_level.counts, exponents=by_level.exponents):
        before = gone.setdefault(kind, [])
        place = int(randomness.uniform(upper=by_level.counts[kind] - len(before), size=1)[0])
        for other in before:  # in rising order
            place += other <= place
        insort(before, place)
        piece, rest = by_level.member(kind, place)
        if flip_exp(by_level.excess(piece), randomness):
            yield piece, rest
