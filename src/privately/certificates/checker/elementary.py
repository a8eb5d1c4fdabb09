"""exp, exp - 1, tanh, log with proved remainders.

All sums run in fixed point: an integer n stands for n * 2^-places, every product and quotient is rounded down, and
the remainder is bounded by counting. One unit in the last place is written ulp.
"""

from functools import lru_cache
from math import isqrt

from .intervals import Interval, Undecided, enclose, whole
from .rationals import Rational

LARGEST_EXPONENT = 10_000


class OutOfReach(ValueError):
    """The number asked for is outside of what is evaluated at all."""


@lru_cache(maxsize=64)
def log_two(places: int) -> int:
    """Return n with n <= 2^places ln 2 < n + 2.

    ln 2 = 2 atanh(1/3) = sum over k >= 0 of 2 / ((2k+1) 3 9^k). With 32 more places, `power` is below its true value by
    less than 9/8 ulp, so that each term is too small by less than 3 ulp and the terms after the last
    (where `power` is 0) sum to less than 3 ulp. Fewer than 2^28 terms make that less than one unit of the result.
    """
    power = (2 << (places + 32)) // 3
    total, odd = 0, 1
    while power:
        total += power // odd
        power //= 9
        odd += 2
    return total >> 32


def exponential(x: Interval) -> Interval:
    """Enclose e^x, for |x| up to 10,000.

    x = k ln 2 + r with r in [0, 2), and y = r / 2^s is at most 1/2. Each term of sum y^n / n! is the one before times
    y / n, rounded down: too small by less than 2 ulp (1 by its own rounding, and at most half of the error before it).
    Where the terms have become 0, those left out sum to less than 4 ulp, for each is at most half of the one before.
    So N terms are too small by less than 2 N + 4 ulp. Squaring s times, rounded down and up, gives e^r at the low end
    of r; and for 0 <= w <= 1, e^w <= 1 + 2 w takes it to the high end, w above.
    """
    if x.magnitude() > 14 or not (x.at_most(_LARGEST) and (-x).at_most(_LARGEST)):
        raise OutOfReach("exponents beyond 10,000 are not evaluated")
    bits = x.bits
    places = bits + 40
    halvings = isqrt(bits) * 3 // 4
    low, high = x.fixed(places)
    unit = log_two(places)
    count = low // unit
    residue, end = low - count * unit, high - count * unit
    # unit <= ln 2 < unit + 2: the multiple taken away was too small for a positive count, too large for a negative one.
    residue, end = (residue - 2 * count, end) if count > 0 else (residue, end - 2 * count)
    while residue < 0:
        residue, end, count = residue + unit, end + unit + 2, count - 1
    width = end - residue
    if width >> places:
        raise Undecided("the exponent is too vague")
    working = places + halvings + 8
    below, above = _exponential_sum(residue << 8, working)
    for _ in range(halvings):
        below = below * below >> working
        above = -(-above * above >> working)
    above += -(-above * 2 * width >> places)
    return Interval(below, above, count - working, bits)


_LARGEST = Rational(LARGEST_EXPONENT)


def _exponential_sum(y: int, places: int) -> tuple[int, int]:
    """Bounds of e^y for 0 <= y <= 1/2, as `exponential` proves."""
    term = total = 1 << places
    n = 0
    while term:
        n += 1
        term = (term * y >> places) // n
        total += term
    return total, total + 2 * n + 4


def exponential_minus_one(x: Interval) -> Interval:
    """Enclose e^x - 1 with small relative error also near 0.

    For |x| <= 1/2 it is x B(x), B(x) = sum over n >= 0 of x^n / (n+1)! = integral of e^(t x) for t from 0 to 1, which
    is between 3/4 and 4/3 and increases with slope below 1. Rounding makes each term wrong by less than 2 ulp, and
    those left out sum to less than 4 ulp, as for `exponential`.
    """
    if x.magnitude() > -1:
        return exponential(x) - whole(1, x.bits)
    places = x.bits + 16
    low, high = x.fixed(places)
    term = total = 1 << places
    n = 1
    while term not in {0, -1}:
        n += 1
        term = (term * low >> places) // n
        total += term
    slack = 2 * n + 4
    return x * Interval(total - slack, total + slack + high - low, -places, x.bits)


def tanh_of_half(x: Interval) -> Interval:
    """Enclose tanh(x/2) = (e^x - 1) / (e^x + 1) for x >= 0, with small relative error."""
    grown = exponential_minus_one(x)
    return grown / (grown + whole(2, x.bits))


@lru_cache(maxsize=1024)
def _logarithm(numerator: int, denominator: int, bits: int) -> Interval:
    """Enclose ln y for y = numerator / denominator > 0, with small relative error also near 1.

    y = 2^k m with m in [0.7, 10/7], and ln m = 2 atanh z = 2 z B(z^2) for z = (m-1)/(m+1), B(w) = sum of w^n / (2n+1).
    |z| < 0.18, so w < 1/30: the terms are too small by less than 2 ulp each, those left out sum to less than 2 ulp, and
    the slope of B is below 1. Where k is not 0, |k ln 2| > 0.69 and |ln m| < 0.36, so that the sum loses no digits.
    """
    power = numerator.bit_length() - denominator.bit_length()
    if power >= 0:
        denominator <<= power
    else:
        numerator <<= -power
    if 5 * numerator > 7 * denominator:
        power, denominator = power + 1, denominator << 1
    elif 7 * numerator < 5 * denominator:
        power, numerator = power - 1, numerator << 1
    result = whole(0, bits)
    if power:
        places = bits + 24
        unit = log_two(places)
        result = Interval(unit, unit + 2, -places, bits).times(power)
    if numerator == denominator:
        return result
    z = enclose(Rational(numerator - denominator, numerator + denominator), bits + 16)
    return result + (z * _inverse_tanh_sum(z * z)).scaled(1)


def _inverse_tanh_sum(w: Interval) -> Interval:
    places = w.bits
    low, high = w.fixed(places)
    power = total = 1 << places
    odd = 1
    while power:
        power = power * low >> places
        odd += 2
        total += power // odd
    return Interval(total, total + 2 * odd + high - low, -places, w.bits)


def logarithm(y: Rational, bits: int) -> Interval:
    """Enclose ln y for y > 0."""
    if y.numerator <= 0:
        raise OutOfReach("the logarithm of a number that is not positive")
    return _logarithm(y.numerator, y.denominator, bits)
