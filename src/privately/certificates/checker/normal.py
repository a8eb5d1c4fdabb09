"""The normal distribution: its density, the mass beyond x, and the mass between 0 and x."""

from functools import lru_cache
from math import log2, sqrt

from .elementary import LARGEST_EXPONENT, OutOfReach, exponential
from .intervals import Interval, enclose, whole
from .rationals import Rational


def _inverse_tangent(inverse: int, places: int) -> int:
    """atan(1/inverse) in fixed point: off by less than 2 ulp for each of its terms, fewer than `places`."""
    power = (1 << places) // inverse
    total, odd, sign = 0, 1, 1
    while power:
        total += sign * (power // odd)
        power //= inverse * inverse
        odd, sign = odd + 2, -sign
    return total


@lru_cache(maxsize=64)
def root_of_two_pi(bits: int) -> Interval:
    """Machin: pi = 16 atan(1/5) - 4 atan(1/239), off by less than 40 ulp for each term."""
    places = bits + 32
    pi = 16 * _inverse_tangent(5, places) - 4 * _inverse_tangent(239, places)
    slack = 40 * places
    return Interval(2 * (pi - slack), 2 * (pi + slack), -places, bits).square_root()


def density(x: Interval) -> Interval:
    """Enclose phi(x) = e^(-x^2/2) / sqrt(2 pi)."""
    return exponential(-(x * x).scaled(-1)) / root_of_two_pi(x.bits)


def _central_sum(w: Interval) -> Interval:
    """Enclose B(w) = sum over n >= 0 of w^n / (2n+1)!! = (mass between 0 and x) / (x phi(x)), w = x^2.

    Term n is the one before times w / (2n+1), rounded down, so that each step takes away less than 1 ulp. These ratios
    decrease, so a product of j of them in a row is at most the product of the first j, which is term j: what one step
    takes away is multiplied by at most B in all later terms together. N steps: the sum is too small by less than
    N B ulp. It stops at a term that is 0 with a ratio below 1/2; in truth that term is below B ulp, and the later ones
    sum to no more. So B < sum / (1 - (N + 2) ulp) < sum (1 + (2 N + 4) ulp). From the low end of w to the high end B
    grows by a factor below e^(width/2) < 1 + width, as B' <= B/2.
    """
    places = w.bits
    low, high = w.fixed(places)
    term = total = 1 << places
    odd = 1
    while term or low >= odd << (places - 1):
        odd += 2
        term = (term * low >> places) // odd
        total += term
    steps = odd // 2
    return Interval(total, total + (total * (2 * steps + 8 + 2 * (high - low)) >> places) + 1, -places, w.bits)


def central_mass(x: Interval) -> Interval:
    """Enclose Phi(x) - 1/2 for x >= 0 with small relative error (x so small that the tail is not what is asked)."""
    return x * density(x) * _central_sum(x * x)


def _fraction(x: Interval) -> Interval:
    """Enclose the mass beyond x, for x > 0 not small: Laplace's continued fraction.

    It is phi(x) / (x + t_1) with t_k = k / (x + t_(k+1)), and 0 < t_k < k/x for every k, as all t are positive.
    Starting at any k with that, each step back is one interval division.
    """
    places = x.bits
    low, high = x.fixed(places)
    depth = _depth(places, low / (1 << places))
    below, above = 0, -((-depth << 2 * places) // low)
    for k in range(depth - 1, 0, -1):
        scaled = k << 2 * places
        below, above = scaled // (high + above), -(-scaled // (low + below))
    return density(x) / Interval(low + below, high + above, -places, x.bits)


def _depth(places: int, x: float) -> int:
    """How many steps bring the width below 2^-places. Too few would only make the interval wide.

    Step k narrows it by k / (x + t)^2, where x + t is near (x + sqrt(x^2 + 4 k)) / 2.
    """
    narrowed, k = 0.0, 0
    while narrowed < places:
        k += 1
        narrowed += log2((x + sqrt(x * x + 4 * k)) ** 2 / (4 * k))
    return k + 2


def normal_tail(x: Rational, bits: int) -> Interval:
    """Enclose Phi(-x), the mass beyond x, with small relative error."""
    return _normal_tail(x.numerator, x.denominator, bits)


@lru_cache(maxsize=1024)
def _normal_tail(numerator: int, denominator: int, bits: int) -> Interval:
    """Phi(-x) for x = numerator / denominator.

    For x from 0 up to about sqrt(bits/2) it is 1/2 minus the mass between 0 and x, worked out with as many more bits as
    the difference loses, x^2/2 / ln 2 and a few; above, it is the continued fraction.
    """
    if numerator < 0:
        return whole(1, bits) - _normal_tail(-numerator, denominator, bits)
    x = Rational(numerator, denominator)
    square = -(-numerator * numerator // (denominator * denominator))
    if square > 2 * LARGEST_EXPONENT:
        raise OutOfReach("normal tails below e^-10,000 are not evaluated")
    if 2 * square > bits:
        tail = _fraction(enclose(x, bits + 32))
    else:
        more = bits + square * 3 // 4 + 32
        tail = whole(1, more).scaled(-1) - central_mass(enclose(x, more))
    return Interval(tail.low, tail.high, tail.exponent, bits)
