"""Affine forms with rational coefficients, over draws of noise and over inputs that are left open.

symbol      int: the draw with that number on the path      str: an entry of an input, such as q[2]
form        constant + sum of coefficient * symbol
constraint  form > 0, form >= 0 or form == 0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from privately.errors import NotSupported
from privately.proving.language.meaning import OpenNumber

Symbol: TypeAlias = int | str
Exact: TypeAlias = int | Fraction
Relation: TypeAlias = Literal[">", ">=", "=="]


class NotAffine(NotSupported):
    """Noise, or an input that was left open, is used in another way than by sums and multiples."""


def _fraction(value: Exact) -> Fraction:
    """The same number; what is a fraction already need not be made one, which takes long."""
    return value if isinstance(value, Fraction) else Fraction(value)


class Affine(OpenNumber):
    """A form with at least one symbol in it; without any it is a plain number."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: Exact, terms: Mapping[Symbol, Exact]) -> None:
        self.constant = _fraction(constant)
        self.terms = {symbol: _fraction(factor) for symbol, factor in terms.items()}

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Affine):
            terms = dict(self.terms)
            for symbol, factor in other.terms.items():
                terms[symbol] = terms.get(symbol, Fraction(0)) + factor
            return form(self.constant + other.constant, terms)
        return Affine(self.constant + other, self.terms)

    __radd__ = __add__

    def __neg__(self) -> Affine:
        return Affine(-self.constant, {symbol: -factor for symbol, factor in self.terms.items()})

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Affine):
            raise NotAffine("a product of two values that depend on noise or on inputs.")
        return form(self.constant * other, {symbol: factor * other for symbol, factor in self.terms.items()})

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Affine):
            raise NotAffine("a division by a value that depends on noise or on inputs.")
        return self * (1 / Fraction(other))

    def __rtruediv__(self, other: Any) -> Any:
        raise NotAffine("a division by a value that depends on noise or on inputs.")

    def __pow__(self, exponent: int) -> Any:
        if exponent == 1:
            return self
        if exponent == 0:
            return 1
        raise NotAffine("a power of a value that depends on noise or on inputs.")

    def __floor__(self) -> Any:
        raise NotAffine("noise, or an input, rounded down.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Affine) and self.constant == other.constant and self.terms == other.terms

    def __hash__(self) -> int:
        return hash((self.constant, frozenset(self.terms.items())))

    def __repr__(self) -> str:
        parts = [str(self.constant)] if self.constant else []
        for symbol, factor in self.terms.items():
            name = symbol if isinstance(symbol, str) else f"z{symbol}"
            parts.append(name if factor == 1 else f"{factor}*{name}")
        return " + ".join(parts)

    def substituted(self, values: Mapping[str, Exact]) -> Any:
        """With numbers for the inputs among its symbols."""
        constant, rest = self.constant, {}
        for symbol, factor in self.terms.items():
            if isinstance(symbol, str) and symbol in values:
                constant += factor * values[symbol]
            else:
                rest[symbol] = factor
        return form(constant, rest)


def form(constant: Exact, terms: Mapping[Symbol, Exact]) -> Affine | Exact:
    """An affine form, or a number if nothing is left of its symbols."""
    kept = {symbol: factor for symbol, factor in terms.items() if factor}
    if kept:
        return Affine(constant, kept)
    exact = _fraction(constant)
    return exact.numerator if exact.denominator == 1 else exact


def symbol_form(symbol: Symbol) -> Affine:
    """The symbol itself."""
    return Affine(0, {symbol: 1})


def constant_of(value: Affine | Exact) -> Fraction:
    """The part without symbols."""
    return value.constant if isinstance(value, Affine) else Fraction(value)


def terms_of(value: Affine | Exact) -> Mapping[Symbol, Fraction]:
    """The part with symbols."""
    return value.terms if isinstance(value, Affine) else {}


@dataclass(frozen=True, slots=True)
class Constraint:
    """form > 0, form >= 0 or form == 0."""

    form: Affine
    relation: Relation

    def negated(self) -> Constraint:
        """What holds otherwise; not of an equality, which has two ways to fail."""
        if self.relation == "==":
            raise NotSupported("the opposite of an equality is two constraints.")
        return Constraint(-self.form, ">=" if self.relation == ">" else ">")

    def __str__(self) -> str:
        return f"{self.form} {self.relation} 0"


def holds(value: Exact, relation: Relation) -> bool:
    """Whether a number is as the relation wants it."""
    if relation == ">":
        return value > 0
    return value >= 0 if relation == ">=" else value == 0


def substituted(constraint: Constraint, values: Mapping[str, Exact]) -> Constraint | bool:
    """The constraint at these inputs: decided, or one on noise alone."""
    inside = constraint.form.substituted(values)
    if isinstance(inside, Affine):
        return Constraint(inside, constraint.relation)
    return holds(inside, constraint.relation)
