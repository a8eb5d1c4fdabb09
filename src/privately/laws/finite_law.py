"""A law with finitely many integer outcomes, all of it exact."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import lcm

from privately.errors import InvalidParameter
from privately.laws.deciding import FARTHEST, outcome
from privately.rounding import MAX_BITS, Interval, Number, rational, whole

_METHOD = "exact"
_LONGEST_DENOMINATOR = 16 * MAX_BITS


@dataclass(frozen=True, init=False)
class FiniteLaw:
    """Outcomes with their exact probabilities, which add up to exactly 1. Impossible outcomes are dropped.

    >>> coin = FiniteLaw(table={0: "1/2", 1: "1/2"})
    >>> coin.cdf(0).upper, coin.quantile("1/2"), coin.quantile("0.51")
    (Fraction(1, 2), 0, 1)
    """

    table: tuple[tuple[int, Fraction], ...]
    """Pairs of outcome and probability, the outcomes ascending."""

    def __init__(self, *, table: Mapping[int, Number] | Iterable[tuple[int, Number]]) -> None:
        object.__setattr__(self, "table", _checked(table))

    def pmf(self, k: int) -> Interval:
        """P(X = k), exactly."""
        return _exactly(self._masses.get(outcome(k), Fraction(0)))

    def cdf(self, k: int) -> Interval:
        """P(X <= k), exactly."""
        return _exactly(self._sums[bisect_right(self._outcomes, outcome(k))])

    def tail(self, k: int) -> Interval:
        """P(X > k), exactly."""
        return _exactly(1 - self._sums[bisect_right(self._outcomes, outcome(k))])

    def quantile(self, probability: Number) -> int:
        """The least k with P(X <= k) >= probability, for 0 < probability <= 1."""
        p = rational(probability, "probability", above=0, maximum=1)
        return self._outcomes[bisect_left(self._sums, p) - 1]

    def interval(self, confidence: Number) -> int:
        """The least w with P(|X| <= w) >= confidence, for 0 <= confidence <= 1."""
        c = rational(confidence, "confidence", minimum=0, maximum=1)
        return _sizes(self).quantile(c) if c > 0 else 0

    @cached_property
    def _masses(self) -> dict[int, Fraction]:
        return dict(self.table)

    @cached_property
    def _outcomes(self) -> tuple[int, ...]:
        return tuple(k for k, _ in self.table)

    @cached_property
    def _sums(self) -> tuple[Fraction, ...]:
        return tuple(accumulate((mass for _, mass in self.table), initial=Fraction(0)))


def _sizes(law: FiniteLaw) -> FiniteLaw:
    """The law of |X|."""
    sizes: dict[int, Fraction] = {}
    for k, mass in law.table:
        sizes[abs(k)] = sizes.get(abs(k), Fraction(0)) + mass
    return FiniteLaw(table=sizes)


def _checked(table: object) -> tuple[tuple[int, Fraction], ...]:
    """The table in order, or InvalidParameter naming the entry."""
    masses: dict[int, Fraction] = {}
    denominator = 1
    for key, value in _pairs(table):
        k = whole(key, "table", minimum=-FARTHEST, maximum=FARTHEST)
        if k in masses:
            raise InvalidParameter("table", f"the outcome {k} occurs twice.")
        masses[k] = rational(value, f"table[{k}]", minimum=0)
        denominator = lcm(denominator, masses[k].denominator)
        if denominator.bit_length() > _LONGEST_DENOMINATOR:
            raise InvalidParameter("table", f"the common denominator is longer than {_LONGEST_DENOMINATOR} bits.")
    if sum(mass.numerator * (denominator // mass.denominator) for mass in masses.values()) != denominator:
        raise InvalidParameter("table", "the probabilities do not add up to exactly 1.")
    return tuple(sorted((k, mass) for k, mass in masses.items() if mass))


def _pairs(table: object) -> list[tuple[object, object]]:
    try:
        listed = list(table.items() if isinstance(table, Mapping) else table)  # type: ignore[call-overload]  # the except checks it
        return [(key, value) for key, value in listed]
    except (TypeError, ValueError):
        raise InvalidParameter("table", "give a mapping from outcomes to probabilities.") from None


def _exactly(value: Fraction) -> Interval:
    return Interval(value, value, method=_METHOD)
