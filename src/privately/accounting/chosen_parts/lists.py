"""Data that is divided into parts in the light of earlier answers: an opponent chooses which part a row meets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, product

from privately.accounting.coverage import uncovered
from privately.accounting.ends import worst_of
from privately.accounting.events import (
    ZCDP,
    Event,
    Exponential,
    FixedSizeSample,
    Group,
    Parallel,
    PoissonSample,
    Pure,
    Renyi,
    Repeat,
    Sequence,
)
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.accounting.terms import Terms, flatten, side_by_side
from privately.errors import NoSuchRule
from privately.guarantees import Neighbors
from privately.rounding import End, Interval

METHOD = "the parts that a row may meet"

Asked = Callable[[Event, Question], Interval]

_MOST, _FEW = 24, 4
"""So many lists of parts are asked for; of those that take seconds each fewer."""
_ROUGH, _ROUNDS, _CLOSE = Fraction(1, 1000), 6, Fraction(1, 20)


def among_parts(event: Event, question: Question, asked: Asked) -> Interval | None:
    """The answer for compositions in which there are different parts; None for others, and where there are too many.

    Theorem: whoever divides the data may choose anew after each answer. The outcomes after which a row has met certain
        parts, so many times each, are as probable as if these had been certain from the beginning. So the profile is at
        most the sum of the profiles of all lists of parts, and at least the largest of them; and at most that of all
        parts one after the other.
    Reference: none; a sum over disjoint sets of outcomes
    Proof: docs/theory/accounting/events.md#parts-that-are-chosen
    Checked-by: tests/accounting/chosen_parts/test_lists.py::test_no_choice_of_parts_is_outside
    """
    with suppress(NoSuchRule, NotApplicable):
        met = _different(choices(event))
        if 1 < len(met) <= (_FEW if any(map(_is_slow, met)) else _MOST):
            found = _at_delta(met, question, asked) if isinstance(question, EpsilonAt) else _sum(met, question, asked)
            if question.is_met(found):
                return found
            most = asked(one_after_the_other(event), question).upper
            return Interval(found.lower, max(found.lower, min(found.upper, most)), method=METHOD)
    return None


def choices(event: Event) -> list[Event]:
    """What a row may meet in all, without parts; NotApplicable where that is too much."""
    match event:
        case Parallel(events=events):
            return [_together(terms, event.neighbors) for terms in uncovered(_all_terms(events))]
        case Sequence(events=events):
            ways = [choices(part) for part in events]
            _check(math.prod(map(len, ways)))
            return [Sequence(events=way) for way in product(*ways)]
        case Repeat(event=inner, times=times):
            return list(_repeated(choices(inner), times))
        case PoissonSample(event=inner, rate=rate):
            return [PoissonSample(event=way, rate=rate) for way in choices(inner)]
        case FixedSizeSample(event=inner, size=size, population=population):
            return [FixedSizeSample(event=way, size=size, population=population) for way in choices(inner)]
        case Group(event=inner, size=size) if size > 1 and len(choices(inner)) > 1:
            raise NotApplicable("rows of a group may meet several parts")
    return [event]


def one_after_the_other(event: Event) -> Event:
    """The same with all parts in place of one of them."""
    if side_by_side(event):
        return Sequence(events=choices(event))
    match event:
        case Sequence(events=events):
            return Sequence(events=[one_after_the_other(part) for part in events])
        case Repeat(event=inner, times=times):
            return Repeat(event=one_after_the_other(inner), times=times)
        case PoissonSample(event=inner, rate=rate):
            return PoissonSample(event=one_after_the_other(inner), rate=rate)
        case FixedSizeSample(event=inner, size=size, population=population):
            return FixedSizeSample(event=one_after_the_other(inner), size=size, population=population)
    return event


def _all_terms(parts: tuple[Event, ...]) -> list[Terms]:
    return [flatten(way) for part in parts for way in choices(part)]


def _repeated(ways: list[Event], times: int) -> Iterator[Event]:
    """So many runs, divided among the ways."""
    if len(ways) == 1:
        yield Repeat(event=ways[0], times=times)
        return
    last = times + len(ways) - 1
    _check(math.comb(last, len(ways) - 1))
    for bars in combinations(range(last), len(ways) - 1):
        runs = [after - before - 1 for before, after in pairwise([-1, *bars, last])]
        yield Sequence(events=[Repeat(event=way, times=one) for way, one in zip(ways, runs, strict=True)])


def _check(count: int) -> None:
    if count > _MOST:
        raise NotApplicable("too many ways to meet parts")


def _different(ways: list[Event]) -> list[Event]:
    """Without those that are others in another order."""
    return list({frozenset(flatten(way).items()): way for way in ways}.values())


def _is_slow(event: Event) -> bool:
    """Whether it has statements in it that are games, or several mechanisms on one sample."""
    for term in flatten(event):
        if isinstance(term, (PoissonSample, FixedSizeSample)):
            if len(flatten(term.event)) > 1 or _is_slow(term.event):
                return True
        elif isinstance(term, (ZCDP, Renyi, Exponential)):
            return True
    return False


def _together(terms: Terms, neighbors: Neighbors) -> Event:
    if not terms:
        return Pure(epsilon=0, neighbors=neighbors)
    return Sequence(events=[Repeat(event=term, times=times) for term, times in terms.items()])


def _sum(met: list[Event], question: DeltaAt, asked: Asked) -> Interval:
    found = [asked(one, question) for one in met]
    return Interval(
        max(one.lower for one in found), min(sum(Fraction(one.upper) for one in found), Fraction(1)), method=METHOD
    )


def _at_delta(met: list[Event], question: EpsilonAt, asked: Asked) -> Interval:
    """Where the sum of all profiles is delta; mostly one of them is nearly all of it."""
    answers = [asked(one, question) for one in met]
    worst = worst_of(answers)
    if worst.upper == math.inf or not question.delta:
        return Interval(worst.lower, worst.upper, method=METHOD)
    first = max(range(len(met)), key=lambda place: answers[place].upper)
    beside = _Beside(met[first], [*met[:first], *met[first + 1 :]], question, asked)
    low, best = Fraction(worst.upper), beside.enough(Fraction(worst.upper))
    if best == math.inf:
        share = EpsilonAt(question.delta / len(met), question.width)
        best = worst_of([asked(one, share) for one in met]).upper
    for _ in range(_ROUNDS):
        if best == math.inf or best - low <= max(_CLOSE * (low - worst.lower), question.width * low):
            break
        middle = (low + Fraction(best)) / 2
        found = beside.enough(middle)
        low, best = (middle, min(best, found)) if found > middle else (low, middle)
    return Interval(worst.lower, best, method=METHOD)


@dataclass(frozen=True)
class _Beside:
    """The worst list of parts, and all others."""

    worst: Event
    others: list[Event]
    question: EpsilonAt
    asked: Asked

    def enough(self, epsilon: Fraction) -> End:
        """An epsilon, no less than this, at which all profiles together are at most delta: what others have here, and
        less beyond, is taken from what the worst may have.
        """
        left = self.question.delta
        for one in self.others:
            left -= Fraction(self.asked(one, DeltaAt(epsilon, _ROUGH)).upper)
        if left <= 0:
            return math.inf
        return max(epsilon, self.asked(self.worst, EpsilonAt(left, self.question.width)).upper)
