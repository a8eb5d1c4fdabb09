"""Exact weights: rationals, or quotients of polynomials in one unknown t.

t is a parameter of the program that was left open (0 < t < 1), or t = exp(-1/d), which solves no polynomial equation
with rational coefficients (Lindemann 1882); so two quotients are equal there exactly when they are the same quotient.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

from flint import fmpq, fmpz_poly

from privately.proving.language.meaning import OpenNumber


class Quotient(OpenNumber):
    """numerator(t) / denominator(t), in lowest terms, with a positive leading coefficient below."""

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: fmpz_poly, denominator: fmpz_poly) -> None:
        common = numerator.gcd(denominator)
        if denominator.leading_coefficient() < 0:
            common = -common
        self.numerator = numerator // common
        self.denominator = denominator // common

    @classmethod
    def power(cls, exponent: int) -> Quotient:
        """t to a power, which may be negative."""
        one, power = fmpz_poly([1]), fmpz_poly([0, 1]) ** abs(exponent)
        return cls(power, one) if exponent >= 0 else cls(one, power)

    def __add__(self, other: Weight) -> Quotient:
        right = quotient(other)
        if self.denominator == right.denominator:
            return Quotient(self.numerator + right.numerator, self.denominator)
        return Quotient(
            self.numerator * right.denominator + right.numerator * self.denominator,
            self.denominator * right.denominator,
        )

    __radd__ = __add__

    def __neg__(self) -> Quotient:
        return Quotient(-self.numerator, self.denominator)

    def __sub__(self, other: Weight) -> Quotient:
        return self + (-quotient(other))

    def __rsub__(self, other: Weight) -> Quotient:
        return quotient(other) - self

    def __mul__(self, other: Weight) -> Quotient:
        right = quotient(other)
        return Quotient(self.numerator * right.numerator, self.denominator * right.denominator)

    __rmul__ = __mul__

    def __truediv__(self, other: Weight) -> Quotient:
        right = quotient(other)
        return Quotient(self.numerator * right.denominator, self.denominator * right.numerator)

    def __rtruediv__(self, other: Weight) -> Quotient:
        return quotient(other) / self

    def __pow__(self, exponent: int) -> Quotient:
        if exponent < 0:
            return Quotient(self.denominator**-exponent, self.numerator**-exponent)
        return Quotient(self.numerator**exponent, self.denominator**exponent)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Quotient, fmpq, int, Fraction)):
            return NotImplemented
        right = quotient(other)
        return bool(self.numerator == right.numerator and self.denominator == right.denominator)

    def __hash__(self) -> int:
        return hash((tuple(self.numerator.coeffs()), tuple(self.denominator.coeffs())))

    def __bool__(self) -> bool:
        return bool(self.numerator)

    def __repr__(self) -> str:
        return self.written("t")

    def written(self, name: str) -> str:
        """As people write it, rising in powers of the unknown, such as (2 - p)/(1 - p)."""
        low = next(one for one in self.denominator.coeffs() if one != 0)
        above, below = (part if low > 0 else -part for part in (self.numerator, self.denominator))
        if below.degree() == 0 and below[0] == 1:
            return _written(above, name)
        over, under = _written(above, name), _written(below, name)
        over = f"({over})" if " " in over else over
        return f"{over}/({under})" if " " in under or "*" in under else f"{over}/{under}"


def _written(polynomial: fmpz_poly, name: str) -> str:
    text = ""
    for power, one in enumerate(polynomial.coeffs()):
        if one != 0:
            unknown = name if power == 1 else f"{name}^{power}"
            size = abs(int(one))
            factor = str(size) if not power else unknown if size == 1 else f"{size}*{unknown}"
            sign = "-" if one < 0 else "+"
            text += f" {sign} {factor}" if text else factor if one > 0 else f"-{factor}"
    return text or "0"


Weight: TypeAlias = Any
"""fmpq, or Quotient; both know + - * / == and whether they are zero."""

UNKNOWN = Quotient(fmpz_poly([0, 1]), fmpz_poly([1]))
"""t itself."""

ONE = fmpq(1)
ZERO = fmpq(0)


def weight(value: Fraction | int) -> fmpq:
    """A rational number as a weight."""
    exact = Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def fraction(value: fmpq) -> Fraction:
    """And back."""
    return Fraction(int(value.p), int(value.q))


def quotient(value: Weight) -> Quotient:
    """Any weight as a quotient."""
    if isinstance(value, Quotient):
        return value
    exact = value if isinstance(value, fmpq) else weight(value)
    return Quotient(fmpz_poly([exact.p]), fmpz_poly([exact.q]))


def cost(value: Weight) -> int:
    """What a step with a weight takes, in units of about a microsecond.

    Lowest terms take the square of the length where coefficients are long, and little more than the length elsewhere.
    """
    if isinstance(value, fmpq):
        return int(value.q).bit_length() // 32
    if not isinstance(value, Quotient):
        return int(value.cost())
    words = 1 + int(value.denominator.leading_coefficient()).bit_length() // 32
    above, below = (words * (1 + part.degree()) for part in (value.numerator, value.denominator))
    return 4 + (above + below) // 2 + (above * below >> 4 if words > 1 else 0)
