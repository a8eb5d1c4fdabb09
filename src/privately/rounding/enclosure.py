"""Working numbers: pairs of decimals that enclose the true value, rounded outward at every step.

`decimal` adds, multiplies and divides with directed rounding. Its exp, ln and sqrt round half-even whatever the
context says, but correctly, so the true value lies strictly between the neighbours of the result: we widen by one
unit on each side (docs/theory/numbers.md#elementary-functions).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction
from typing import NoReturn, TypeAlias, Union

from privately.rounding.exact import CLAIM_MARGIN, round_up
from privately.rounding.interval import End, Interval

DIGITS = 60
_TRAPS = [InvalidOperation, DivisionByZero, Overflow]
DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=_TRAPS)
UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=_TRAPS)

_ZERO = Decimal(0)
_ONE = Decimal(1)
_EXP_LIMIT = Decimal("1e17")
_EXP_LEAST = Decimal("-1e17")
_REPORTED_EXPONENT = 1000

_set = object.__setattr__

Value: TypeAlias = Union["Enclosure", Fraction, int]


class Enclosure:
    """lower <= truth <= upper, both Decimals of `DIGITS` significant digits.

    >>> third = Enclosure.of(Fraction(1, 3))
    >>> (third * 3).contains(1), third.exp().lower < Decimal("1.3956124250860895287")
    (True, True)
    """

    __slots__ = ("lower", "upper")
    lower: Decimal
    upper: Decimal

    def __init__(self, lower: Decimal, upper: Decimal) -> None:
        _set(self, "lower", lower)
        _set(self, "upper", upper)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("an Enclosure cannot be changed")

    @classmethod
    def of(cls, value: Value) -> Enclosure:
        """Encloses an exact rational; an Enclosure is returned as it is."""
        if isinstance(value, Enclosure):
            return value
        above, below = Decimal(value.numerator), Decimal(value.denominator)
        return cls(DOWN.divide(above, below), UP.divide(above, below))

    def contains(self, value: Fraction | int) -> bool:
        """Whether the rational lies between the ends."""
        return self.lower <= value <= self.upper

    def __repr__(self) -> str:
        return f"Enclosure({self.lower}, {self.upper})"

    def __neg__(self) -> Enclosure:
        return Enclosure(self.upper.copy_negate(), self.lower.copy_negate())

    def __add__(self, other: Value) -> Enclosure:
        other = Enclosure.of(other)
        return Enclosure(DOWN.add(self.lower, other.lower), UP.add(self.upper, other.upper))

    __radd__ = __add__

    def __sub__(self, other: Value) -> Enclosure:
        other = Enclosure.of(other)
        return Enclosure(DOWN.subtract(self.lower, other.upper), UP.subtract(self.upper, other.lower))

    def __rsub__(self, other: Value) -> Enclosure:
        return Enclosure.of(other) - self

    def __mul__(self, other: Value) -> Enclosure:
        other = Enclosure.of(other)
        if self.lower >= 0 and other.lower >= 0:
            return Enclosure(DOWN.multiply(self.lower, other.lower), UP.multiply(self.upper, other.upper))
        corners = [(a, b) for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        return Enclosure(min(DOWN.multiply(*c) for c in corners), max(UP.multiply(*c) for c in corners))

    __rmul__ = __mul__

    def __truediv__(self, other: Value) -> Enclosure:
        other = Enclosure.of(other)
        if other.lower <= 0 <= other.upper:
            raise ZeroDivisionError("the divisor's enclosure contains zero")
        if self.lower >= 0 and other.lower > 0:
            return Enclosure(DOWN.divide(self.lower, other.upper), UP.divide(self.upper, other.lower))
        corners = [(a, b) for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        return Enclosure(min(DOWN.divide(*c) for c in corners), max(UP.divide(*c) for c in corners))

    def __rtruediv__(self, other: Value) -> Enclosure:
        return Enclosure.of(other) / self

    def __pow__(self, exponent: int) -> Enclosure:
        """A whole power, by squaring."""
        if exponent < 0:
            return 1 / self**-exponent
        result, square = Enclosure.of(1), self
        while exponent:
            if exponent & 1:
                result = result * square
            square, exponent = square * square, exponent >> 1
        return result

    def exp(self) -> Enclosure:
        """e to this power."""
        return Enclosure(_exp(self.lower, below=True), _exp(self.upper, below=False))

    def log(self) -> Enclosure:
        """The natural logarithm; the lower end must be positive."""
        if self.lower <= 0:
            raise ZeroDivisionError("logarithm of an enclosure that reaches zero")
        return Enclosure(_log(self.lower, below=True), _log(self.upper, below=False))

    def sqrt(self) -> Enclosure:
        """The square root; the upper end must not be negative."""
        return Enclosure(_sqrt(max(self.lower, _ZERO), below=True), _sqrt(self.upper, below=False))

    def nonnegative(self) -> Enclosure:
        """The same truth, or 0 where it is below."""
        return Enclosure(max(self.lower, _ZERO), max(self.upper, _ZERO))

    def clip(self, least: int, most: int) -> Enclosure:
        """The same truth, known to lie between two integers."""
        return Enclosure(
            min(max(self.lower, Decimal(least)), Decimal(most)), max(min(self.upper, Decimal(most)), Decimal(least))
        )

    def interval(self, method: str = "") -> Interval:
        """As reported to users: Fractions, with magnitudes beyond 10**-1000 and 10**1000 widened away."""
        return Interval(_report(self.lower, below=True), _report(self.upper, below=False), method=method)

    def claim(self) -> Fraction:
        """A short rational safely above the truth: what a rule may conclude.

        The margin leaves room for a checker that computes with fewer digits.
        """
        upper = _report(self.upper, below=False)
        if isinstance(upper, float):
            raise OverflowError("no finite bound")
        return round_up(upper * (1 + CLAIM_MARGIN)) if upper > 0 else Fraction(0)


def log_sum_exp(terms: Sequence[Enclosure]) -> Enclosure:
    """ln(e^a + e^b + ...), without leaving the range of numbers when the terms are large."""
    top = max(terms, key=lambda term: term.upper)
    total = sum(((term - top).exp() for term in terms), Enclosure.of(0))
    return top + total.log()


def _exp(value: Decimal, *, below: bool) -> Decimal:
    if value == 0:
        return _ONE
    if value < _EXP_LEAST:
        return _ZERO if below else UP.next_plus(UP.exp(_EXP_LEAST))
    if value > _EXP_LIMIT:
        raise OverflowError("exponent too large")
    return DOWN.next_minus(DOWN.exp(value)) if below else UP.next_plus(UP.exp(value))


def _log(value: Decimal, *, below: bool) -> Decimal:
    if value == 1:
        return _ZERO
    return DOWN.next_minus(DOWN.ln(value)) if below else UP.next_plus(UP.ln(value))


def _sqrt(value: Decimal, *, below: bool) -> Decimal:
    root = DOWN.sqrt(value)
    if Context(prec=2 * DIGITS + 2, Emin=MIN_EMIN, Emax=MAX_EMAX).multiply(root, root) == value:
        return root
    return DOWN.next_minus(root) if below else UP.next_plus(root)


def _report(value: Decimal, *, below: bool) -> End:
    if value == 0:
        return Fraction(0)
    if value.adjusted() < -_REPORTED_EXPONENT:
        towards_zero = below == (value > 0)
        edge = Fraction(1, 10**_REPORTED_EXPONENT)
        return Fraction(0) if towards_zero else (-edge if below else edge)
    if value.adjusted() > _REPORTED_EXPONENT:
        towards_infinity = below != (value > 0)
        edge = Fraction(10**_REPORTED_EXPONENT)
        sign = 1 if value > 0 else -1
        return sign * float("inf") if towards_infinity else sign * edge
    return Fraction(value)
