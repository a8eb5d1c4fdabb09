"""What quantiles share that are chosen among all points of a range by how far the rank of a point is off."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import ceil, floor
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privately.errors import InvalidParameter
from privately.guarantees import Neighbors, Sensitivity
from privately.mechanisms.fixed_point import FixedPoint
from privately.mechanisms.mechanism import Accuracy
from privately.mechanisms.neighborhoods import least_rows, rows_between
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.selection import Selection, needed
from privately.rounding import Number, rational

ROW = Sensitivity(value=1, norm="Linf", neighbors=Neighbors.ADD_REMOVE)
LARGEST_DENOMINATOR = 10**6
_REACH = 64
"""Points further than so many scales from the best are drawn so seldom that they are lumped together first."""


class RankedPoints(ABC):
    """The scores of points, and how far off the rank of a chosen one is; `choice` says who chooses, `choose` does.

    Scores are -max(b #{v < x} - a n, a n - b #{v <= x}, 0) for a quantile a/b of n values.
    """

    probability: Fraction
    epsilon: Fraction
    points: FixedPoint

    def __init__(self, *, probability: Number, epsilon: Number, lower: Number, upper: Number, step: Number) -> None:
        exact = rational(probability, "probability", minimum=0, maximum=1)
        if exact.denominator > LARGEST_DENOMINATOR:
            raise InvalidParameter(
                "probability", f"needs a denominator above {LARGEST_DENOMINATOR}.", hint='Round it, such as "0.1".'
            )
        object.__setattr__(self, "probability", exact)
        object.__setattr__(self, "epsilon", rational(epsilon, "epsilon", above=0))
        object.__setattr__(self, "points", FixedPoint(lower=lower, upper=upper, step=step))
        self.choice(self.points.steps + 1)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, probability: Number, lower: Number, upper: Number, step: Number
    ) -> Self:
        """The most privacy with which the rank is off by at most `error` with this confidence, by `interval`."""
        unit = cls(probability=probability, epsilon=1, lower=lower, upper=upper, step=step)
        whole_misses = floor(rational(error, "error", above=0) * unit.probability.denominator)
        epsilon = needed(unit.choice(unit.points.steps + 1).interval(confidence)) / (whole_misses + 1)
        return cls(probability=probability, epsilon=epsilon, lower=lower, upper=upper, step=step)

    @abstractmethod
    def choice(self, candidates: int) -> Selection:
        """The mechanism that chooses among so many points."""

    @abstractmethod
    def choose(self, ordered: NDArray[np.int64], first: int, last: int, randomness: Randomness) -> int:
        """One of first, ..., last, for values in order."""

    @property
    def one_sided(self) -> bool:
        """Whether a row moves all scores in the same direction."""
        return self.probability in {0, 1}

    @property
    def scale(self) -> Fraction:
        """Of the scores: by how much a row spreads them, over epsilon.

        Theorem: for a quantile a/b the score changes by at most max(a, b - a) when a row comes or goes; and for a = 0
            and a = b all scores change in the same direction.
        Reference: Smith 2011
        Proof: docs/theory/mechanisms.md#quantiles
        Checked-by: tests/mechanisms/test_ranked_points.py::test_no_row_changes_a_score_by_more
        """
        return self._step_of_score * (1 if self.one_sided else 2) / self.epsilon

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """How far apart the scores are moved, if so many rows come or go (two, if one is replaced).

        Where as many rows come as go, or fewer, each pair is a replaced row, which costs less than two.

        Theorem: a row that is replaced moves the scores a spread of at most 2b apart, and b for the quantiles 0 and 1;
            a row that comes or goes 2 max(a, b - a), and b. Spreads add up.
        Reference: Smith 2011, for the median
        Proof: docs/theory/mechanisms.md#quantiles
        Checked-by: tests/mechanisms/test_ranked_points.py::test_no_replaced_row_spreads_the_scores_further
        """
        rows, neighbors, sides = rows_between(sensitivity), sensitivity.neighbors, 1 if self.one_sided else 2
        if neighbors.change == "replace" and rows == least_rows(neighbors):
            return rows / 2 * self.probability.denominator * sides
        return rows * self._step_of_score * sides

    def run(self, value: Any, randomness: Randomness) -> Fraction:
        """The chosen point."""
        steps = np.sort(self.points.read(value))
        return self.points.back(self.choose(steps, 0, self.points.steps, randomness))

    def miss(self, ordered: NDArray[np.int64], point: int) -> int:
        """By how much the rank of a point misses the target, times the denominator."""
        below, upto = np.searchsorted(ordered, point, "left"), np.searchsorted(ordered, point, "right")
        return int(self._misses(ordered.size, below, upto))

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """By how many ranks the point may be off."""
        scored = self.choice(self.points.steps + 1).accuracy(confidence=confidence)
        return Accuracy(
            error=scored.error / self.probability.denominator,
            confidence=scored.confidence,
            measure="the error of the rank",
        )

    def interval(self, confidence: Number) -> Fraction:
        """The least w that the choice allows such that the rank is off by at most w with this confidence.

        Theorem: some point has exactly the rank that is wanted, and by how much others miss it is whole in units of the
            score; so those that miss by w or more are as far behind as the choice allows, or further.
        Reference: definition of the score
        Proof: docs/theory/mechanisms.md#exact-intervals-of-choices
        Checked-by: tests/mechanisms/test_quantile.py::test_intervals_hold_for_all_tables,
            tests/mechanisms/test_quantile.py::test_no_smaller_interval_would_do,
            tests/mechanisms/test_permuted_quantile.py::test_intervals_hold_for_all_tables
        """
        return self.interval_of(self.choice(self.points.steps + 1).interval(confidence))

    def interval_of(self, score: Fraction) -> Fraction:
        """By how much the rank is off, if points that are so far behind in score, or further, are not chosen."""
        return Fraction(max(ceil(score) - 1, 0), self.probability.denominator)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The values in steps, the quantile as a fraction, and the scale of the scores."""
        return {
            "values": self.points.read(value).tolist(),
            "top": self.probability.numerator,
            "bottom": self.probability.denominator,
            "candidates": self.points.steps + 1,
            "scale": self.scale,
        }

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[float], list[float]]:
        """Rows that come at an end where no others are, and make all the points that were best as bad as they can.

        Few points lie at the end and many in the middle. The wider the range, the less there is to improve.
        """
        replaced = sensitivity.neighbors.change == "replace"
        rows = floor(rows_between(sensitivity) / (2 if replaced else 1))
        low, high, step = (float(x) for x in (self.points.lower, self.points.upper, self.points.step))
        start, end, beside = (low, high, high - step) if 2 * self.probability >= 1 else (high, low, low + step)
        many = self._step_of_score
        before = [start] * (many * rows) + [beside] * ((self.probability.denominator - many) * rows)
        return before, [*before[rows if replaced else 0 :], *[end] * rows]

    @property
    def _step_of_score(self) -> int:
        return max(self.probability.numerator, self.probability.denominator - self.probability.numerator)

    def _misses(self, rows: int, below: Any, upto: Any) -> Any:
        target, bottom = self.probability.numerator * rows, self.probability.denominator
        return np.maximum(np.maximum(bottom * below - target, target - bottom * upto), 0)

    def pieces(self, ordered: NDArray[np.int64], first: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each piece begins, and the least by which its points miss; only values near the target have one."""
        rows, bottom = ordered.size, self.probability.denominator
        if not rows:
            return np.array([first]), np.array([0])
        target, reach = self.probability.numerator * rows, ceil(_REACH * self.scale)
        low = min(max((target - reach) // bottom, 0), rows - 1)
        high = min(max((target + reach) // bottom + 1, low + 1), rows)
        near = np.unique(ordered[low:high])
        below, upto = np.searchsorted(ordered, near, "left"), np.searchsorted(ordered, near, "right")
        starts = np.concatenate([[first], np.stack([near, near + 1], axis=1).ravel()])
        between = self._misses(rows, upto, upto)
        misses = np.concatenate(
            [
                self._misses(rows, below[:1], below[:1]),
                np.stack([self._misses(rows, below, upto), between], axis=1).ravel(),
            ]
        )
        return starts, misses
