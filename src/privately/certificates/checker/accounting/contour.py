"""The integral along a line, as a finite sum that is an upper bound.

With M the transform of the total loss, z_n = c + i n h and D the privacy profile,

    h/(2 pi) sum over all n of M(z_n) e^(-z_n epsilon)/(z_n (z_n + 1))
        = sum over all k of e^(2 pi k c/h) D(epsilon + 2 pi k/h)

so that the left side is at least D(epsilon). docs/theory/certificates.md proves it.
"""

from math import isqrt

from ..intervals import Interval
from ..rationals import ONE, Rational
from ..schema import Invalid
from ..work import Work
from .numbers import BITS, ONE_INTERVAL, PLACES, UNIT, exp_above, log, near, upper
from .pieces import Piece
from .points import Complex
from .trigonometry import pi_interval, turn


class Line:
    """The line Re z = c, with steps up to the frequency W = count * step."""

    def __init__(self, c: Rational, step: Rational, count: int) -> None:
        self.c, self.step, self.count = c, step, count
        self.reach = step * Rational(count)


def profile(line: Line, pieces: list[tuple[Piece, int]], normal: Rational, epsilon: Rational, work: Work) -> Interval:
    """An upper bound of D(epsilon), for `pieces` so many times each and normal losses of variance `normal`."""
    c, step = line.c, line.step
    work.spend(6 * line.count + 1000)
    values, errors = _normal_turns(line, normal)
    for piece, times in pieces:
        work.spend(line.count * (6 + 2 * times.bit_length()))
        found = piece.turns(step, line.count, work)
        for n in range(line.count):
            error = found.constant + (n + 1) * found.slope
            values[n], errors[n] = _product(values[n], errors[n], *power(found.values[n], error, times))
    angle = near(step) * (near(normal) * near((c + c + ONE) * Rational(1, 2)) - near(epsilon))
    total = _sum(line, values, errors, angle)
    log_mass = near(normal) * near((c * c + c) * Rational(1, 2))
    falls = near(-(normal * line.reach * line.reach) * Rational(1, 2))
    for piece, times in pieces:
        log_mass += piece.log_mass().times(times)
        rest = piece.remains(line.reach)
        if not (ONE_INTERVAL - rest).low <= 0:
            falls += upper(log(rest)).times(times)
    pi = pi_interval(BITS)
    beyond = exp_above(falls) / (pi * near(line.reach))
    found_sum = total * near(step) / pi.scaled(1) + beyond
    if found_sum.high <= 0:
        raise Invalid("witness", "the sum is not positive")
    return upper(exp_above(upper(log_mass) - near(c * epsilon)) * upper(found_sum))


def _normal_turns(line: Line, normal: Rational) -> tuple[list[Complex], list[int]]:
    """e^(-alpha n^2), alpha = normal h^2/2, as real numbers: r_(n+1) = r_n q_n and q_(n+1) = q_n s, s = e^(-2 alpha).

    s and q_0 are off by at most 2, so that q_n is by at most 2 + 3 n and r_n by at most 3 n^2 + 3 n.
    """
    alpha = near(normal * line.step * line.step * Rational(1, 2))
    s, q = _decay(alpha.scaled(1)), _decay(alpha)
    r = UNIT
    values: list[Complex] = []
    for _ in range(line.count):
        r = r * q >> PLACES
        q = q * s >> PLACES
        values.append((r, 0))
    return values, [3 * n * (n + 1) for n in range(1, line.count + 1)]


def _decay(x: Interval) -> int:
    return max(exp_above(-x).fixed(PLACES)[1] - 1, 0)


def _sum(line: Line, values: list[Complex], errors: list[int], angle: Interval) -> Interval:
    """1/(c (c+1)) + 2 Re of the sum of value e^(i n angle)/(z (z+1)), from above.

    Over the common denominator K of c and h, z (z+1) K^2 is a whole complex number.
    """
    cosine, sine, off = turn(angle, PLACES)
    if 2 * line.count * off > UNIT:
        raise Invalid("witness", "the turns are too vague")
    common = line.c.denominator * line.step.denominator
    real, rise = line.c.numerator * line.step.denominator, line.step.numerator * line.c.denominator
    level, tilt, square = real * real + real * common, 2 * real + common, common * common
    x, y = UNIT, 0
    total = 0
    for n in range(1, line.count + 1):
        x, y = (x * cosine - y * sine) >> PLACES, (x * sine + y * cosine) >> PLACES
        w = n * rise
        a, b = level - w * w, w * tilt
        size = a * a + b * b
        value = values[n - 1]
        u, v = (value[0] * x - value[1] * y) >> PLACES, (value[0] * y + value[1] * x) >> PLACES
        total += (u * a + v * b) * square // size + 1
        more = 2 * n * (off + 2)
        error = errors[n - 1] + more + (errors[n - 1] * more >> PLACES) + 4
        total += error * square // isqrt(size) + 1
    return Interval(2 * total, 2 * total, -PLACES, BITS) + ONE_INTERVAL / near(line.c * (line.c + ONE))


def power(value: Complex, error: int, times: int) -> tuple[Complex, int]:
    """value^times where the true value has |.| <= 1: a square is off by at most error (2 + error), and 4 ulp."""
    result: tuple[Complex, int] = (UNIT, 0), 0
    while times:
        if error >= UNIT:
            return (0, 0), UNIT
        if times & 1:
            result = _product(*result, value, error)
        times >>= 1
        x, y = value
        value = (x * x - y * y) >> PLACES, x * y >> (PLACES - 1)
        error += error + (error * error >> PLACES) + 5
    return result


def _product(one: Complex, error: int, other: Complex, more: int) -> tuple[Complex, int]:
    """Both true values have |.| <= 1, so that the product is off by at most error + more + error more, and 4 ulp.

    Where that says nothing, 0 is off by at most 1.
    """
    (a, b), (x, y) = one, other
    error += more + (error * more >> PLACES) + 5
    return (((a * x - b * y) >> PLACES, (a * y + b * x) >> PLACES), error) if error < UNIT else ((0, 0), UNIT)
