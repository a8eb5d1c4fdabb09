"""Laplace noise: M(z) = ((z+1) e^(z epsilon) + z e^(-(z+1) epsilon))/(2z+1), in closed form."""

from ..elementary import exponential
from ..intervals import Interval
from ..rationals import ONE, Rational
from ..schema import Invalid
from ..work import Work
from .numbers import BITS, ONE_INTERVAL, PLACES, UNIT, exp_above, log, near, upper
from .points import Complex, Turns
from .trigonometry import turn


class Laplace:
    """One law on the line Re z = c. Everything is divided by e^(c epsilon); g = e^(-(2c+1) epsilon)."""

    def __init__(self, epsilon: Rational, c: Rational) -> None:
        self.epsilon, self.c = epsilon, c
        self.twice = c + c + ONE
        small = near(-self.twice * epsilon)
        # Far out only the high end matters: 0 is below, and what is too small to be evaluated is above.
        self.g = Interval(0, (high := exp_above(small)).high, high.exponent, BITS)
        if small.above(Rational(-4_000)):
            self.g = exponential(small)
        self.whole = (near(c + ONE) + near(c) * self.g) / near(self.twice)

    def log_mass(self) -> Interval:
        return upper(log(self.whole) + near(self.c * self.epsilon))

    def remains(self, frequency: Rational) -> Interval:
        """|z+1|/|2z+1| falls along the line, and |z|/|2z+1| rises to 1/2: a bound for all frequencies from this one."""
        square, more = near(frequency * frequency), near((self.c + ONE) * (self.c + ONE))
        falling = ((more + square) / (near(self.twice * self.twice) + square.scaled(2))).square_root()
        return upper((falling + self.g.scaled(-1)) / self.whole)

    def turns(self, step: Rational, count: int, work: Work) -> Turns:
        """Numerators and denominators over the common denominator of c and step are whole: only turns are rounded.

        The turn u, off by e, has powers off by at most 2 n (e + 2), as for points; and its conjugate is that of the
        second term. |z+1|/|2z+1| <= 1 and |z|/|2z+1| <= 1, and `whole` is at least 1/2.
        """
        work.spend(4 * count)
        cosine, sine, error = turn(near(step * self.epsilon), PLACES)
        if 2 * count * error > UNIT:
            raise Invalid("witness", "the turns are too vague")
        low, high = self.g.fixed(PLACES)
        scale_low, scale_high = (ONE_INTERVAL / self.whole).fixed(PLACES)
        common = self.c.denominator * step.denominator
        real, rise = self.c.numerator * step.denominator, step.numerator * self.c.denominator
        x, y = UNIT, 0
        values: list[Complex] = []
        for n in range(1, count + 1):
            x, y = (x * cosine - y * sine) >> PLACES, (x * sine + y * cosine) >> PLACES
            w = n * rise
            values.append(
                _over(_sum((real + common, w), (x, y), (real, w), low), (2 * real + common, 2 * w), scale_low)
            )
        slack = high - low + 2 * (scale_high - scale_low) + 20
        return Turns(values, slack, 8 * (error + 2))


def _sum(one: Complex, first: Complex, other: Complex, g: int) -> Complex:
    """(z+1) u + z g conj(u)."""
    x, y = first
    a, b = x * g >> PLACES, -y * g >> PLACES
    return one[0] * x - one[1] * y + other[0] * a - other[1] * b, one[0] * y + one[1] * x + other[0] * b + other[1] * a


def _over(top: Complex, bottom: Complex, scale: int) -> Complex:
    """top * scale/bottom."""
    size = bottom[0] * bottom[0] + bottom[1] * bottom[1]
    real = top[0] * bottom[0] + top[1] * bottom[1]
    imaginary = top[1] * bottom[0] - top[0] * bottom[1]
    return (real * scale // size) >> PLACES, (imaginary * scale // size) >> PLACES
