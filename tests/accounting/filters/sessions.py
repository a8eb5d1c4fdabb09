"""Two mechanisms that answer several questions and remember, and all ways to question them in turn."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from privately.accounting.filters import Filter
from privately.guarantees import RenyiDP
from privately.rounding import Enclosure


@dataclass(frozen=True)
class Session:
    """A mechanism of two rounds with a memory: the odds of its second answer depend on the first exchange."""

    name: str
    odds: tuple[tuple[Fraction, Fraction], ...]

    def answers(self, asked: tuple[Any, ...], question: int) -> list[tuple[int, Fraction, Fraction]]:
        """What it may answer, and how likely on either data set."""
        mood = (sum(2 * q + a for q, a in asked) + question) % len(self.odds)
        ring, other = self.odds[mood]
        return [(1, ring, other), (0, 1 - ring, 1 - other)]

    def moment(self, order: int, asked: tuple[Any, ...] = ()) -> Fraction:
        """The largest E_Q[(P/Q)^order] of what is still to come, over all ways to ask."""
        if len(asked) == 2:
            return Fraction(1)
        options = [
            sum((q * (p / q) ** order * self.moment(order, (*asked, (question, a))) for a, p, q in found), Fraction(0))
            for question in (0, 1)
            for found in [self.answers(asked, question)]
        ]
        return max(Fraction(1), *options)


ODDS = [Fraction(1, 2), Fraction(1, 3), Fraction(2, 5), Fraction(3, 4), Fraction(1, 5)]
FIRST = Session("first", ((ODDS[0], ODDS[1]), (ODDS[2], ODDS[3]), (ODDS[1], ODDS[4])))
SECOND = Session("second", ((ODDS[3], ODDS[0]), (ODDS[4], ODDS[2])))


def largest_moment(budget: Filter, order: int, opened: tuple[tuple[Session, tuple[Any, ...]], ...] = ()) -> Fraction:
    """Of all strategies that open sessions as the filter allows, and question the open ones in any order."""
    best = Fraction(1)
    for session in (FIRST, SECOND):
        cost = session_cost(session, order)
        if len(opened) < 2 and budget.fits(cost):
            best = max(best, largest_moment(budget.spend(cost), order, (*opened, (session, ()))))
    for place, (session, asked) in enumerate(opened):
        for question in (0, 1) if len(asked) < 2 else ():
            total = Fraction(0)
            for answer, p, q in session.answers(asked, question):
                now = (*opened[:place], (session, (*asked, (question, answer))), *opened[place + 1 :])
                total += q * (p / q) ** order * largest_moment(budget, order, now)
            best = max(best, total)
    return best


@lru_cache
def session_cost(session: Session, order: int) -> RenyiDP:
    return RenyiDP(bounds={order: (Enclosure.of(session.moment(order)).log() / (order - 1)).claim()})
