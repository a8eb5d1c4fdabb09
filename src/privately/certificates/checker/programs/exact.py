"""Numbers in programs: Python's integers, and `Fractional` for those that are not whole. Equal numbers look alike."""

from math import gcd

LONGEST = 4_096
"""Bits of a number; longer ones are a fault of the program."""


class Beyond(ValueError):
    """The program does what it should not, or more than is followed here."""


class Fractional:
    """top/bottom in lowest terms, bottom at least 2."""

    __slots__ = ("bottom", "top")

    def __init__(self, top: int, bottom: int) -> None:
        self.top = top
        self.bottom = bottom

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fractional) and (self.top, self.bottom) == (other.top, other.bottom)

    def __hash__(self) -> int:
        return hash((self.top, self.bottom))

    def __repr__(self) -> str:
        return f"{self.top}/{self.bottom}"


Number = int | Fractional


def fraction(top: int, bottom: int) -> Number:
    """top/bottom in its one form; bottom is not 0."""
    if bottom < 0:
        top, bottom = -top, -bottom
    common = gcd(top, bottom)
    top, bottom = top // common, bottom // common
    if max(top.bit_length(), bottom.bit_length()) > LONGEST:
        raise Beyond("a number grows without bounds")
    return top if bottom == 1 else Fractional(top, bottom)


def whole(value: int) -> int:
    """The integer itself, if it is not too long."""
    if value.bit_length() > LONGEST:
        raise Beyond("a number grows without bounds")
    return value


def terms(value: Number) -> tuple[int, int]:
    """Numerator and denominator."""
    return (int(value), 1) if isinstance(value, int) else (value.top, value.bottom)


def plus(one: Number, other: Number) -> Number:
    if isinstance(one, int) and isinstance(other, int):
        return whole(one + other)
    (a, b), (c, d) = terms(one), terms(other)
    return fraction(a * d + c * b, b * d)


def minus(one: Number, other: Number) -> Number:
    return plus(one, negative(other))


def negative(one: Number) -> Number:
    return -one if isinstance(one, int) else Fractional(-one.top, one.bottom)


def times(one: Number, other: Number) -> Number:
    if isinstance(one, int) and isinstance(other, int):
        return whole(one * other)
    (a, b), (c, d) = terms(one), terms(other)
    return fraction(a * c, b * d)


def over(one: Number, other: Number) -> Number:
    (a, b), (c, d) = terms(one), terms(other)
    if not c:
        raise Beyond("a division by zero")
    return fraction(a * d, b * c)


def sign(one: Number) -> int:
    top, _ = terms(one)
    return (top > 0) - (top < 0)


def less(one: Number, other: Number) -> bool:
    return sign(minus(one, other)) < 0


def floor(one: Number) -> int:
    top, bottom = terms(one)
    return top // bottom


def remainder(one: Number, step: Number) -> Number:
    """What is left of one number after whole steps."""
    return minus(one, times(floor(over(one, step)), step))
