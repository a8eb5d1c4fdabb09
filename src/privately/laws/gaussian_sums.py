"""Sums of exp(-j^2/(2v)) over all integers j, and over all j from n on, at a cost that does not grow with v or n.

f(j) = exp(-j^2/(2v))     B_m  Bernoulli numbers
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, floor, isqrt

from privately.laws.series import NEGLIGIBLE, widened
from privately.rounding import Enclosure, normal_cdf
from privately.rounding.normal import PI

_DUAL_ABOVE = Fraction(1, 4)
_SMOOTH_ABOVE = 100
_ORDER = 48


def whole_sum(v: Fraction) -> Enclosure:
    """The sum of exp(-j^2/(2v)) over all integers j.

    Theorem: it equals sqrt(2 pi v) times the sum of exp(-2 pi^2 v j^2); and the sum of exp(-a j^2) over all j beyond J
        is at most exp(-a (J+1)^2)/(1 - exp(-a)) on either side.
    Reference: Poisson summation, DLMF 20.7(viii); Canonne-Kamath-Steinke 2020
    Proof: docs/theory/laws.md#whole-sum
    Checked-by: tests/laws/test_gaussian_sums.py::test_whole_sum_contains_the_truth
    """
    if v < _DUAL_ABOVE:
        return _theta(Enclosure.of(1 / (2 * v)))
    return (2 * PI * v).sqrt() * _theta(2 * PI * PI * v)


def half_sum(n: int, v: Fraction) -> Enclosure:
    """The sum of exp(-j^2/(2v)) over all j >= n, for n >= 1, to full relative precision.

    Few terms count where v is small or the terms fall fast; elsewhere the sum is nearly an integral.
    """
    if v >= _SMOOTH_ABOVE and 2 * n < v:
        return _smooth_sum(n, v)
    return _direct_sum(n, v)


def _theta(decay: Enclosure) -> Enclosure:
    """The sum of exp(-decay j^2) over all j."""
    ratio = (-decay).exp()
    total, term = Enclosure.of(1), 2 * ratio
    j = 1
    while term.upper > NEGLIGIBLE:
        total = total + term
        j += 1
        term = 2 * (-decay * (j * j)).exp()
    rest = term / (1 - ratio)
    return total + Enclosure(Decimal(0), rest.upper)


def _direct_sum(n: int, v: Fraction) -> Enclosure:
    """The same as `half_sum`, term by term: each is the one before it times a ratio that shrinks by exp(-1/v).

    Theorem: if r is the ratio of the first term left out to the last one kept, all that is left out adds up to at most
        r/(1 - r) times the last one kept.
    Reference: comparison with the geometric series
    Proof: docs/theory/laws.md#direct-sum
    Checked-by: tests/laws/test_gaussian_sums.py::test_direct_sum_contains_the_truth
    """
    ratio, shrinking = Enclosure.of(-(2 * n + 1) / (2 * v)).exp(), Enclosure.of(-1 / v).exp()
    term = total = Enclosure.of(1)
    rest = ratio / (1 - ratio)
    while rest.upper > NEGLIGIBLE:
        term = term * ratio
        total = total + term
        ratio = ratio * shrinking
        rest = term * ratio / (1 - ratio)
    return Enclosure.of(-n * n / (2 * v)).exp() * (total + Enclosure(Decimal(0), rest.upper))


def _smooth_sum(n: int, v: Fraction) -> Enclosure:
    """The same as `half_sum`, by the Euler-Maclaurin formula.

    Theorem: the sum is sqrt(2 pi v) Phi(-n/sqrt(v)) + f(n) (1/2 - sum_{m=1}^{M} B_{2m}/(2m)! h_{2m-1}) + rest, where
        h_0 = 1, h_1 = -n/v, h_{m+1} = -(n h_m + m h_{m-1})/v, and for every r > 0
        |rest| <= f(n) |B_{2M}| r^(-2M) exp((n r + r^2)/v) sqrt(2 pi v).
    Reference: Euler-Maclaurin formula, DLMF 2.10(i); Cauchy's estimate
    Proof: docs/theory/laws.md#smooth-sum
    Checked-by: tests/laws/test_gaussian_sums.py::test_smooth_sum_contains_the_truth
    """
    slope, curvature = Enclosure.of(n / v), Enclosure.of(1 / v)
    before, now = Enclosure.of(1), -slope
    correction = Enclosure.of(Fraction(1, 2))
    for m in range(1, 2 * _ORDER, 2):
        correction = correction - _bernoulli(m + 1) / factorial(m + 1) * now
        before, now = now, -(slope * now + m * curvature * before)
        before, now = now, -(slope * now + (m + 1) * curvature * before)
    spread = (2 * PI * v).sqrt()
    radius = (isqrt(n * n + 16 * _ORDER * floor(v)) - n) // 4 + 1
    growth = Enclosure.of(radius * (n + radius) / v).exp()
    rest = abs(_bernoulli(2 * _ORDER)) / Enclosure.of(radius) ** (2 * _ORDER) * growth * spread
    weight = Enclosure.of(-n * n / (2 * v)).exp()
    return spread * normal_cdf(-n / Enclosure.of(v).sqrt()) + weight * widened(correction, rest.upper)


@lru_cache(maxsize=2 * _ORDER + 1)
def _bernoulli(m: int) -> Fraction:
    """B_m for m = 0 and even m, from the sum of comb(m + 1, j) B_j over j <= m, which is zero."""
    if m == 0:
        return Fraction(1)
    earlier = sum((comb(m + 1, j) * _bernoulli(j) for j in range(0, m, 2)), Fraction(-(m + 1), 2))
    return -earlier / (m + 1)
