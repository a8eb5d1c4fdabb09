"""One quantile by permute-and-flip: never worse than by the exponential mechanism, for pure privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import Derivation, Sensitivity, rules
from privately.mechanisms.fixed_point import FixedPoint
from privately.mechanisms.mechanism import Mechanism, Theorem
from privately.mechanisms.permute_and_flip import PermuteAndFlip
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness, flip_exp
from privately.mechanisms.ranked_points import ROW, RankedPoints


@dataclass(frozen=True, init=False)
class PermutedQuantile(RankedPoints, Mechanism):
    """A point below which about a part `probability` of the values lie, chosen by permute-and-flip among all of them.

    Its rank is off by as much as that of a `Quantile` of the same epsilon, or less; by far less where points are few.
    It has no smaller cost in rho than any mechanism of its epsilon, while a `Quantile` has a quarter of that.

    >>> median = PermutedQuantile(probability="1/2", epsilon=1, lower=0, upper=1000, step=1)
    >>> median.guarantee(ROW)
    PureDP(epsilon=1)
    """

    justification = Theorem(reference="McKenna-Sheldon 2020; Smith 2011; docs/theory/mechanisms.md#permuted-quantiles")
    program = Program("""
def permuted_quantile(values: private, top, bottom, candidates, scale):
    target = top * len(values)
    scores = []
    for x in range(candidates):
        below = len([value for value in values if value < x])
        upto = len([value for value in values if value <= x])
        scores.append(0 - max(bottom * below - target, target - bottom * upto, 0))
    best = max(scores)
    waiting = [i for i in range(candidates)]
    while True:
        i = waiting.pop(uniform(len(waiting)))
        if flip_exp(Fraction(best - scores[i]) / scale):
            return i
""")

    probability: Fraction
    epsilon: Fraction
    points: FixedPoint

    def derive(self, sensitivity: Sensitivity = ROW) -> Derivation:
        """PureDP, if between neighbours so many rows come or go (two, if one is replaced)."""
        spread = self.spread(sensitivity)
        return rules.permute_and_flip(scale=self.scale, spread=spread, neighbors=sensitivity.neighbors)

    def choice(self, candidates: int) -> PermuteAndFlip:
        """The mechanism behind it."""
        return PermuteAndFlip(scale=self.scale, candidates=candidates, monotone=self.one_sided)

    def choose(self, ordered: NDArray[np.int64], first: int, last: int, randomness: Randomness) -> int:
        """One of first, ..., last, for values in order.

        Theorem: scores are constant between neighbouring values. Points beyond the values around the target may first
            be accepted as if all were as good as the best of them, and then, when their turn comes, as they should.
            Whoever is not is out, and the turn is the next one's.
        Reference: independence of the coins, and of their order
        Proof: docs/theory/mechanisms.md#permuted-quantiles
        Checked-by: tests/mechanisms/test_permuted_quantile.py::test_choices_have_the_exact_probabilities,
            tests/mechanisms/test_permuted_quantile.py::test_beginning_anew_would_be_another_law
        """
        starts, misses = self.pieces(ordered, first)
        widths = np.diff(np.append(starts, last + 1))
        choice = self.choice(last - first + 1)
        for piece, place in choice.accepted_in_ranges(-misses, widths, randomness):
            point = int(starts[piece]) + place
            excess = self.miss(ordered, point) - int(misses[piece])
            if not excess or flip_exp(excess / self.scale, randomness):
                return point
        raise AssertionError("somebody is best, and accepted")
