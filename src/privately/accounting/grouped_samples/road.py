"""epsilon and delta of what a group sees of Poisson samples: the worst of all ways to remove rows and add others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction
from typing import Protocol, TypeVar

from privately.accounting.contour.road import delta_by, epsilon_by, log_ends
from privately.accounting.ends import proved, worst_of
from privately.accounting.events import Event, Group, Parallel, PoissonSample
from privately.accounting.grouped_samples.divided import Divided
from privately.accounting.grouped_samples.normal_law import GroupSums
from privately.accounting.grouped_samples.once import once
from privately.accounting.grouped_samples.seen import Seen
from privately.accounting.questions import LARGEST_EPSILON, NEVER, DeltaAt, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.shared_samples import Asked, on_shared_samples
from privately.accounting.shared_samples.lists import Parted
from privately.accounting.shared_samples.road import at_most, between
from privately.accounting.spreading import Side
from privately.accounting.terms import flatten, side_by_side
from privately.errors import NoSuchRule
from privately.rounding import Interval

METHOD = "the number of rows in each sample"

_CELLS, _FEWER = 1 << 14, 1 << 11
_USUAL, _LEAST, _FAINT, _PART = 1e-30, 1e-230, 2.0**-20, 2.0**-40
"""What is left out of lists for a delta; if that is no faint part of it, such a part is, unless it is too little."""
_FEW = 2
"""So many steps are added up as lists, soon and narrowly; their transforms fall slowly."""
_NARROW, _NEARLY, _ROUGH = Fraction(1, 10**6), Fraction(1, 10**5), Fraction(1, 100)


SplitT = TypeVar("SplitT")
SplitT_contra = TypeVar("SplitT_contra", contravariant=True)


class _Ways(Protocol[SplitT_contra]):
    """What rows see that are removed and added in certain ways."""

    def steps(self, split: SplitT_contra) -> int: ...
    def parted(self, split: SplitT_contra, side: Side, cells: int, rare: float) -> Parted: ...
    def sums(self, split: SplitT_contra) -> GroupSums: ...


def on_samples(event: Event, question: Question, asked: Asked) -> Interval | None:
    """The answer for groups on Poisson samples, for one sample, or for several mechanisms on each; None without one."""
    with suppress(*DEAD_ENDS, NoSuchRule):
        found = in_parts(event, question, asked) or in_samples(event, question)
        if found is not None:
            return found
    return on_shared_samples(event, question, asked)


def in_parts(event: Event, question: Question, asked: Asked) -> Interval | None:
    """The answer for groups whose rows are divided among parts, some of them with samples; None for other events.

    All rows in one part, or in parts without samples, are asked for themselves. Most other ways are below these.
    """
    if not isinstance(event, Group) or event.size == 1 or not side_by_side(event.event):
        return None
    parts = _all_parts(event.event)
    sampled, plain = ([part for part in parts if _is_sampled(part) == wanted] for wanted in (True, False))
    if not sampled:
        return None
    alone = [*sampled, *([Parallel(events=plain)] if plain else [])]
    worst = worst_of([asked(Group(event=part, size=event.size), question) for part in alone])
    try:
        divided = Divided(event.size, parts)
        found = _worst(divided, divided.splits(), question, worst)
    except (*DEAD_ENDS, NoSuchRule):
        return Interval(worst.lower, math.inf if isinstance(question, EpsilonAt) else 1, method=METHOD)
    return Interval(found.lower, found.upper, method=METHOD)


def _all_parts(event: Event) -> list[Event]:
    """With those that are parts of parts."""
    parts = side_by_side(event)
    return [one for part in parts for one in _all_parts(part)] if parts else [event]


def _is_sampled(event: Event) -> bool:
    return any(isinstance(term, PoissonSample) for term in flatten(event))


def in_samples(event: Event, question: Question) -> Interval | None:
    """The answer for groups of noise and responses on Poisson samples; None for other events.

    Theorem: let a rows be removed and b be added, a + b = k. Noise around i rows, i binomial among a, against noise
        around -j rows, j binomial among b, dominates every mechanism on a Poisson sample whose groups of j rows are
        dominated by the shift by j of this noise, if the noise is symmetric and log-concave; a mechanism that counts
        removed rows and takes off added ones reaches it. The same holds for compositions, with one split for all steps.
    Reference: Ganesh 2024, Schuchardt-Stoian-Kosmala-Guennemann 2024 for normal and Laplace noise
    Proof: docs/theory/accounting/group_samples.md#the-worst-pair
    Checked-by: tests/accounting/grouped_samples/test_road.py::test_groups_of_samples_dominate_enumeration,
        tests/accounting/grouped_samples/test_road.py::test_groups_of_samples_are_reached
    """
    if not isinstance(event, Group) or event.size == 1:
        return None
    seen = Seen.of(event)
    largest = seen.largest()
    if isinstance(question, EpsilonAt):
        if question.delta < seen.infinite((seen.size, 0))[0]:
            return NEVER
        if not question.delta:
            return NEVER if largest is None else largest.interval(METHOD)
        worst = once(seen, question) or _all(seen, question)
        limit = math.inf if largest is None else largest.interval().upper
        return proved(worst.lower, min(worst.upper, limit), method=METHOD)
    if question.epsilon > LARGEST_EPSILON:
        raise NotApplicable("epsilon is too large")
    if largest is not None and question.epsilon >= largest.interval().upper:
        return Interval(0, 0, method=METHOD)
    worst = once(seen, question) or _all(seen, question)
    return Interval(worst.lower, worst.upper, method=METHOD)


def _all(seen: Seen, question: Question) -> Interval:
    first, *others = seen.splits()
    return _worst(seen, others, question, _of(seen, first, question))


def _worst(seen: _Ways[SplitT], splits: Iterable[SplitT], question: Question, worst: Interval) -> Interval:
    """Over all splits and what is known already; to those that are below others a rough look is enough."""
    for split in splits:
        if not _is_below(seen, split, question, worst):
            found = _of(seen, split, question)
            worst = Interval(max(worst.lower, found.lower), max(worst.upper, found.upper))
    return worst


def _of(seen: _Ways[SplitT], split: SplitT, question: Question) -> Interval:
    """By the contour integral where that is narrow; otherwise by lists, or by both."""
    known = _by_contour(seen, split, question)
    if known is not None and question.is_met(known, max(question.width, _NEARLY)):
        return known
    try:
        found = _listed(seen, split, question)
    except DEAD_ENDS:
        if known is None:
            raise
        return known
    return found if known is None else Interval(max(known.lower, found.lower), min(known.upper, found.upper))


def _listed(seen: _Ways[SplitT], split: SplitT, question: Question) -> Interval:
    """By lists; where delta turns out to be tiny, again with as little left out."""
    parts, left_out = _parts(seen, split, _CELLS), _USUAL
    found = between(parts, question, _NARROW)
    if isinstance(question, DeltaAt):
        with suppress(*DEAD_ENDS):
            while left_out > float(found.upper) * _FAINT > _LEAST:
                left_out = float(found.upper) * _PART
                again = between(parts, question, _NARROW, left_out)
                found = Interval(max(found.lower, again.lower), min(found.upper, again.upper))
    return found


def _by_contour(seen: _Ways[SplitT], split: SplitT, question: Question) -> Interval | None:
    with suppress(*DEAD_ENDS):
        if seen.steps(split) <= _FEW:
            return None
        if isinstance(question, EpsilonAt):
            return epsilon_by(seen.sums(split), question.delta, question.width)
        return delta_by(seen.sums(split), question.epsilon, question.width)
    return None


def _parts(seen: _Ways[SplitT], split: SplitT, cells: int) -> Callable[[Side, float], Parted]:
    return lambda side, rare: seen.parted(split, side, cells, rare)


def _is_below(seen: _Ways[SplitT], split: SplitT, question: Question, worst: Interval) -> bool:
    """Whether a rough look tells that this split is no worse than what is known already."""
    if worst.upper == math.inf:
        return True
    top = Fraction(worst.upper)
    epsilon, delta = (top, question.delta) if isinstance(question, EpsilonAt) else (question.epsilon, top)
    with suppress(*DEAD_ENDS):
        if delta > 0 and seen.sums(split).are_at_most(epsilon, log_ends(delta)[0]):
            return True
        known = _by_contour(seen, split, DeltaAt(epsilon, _ROUGH))
        if known is not None and known.upper <= delta:
            return True
    with suppress(*DEAD_ENDS):
        return at_most(_parts(seen, split, _FEWER), DeltaAt(epsilon, _ROUGH), delta) <= delta
    return False
