"""The average of bounded numbers, and how many there are, by two-sided sums.

A = sum of (x - lower) and B = sum of (upper - x). Every row adds exactly upper - lower to the two together, so both
cost as much as one, and they give the count (A + B)/(upper - lower) and the average lower + A/count at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, Self

import numpy as np

from privately.errors import InvalidParameter
from privately.guarantees import Derivation, Neighbors, Sensitivity, rules
from privately.laws import DiscreteLaplace
from privately.mechanisms.additive import read_scale
from privately.mechanisms.error_bars import half_width, largest
from privately.mechanisms.fixed_point import FixedPoint
from privately.mechanisms.mechanism import Accuracy, Alignment, Mechanism, set_fields
from privately.mechanisms.neighborhoods import rows_between
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.noise.samplers import NARROWEST, WIDEST
from privately.rounding import Interval, Number, rational, whole

ROW = Sensitivity(value=1, norm="L1", neighbors=Neighbors.ADD_REMOVE)


class NoisyAverage(tuple[int, int]):  # noqa: SLOT001  (it has its points beside the tuple)
    """The two noisy sums, in steps above lower and below upper, and what follows from them."""

    points: FixedPoint

    def __new__(cls, above: int, below: int, points: FixedPoint) -> Self:
        """The sums are the tuple; the points only read them."""
        answer = super().__new__(cls, (above, below))
        answer.points = points
        return answer

    def __getnewargs__(self) -> tuple[int, int, FixedPoint]:
        """What copies are made from."""
        return (*self, self.points)

    @property
    def rows(self) -> Fraction:
        """About how many rows there are."""
        return Fraction(sum(self), self.points.steps)

    @property
    def mean(self) -> Fraction:
        """About their average; the middle of the range if there seem to be none."""
        return _mean(*self, self.points)


@dataclass(frozen=True, init=False)
class Average(Mechanism):
    """The average of values clamped to [lower, upper], and their number, for one epsilon = (upper - lower)/scale.

    >>> average = Average.for_epsilon(1, lower=0, upper=100, step="0.01")
    >>> average.guarantee(ROW)
    PureDP(epsilon=1)
    >>> print(average.accuracy(confidence="0.95", rows=1000))
    With probability at least 95 %, the error of the average is at most 0.372611.
    """

    justification = Alignment(shifts="the noise of both sums by what the row adds to them")
    program = Program("""
def average(values: private, steps, scale):
    above = 0
    below = 0
    for value in values:
        above = above + min(max(value, 0), steps)
        below = below + steps - min(max(value, 0), steps)
    return [above + discrete_laplace(scale), below + discrete_laplace(scale)]
""")

    points: FixedPoint
    scale: Fraction

    def __init__(self, *, lower: Number, upper: Number, step: Number, scale: Number) -> None:
        points = FixedPoint(lower=lower, upper=upper, step=step)
        set_fields(self, points=points, scale=read_scale(scale, "scale", points.step))

    @classmethod
    def for_epsilon(cls, epsilon: Number, *, lower: Number, upper: Number, step: Number) -> Average:
        """The least noise with this epsilon for adding or removing one row."""
        points = FixedPoint(lower=lower, upper=upper, step=step)
        scale = (points.upper - points.lower) / rational(epsilon, "epsilon", above=0)
        return cls(lower=lower, upper=upper, step=step, scale=scale)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, rows: int, lower: Number, upper: Number, step: Number
    ) -> Average:
        """The most privacy with which the average of so many rows is within `error` with this confidence."""
        points = FixedPoint(lower=lower, upper=upper, step=step)
        allowed = rational(error, "error", above=0) - points.rounding
        if not 0 < allowed < points.upper - points.lower:
            raise InvalidParameter("error", "is below half a step, or as large as the range: any answer is that close.")
        widest = floor(allowed * whole(rows, "rows") / points.step)

        def fits(steps: Fraction) -> bool:
            return half_width(DiscreteLaplace(scale=steps), confidence, 2) <= widest

        steps = largest(fits, lowest=NARROWEST, highest=WIDEST, field="error")
        return cls(lower=lower, upper=upper, step=step, scale=steps * points.step)

    @property
    def law(self) -> DiscreteLaplace:
        """The law of the noise on either sum, in steps."""
        return DiscreteLaplace(scale=self.scale / self.points.step)

    def derive(self, sensitivity: Sensitivity = ROW) -> Derivation:
        """PureDP, if between neighbours so many rows come or go (two, if one is replaced).

        Theorem: a row at k of K steps adds k to one sum and K - k to the other, K in all.
        Reference: the L1 norm of (k, K - k) for 0 <= k <= K
        Proof: docs/theory/mechanisms.md#two-sided-sums
        Checked-by: tests/mechanisms/test_average.py::test_exact_privacy_of_every_small_table
        """
        if sensitivity.norm != "L1":
            raise InvalidParameter(
                "sensitivity", f"is in {sensitivity.norm}, but rows are counted.", hint='Give their number, in "L1".'
            )
        change = Sensitivity(
            value=rows_between(sensitivity) * self.points.steps, norm="L1", neighbors=sensitivity.neighbors
        )
        sums = rules.discrete_laplace(scale=self.law.scale, sensitivity=change)
        return rules.postprocessing(sums, description="the average and the number of rows from the two noisy sums")

    def run(self, value: Any, randomness: Randomness) -> NoisyAverage:
        """Both sums with noise, and with them the average and the number of rows."""
        steps = self.points.read(value)
        total = steps.size * self.points.steps
        above = int(steps.sum(dtype=np.int64 if total < 2**63 else object))
        noise = randomness.draw(self.law, size=2)
        return NoisyAverage(above + int(noise[0]), total - above + int(noise[1]), self.points)

    def interval(self, confidence: Number, answer: NoisyAverage) -> Interval:
        """Where the average of the clamped values lies, with this confidence; post-processing of the answer.

        How far off an average is depends on how many rows there are, which only the answer tells; so it is asked for,
        and there is no interval before a release (`accuracy` has one for a number of rows that is assumed). It holds
        for both sums at once, hence for `rows` too, and for values before they are rounded: half a step is added at
        either end, also where all values lie on steps. So it covers more than stated, most of all where half a step of
        the average is not small beside scale/rows.
        """
        if not isinstance(answer, NoisyAverage):
            kind = type(answer).__name__
            raise InvalidParameter("answer", f"is of type {kind}; give the NoisyAverage that `release` returned.")
        if answer.points != self.points:
            raise InvalidParameter("answer", "comes from an Average with other bounds or another step.")
        width, (above, below), rounding = half_width(self.law, confidence, 2), answer, self.points.rounding
        lowest = _mean(above - width, below + width, self.points)
        highest = _mean(above + width, below - width, self.points)
        return Interval(max(lowest - rounding, self.points.lower), min(highest + rounding, self.points.upper))

    def accuracy(self, *, confidence: Number, rows: int = 1) -> Accuracy:
        """How far off the average of so many rows may be; the number of rows is an assumption, not looked up.

        Theorem: if neither noise exceeds w steps, the average of n rows is off by at most w step/n.
        Reference: A/(A + B) rises with A and falls with B
        Proof: docs/theory/mechanisms.md#two-sided-sums
        Checked-by: tests/mechanisms/test_average.py::test_the_error_stays_within_the_accuracy
        """
        error = half_width(self.law, confidence, 2) * self.points.step / whole(rows, "rows")
        return Accuracy(
            error=min(error + self.points.rounding, self.points.upper - self.points.lower),
            confidence=rational(confidence, "confidence"),
            measure="the error of the average",
        )

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The values in steps."""
        return {"values": self.points.read(value).tolist(), "steps": self.points.steps, "scale": self.law.scale}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[float], list[float]]:
        """Rows at one end that come, or that come in place of rows at the other end."""
        rows, replaced = floor(rows_between(sensitivity)), sensitivity.neighbors.change == "replace"
        low, high = float(self.points.lower), float(self.points.upper)
        return ([low] * (rows // 2), [high] * (rows // 2)) if replaced else ([], [high] * rows)


def _mean(above: int, below: int, points: FixedPoint) -> Fraction:
    above, below = max(above, 0), max(below, 0)
    part = Fraction(above, above + below) if above + below else Fraction(1, 2)
    return points.lower + part * (points.upper - points.lower)
