"""Where a variance is: the noises on the three sums that it is made of, weighed as they enter it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from privately.laws import DiscreteLaplace, RoundedNormal
from privately.mechanisms.sums_of_noise import NoiseLaw
from privately.query.weighing import share_between
from privately.query.widths import width_of
from privately.rounding import Enclosure, Interval

OF_THE_MEAN = Fraction(1, 16)
"""The part of the doubt that is left to the mean, of which little depends."""
_TIMES = 2
_CELLS = 64
_ROOM = 1 + 2**-30
_RAREST = 1e-200


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Noisy sums of one group: of steps above the lower and below the upper bound, and of squares.

    The bounds `low` and `high` and the squares are as seen from a centre; `low` and `high` are so many `steps` apart.
    A square is counted in units of `unit`, of which the mean square has no more than `most`.
    """

    above: int
    below: int
    squares: int
    law: NoiseLaw
    law_of_squares: NoiseLaw
    low: Fraction
    high: Fraction
    steps: int
    unit: Fraction
    most: int

    @property
    def count(self) -> Fraction:
        return Fraction(self.above + self.below, self.steps)


def variance_between(found: Moments, confidence: Fraction) -> Interval | None:
    """Where the variance of the exact sums is; None if there seems to be nobody.

    Theorem: let n, T, Q be the exact sums of 1, y and y^2, d = T/n and V = Q/n - d^2. Of the noisy ones Q - 2 d T +
        (d^2 - V) n is noise alone, and it is n times the difference of both variances and of the square of that of
        both means.
    Reference: Fieller 1954, for what is linear in its parts
    Proof: docs/theory/stability.md#the-noise-of-a-variance
    Checked-by: tests/query/test_spreads.py::test_variances_are_found_as_often_as_stated
    """
    count = found.count
    if count <= 0:
        return None
    doubt = 1 - confidence
    shares = share_between(found.law, 1 - doubt * OF_THE_MEAN, found.above, found.below)
    means = [found.low + (found.high - found.low) * share for share in shares]
    mean = found.low + (found.high - found.low) * Fraction(found.above, found.above + found.below)
    apart = max((mean - end) ** 2 for end in means)
    least, largest = _squared(*means)
    middle, top = found.squares * found.unit / count - mean**2, found.most * found.unit
    squares, low, high = (Fraction(0), top), middle, middle
    for _ in range(_TIMES):
        width = _width(found, means, squares, 1 - doubt * (1 - OF_THE_MEAN)) / count
        low, high = middle - width, middle + width + apart
        squares = _within(low + least, top), _within(high + largest, top)
    return Interval(_within(low, top), _within(high, top))


def _within(value: Fraction, top: Fraction) -> Fraction:
    return min(max(value, Fraction(0)), top)


def _squared(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    ends = sorted((low**2, high**2))
    return (Fraction(0) if low <= 0 <= high else ends[0]), ends[1]


def _width(found: Moments, means: Sequence[Fraction], squares: Sequence[Fraction], confidence: Fraction) -> Fraction:
    """How far the noise is off, for any mean and any mean square between these."""
    weights = [_largest_weight(bound, means, squares) / found.steps for bound in (found.high, found.low)]
    rounded = found.unit + sum(weights)
    one, other = found.law, found.law_of_squares
    if isinstance(one, RoundedNormal) and isinstance(other, RoundedNormal):
        deviations = [found.unit * other.standard_deviation, *(weight * one.standard_deviation for weight in weights)]
        size = Fraction(Enclosure.of(sum(each**2 for each in deviations)).sqrt().upper)
        return size * min(_normal(one, confidence), _normal(other, confidence)) + rounded / 2
    assert isinstance(one, DiscreteLaplace)  # noqa: S101 - both noises are of one kind
    assert isinstance(other, DiscreteLaplace)  # noqa: S101 - both noises are of one kind
    return laplace_width([found.unit * other.scale, *(weight * one.scale for weight in weights)], confidence) + rounded


def _largest_weight(bound: Fraction, means: Sequence[Fraction], squares: Sequence[Fraction]) -> Fraction:
    """Of |2 d^2 - 2 d bound - square|, where both lie so: at the ends, or where the parabola is lowest."""
    ends = [*means, *([bound / 2] if means[0] <= bound / 2 <= means[1] else [])]
    return max(abs(2 * d * (d - bound) - square) for d in ends for square in squares)


def _normal(law: RoundedNormal, confidence: Fraction) -> Fraction:
    """So many standard deviations are enough."""
    return (width_of(law, confidence) + Fraction(1, 2)) / law.standard_deviation


def laplace_width(scales: Sequence[Fraction], confidence: Fraction) -> Fraction:
    """How far a sum of independent Laplace noises of these scales is off.

    Theorem: it holds with this confidence; scales are rounded up until they are different, which makes no sum nearer.
    Reference: partial fractions of the characteristic function
    Proof: docs/theory/stability.md#the-noise-of-a-variance
    Checked-by: tests/query/test_spreads.py::test_sums_of_laplace_noise_of_several_scales
    """
    largest, doubt = max(scales), float(1 - confidence)
    if doubt < _RAREST:
        return sum(scales, Fraction(0)) * Fraction(
            (Enclosure.of(len(scales)).log() - Enclosure.of(1 - confidence).log()).upper
        )
    cells = list[int]()
    for scale in sorted(scales):
        cell = max(math.ceil(_CELLS * scale / largest), 1)
        cells.append(cell if not cells or cell > cells[-1] else cells[-1] + 1)
    return largest * Fraction(_quantile(tuple(cells), doubt)) / _CELLS


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
