"""One quantile: the exponential mechanism over all points of a range, scored by how far their rank is off."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import ZCDP, Derivation, Sensitivity
from privately.mechanisms.exponential import Exponential
from privately.mechanisms.fixed_point import FixedPoint
from privately.mechanisms.mechanism import Mechanism, Theorem
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness, flip_exp
from privately.mechanisms.ranked_points import ROW, RankedPoints
from privately.rounding import Enclosure, Number, rational


@dataclass(frozen=True, init=False)
class Quantile(RankedPoints, Mechanism):
    """A point below which about a part `probability` of the values lie; epsilon pays for the whole range.

    Values are clamped and rounded to steps first, and ranks are counted among those.

    For PureDP alone a `PermutedQuantile` is never worse; this one is for rho, of which it costs a quarter.

    Probabilities are fractions of moderate length: "0.1" rather than the float 0.1.

    >>> median = Quantile(probability="1/2", epsilon=1, lower=0, upper=1000, step=1)
    >>> median.guarantee(ROW)
    PureDP(epsilon=1)
    >>> print(median.accuracy(confidence="0.95"))
    With probability at least 95 %, the error of the rank is at most 9.90449.
    """

    justification = Theorem(reference="Smith 2011; docs/theory/mechanisms.md#quantiles")
    program = Program("""
def quantile(values: private, top, bottom, candidates, scale):
    target = top * len(values)
    scores = []
    for x in range(candidates):
        below = len([value for value in values if value < x])
        upto = len([value for value in values if value <= x])
        scores.append(0 - max(bottom * below - target, target - bottom * upto, 0))
    best = max(scores)
    while True:
        i = uniform(candidates)
        if flip_exp(Fraction(best - scores[i]) / scale):
            return i
""")

    probability: Fraction
    epsilon: Fraction
    points: FixedPoint

    @classmethod
    def for_rho(cls, rho: Number, *, probability: Number, lower: Number, upper: Number, step: Number) -> Quantile:
        """The sharpest choice with this rho, up to rounding: epsilon = sqrt(8 rho)."""
        epsilon = Fraction(Enclosure.of(8 * rational(rho, "rho", above=0)).sqrt().lower)
        return cls(probability=probability, epsilon=epsilon, lower=lower, upper=upper, step=step)

    def derive(self, sensitivity: Sensitivity = ROW) -> Derivation:
        """PureDP, if between neighbours so many rows come or go (two, if one is replaced)."""
        return self.choice(self.points.steps + 1).derive_from_spread(self.spread(sensitivity), sensitivity.neighbors)

    def derive_zcdp(self, sensitivity: Sensitivity = ROW) -> Derivation:
        """ZCDP, with rho = epsilon^2/8 for one row."""
        choice = self.choice(self.points.steps + 1)
        return choice.derive_from_spread(self.spread(sensitivity), sensitivity.neighbors, ZCDP)

    def choice(self, candidates: int) -> Exponential:
        """The exponential mechanism behind it."""
        return Exponential(scale=self.scale, candidates=candidates, monotone=self.one_sided)

    def choose(self, ordered: NDArray[np.int64], first: int, last: int, randomness: Randomness) -> int:
        """One of first, ..., last, for values in order.

        Theorem: scores are constant between neighbouring values. Points beyond the values around the target may first
            be chosen as if all were as good as the best of them, and then be accepted in proportion to their weight.
        Reference: von Neumann 1951
        Proof: docs/theory/mechanisms.md#quantiles
        Checked-by: tests/mechanisms/test_quantile.py::test_choices_have_the_exact_probabilities
        """
        choice = self.choice(last - first + 1)
        starts, misses = self.pieces(ordered, first)
        widths = np.diff(np.append(starts, last + 1))
        while True:
            piece, place = choice.choose_range(-misses, widths, randomness)
            point = int(starts[piece]) + place
            excess = self.miss(ordered, point) - int(misses[piece])
            if not excess or flip_exp(excess / choice.scale, randomness):
                return point
