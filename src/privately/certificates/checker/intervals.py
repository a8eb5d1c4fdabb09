"""Intervals that contain the number meant, whatever is done to them.

An end is an integer times a power of two that both ends share; every operation rounds the low end down and the
high end up, to `bits` bits.
"""

from math import isqrt

from .rationals import Rational


class Undecided(ArithmeticError):
    """The intervals are too wide to say; more bits may help."""


class Interval:
    """The numbers from low * 2^exponent to high * 2^exponent."""

    __slots__ = ("bits", "exponent", "high", "low")

    def __init__(self, low: int, high: int, exponent: int, bits: int) -> None:
        """Round outward to `bits` bits. Shifting right rounds down; twice negated, it rounds up."""
        excess = max(low.bit_length(), high.bit_length()) - bits
        if excess > 0:
            low >>= excess
            high = -(-high >> excess)
            exponent += excess
        self.low = low
        self.high = high
        self.exponent = exponent
        self.bits = bits

    def _aligned(self, other: "Interval") -> tuple[int, int, int, int, int]:
        shift = self.exponent - other.exponent
        if shift >= 0:
            return self.low << shift, self.high << shift, other.low, other.high, other.exponent
        return self.low, self.high, other.low << -shift, other.high << -shift, self.exponent

    def __add__(self, other: "Interval") -> "Interval":
        low, high, other_low, other_high, exponent = self._aligned(other)
        return Interval(low + other_low, high + other_high, exponent, self.bits)

    def __sub__(self, other: "Interval") -> "Interval":
        low, high, other_low, other_high, exponent = self._aligned(other)
        return Interval(low - other_high, high - other_low, exponent, self.bits)

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low, self.exponent, self.bits)

    def __mul__(self, other: "Interval") -> "Interval":
        exponent = self.exponent + other.exponent
        if self.low >= 0 and other.low >= 0:
            return Interval(self.low * other.low, self.high * other.high, exponent, self.bits)
        products = [end * factor for end in (self.low, self.high) for factor in (other.low, other.high)]
        return Interval(min(products), max(products), exponent, self.bits)

    def __truediv__(self, other: "Interval") -> "Interval":
        """Divide by a positive interval."""
        if other.low <= 0:
            raise Undecided("the divisor may be zero")
        shift = max(0, self.bits + 2 + other.high.bit_length() - max(abs(self.low), abs(self.high)).bit_length())
        low = (self.low << shift) // (other.high if self.low >= 0 else other.low)
        high = -((-self.high << shift) // (other.low if self.high >= 0 else other.high))
        return Interval(low, high, self.exponent - other.exponent - shift, self.bits)

    def times(self, factor: int) -> "Interval":
        if factor >= 0:
            return Interval(self.low * factor, self.high * factor, self.exponent, self.bits)
        return Interval(self.high * factor, self.low * factor, self.exponent, self.bits)

    def scaled(self, power: int) -> "Interval":
        """Multiply by 2^power."""
        return Interval(self.low, self.high, self.exponent + power, self.bits)

    def square_root(self) -> "Interval":
        if self.low < 0:
            raise Undecided("the radicand may be negative")
        shift = max(0, 2 * self.bits + 2 - self.high.bit_length())
        shift += (self.exponent - shift) % 2
        low, high = isqrt(self.low << shift), isqrt(self.high << shift) + 1
        return Interval(low, high, (self.exponent - shift) // 2, self.bits)

    def fixed(self, places: int) -> tuple[int, int]:
        """Both ends as whole multiples of 2^-places, rounded outward."""
        shift = self.exponent + places
        if shift >= 0:
            return self.low << shift, self.high << shift
        return self.low >> -shift, -(-self.high >> -shift)

    def magnitude(self) -> int:
        """An integer m such that every number in the interval is below 2^m in absolute value."""
        return max(self.low.bit_length(), self.high.bit_length()) + self.exponent

    def at_most(self, bound: Rational) -> bool:
        """Whether every number in the interval is <= bound."""
        return _compare(self.high, self.exponent, bound) <= 0

    def above(self, bound: Rational) -> bool:
        """Whether every number in the interval is > bound."""
        return _compare(self.low, self.exponent, bound) > 0

    def is_narrow(self) -> bool:
        """Whether its width is below 2^-240 (about 1e-72) of its numbers."""
        if self.low <= 0 <= self.high:
            return False
        return (self.high - self.low) << 240 <= min(abs(self.low), abs(self.high))

    def lower_end(self) -> Rational:
        return _rational(self.low, self.exponent)

    def upper_end(self) -> Rational:
        return _rational(self.high, self.exponent)


def _rational(mantissa: int, exponent: int) -> Rational:
    return Rational(mantissa << exponent) if exponent >= 0 else Rational(mantissa, 1 << -exponent)


def _compare(mantissa: int, exponent: int, bound: Rational) -> int:
    """The sign of mantissa * 2^exponent - bound."""
    left, right = mantissa * bound.denominator, bound.numerator
    if exponent >= 0:
        left <<= exponent
    else:
        right <<= -exponent
    return (left > right) - (left < right)


def enclose(value: Rational, bits: int) -> Interval:
    """The narrowest interval of `bits` bits, or a little more, around a rational."""
    numerator, denominator = value.numerator, value.denominator
    if denominator == 1:
        return Interval(numerator, numerator, 0, bits)
    shift = max(0, bits + 1 + denominator.bit_length() - numerator.bit_length())
    low, rest = divmod(numerator << shift, denominator)
    return Interval(low, low + (rest > 0), -shift, bits)


def whole(value: int, bits: int) -> Interval:
    return Interval(value, value, 0, bits)
