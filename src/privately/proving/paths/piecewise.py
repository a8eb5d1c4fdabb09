"""Functions that are, between breakpoints, sums of c s^k exp(r s): closed under all that integrating out noise needs.

Breakpoints and rates r are rational, coefficients c are balls. Laplace and exponential densities are of this kind, and
so are products, antiderivatives, and antiderivatives at an affine function of another variable.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any, TypeAlias

from flint import arb, fmpq

Terms: TypeAlias = dict[tuple[Fraction, int], arb]
"""The coefficient of s^k exp(r s) under (r, k)."""

Line: TypeAlias = tuple[Fraction, Fraction]
"""(slope, height at zero)."""


def ball(value: Fraction | int) -> arb:
    """A rational number as a ball."""
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


@dataclass(frozen=True, slots=True)
class Piecewise:
    """`pieces[i]` holds from breaks[i - 1] to breaks[i]; the outer two go on without end."""

    breaks: tuple[Fraction, ...]
    pieces: tuple[Terms, ...]

    def piece(self, place: Fraction) -> Terms:
        """The terms around a place that is no breakpoint."""
        return self.pieces[bisect_left(self.breaks, place)]

    def __mul__(self, other: Piecewise) -> Piecewise:
        breaks = tuple(sorted({*self.breaks, *other.breaks}))
        return Piecewise(
            breaks,
            tuple(_product(self.piece(place), other.piece(place)) for place in middles(breaks)),
        )

    def within(self, lower: Fraction | None, upper: Fraction | None) -> Piecewise:
        """Zero outside."""
        ends = {end for end in (lower, upper) if end is not None}
        breaks = tuple(sorted({*self.breaks, *ends}))
        return Piecewise(
            breaks,
            tuple(
                {}
                if (lower is not None and place < lower) or (upper is not None and place > upper)
                else self.piece(place)
                for place in middles(breaks)
            ),
        )


@dataclass(frozen=True, slots=True)
class Cumulative:
    """The integral from minus infinity on, and what it comes to."""

    values: Piecewise
    total: arb

    def between(self, lowers: Sequence[Line], uppers: Sequence[Line]) -> Piecewise:
        """The integral from the highest of some lines to the lowest of others, as a function of where they are read."""
        lines = [*lowers, *uppers]
        breaks = {(b - d) / (c - a) for place, (a, b) in enumerate(lines) for c, d in lines[:place] if a != c} | {
            (knot - height) / slope for slope, height in lines for knot in self.values.breaks if slope
        }
        ordered = tuple(sorted(breaks))
        return Piecewise(ordered, tuple(self._piece(place, lowers, uppers) for place in middles(ordered)))

    def _piece(self, place: Fraction, lowers: Sequence[Line], uppers: Sequence[Line]) -> Terms:
        low = max(lowers, key=lambda line: line[0] * place + line[1], default=None)
        high = min(uppers, key=lambda line: line[0] * place + line[1], default=None)
        if low is not None and high is not None and low[0] * place + low[1] >= high[0] * place + high[1]:
            return {}
        above = {(Fraction(0), 0): self.total} if high is None else self._at(high, place)
        if low is None:
            return above
        return _sum(above, {key: -value for key, value in self._at(low, place).items()})

    def _at(self, line: Line, place: Fraction) -> Terms:
        return _along(self.values.piece(line[0] * place + line[1]), line)


def middles(breaks: Sequence[Fraction]) -> list[Fraction]:
    """A place inside each interval that the breaks cut the line into."""
    if not breaks:
        return [Fraction(0)]
    inner = [(a + b) / 2 for a, b in pairwise(breaks)]
    return [breaks[0] - 1, *inner, breaks[-1] + 1]


def cumulative(density: Piecewise) -> Cumulative:
    """The antiderivative that is 0 at minus infinity."""
    _fades(density.pieces[0], 1)
    _fades(density.pieces[-1], -1)
    pieces: list[Terms] = []
    reached = arb(0)
    for place, terms in enumerate(density.pieces):
        grown = _antiderivative(terms)
        start = arb(0) if place == 0 else reached - evaluated(grown, density.breaks[place - 1])
        grown = _sum(grown, {(Fraction(0), 0): start}) if place else grown
        pieces.append(grown)
        if place < len(density.breaks):
            reached = evaluated(grown, density.breaks[place])
    total = pieces[-1].get((Fraction(0), 0), arb(0))
    return Cumulative(Piecewise(density.breaks, tuple(pieces)), total)


def evaluated(terms: Terms, place: Fraction) -> arb:
    """The sum of the terms at a place."""
    where = ball(place)
    total = arb(0)
    for (rate, power), coefficient in terms.items():
        total += coefficient * where**power * ball(rate * place).exp()
    return total


def evaluated_at(terms: Terms, place: Any) -> Any:
    """The same at a complex ball."""
    total = place * 0
    for (rate, power), coefficient in terms.items():
        total += coefficient * place**power * (place * ball(rate)).exp()
    return total


def _fades(terms: Terms, direction: int) -> None:
    if any(rate * direction <= 0 for rate, _ in terms):
        raise ArithmeticError("a density that does not fade")


def _product(left: Terms, right: Terms) -> Terms:
    result: Terms = {}
    for (rate, power), value in left.items():
        for (other_rate, other_power), other in right.items():
            key = (rate + other_rate, power + other_power)
            share = value * other
            result[key] = result[key] + share if key in result else share
    return result


def _sum(left: Terms, right: Terms) -> Terms:
    result = dict(left)
    for key, value in right.items():
        result[key] = result[key] + value if key in result else value
    return result


def _antiderivative(terms: Terms) -> Terms:
    """By parts: the integral of s^k e^(rs) is e^(rs) times the sum of (-1)^i k!/(k-i)! s^(k-i) / r^(i+1)."""
    result: Terms = {}
    for (rate, power), value in terms.items():
        if rate == 0:
            result = _sum(result, {(rate, power + 1): value / (power + 1)})
            continue
        factor = value / ball(rate)
        for lower in range(power, -1, -1):
            result = _sum(result, {(rate, lower): factor})
            factor = -factor * lower / ball(rate)
    return result


def _along(terms: Terms, line: Line) -> Terms:
    """The terms at slope * v + height, as terms in v."""
    slope, height = line
    result: Terms = {}
    for (rate, power), value in terms.items():
        scaled = value * ball(rate * height).exp() if rate and height else value
        for k in range(power + 1):
            factor = comb(power, k) * slope**k * height ** (power - k)
            if factor:
                key = (rate * slope, k)
                share = scaled * ball(factor)
                result[key] = result[key] + share if key in result else share
    return result
