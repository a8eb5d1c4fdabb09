"""The road of adaptive choices: mechanisms of bounded range beside anything that has a pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privately.accounting.adaptive.blocks import Normal, of_many_ranges
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import MOST_LOSS, MOST_PLAYS, WORK, Ranges, in_one_order, reach_of
from privately.accounting.adaptive.groups import Profiles, by_size, profiles
from privately.accounting.adaptive.pairs import MOST, above, below
from privately.accounting.adaptive.runs import FEWER, MANY, Pairs, in_runs
from privately.accounting.compositions import Composition
from privately.accounting.elementary import Floats
from privately.accounting.ends import proved
from privately.accounting.losses import FiniteLoss, GaussianLoss, response
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.rounding import Interval

METHOD = "adaptive choices"

Asked = Callable[[tuple[Composition, ...], Question], Interval]
"""The worst of several compositions."""

_NARROW = Fraction(1, 10**4)
"""So narrow answers are not made narrower."""
_FINE = Fraction(1, 10**5)
"""So narrow are the answers of other roads for what the game has left."""
_MOST_LONG = 4
_LEAST, _UNKNOWN = 1e-150, 1e-40


@dataclass(frozen=True)
class Beside:
    """What is composed with the mechanisms of bounded range: pairs that cost at least as much, and at most.

    Those above do but for a rest, by which a delta may be more.
    """

    above: tuple[Composition, ...]
    below: tuple[Composition, ...]
    rest: Fraction = Fraction(0)

    @property
    def is_nothing(self) -> bool:
        return all(one.is_nothing for one in (*self.above, *self.below))


def enclosed(ranges: Ranges, beside: Beside, question: Question, asked: Asked) -> Interval | None:
    """The answer for steps of these ranges beside others, or None where it would take too long.

    Theorem: whatever the order, and however the steps of bounded range are chosen, the profile is at most that of the
        pairs beside composed with the pair whose profile is the value of the game; with these steps last it is reached.
    Reference: Dong-Durfee-Rogers 2020, section 5; Zhu-Dong-Wang 2022, Theorem 10
    Proof: docs/theory/accounting/adaptive.md#beside-others
    Checked-by: tests/accounting/adaptive/test_road.py::test_beside_others_against_enumeration
    """
    rare = float(question.delta) if isinstance(question, EpsilonAt) else _UNKNOWN
    if not rare:  # without a delta the largest losses are all that counts
        return None
    least = _least_long(ranges, max(rare, _LEAST))
    long = [one for one in ranges if one[1] >= least]
    if len(long) > _MOST_LONG:
        return _of_many_ranges(ranges, beside, question, asked, max(rare, _LEAST))
    alone = beside
    try:
        beside = _with_long_runs(beside, long, max(rare, _LEAST))
        if len(long) == len(ranges):
            top, bottom = _top(beside.above, beside.rest, question, asked), asked(beside.below, question)
            return proved(bottom.lower, top.upper, method=f"{METHOD} in blocks, {top.method}")
    except DEAD_ENDS:
        return None if least == MANY else _of_many_ranges(ranges, alone, question, asked, max(rare, _LEAST))
    short = tuple(one for one in ranges if one not in long)
    best: Interval | None = None
    levels = [*WORK]
    for work in levels:
        try:
            found = _answer(profiles(short, max(rare, _LEAST), work), beside, question, asked)
        except DEAD_ENDS:
            continue
        if isinstance(question, DeltaAt) and found.lower:
            rare = float(found.lower)
            if best is None and work == WORK[-1]:
                levels.append(work)  # with a delta in mind
        best = found if best is None else _common(best, found)
        if question.is_met(best, max(question.width, _NARROW)):
            break
    return best or _of_many_ranges(short, beside, question, asked, max(rare, _LEAST))


def _of_many_ranges(ranges: Ranges, beside: Beside, question: Question, asked: Asked, rare: float) -> Interval | None:
    """An upper end alone."""
    try:
        most, work = beside.above, WORK[-1]
        for group in by_size(ranges):
            found = of_many_ranges(group, rare, work)
            most, work = tuple(_with(one, found) for one in most), work / 4
        top = _top(most, beside.rest, question, asked)
    except DEAD_ENDS:
        return None
    return Interval(0, top.upper, method=f"{METHOD} in blocks, {top.method}")


def _least_long(ranges: Ranges, rare: float) -> int:
    """From so many steps on a range is played in blocks: where games would be too long, from fewer."""
    kept = sum(times for _, times in ranges if times < MANY)
    return MANY if kept <= MOST_PLAYS / 2 and reach_of(ranges, rare) <= MOST_LOSS else FEWER


def _with_long_runs(beside: Beside, long: Sequence[tuple[Fraction, int]], rare: float) -> Beside:
    """With pairs in place of long runs, from above, and from below with responses, which have the same range."""
    for size, times in long:
        played = in_runs(size, times, rare, WORK[-1] / len(long))
        most = tuple(_with(one, played) for one in beside.above)
        responses = (response(size / 2), times)
        least = tuple(replace(one, parts=(*one.parts, responses)) for one in beside.below)
        beside = Beside(most, least, beside.rest + played.rest)
    return beside


def _top(most: tuple[Composition, ...], rest: Fraction, question: Question, asked: Asked) -> Interval:
    """The upper end, where delta may be more than that of the pairs by the rest."""
    if not rest:
        return asked(most, question)
    if isinstance(question, DeltaAt):
        found = asked(most, question)
        return Interval(0, min(Fraction(found.upper) + rest, Fraction(1)), method=found.method)
    if question.delta <= rest:
        raise NotApplicable("a delta that is smaller than what was neglected")
    return asked(most, replace(question, delta=question.delta - rest))


def _answer(known: Profiles, beside: Beside, question: Question, asked: Asked) -> Interval:
    near_top = None
    if beside.is_nothing and len(known.above) == 1:
        near_top = near(known.above[0], known.above[0].upper, question)
    question = replace(question, width=max(question.width, _FINE))
    bottom = _reached(known.below, beside, question, asked)
    most = beside.above
    for curve in known.above:
        pair = above(curve, near_top, MOST if len(known.above) == 1 else 2 * MOST)
        most = tuple(with_law(one, pair.law, pair.infinite) for one in most)
    top = _top(most, beside.rest, question, asked)
    return proved(bottom.lower, top.upper, method=f"{METHOD}, {top.method}")


def in_order(ranges: Ranges, beside: Beside, question: Question, asked: Asked, rare: float) -> Interval:
    """A lower end alone, of a delta of about `rare`: all steps in one order, after those beside them."""
    question = replace(question, width=max(question.width, _FINE))
    curve = in_one_order(ranges, max(rare, _LEAST), WORK[-1] / 2)
    return _reached(curve, beside, question, asked)


def _reached(curve: Curve, beside: Beside, question: Question, asked: Asked) -> Interval:
    law = below(curve, near(curve, None, question) if beside.is_nothing else None)
    return asked(tuple(with_law(one, law) for one in beside.below), question)


def near(curve: Curve, values: Floats | None, question: Question) -> float:
    """The loss around which the answer lies, by the curve's upper values or its tests."""
    if isinstance(question, DeltaAt):
        return min(float(question.epsilon), curve.last * curve.step)
    found = np.flatnonzero((curve.lower() if values is None else values) >= float(question.delta))
    return (curve.first + int(found[-1] if found.size else 0)) * curve.step


def _with(one: Composition, found: Normal | Pairs) -> Composition:
    if isinstance(found, Normal):
        return with_law(one, found.law, found.infinite)
    infinite = 1 - (1 - one.infinite) * (1 - found.infinite)
    return replace(one, parts=(*one.parts, *found.parts), infinite=infinite, infinite_lower=one.infinite_lower)


def with_law(
    one: Composition, law: FiniteLoss | GaussianLoss, infinite: Fraction = Fraction(0), times: int = 1
) -> Composition:
    """With one law more, so many times, and so much more mass at infinite loss."""
    parts = one.parts
    if isinstance(law, GaussianLoss):  # all of it is one
        squares = [times * part.mu_squared for part, times in parts if isinstance(part, GaussianLoss)]
        law, times = GaussianLoss(mu_squared=sum(squares, times * law.mu_squared)), 1
        parts = tuple(part for part in parts if not isinstance(part[0], GaussianLoss))
    return replace(
        one,
        parts=(*parts, (law, times)),
        infinite=1 - (1 - one.infinite) * (1 - infinite),
        infinite_lower=one.infinite_lower,
    )


def _common(one: Interval, other: Interval) -> Interval:
    return proved(max(one.lower, other.lower), min(one.upper, other.upper), method=other.method)
