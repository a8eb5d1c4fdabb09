"""The exponential mechanism: a candidate in proportion to exp(score/scale), exactly, however many there are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privately.accounting import events
from privately.accounting.events import Event
from privately.guarantees import ZCDP, Derivation, Neighbors, PureDP, Sensitivity, rules
from privately.mechanisms.error_bars import miss_of
from privately.mechanisms.grids import Grid
from privately.mechanisms.levels import Levels, read_ranges
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import SYSTEM, Randomness, flip_exp
from privately.mechanisms.scores import MAX_CANDIDATES, Scores
from privately.mechanisms.selection import Selection, below_the_best
from privately.rounding import Enclosure, Number, whole


@dataclass(frozen=True, init=False)
class Exponential(Selection, Mechanism):
    """One of `candidates`, in proportion to exp(score/scale): PureDP with epsilon = 2 sensitivity/scale.

    With `monotone` scores, which all move the same way between neighbours, epsilon is sensitivity/scale. Scores are an
    array of integers, a list of integers and Fractions (over a common denominator of at most 1,200 bits), or, with a
    `grid`, any numbers.

    >>> from privately.guarantees import Sensitivity
    >>> Exponential(scale=2, candidates=5).guarantee(Sensitivity(value=1, norm="Linf"))
    PureDP(epsilon=1)
    >>> print(Exponential(scale=2, candidates=5).accuracy(confidence="0.95"))
    With probability at least 95 %, the score below the best is at most 9.21035.
    """

    justification = Theorem(reference="McSherry-Talwar 2007; docs/theory/mechanisms.md#exponential-mechanism")
    most_candidates = MAX_CANDIDATES
    program = Program("""
def exponential(scores: private, scale):
    best = max(scores)
    while True:
        i = uniform(len(scores))
        if flip_exp(Fraction(best - scores[i]) / scale):
            return i
""")

    scale: Fraction
    candidates: int
    monotone: bool
    grid: Grid

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP from the spread of the changes."""
        return self.derive_from_spread(self.spread(sensitivity), sensitivity.neighbors)

    def event(self, sensitivity: Sensitivity) -> Event:
        """Its losses lie in a range of that epsilon: less than what PureDP alone allows."""
        promised = self.guarantee(sensitivity)
        return events.Exponential(epsilon=promised.parameters["epsilon"], neighbors=promised.neighbors)

    def derive_zcdp(self, sensitivity: Sensitivity) -> Derivation:
        """ZCDP with rho = epsilon^2/8, less than what PureDP alone implies."""
        return self.derive_from_spread(self.spread(sensitivity), sensitivity.neighbors, ZCDP)

    def derive_from_spread(
        self, spread: Fraction, neighbors: Neighbors, kind: type[PureDP | ZCDP] = PureDP
    ) -> Derivation:
        """The same for scores of which more is known: the largest change of one minus the smallest."""
        return rules.exponential_mechanism(scale=self.scale, spread=spread, neighbors=neighbors, kind=kind)

    def run(self, value: Any, randomness: Randomness) -> int:
        """The place of the chosen candidate among the scores."""
        piece, _ = _choose(self.read(value), None, self.scale, randomness)
        return piece

    def release_from_ranges(self, scores: Any, widths: ArrayLike) -> int:
        """The same where candidates come in ranges of one score: the number of the candidate among all of them.

        Not which range it is in: where ranges begin and end may depend on the data.
        """
        return self.run_on_ranges(scores, widths, SYSTEM)

    def run_on_ranges(self, scores: Any, widths: ArrayLike, randomness: Randomness) -> int:
        """The same with randomness of the caller's choice."""
        piece, place = self.choose_range(scores, widths, randomness)
        return int(sum(np.asarray(widths)[:piece].tolist())) + place

    def choose_range(self, scores: Any, widths: ArrayLike, randomness: Randomness) -> tuple[int, int]:
        """Which range, and which candidate of it: to work with, not to release, as ranges may depend on the data."""
        read, sizes, kept = read_ranges(scores, widths, grid=self.grid, candidates=self.candidates)
        piece, place = _choose(read, sizes, self.scale, randomness)
        return int(kept[piece]), place

    def accuracy(self, *, confidence: Number, best: int = 1) -> Accuracy:
        """How far below the best score the chosen one may be, if at least `best` candidates have that score.

        Theorem: P(score <= best - scale (ln(|R|/|R_OPT|) + t)) <= exp(-t).
        Reference: McSherry-Talwar 2007; Dwork-Roth 2014, Theorem 3.11; seed 004
        Proof: docs/theory/mechanisms.md#utility-of-the-exponential-mechanism
        Checked-by: tests/mechanisms/test_exponential.py::test_the_utility_theorem_holds_exactly
        """
        optimal = whole(best, "best", maximum=self.candidates)
        odds = Enclosure.of(Fraction(self.candidates, optimal) / miss_of(confidence)).log().claim()
        return below_the_best(self.scale * odds + 2 * self.grid.rounding, confidence)

    def interval(self, confidence: Number, *, best: int = 1) -> Fraction:
        """The same from the exact law: without a grid, the least w that holds for all scores.

        Theorem: the choice is hardest if all others are hardly more than w behind the best: then they are chosen with
            probability x/(1 + x), where x = (|R| - |R_OPT|) exp(-w/scale)/|R_OPT|.
        Reference: monotony of the weights
        Proof: docs/theory/mechanisms.md#exact-intervals-of-choices
        Checked-by: tests/mechanisms/test_exponential.py::test_intervals_hold_for_all_scores_and_no_less_would_do
        """
        optimal, miss = whole(best, "best", maximum=self.candidates), miss_of(confidence)
        odds = Fraction(self.candidates - optimal, optimal) * (1 - miss) / miss
        behind = Enclosure.of(odds).log().claim() if odds > 1 else Fraction(0)
        return self.scale * behind + 2 * self.grid.rounding


def _choose(
    scores: Scores, widths: NDArray[np.int64] | None, scale: Fraction, randomness: Randomness
) -> tuple[int, int]:
    """A piece in proportion to width exp(-gap/scale), and a place in it.

    Theorem: choosing a level in proportion to (candidates in it) exp(-level/8), one of them uniformly, and accepting it
        with probability exp(level/8 - gap/scale), until one is accepted, chooses in proportion to exp(-gap/scale).
    Reference: von Neumann 1951
    Proof: docs/theory/mechanisms.md#choosing-by-levels
    Checked-by: tests/mechanisms/test_exponential.py::test_choices_have_the_exact_probabilities
    """
    by_level = Levels.of(scores, widths, scale)
    while True:
        kind = int(randomness.weighted(counts=by_level.counts, exponents=by_level.exponents, size=1)[0])
        place = int(randomness.uniform(upper=by_level.counts[kind], size=1)[0])
        piece, rest = by_level.member(kind, place)
        if flip_exp(by_level.excess(piece), randomness):
            return piece, rest
