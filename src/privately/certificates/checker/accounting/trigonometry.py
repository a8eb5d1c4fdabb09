"""Turns e^(ix), pi and angles, in fixed point: an integer n stands for n * 2^-places, and ulp for 2^-places."""

from functools import lru_cache
from math import isqrt

from ..elementary import OutOfReach
from ..intervals import Interval
from ..schema import Invalid

_GUARD = 48
_HALVINGS = 8
_LARGEST_ANGLE_BITS = 40


@lru_cache(maxsize=16)
def pi_below(places: int) -> int:
    """Return n with n <= 2^places pi < n + 2. Machin: pi = 16 atan(1/5) - 4 atan(1/239).

    With 32 more places each of fewer than 2^16 terms is off by less than 2 ulp, and so all by less than 2^22.
    """
    inner = places + 32
    found = 16 * _inverse_tangent(5, inner) - 4 * _inverse_tangent(239, inner)
    return (found - (1 << 24)) >> 32


def _inverse_tangent(inverse: int, places: int) -> int:
    power = (1 << places) // inverse
    total, odd, sign = 0, 1, 1
    while power:
        total += sign * (power // odd)
        power //= inverse * inverse
        odd, sign = odd + 2, -sign
    return total


def pi_interval(bits: int) -> Interval:
    """Enclose pi."""
    found = pi_below(bits)
    return Interval(found, found + 2, -bits, bits)


def turn(angle: Interval, places: int) -> tuple[int, int, int]:
    """The cosine and the sine of an angle, and a bound on the error of cos + i sin, in ulp.

    The angle is taken modulo 2 pi, k times, with 48 more places; k is below 2^40, so that the error in pi
    adds less than 1 ulp. y is the rest over 2^8, below 1/64: each term of the series of e^(iy) is the one before times
    y/n, rounded, so that N terms are off by less than 4 N, and those left out sum to less than 4 ulp. Squaring at most
    doubles the error and adds 4. For N <= 100 that is below 2^18 of these finer ulp after 8 squarings, less than one of
    the others; rounding adds 2. The rest is how vague the angle is, for a turn moves no faster than its angle.
    """
    if angle.magnitude() > _LARGEST_ANGLE_BITS:
        raise OutOfReach("angles beyond 2^40 are not evaluated")
    inner = places + _GUARD
    low, high = angle.fixed(inner)
    period = 2 * pi_below(inner)
    rest = (low + period // 2) % period - period // 2
    cosine, sine = _short_turn(rest >> _HALVINGS, inner)
    for _ in range(_HALVINGS):
        cosine, sine = (cosine * cosine - sine * sine) >> inner, (cosine * sine) >> (inner - 1)
    return cosine >> _GUARD, sine >> _GUARD, 5 + (high - low >> _GUARD)


def _short_turn(y: int, places: int) -> tuple[int, int]:
    cosine, sine = 1 << places, 0
    term, n = cosine, 0
    while term not in {0, -1}:
        n += 1
        term = (term * y >> places) // n
        if n % 2:
            sine += term if n % 4 == 1 else -term
        else:
            cosine += term if n % 4 == 0 else -term
    if n > 100:
        raise OutOfReach("places beyond what was counted")
    return cosine, sine


def angle_below(tangent: int, places: int) -> int:
    """A lower bound of atan(tangent) for tangent >= 0: atan z = 2 atan(z / (1 + sqrt(1 + z^2))), and then the series.

    Every step rounds the argument down, and atan rises. The series of atan z, z <= 1/4, alternates with falling terms:
    it is stopped behind one that is taken away; each of N terms is off by less than 2 ulp.
    """
    if tangent < 0:
        raise Invalid("witness", "an angle is negative")
    one = 1 << places
    halvings = 0
    while 4 * tangent > one:
        root = isqrt(one * one + tangent * tangent) + 1
        tangent = (tangent << places) // (one + root)
        halvings += 1
    square = tangent * tangent >> places
    power, total, odd, terms = tangent, 0, 1, 0
    while power or terms % 2:
        total += power // odd if terms % 2 == 0 else -(power // odd) - 1
        power = power * square >> places
        odd, terms = odd + 2, terms + 1
    return max(total - 2 * terms, 0) << halvings
