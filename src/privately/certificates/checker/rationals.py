"""Exact rationals, just large enough for the rules.

`fractions.Fraction` would do, but it imports `decimal`, on which the deriver rests, and reduces after every step.
Here nothing is reduced: what is read from a certificate is in lowest terms already, and sums of equal
denominators keep theirs.
"""

from math import lcm


class Rational:
    """numerator / denominator, with denominator > 0."""

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: int, denominator: int = 1) -> None:
        self.numerator = numerator
        self.denominator = denominator

    def __add__(self, other: "Rational") -> "Rational":
        if self.denominator == other.denominator:
            return Rational(self.numerator + other.numerator, self.denominator)
        common = lcm(self.denominator, other.denominator)
        return Rational(
            self.numerator * (common // self.denominator) + other.numerator * (common // other.denominator),
            common,
        )

    def __sub__(self, other: "Rational") -> "Rational":
        return self + Rational(-other.numerator, other.denominator)

    def __mul__(self, other: "Rational") -> "Rational":
        return Rational(self.numerator * other.numerator, self.denominator * other.denominator)

    def __truediv__(self, other: "Rational") -> "Rational":
        if other.numerator < 0:
            return self * Rational(-other.denominator, -other.numerator)
        if other.numerator == 0:
            raise ZeroDivisionError("division of a rational by zero")
        return self * Rational(other.denominator, other.numerator)

    def __neg__(self) -> "Rational":
        return Rational(-self.numerator, self.denominator)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rational):
            return NotImplemented
        return self.numerator * other.denominator == other.numerator * self.denominator

    # Equal numbers may have different terms, so that a hash would have to reduce them; `key` says when it is right.
    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: "Rational") -> bool:
        return self.numerator * other.denominator < other.numerator * self.denominator

    def __le__(self, other: "Rational") -> bool:
        return self.numerator * other.denominator <= other.numerator * self.denominator

    def __repr__(self) -> str:
        return f"Rational({self.numerator}, {self.denominator})"

    def is_zero(self) -> bool:
        return not self.numerator

    def bit_size(self) -> int:
        return self.numerator.bit_length() + self.denominator.bit_length()

    def key(self) -> tuple[int, int]:
        """Something to look a number up by; equal for equal numbers in lowest terms."""
        return self.numerator, self.denominator

    def exact(self) -> str:
        """As in a certificate, if it is in lowest terms."""
        return str(self.numerator) if self.denominator == 1 else f"{self.numerator}/{self.denominator}"

    def text(self) -> str:
        """For people: a decimal with 10 digits at most."""
        if self.denominator == 1 and self.numerator.bit_length() < 64:
            return str(self.numerator)
        if self.numerator.bit_length() - self.denominator.bit_length() > 1000:
            return "more than 1e300"
        value = self.numerator / self.denominator
        return f"{value:.10g}" if value or not self.numerator else "less than 1e-323"


ZERO = Rational(0)
ONE = Rational(1)
