"""Where a variance is: the noises on the three sums that it is made of, weighed as they enter it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from privately.laws import DiscreteLaplace, RoundedNormal
from privately.mechanisms.sums_of_noise import NoiseLaw
from privately.query.weighing import shares_of
from privately.query.widths import width_of
from privately.rounding import Enclosure, Interval

OF_THE_MEAN = Fraction(1, 16)
"""The part of the doubt that is left to the mean, of which little depends."""
_TIMES = 2
_CELLS = 64
_ROOM, _TINY = 1 + 2**-30, 2.0**-40
"""Far more than doubles are off by, in results and in differences."""
_RAREST = 1e-200
_FARTHEST = 1000
"""So many times as far as the bounds are apart may they be from the centre."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How the sums of a question are counted, and their noise; all groups have it in common.

    The bounds `low` and `high` and the squares are as seen from a centre; `low` and `high` are so many `steps` apart.
    A square is counted in units of `unit`, and none has more than `most`. Where values are `rounded` to steps for the
    mean, and squares to their units, the variance of the tallies is another than that of the values.
    """

    law: NoiseLaw
    law_of_squares: NoiseLaw
    low: Fraction
    high: Fraction
    steps: int
    unit: Fraction
    most: int
    rounded: bool = False

    @property
    def off(self) -> Fraction:
        """How far rounding moves a variance.

        Theorem: a mean d that is rounded by at most h moves d^2 by at most h (2 |d| + h), and squares are off by half
            a unit at most; all by a little more, as doubles are rounded.
        Reference: elementary
        Proof: docs/theory/stability.md#the-noise-of-a-variance
        Checked-by: tests/query/test_spreads.py::test_rounding_moves_variances_by_no_more
        """
        half, far = (self.high - self.low) / self.steps / 2, max(abs(self.low), abs(self.high))
        return half * (2 * far + 3 * half) + self.unit / 2 if self.rounded else Fraction(0)


class Variances:
    """Where the variance of the exact sums is, given noisy ones, with one confidence.

    Theorem: let n, T, Q be the exact sums of 1, y and y^2, d = T/n and V = Q/n - d^2. Of the noisy ones Q - 2 d T +
        (d^2 - V) n is noise alone, and it is n times the difference of both variances and of the square of that of
        both means.
    Reference: Fieller 1954, for what is linear in its parts
    Proof: docs/theory/stability.md#the-noise-of-a-variance
    Checked-by: tests/query/test_spreads.py::test_variances_are_found_as_often_as_stated
    """

    def __init__(self, scale: Scale, confidence: Fraction) -> None:
        """Weights and widths are doubles, as if the bounds were 1 apart, so that all numbers are usual ones."""
        self._scale, self._reach = scale, scale.high - scale.low
        self._top = scale.most * scale.unit
        is_near = max(abs(scale.low), abs(scale.high)) <= _FARTHEST * self._reach
        low, most = (scale.low / self._reach, self._top / self._reach**2) if is_near else (Fraction(0), Fraction(0))
        self._low, self._most = float(low), float(most)
        self._shares = shares_of(scale.law, 1 - (1 - confidence) * OF_THE_MEAN)
        self._noise = _Noise(scale, 1 - (1 - confidence) * (1 - OF_THE_MEAN)) if is_near else None

    def between(self, above: int, below: int, squares: int) -> Interval | None:
        """None if there seems to be nobody; any, if the centre is too far away for doubles to tell."""
        scale, total = self._scale, above + below
        if total <= 0:
            return None
        if self._noise is None:
            return Interval(Fraction(0), self._top + scale.off)
        count, mean = Fraction(total, scale.steps), scale.low + self._reach * Fraction(above, total)
        middle = squares * scale.unit / count - mean**2
        off = self._off(self._noise, above, below, middle)
        below_it, above_it = (Fraction(one) * self._reach**2 for one in off)
        low, high = self.within(middle - below_it), self.within(middle + above_it)
        return Interval(max(low - scale.off, Fraction(0)), high + scale.off)

    def _off(self, noise: _Noise, above: int, below: int, middle: Fraction) -> tuple[float, float]:
        """How far the variance is below and above the noisy one, if the bounds are 1 apart."""
        total = above + below
        first, last, whole = self._shares.between(above, below)
        means = self._low + first / whole, self._low + last / whole
        apart = max(above / total - first / whole, last / whole - above / total) ** 2 * _ROOM
        found, least, largest = float(middle / self._reach**2), *_squared(*means)
        width, squares = 0.0, (0.0, self._most)
        for _ in range(_TIMES):
            width = noise.width(self._low, means, squares) * self._scale.steps / total
            low, high = found - width + least, found + width + apart + largest
            room = _TINY * (abs(found) + width + largest)
            squares = max(low - room, 0.0), min(max(high + room, 0.0), self._most)
        return width, width + apart

    def within(self, value: Fraction) -> Fraction:
        """The nearest that a variance can be."""
        return min(max(value, Fraction(0)), self._top)


def _squared(low: float, high: float) -> tuple[float, float]:
    ends = sorted((low**2, high**2))
    return (0.0 if low <= 0 <= high else ends[0]), ends[1]


class _Noise:
    """How far the noise on a variance, times the count, is off with one confidence; if the bounds are 1 apart."""

    def __init__(self, scale: Scale, confidence: Fraction) -> None:
        one, other = scale.law, scale.law_of_squares
        sizes = [law.scale if isinstance(law, DiscreteLaplace) else law.standard_deviation for law in (one, other)]
        unit = scale.unit / (scale.high - scale.low) ** 2
        self._doubt, self._steps, self._unit = 1 - confidence, scale.steps, float(unit)
        self._size, self._of_squares = float(sizes[0]), float(unit * sizes[1])
        self._deviations = 0.0
        if isinstance(one, RoundedNormal) and isinstance(other, RoundedNormal):
            self._deviations = float(min(_deviations(law, confidence) for law in (one, other)))

    def width(self, low: float, means: Sequence[float], squares: Sequence[float]) -> float:
        """For any mean and any mean square between these."""
        weights = [largest_weight(bound, means, squares) / self._steps for bound in (low + 1, low)]
        parts = [self._of_squares, *(weight * self._size for weight in weights)]
        rounded = self._unit + sum(weights)
        if self._deviations:
            return (math.hypot(*parts) * self._deviations + rounded / 2) * _ROOM
        return (laplace_width(parts, self._doubt) + rounded) * _ROOM


def largest_weight(bound: float, means: Sequence[float], squares: Sequence[float]) -> float:
    """Of |2 d^2 - 2 d bound - square|, where both lie so: at the ends, or where the parabola is lowest."""
    ends = [*means, *([bound / 2] if means[0] <= bound / 2 <= means[1] else [])]
    values = [2 * d * (d - bound) for d in ends]
    room = _TINY * (max(map(abs, values)) + squares[1])
    return max(abs(max(values) - squares[0]), abs(min(values) - squares[1])) + room


def _deviations(law: RoundedNormal, confidence: Fraction) -> Fraction:
    """So many standard deviations are enough."""
    return (width_of(law, confidence) + Fraction(1, 2)) / law.standard_deviation


def laplace_width(scales: Sequence[float], doubt: Fraction) -> float:
    """How far a sum of independent Laplace noises of these scales is off, but for a doubt.

    Theorem: scales are rounded up until they are different, which makes no sum nearer; then both tails are a sum of
        exponential ones.
    Reference: partial fractions of the characteristic function
    Proof: docs/theory/stability.md#the-noise-of-a-variance
    Checked-by: tests/query/test_spreads.py::test_sums_of_laplace_noise_of_several_scales
    """
    largest, likely = max(scales), float(doubt)
    if likely < _RAREST:
        return sum(scales) * float((Enclosure.of(len(scales)).log() - Enclosure.of(doubt).log()).upper) * _ROOM
    cells = list[int]()
    for scale in sorted(scales):
        cell = max(math.ceil(_CELLS * scale / largest), 1)
        cells.append(cell if not cells or cell > cells[-1] else cells[-1] + 1)
    return largest * _quantile(tuple(cells), likely) / _CELLS


@lru_cache(maxsize=2**14)
def _quantile(scales: tuple[int, ...], doubt: float) -> float:
    """Where both tails of the sum are as likely as the doubt."""
    low, high = 0.0, float(scales[-1])
    while _tail(scales, high) > doubt:
        low, high = high, 2 * high
    while high - low > high * 2**-36:
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(scales, middle) > doubt else (low, middle)
    return high * _ROOM


def _tail(scales: tuple[int, ...], at: float) -> float:
    """P(|L_1 + ... + L_k| > at) for different scales."""
    total = 0.0
    for scale in scales:
        weight = math.prod(scale**2 / (scale**2 - other**2) for other in scales if other != scale)
        total += weight * math.exp(-at / scale)
    return total
