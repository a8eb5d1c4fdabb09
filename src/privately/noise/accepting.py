"""Which of very many candidates are accepted, in random order: the first ones, without a look at all the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from functools import lru_cache
from typing import NamedTuple

from privately.noise.brackets import exp_minus
from privately.noise.source import Source

_BITS = 64
_RATE_BITS = 64
_SPARE = 40
"""Bits of 1 - exp(-L) beyond those that were drawn and those that dividing by the count takes away."""
_ONE = Decimal(1)
_TRAPS = [InvalidOperation, DivisionByZero, Overflow]


@lru_cache(maxsize=1024)
def _rate(exponent: Fraction) -> int:
    """At least exp(-exponent) times 2^64. Choices by levels ask for the same few exponents over and over."""
    return exp_minus(exponent, _RATE_BITS).upper


class Accepting:
    """counts[i] candidates are accepted with probability exp(-exponents[i]) each; in random order, the i of each.

    It ends with the last of those whose exponent is 0, which are all accepted.

    Theorem: give every candidate a uniform time, and look at those that are accepted in the order of their times. Of m
        candidates that are accepted with probability q, the first has come by t with probability 1 - (1 - q t)^m: so
        with a uniform V it comes at (1 - (1 - V)^(1/m))/q, which is above t if V > m q t; and once k have come, the
        next at (1 - product of (1 - V_j)^(1/(m - j)) over j = 0, ..., k)/q. Who comes first is certain as soon as its
        time is, for all further bits, below all others.
    Reference: order statistics of uniform variables (Renyi 1953); lazy comparison after von Neumann
    Proof: docs/theory/noise.md#accepted-candidates
    Checked-by: tests/noise/test_accepting.py::test_the_first_to_come_are_those_of_the_bits,
        tests/noise/test_accepting.py::test_all_scripts_together_have_the_exact_law
    """

    def __init__(self, counts: Sequence[int], exponents: Sequence[Fraction]) -> None:
        self._counts, self._exponents = counts, exponents
        self._rates = [count * _rate(exponent) for count, exponent in zip(counts, exponents, strict=True)]
        self._total = sum(self._rates)
        self._certain = sum(count for count, exponent in zip(counts, exponents, strict=True) if not exponent.numerator)

    def draw(self, source: Source) -> Iterator[int]:
        """The group of each, as they come."""
        first = source.words(len(self._counts), f"<u{_BITS // 8}").tolist()
        certain = self._certain
        begun: dict[int, _Arrivals] = {}
        expected = 2
        while certain:
            for i in self._near(expected, first):
                if i not in begun:
                    begun[i] = _Arrivals(self._counts[i], self._exponents[i], first[i])
            found = _earliest({i: one for i, one in begun.items() if one.left}, source)
            if found is None or (found.until * self._total > expected << _RATE_BITS and len(begun) < len(first)):
                expected *= 2
                continue
            yield found.group
            certain -= not self._exponents[found.group]
            begun[found.group].go_on(source)

    def _near(self, expected: int, first: Sequence[int]) -> list[int]:
        """All groups of which somebody may come by the time at which about so many have come, and few others."""
        rates = enumerate(self._rates)
        return [i for i, rate in rates if first[i] * self._total <= expected * rate << _BITS]


class _Found(NamedTuple):
    """The group of which somebody comes first, by this time."""

    group: int
    until: Fraction


class _Arrivals:
    """Those of one group who have come, and the time of the next, as far as it is known."""

    def __init__(self, count: int, exponent: Fraction, word: int) -> None:
        self.left, self._exponent = count, exponent
        self._known, self._bits = [word], _BITS
        self._count = count
        self._bounds: tuple[Decimal, Decimal] | None = None

    def go_on(self, source: Source) -> None:
        """The next one has come, and another is waited for."""
        self.left -= 1
        self._known.append(source.integer(self._bits))
        self._bounds = None

    def refine(self, source: Source) -> None:
        """All times to more bits."""
        self._known = [known << _BITS | source.integer(_BITS) for known in self._known]
        self._bits += _BITS
        self._bounds = None

    def bounds(self) -> tuple[Decimal, Decimal]:
        """The time of the next lies between these."""
        if self._bounds is None:
            self._bounds = self._enclosed()
        return self._bounds

    def _enclosed(self) -> tuple[Decimal, Decimal]:
        down, up = _contexts((self._bits + self._count.bit_length() + _SPARE) * 302 // 1000)
        low, high = Decimal(0), Decimal(0)
        for j, known in enumerate(self._known):
            low = down.add(low, down.divide(_minus_log(known, self._bits, down), self._count - j))
            high = up.add(high, up.divide(_minus_log(known + 1, self._bits, up), self._count - j))
        least = down.subtract(_ONE, min(_ONE, up.next_plus(up.exp(low.copy_negate())))) if low else low
        most = up.subtract(_ONE, down.next_minus(down.exp(high.copy_negate()))) if high.is_finite() else _ONE
        grown = _growth(self._exponent, down.prec)
        return down.multiply(least, grown[0]), up.multiply(most, grown[1])


def _earliest(waiting: dict[int, _Arrivals], source: Source) -> _Found | None:
    """Of whom somebody comes first; bits are added to those between whom it is open."""
    near = list(waiting)
    while near:
        bounds = {i: waiting[i].bounds() for i in near}
        best = min(near, key=lambda i: bounds[i][1])
        near = [i for i in near if bounds[i][0] <= bounds[best][1]]
        if near == [best]:
            return _Found(best, Fraction(bounds[best][1]))
        for i in near:
            waiting[i].refine(source)
    return None


def _minus_log(known: int, bits: int, context: Context) -> Decimal:
    """-log(1 - known/2^bits), rounded as the context says; `decimal` rounds logarithms correctly, to the nearest."""
    if not known:
        return Decimal(0)
    if known == 1 << bits:
        return Decimal("Infinity")
    found = context.ln(context.divide(Decimal(1 << bits), Decimal((1 << bits) - known)))
    return max(context.next_minus(found), Decimal(0)) if context.rounding == ROUND_FLOOR else context.next_plus(found)


@lru_cache(maxsize=4096)
def _growth(exponent: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """exp(exponent) from below and from above."""
    if not exponent:
        return _ONE, _ONE
    down, up = _contexts(digits)
    top, bottom = Decimal(exponent.numerator), Decimal(exponent.denominator)
    return down.next_minus(down.exp(down.divide(top, bottom))), up.next_plus(up.exp(up.divide(top, bottom)))


@lru_cache(maxsize=64)
def _contexts(digits: int) -> tuple[Context, Context]:
    """Rounding down, and up."""
    down, up = (
        Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=_TRAPS)
        for rounding in (ROUND_FLOOR, ROUND_CEILING)
    )
    return down, up
