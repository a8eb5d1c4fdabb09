"""Pairs of laws with finitely many outcomes: what sampling makes of them, and their profile.

Outcomes with an infinite loss, and those that only Q has, are kept apart.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..intervals import Interval, enclose, whole
from ..rationals import ONE, Rational

Outcome = tuple[Interval, Interval]


class Pair(NamedTuple):
    """Probabilities under P and Q, both above 0, by falling P/Q."""

    outcomes: tuple[Outcome, ...]
    infinite: Interval
    """P of what Q never gives,"""
    hidden: Interval
    """and Q of what P never gives."""
    edge: Interval | None = None
    """P/Q of the outcome that may have probability 0, if there is one."""

    def sampled(self, rate: Rational, *, removes: bool) -> "Pair":
        """Removed: ((1-q)Q + qP, Q); added: (P, (1-q)P + qQ)."""
        bits = self.infinite.bits
        taken, stays, none = enclose(rate, bits), enclose(ONE - rate, bits), whole(0, bits)
        if removes:
            mixed = [(p * taken + q * stays, q) for p, q in self.outcomes]
            return Pair(possible([*mixed, (self.hidden * stays, self.hidden)]), self.infinite * taken, none, stays)
        mixed = [(p, p * stays + q * taken) for p, q in self.outcomes]
        outcomes = possible([(self.infinite, self.infinite * stays), *mixed])
        return Pair(outcomes, none, self.hidden * taken, whole(1, bits) / stays)

    def glued(self, rate: Rational) -> "Pair":
        """Losses above 0 are as if the row were removed, those below as if it were added, and the rest is in between.

        Of a pair with the same profile both ways round.
        """
        bits = self.infinite.bits
        taken, stays = enclose(rate, bits), enclose(ONE - rate, bits)
        middle = self.infinite * stays
        above: list[Outcome] = []
        below: list[Outcome] = []
        for p, q in self.outcomes:
            if is_below(q, p):
                above.append((q * stays + p * taken, q))
                middle += stays * (p - q)
            elif is_below(p, q):
                below.append((p, p * stays + q * taken))
            else:
                middle += either(p, q)
        return Pair(possible([*above, (middle, middle), *below]), self.infinite * taken, self.hidden * taken)

    def ratios(self) -> Iterator[tuple[Interval, Interval]]:
        """P and P/Q of each outcome."""
        for p, q in self.outcomes:
            yield p, self.edge if self.edge is not None and q.low <= 0 else p / q


def is_below(one: Interval, other: Interval) -> bool:
    """Whether that is certain."""
    return (other - one).low > 0


def either(x: Interval, y: Interval) -> Interval:
    """An interval that holds both."""
    gap = y - x
    return x + Interval(min(gap.low, 0), max(gap.high, 0), gap.exponent, gap.bits)


def possible(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Without those of probability 0."""
    return tuple((first, second) for first, second in outcomes if first.high > 0)


class Profile:
    """D(beta), the sum of (P - beta Q)_+, for many beta: sums of the outcomes with the largest losses."""

    def __init__(self, pair: Pair) -> None:
        self.outcomes = pair.outcomes
        p, q = pair.infinite, whole(0, pair.infinite.bits)
        self.sums = [(p, q)]
        for first, second in pair.outcomes:
            p, q = p + first, q + second
            self.sums.append((p, q))

    def at(self, beta: Interval) -> Interval:
        """For beta > 0. Of those outcomes whose loss may be on either side only what is positive counts."""
        low, high = 0, len(self.outcomes)
        while low < high:
            middle = (low + high) // 2
            p, q = self.outcomes[middle]
            if is_below(beta * q, p):
                low = middle + 1
            else:
                high = middle
        p, q = self.sums[low]
        total = p - beta * q
        for first, second in self.outcomes[low:]:
            rest = first - beta * second
            if rest.high <= 0:
                break
            total += Interval(max(rest.low, 0), rest.high, rest.exponent, rest.bits)
        return Interval(max(total.low, 0), max(total.high, 0), total.exponent, total.bits)
