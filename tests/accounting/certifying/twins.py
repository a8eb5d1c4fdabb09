"""The same law as the library and the checker write it."""

from fractions import Fraction

from privately.accounting.certifying.laws import Law
from privately.certificates.checker.accounting import terms
from privately.certificates.checker.intervals import Interval
from privately.certificates.checker.rationals import Rational


def rational(value: Fraction) -> Rational:
    return Rational(value.numerator, value.denominator)


def checked(law: Law) -> terms.Law:
    """With all that is inside."""
    inner = tuple(tuple((checked(one), times) for one, times in listed) for listed in law.inner)
    return terms.make_law(law.name, *map(rational, law.numbers))._replace(inner=inner)


def high(x: Interval) -> float:
    return float(Fraction(x.high) * Fraction(2) ** x.exponent)


def law(name: str, *numbers: str | int) -> Law:
    return Law(name, tuple(map(Fraction, numbers)))


def enclosing(name: str, inside: list[tuple[Law, int]], *numbers: str | int) -> Law:
    return Law(name, tuple(map(Fraction, numbers)), (tuple(inside),))
