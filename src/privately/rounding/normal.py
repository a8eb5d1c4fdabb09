"""The normal distribution, enclosed.

Phi  cumulative distribution function     phi  density     R(x) = Phi(-x)/phi(x)  Mills ratio
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from privately.errors import InvalidParameter
from privately.rounding.enclosure import DIGITS, DOWN, UP, Enclosure, Value
from privately.rounding.exact import rational, round_down

_PI_DIGITS = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"
PI = Enclosure(DOWN.create_decimal(_PI_DIGITS), UP.create_decimal(_PI_DIGITS))
_SERIES_BELOW = 4
_LEAST_STEP = Fraction(1, 10 ** (DIGITS - 5))
_NEGLIGIBLE = Decimal(f"1e-{DIGITS + 5}")


def normal_density(x: Value) -> Enclosure:
    """phi(x) = exp(-x^2/2) / sqrt(2 pi)."""
    x = Enclosure.of(x)
    return (-(x * x) / 2).exp() / (2 * PI).sqrt()


def mills_ratio(x: Value) -> Enclosure:
    """Phi(-x)/phi(x) for x > 0, by the Laplace continued fraction.

    Theorem: for x > 0, R(x) = 1/(x + t_1) with t_k = k/(x + t_{k+1}) and 0 < t_k < k/x; cutting the recursion at any
        depth n with t_n in (0, n/x) therefore encloses R(x).
    Reference: Laplace 1805; Abramowitz-Stegun 1964, 26.2.14
    Proof: docs/theory/numbers.md#mills-ratio
    Checked-by: tests/rounding/test_normal.py::test_mills_ratio_contains_the_truth
    """
    x = Enclosure.of(x)
    if x.lower <= 0:
        raise InvalidParameter("x", "the continued fraction needs x > 0.")
    depth = 30 + int((75 / float(min(max(x.lower, Decimal("0.5")), Decimal(1000)))) ** 2)
    tail = Enclosure(Decimal(0), (depth / x).upper)
    for k in range(depth - 1, 0, -1):
        tail = k / (x + tail)
    return 1 / (x + tail)


def normal_cdf(x: Value) -> Enclosure:
    """Phi(x), to nearly full relative precision in both tails."""
    x = Enclosure.of(x)
    if x.lower == x.upper:
        return _cdf_at(x.lower)
    return Enclosure(_cdf_at(x.lower).lower, _cdf_at(x.upper).upper)


def erfc(x: Value) -> Enclosure:
    """The complementary error function, 2 Phi(-x sqrt 2)."""
    return 2 * normal_cdf(-Enclosure.of(x) * Enclosure.of(2).sqrt())


def normal_quantile(probability: Fraction, digits: int = 30) -> Enclosure:
    """Phi^-1(probability) for 0 < probability < 1, to about `digits` significant digits.

    Searched by Newton steps; both ends are then *checked* with Phi, which is monotone.
    """
    p = rational(probability, "probability", above=0)
    if p >= 1:
        raise InvalidParameter("probability", "must be below 1.")
    if p > Fraction(1, 2):
        return -normal_quantile(1 - p, digits)
    if p == Fraction(1, 2):
        return Enclosure.of(0)
    guess = _newton(p, digits + 5)
    step = max(abs(guess) / 10**digits, _LEAST_STEP)
    lower, upper = guess - step, guess + step
    while normal_cdf(lower).upper > p:
        lower, step = lower - step, 2 * step
    while normal_cdf(upper).lower < p:
        upper, step = upper + step, 2 * step
    return Enclosure(Enclosure.of(lower).lower, Enclosure.of(upper).upper)


def _newton(p: Fraction, digits: int) -> Fraction:
    """Newton's method on ln Phi, which is nearly a parabola in the tail, so that it converges from far away."""
    x = _start(p)
    for _ in range(60):
        cdf = normal_cdf(x)
        step = (cdf.log() - Enclosure.of(p).log()) * cdf / normal_density(x)
        middle = (Fraction(step.lower) + Fraction(step.upper)) / 2
        x = round_down(x - middle, digits)
        if abs(middle) * 10 ** (digits // 2 + 3) <= abs(x):
            break
    return x


def _start(p: Fraction) -> Fraction:
    if p > Fraction(49, 100):
        return (p - Fraction(1, 2)) * Fraction(5, 2)
    if p > Fraction(1, 10**300):
        from statistics import NormalDist  # few need it, and it loads much

        return Fraction(NormalDist().inv_cdf(float(p)))
    return -Fraction(math.sqrt(-2 * float(Enclosure.of(p).log().lower)))


@lru_cache(maxsize=4096)
def _cdf_at(x: Decimal) -> Enclosure:
    point = Enclosure(x, x)
    if x >= _SERIES_BELOW:
        return 1 - _tail(point)
    if x <= -_SERIES_BELOW:
        return _tail(-point)
    return Fraction(1, 2) + normal_density(point) * _odd_series(point)


def _tail(x: Enclosure) -> Enclosure:
    return normal_density(x) * mills_ratio(x)


def _odd_series(x: Enclosure) -> Enclosure:
    """The sum of x^(2n+1)/(2n+1)!! over n >= 0, for |x| <= 4.

    Theorem: Phi(x) = 1/2 + phi(x) * sum_n x^(2n+1)/(2n+1)!!, and once x^2/(2n+3) <= 1/2 the terms after the n-th add up
        to at most the n-th in absolute value.
    Reference: Abramowitz-Stegun 1964, 26.2.11
    Proof: docs/theory/numbers.md#central-series
    Checked-by: tests/rounding/test_normal.py::test_cdf_contains_the_truth
    """
    square = x * x
    term = total = x
    n = 0
    while 2 * Fraction(square.upper) > 2 * n + 3 or term.upper.copy_abs() > _NEGLIGIBLE:
        n += 1
        term = term * square / (2 * n + 1)
        total = total + term
    rest = max(term.lower.copy_abs(), term.upper.copy_abs())
    return Enclosure((total - Enclosure(rest, rest)).lower, (total + Enclosure(rest, rest)).upper)
