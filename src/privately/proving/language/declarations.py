"""How inputs are declared: what is private and how neighbours differ there, and what public parameters may be.

A program says it in the annotations of its parameters, a caller in `neighbors=`:

each(c)          every entry moves by at most c             one(c)       one entry moves by at most c
monotone(c)      all entries move up, or all down, by <= c  anything(D)  any two inputs of the domain
replaced(D)      one entry takes another value of D         added(D)     one entry of D comes or goes, at any place
whole(a, b)      whole numbers                              between(a, b) all numbers
one_of(x, ...)   these values                               bits(n)      lists of n zeros and ones
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from privately.errors import InvalidParameter
from privately.proving.language.meaning import simple
from privately.proving.language.syntax import Value
from privately.rounding import Number, rational

Change: TypeAlias = Literal["each", "one", "monotone", "replaced", "added", "anything"]


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that an entry, or a public parameter, can have; an end that is None is infinite."""

    values: tuple[Fraction, ...] | None = None
    lower: Fraction | None = None
    upper: Fraction | None = None
    whole: bool = False
    open: bool = False
    length: int | None = None

    @property
    def finite(self) -> bool:
        """Whether all its values can be listed."""
        return self.values is not None or (self.whole and self.lower is not None and self.upper is not None)

    @property
    def count(self) -> int:
        """How many values a finite domain has."""
        if self.values is not None:
            return len(self.values)
        return 0 if self.lower is None or self.upper is None else int(self.upper) - int(self.lower) + 1

    def members(self) -> tuple[Fraction, ...]:
        """All values, ascending; only of a finite domain."""
        if self.values is not None:
            return self.values
        if not self.whole or self.lower is None or self.upper is None:
            raise InvalidParameter("domain", f"{self} has no end.", hint="Give whole(a, b) or one_of(...).")
        return tuple(Fraction(k) for k in range(int(self.lower), int(self.upper) + 1))

    def __contains__(self, value: Fraction) -> bool:
        if self.values is not None:
            return value in self.values
        if self.whole and value.denominator != 1:
            return False
        above = self.lower is None or value > self.lower or (value == self.lower and not self.open)
        below = self.upper is None or value < self.upper or (value == self.upper and not self.open)
        return above and below

    def __str__(self) -> str:
        if self.length is not None:
            return f"bits({self.length})"
        if self.values is not None:
            return f"one_of({', '.join(map(str, self.values))})"
        lower, upper = ("-" if self.lower is None else self.lower), ("-" if self.upper is None else self.upper)
        word = "whole" if self.whole else "inside" if self.open else "between"
        return f"{word}({lower}, {upper})"


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """How two neighbours differ in one private parameter."""

    change: Change
    distance: Fraction | None = None
    domain: Domain | None = None

    def __str__(self) -> str:
        return f"{self.change}({', '.join(str(one) for one in (self.distance, self.domain) if one is not None)})"


ANY_NUMBER = Domain()
POSITIVE = Domain(lower=Fraction(0), open=True)
BIT = Domain(values=(Fraction(0), Fraction(1)))


def decimal(value: Number, field: str, **limits: Any) -> Fraction:
    """A number as it is written: the float 0.1 is a tenth, as in the text of a program."""
    return rational(repr(value) if isinstance(value, float) else value, field, **limits)


def exact_value(value: Any, field: str) -> Value:
    """A number, or a list of values, as programs compute with them."""
    if isinstance(value, (list, tuple)):
        return tuple(exact_value(one, field) for one in value)
    return simple(decimal(value, field))


def whole(lower: int, upper: int | None = None) -> Domain:
    """Whole numbers from `lower` on, to `upper` if there is one."""
    least = decimal(lower, "lower")
    most = None if upper is None else decimal(upper, "upper", minimum=least)
    if least.denominator != 1 or (most is not None and most.denominator != 1):
        raise InvalidParameter("lower", "whole(a, b) needs whole ends.")
    return Domain(lower=least, upper=most, whole=True)


def between(lower: Number, upper: Number) -> Domain:
    """All numbers from `lower` to `upper`."""
    least = decimal(lower, "lower")
    return Domain(lower=least, upper=decimal(upper, "upper", minimum=least))


def inside(lower: Number, upper: Number) -> Domain:
    """All numbers between the two, without them."""
    found = replace(between(lower, upper), open=True)
    if found.lower == found.upper:
        raise InvalidParameter("upper", "must be above lower: nothing lies inside.")
    return found


def one_of(*values: Number) -> Domain:
    """These values and no others."""
    if not values:
        raise InvalidParameter("values", "one_of needs at least one value.")
    return Domain(values=tuple(sorted({decimal(value, "values") for value in values})))


def bits(length: int) -> Domain:
    """Lists of that many zeros and ones."""
    exact = decimal(length, "length", minimum=0, maximum=4096)
    if exact.denominator != 1:
        raise InvalidParameter("length", f"{length} is not a whole number.")
    return replace(BIT, length=int(exact))


def each(distance: Number, domain: Domain | None = None) -> Neighborhood:
    """Every entry moves by at most this, and lies in the domain if there is one."""
    return _within("each", distance, domain)


def one(distance: Number, domain: Domain | None = None) -> Neighborhood:
    """One entry moves by at most this, and lies in the domain if there is one."""
    return _within("one", distance, domain)


def monotone(distance: Number, domain: Domain | None = None) -> Neighborhood:
    """All entries move in one direction, by at most this, and lie in the domain if there is one."""
    return _within("monotone", distance, domain)


def _within(change: Change, distance: Number, domain: Domain | None) -> Neighborhood:
    if not (domain is None or isinstance(domain, Domain)):
        raise InvalidParameter("domain", f"{domain!r} is no domain.", hint="Such as whole(0, 5) or one_of(0, 1).")
    return Neighborhood(change, distance=decimal(distance, "distance", minimum=0), domain=domain)


def replaced(*domain: Domain | Number) -> Neighborhood:
    """One entry takes another value of the domain."""
    return Neighborhood("replaced", domain=_domain(domain))


def added(*domain: Domain | Number) -> Neighborhood:
    """One entry of the domain comes or goes, at any place."""
    return Neighborhood("added", domain=_domain(domain))


def anything(*domain: Domain | Number) -> Neighborhood:
    """Any two inputs whose entries lie in the domain; lists have the same length."""
    return Neighborhood("anything", domain=_domain(domain))


def _domain(given: tuple[Domain | Number, ...]) -> Domain:
    if not given:
        return ANY_NUMBER
    if len(given) == 1 and isinstance(given[0], Domain):
        return given[0]
    numbers = [one for one in given if not isinstance(one, Domain)]
    if len(numbers) < len(given):
        raise InvalidParameter("domain", "give one domain, or numbers.", hint="Such as one_of(0, 1, 5).")
    return one_of(*numbers)


WORDS = {
    "each": each,
    "one": one,
    "monotone": monotone,
    "replaced": replaced,
    "added": added,
    "anything": anything,
    "whole": whole,
    "between": between,
    "inside": inside,
    "one_of": one_of,
    "bits": bits,
}
