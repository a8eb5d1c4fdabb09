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
        """For people: a decimal with 10 digits at most, never below the number itself."""
        if self.is_zero():
            return "0"
        if self.denominator == 1 and self.numerator.bit_length() < 64:
            return str(self.numerator)
        if self.numerator < 0:
            return "-" + Rational(-self.numerator, self.denominator).text()
        exponent = _floor_log10(self) - 9
        digits = -(-self.numerator * 10 ** max(-exponent, 0) // (self.denominator * 10 ** max(exponent, 0)))
        return _decimal(digits, exponent)


def _floor_log10(value: Rational) -> int:
    """The place of the first digit, or one more where the digits before it are all nines."""
    guess = (value.numerator.bit_length() - value.denominator.bit_length() - 1) * 30103 // 100000
    above: int = 10 ** max(guess + 1, 0)
    below: int = 10 ** max(-guess - 1, 0)
    return guess + (value.numerator * below >= value.denominator * above)


def _decimal(digits: int, exponent: int) -> str:
    """digits * 10^exponent, plainly from 0.00001 to 10^15 and with an exponent elsewhere."""
    shown = str(digits).rstrip("0")
    place = len(str(digits)) + exponent - 1
    if not -5 <= place < 15:
        return f"{shown[0]}{'.' if shown[1:] else ''}{shown[1:]}e{place:+d}"
    if place < 0:
        return "0." + "0" * (-place - 1) + shown
    shown = shown.ljust(place + 1, "0")
    return shown[: place + 1] + ("." if shown[place + 1 :] else "") + shown[place + 1 :]


ZERO = Rational(0)
ONE = Rational(1)
