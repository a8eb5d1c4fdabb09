"""Where the unknown t of the weights lies, and what can be decided there: signs, and which of several is largest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from flint import arb, ctx, fmpq, fmpz_poly

from privately.errors import NotSupported
from privately.proving.exact.budgets import spend
from privately.proving.exact.weights import Quotient, Weight, fraction, quotient

PRECISIONS = (128, 512, 2048, 8192, 32768)


@dataclass(frozen=True, slots=True)
class Exponential:
    """t = exp(-1/unit)."""

    unit: int

    def sign(self, value: Weight) -> int:
        """-1, 0 or 1.

        Theorem: a polynomial with rational coefficients that is not zero has no zero at exp(-1/unit).
        Reference: Lindemann 1882
        Proof: docs/theory/programs.md#signs
        Checked-by: tests/proving/exact/test_places.py::test_signs_agree_with_many_digits
        """
        if not isinstance(value, Quotient):
            return int(value > 0) - int(value < 0)
        if not value:
            return 0
        for bits in PRECISIONS:
            with ctx.workprec(bits):
                t = (arb(-1) / self.unit).exp()
                above, below = value.numerator(t), value.denominator(t)
                if not above.contains(0) and not below.contains(0):
                    return 1 if (above > 0) == (below > 0) else -1
        raise NotSupported("two probabilities are too close to be told apart.")

    def nonnegative(self, value: Weight) -> bool:
        """Whether it is at least 0 there."""
        return self.sign(value) >= 0

    def ball(self, value: Weight, bits: int) -> arb:
        """An enclosure."""
        with ctx.workprec(bits):
            t = (arb(-1) / self.unit).exp()
            if not isinstance(value, Quotient):
                return arb(value)
            return value.numerator(t) / value.denominator(t)


@dataclass(frozen=True, slots=True)
class Between:
    """t is any number strictly between the two."""

    lower: Fraction
    upper: Fraction

    def nonnegative(self, value: Weight) -> bool:
        """Whether it is at least 0 everywhere there."""
        return all(at(value, point) >= 0 for point in self.samples([value]))

    def has_zero(self, value: Weight) -> bool:
        """Whether it is zero, or has no value, somewhere there."""
        return not value or any(self.roots(part) for part in _parts(value))

    def samples(self, values: Sequence[Weight]) -> list[Fraction]:
        """A point of every stretch on which none of these changes its sign."""
        return [middle for _, middle, _ in self.stretches(values)]

    def stretches(self, values: Sequence[Weight]) -> Iterator[tuple[Edge, Fraction, Edge]]:
        """The stretches themselves: (left end, a point inside, right end)."""
        whole = fmpz_poly([1])
        for value in values:
            for part in _parts(value):
                spend(50 + whole.degree() * (whole.degree() + part.degree()))
                whole *= part // whole.gcd(part)
        ends = [Edge(self.lower, self.lower), *self.roots(whole), Edge(self.upper, self.upper)]
        for left, right in pairwise(ends):
            yield left, (left.upper + right.lower) / 2, right

    def roots(self, polynomial: fmpz_poly) -> list[Edge]:
        """The zeros strictly between the ends, ascending and apart from one another; exact where they are rational."""
        spend(polynomial.degree() ** 3 // 2)
        found, others = [], fmpz_poly([1])
        for factor, _ in polynomial.factor()[1]:
            if factor.degree() == 1:
                zero = Fraction(-int(factor[0]), int(factor[1]))
                found.append(Edge(zero, zero))
            else:
                others *= factor
        found = [edge for edge in found if self.lower < edge.lower < self.upper]
        if others.degree() < 1:
            return sorted(found, key=lambda edge: edge.lower)
        for bits in PRECISIONS:
            with ctx.workprec(bits):
                roots: Any = others.complex_roots()  # its stubs forget the multiplicities
                real = [_edge(one.real) for one, _ in roots if one.imag == 0]
            inside = [edge for edge in real if self.lower < edge.upper and edge.lower < self.upper]
            edges = sorted(found + inside, key=lambda edge: edge.lower)
            ends = [Edge(self.lower, self.lower), *edges, Edge(self.upper, self.upper)]
            if all(left.upper < right.lower for left, right in pairwise(ends)):
                return edges
        raise NotSupported("zeros of a polynomial are too close to be told apart.")


@dataclass(frozen=True, slots=True)
class Edge:
    """A number, known to lie between two rationals."""

    lower: Fraction
    upper: Fraction

    def __str__(self) -> str:
        return str(self.lower) if self.lower == self.upper else f"about {float(self.lower):.6g}"


Place: TypeAlias = Exponential | Between


def ball(value: Weight, place: Place | None, bits: int) -> arb:
    """An enclosure of a weight without an open parameter."""
    if isinstance(place, Exponential):
        return place.ball(value, bits)
    with ctx.workprec(bits):
        return arb(value)


def at(value: Weight, point: Fraction) -> Fraction:
    """The value of a quotient for one t; the point is no zero of its denominator."""
    if not isinstance(value, Quotient):
        return fraction(value)
    t = fmpq(point.numerator, point.denominator)
    return fraction(value.numerator(t) / value.denominator(t))


def _parts(value: Weight) -> tuple[fmpz_poly, ...]:
    exact = quotient(value)
    return tuple(part for part in (exact.numerator, exact.denominator) if part.degree() > 0)


def _edge(root: arb) -> Edge:
    return Edge(*(exact_end(end) for end in (root.lower(), root.upper())))


def exact_end(end: arb) -> Fraction:
    """The end of a ball, which is a number of binary digits, exactly."""
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
