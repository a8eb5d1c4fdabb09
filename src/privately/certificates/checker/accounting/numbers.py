"""What the bounds need of numbers: logarithms and powers of intervals, and rounding to fixed point."""

from ..elementary import LARGEST_EXPONENT, exponential, logarithm
from ..intervals import Interval, Undecided, enclose, whole
from ..rationals import Rational

BITS = 256
PLACES = 192
"""Turns and their sums are integers over 2^192."""

UNIT = 1 << PLACES
ONE_INTERVAL = whole(1, BITS)
_FAR = Rational(LARGEST_EXPONENT // 2)


def near(value: Rational) -> Interval:
    return enclose(value, BITS)


def log(x: Interval) -> Interval:
    """Enclose ln x: at the low end, and ln(high) <= ln(low) + (high - low)/low."""
    if x.low <= 0:
        raise Undecided("the logarithm of a number that may be 0")
    spread = Interval(0, x.high - x.low, 0, x.bits) / whole(x.low, x.bits)
    return logarithm(x.lower_end(), x.bits) + spread


def upper(x: Interval) -> Interval:
    """The high end alone."""
    return Interval(x.high, x.high, x.exponent, x.bits)


def lower(x: Interval) -> Interval:
    """The low end alone."""
    return Interval(x.low, x.low, x.exponent, x.bits)


def exp_above(x: Interval) -> Interval:
    """An upper bound of e^x, also where x is too small to be evaluated."""
    high = upper(x)
    return upper(exponential(near(-_FAR) if high.at_most(-_FAR) else high))


def fixed_above(x: Interval) -> int:
    """The high end in fixed point, rounded up."""
    return x.fixed(PLACES)[1]


def from_fixed(value: int) -> Interval:
    return Interval(value, value, -PLACES, BITS)
