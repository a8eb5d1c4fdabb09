"""What a group sees of (epsilon, delta)-DP mechanisms, on samples or not: all that a chain of close laws can differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from privately.accounting.grouped_samples.mixtures import Split
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading import Side
from privately.rounding import Enclosure

_MOST_ROWS, _LARGEST = 24, 100
_BITS = 120
_NONE, _ALL = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Statement:
    """All (epsilon, delta)-DP mechanisms, on a Poisson sample of this rate; without a sample it is 1."""

    epsilon: Fraction
    delta: Fraction
    rate: Fraction

    def seen(self, split: Split, side: Side) -> tuple[FiniteLoss | None, Fraction]:
        """The law of the finite losses, None when they are all 0, and the mass at infinite loss, from one side.

        Theorem: with g(x) = min(1, delta + e^epsilon x, 1 - e^-epsilon (1 - delta - x)) and g_i its i-th iterate, a
            test that has x with no row in the sample has at most g_i(x) with i removed rows in it, and at least 1 -
            g_j(1 - x) with j added ones. So P(x) = sum of w_i g_i(x) against Q(x) = sum of v_j (1 - g_j(1 - x)), 0 <= x
            <= 1, dominates; noise on a count reaches it for all x at once.
        Reference: Dong-Roth-Su 2022, Theorem 2.14; Awan-Vadhan 2023
        Proof: docs/theory/accounting/group_samples.md#chains-of-statements
        Checked-by: tests/accounting/grouped_samples/test_chains.py::test_chains_dominate_enumeration,
            tests/accounting/grouped_samples/test_chains.py::test_chains_are_reached
        """
        if sum(split) > _MOST_ROWS or self.epsilon > _LARGEST:
            raise NotApplicable("too many rows, or too large an epsilon")
        return _pair(Chain(_power(self.epsilon, side), self.delta), self.rate, split)


@dataclass(frozen=True)
class Chain:
    """g, with a rational number in place of e^epsilon."""

    grown: Fraction
    delta: Fraction

    def next(self, x: Fraction) -> Fraction:
        """g(x)."""
        return min(_ALL, self.delta + self.grown * x, 1 - (1 - self.delta - x) / self.grown)

    def before(self, x: Fraction) -> Fraction:
        """The least y with g(y) >= x."""
        return 1 - self.next(1 - x)

    def along(self, x: Fraction, rows: int) -> list[Fraction]:
        """g_0(x), g_1(x), ..., for up to so many rows."""
        found = [x]
        for _ in range(rows):
            found.append(self.next(found[-1]))
        return found

    def bends(self, rows: int) -> set[Fraction]:
        """Between these, all of g_1, ..., are straight."""
        found: set[Fraction] = set()
        for bend in ((1 - self.delta) / (1 + self.grown), 1 - self.delta):
            place = bend
            for _ in range(rows):
                found.add(place)
                if not place:
                    break
                place = self.before(place)
        return found


def _power(epsilon: Fraction, side: Side) -> Fraction:
    """A short number not below e^epsilon, or not above it, and at least 1: such a statement is weaker, or stronger."""
    grown, unit = Enclosure.of(epsilon).exp(), 2**_BITS
    if side == "upper":
        return Fraction(math.ceil(Fraction(grown.upper) * unit), unit)
    return max(Fraction(math.floor(Fraction(grown.lower) * unit), unit), _ALL)


@lru_cache(maxsize=64)
def _pair(chain: Chain, rate: Fraction, split: Split) -> tuple[FiniteLoss | None, Fraction]:
    removed, added = (
        [math.comb(rows, i) * rate**i * (1 - rate) ** (rows - i) for i in range(rows + 1)] for rows in split
    )
    places = sorted({_NONE, _ALL, *chain.bends(split[0]), *(1 - bend for bend in chain.bends(split[1]))})
    p = [_mean(removed, chain.along(x, split[0])) for x in places]
    q = [1 - _mean(added, chain.along(1 - x, split[1])) for x in places]
    infinite, outcomes = p[0], []
    for place in range(1, len(places)):
        first, second = p[place] - p[place - 1], q[place] - q[place - 1]
        if not second:
            infinite += first
        elif first:
            outcomes.append(((first, _NONE), (second, _NONE)))
    if all(first == second for first, second in outcomes):
        return None, infinite
    return FiniteLoss(epsilon=_NONE, outcomes=tuple(outcomes)), infinite


def _mean(shares: list[Fraction], values: list[Fraction]) -> Fraction:
    return sum((share * value for share, value in zip(shares, values, strict=True)), _NONE)
