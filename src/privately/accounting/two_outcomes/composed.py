"""Compositions with statements: steps that are chosen adaptively, alone or beside whatever has a pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from privately.accounting.adaptive import Asked, Beside, near, with_law
from privately.accounting.adaptive import pairs as laws
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import WORK
from privately.accounting.adaptive.groups import profiles
from privately.accounting.bounding import bounding, within
from privately.accounting.compositions import Composition, compositions
from privately.accounting.ends import both, proved
from privately.accounting.events import ZCDP, Event, Exponential, Renyi, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.losses import FiniteLoss, GaussianLoss
from privately.accounting.questions import NO_LOWER, DeltaAt, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.terms import flatten
from privately.accounting.two_outcomes import (
    choices,
    games,
    largest_last,
    listed_games,
    long_games,
    mixed_games,
    normal_games,
    ranged_games,
    several_games,
    sorted_games,
    wave_games,
)
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated, Statement
from privately.accounting.two_outcomes.alone import has_group, stated
from privately.accounting.two_outcomes.normal_games import Normal
from privately.accounting.two_outcomes.road import answer
from privately.errors import NoSuchRule
from privately.rounding import Interval

METHOD = "adaptive choices of two outcomes"

_MOST_KINDS, _MOST_ORDERS = 3, 24
_FEW, _WELL_PLAYED = 12, 35
"""Of more steps zCDP is nearly normal noise; so many are a good game."""
_MOST_OUTCOMES, _MOST_PLACES = 800, 1000
_RANGES_WORK = WORK[1]
_MOST_TABLES, _SMALL = 20, 10
"""From below so many kinds are told apart; much smaller steps than the largest are normal noise."""
_LEAST_TESTED, _GROWN = 40, 8.0
"""From below so many steps of one order are played, or as many as let the logarithm of its moment grow so much."""
_UNKNOWN, _LEAST = 1e-40, 1e-250
_NARROW, _WELL, _NEARLY_WELL = Fraction(1, 10**4), Fraction(1, 1000), Fraction(2, 1000)
_FINE = Fraction(1, 10**5)
_ROUGH = Fraction(1, 200)
"""Whoever asks for no more than this is not kept waiting."""


_Others: TypeAlias = tuple[tuple[FiniteLoss | GaussianLoss, int], ...]


@dataclass(frozen=True)
class _Stated:
    """What an event composes: statements, each so many times, and all that is beside them."""

    parts: tuple[tuple[Statement, int], ...]
    others: tuple[Event, ...]

    @classmethod
    def of(cls, event: Event) -> _Stated:
        if has_group(event):
            raise NotApplicable("what several changes see of a statement is not all that a larger one allows")
        terms = flatten(event)
        parts = tuple((stated(term), times) for term, times in terms.items() if isinstance(term, (ZCDP, Renyi)))
        others = [Repeat(event=one, times=n) for one, n in terms.items() if not isinstance(one, (ZCDP, Renyi))]
        if not parts or sum(not isinstance(one, Concentrated) for one, _ in parts) > _MOST_KINDS:
            raise NotApplicable("no statements, or too many different ones")
        if any(isinstance(one, AtOrders) and len(one.bounds) > _MOST_ORDERS for one, _ in parts):
            raise NotApplicable("too many orders")
        return cls(parts, tuple(others))

    def beside(self, rare: float) -> Beside:
        """All that is no statement: from above mechanisms of bounded range by the pair of their own game."""
        if not self.others:
            return Beside((Composition(),), (Composition(),))
        every, above = Steps(events=self.others), tuple[Composition, ...]()
        with suppress(*DEAD_ENDS):
            above = _with_ranges(self.others, rare)
        return Beside(above or compositions(bounding(every)), compositions(within(every)))

    def ranged(self) -> tuple[wave_games.Parts, Beside] | None:
        """All steps of zCDP and of bounded range, and what is beside them; None if there are others of these kinds."""
        terms = flatten(Steps(events=self.others)) if self.others else {}
        ranges = tuple((term.epsilon, n) for term, n in terms.items() if isinstance(term, Exponential))
        known = tuple((one, n) for one, n in self.parts if isinstance(one, Concentrated))
        if not ranges or len(known) < len(self.parts):
            return None
        rest = tuple(Repeat(event=one, times=n) for one, n in terms.items() if not isinstance(one, Exponential))
        return known + ranges, replace(self, others=rest).beside(1.0)

    @property
    def summed(self) -> Statement | None:
        """One statement that all of them keep together, if nothing is beside them."""
        if self.others:
            return None
        if all(isinstance(one, Concentrated) for one, _ in self.parts):
            return Concentrated(
                sum((one.rho * n for one, n in self.parts if isinstance(one, Concentrated)), Fraction(0))
            )
        listed = [one for one, _ in self.parts if isinstance(one, AtOrders)]
        orders = set.intersection(*({order for order, _ in one.bounds} for one in listed))
        if not orders:
            return None
        return AtOrders(
            tuple((a, a * sum((n * one.bound(a) for one, n in self.parts), Fraction(0))) for a in sorted(orders))
        )


def _with_ranges(others: Sequence[Event], rare: float) -> tuple[Composition, ...]:
    """The worst pairs of all others, with that of a game; none where there is nothing of bounded range."""
    terms = flatten(Steps(events=tuple(others)))
    ranges = tuple(sorted((term.epsilon, times) for term, times in terms.items() if isinstance(term, Exponential)))
    rest = [Repeat(event=one, times=n) for one, n in terms.items() if not isinstance(one, Exponential)]
    if not ranges:
        return ()
    above = compositions(bounding(Steps(events=rest))) if rest else (Composition(),)
    for curve in profiles(ranges, rare, _RANGES_WORK).above:
        most = laws.above(curve, most=_MOST_PLACES)
        above = tuple(with_law(one, most.law, most.infinite) for one in above)
    return above


def composed(event: Event, question: Question, asked: Asked) -> Interval | None:
    """The answer for a composition with statements, or None; `asked` answers for the worst of several compositions.

    Theorem: in any order, each step chosen in the light of all before, the profile is at most that of the pairs beside
        composed with one pair for each statement, whose profile is the value of the game of its own steps; and at
        least that of the pairs beside composed with the pair of one game of all statements.
    Reference: Dong-Durfee-Rogers 2020, section 5; Zhu-Dong-Wang 2022, Theorem 10
    Proof: docs/theory/accounting/two_outcomes.md#games
    Checked-by: tests/accounting/two_outcomes/test_composed.py::test_between_normal_noise_and_one_statement,
        tests/accounting/two_outcomes/test_composed.py::test_beside_others
    """
    if question.width > _ROUGH or (isinstance(question, EpsilonAt) and not question.delta):
        return None
    try:
        found = _Stated.of(event)
        rare = how_rare(event, question, asked)
        played = _ranged(found, question, asked, rare)
        if played and question.is_met(played, max(question.width, _WELL)):
            return played
        beside = found.beside(rare)
    except (*DEAD_ENDS, NoSuchRule):
        return None
    known = _side_by_side(found, beside, question, asked, rare)
    return both(played, known) if played else known


def _ranged(found: _Stated, question: Question, asked: Asked, rare: float) -> Interval | None:
    """Few steps of bounded range among those of zCDP, in one game."""
    known = found.ranged()
    if known is None:
        return None
    bottom = ranged_games.lower_end(*known, question, asked, rare)
    if isinstance(question, DeltaAt) and bottom.lower:
        rare = _by_tens(float(bottom.lower))
    top = ranged_games.upper_end(*known, question, asked, rare)
    return proved(bottom.lower, top.upper, method=METHOD)


def _side_by_side(found: _Stated, beside: Beside, question: Question, asked: Asked, rare: float) -> Interval:
    """By one pair for all zCDP, others for all else."""
    summed = _summed(found, question)
    case = _Case(found, beside, replace(question, width=max(question.width, _FINE)), asked, rare)
    bottom = max(_bottom(case), _single(found, question), key=lambda one: one.lower)
    known = proved(bottom.lower, summed.upper, method=METHOD)
    if question.is_met(known, max(question.width, _NARROW)):
        return known
    if isinstance(question, DeltaAt):
        case = replace(case, rare=_by_tens(float(bottom.lower)))
    upper = min(summed.upper, _top(case, bottom).upper)
    return proved(bottom.lower, upper, method=METHOD)


@dataclass(frozen=True)
class _Case:
    """What is asked, of what, and how small deltas count."""

    found: _Stated
    beside: Beside
    question: Question
    asked: Asked
    rare: float


def how_rare(event: Event, question: Question, asked: Asked) -> float:
    """About how small deltas count; by tens, so that games are not played anew for every question."""
    if isinstance(question, EpsilonAt):
        delta = float(question.delta)
    else:
        delta = float(asked(compositions(within(event)), replace(question, width=Fraction(1, 10))).lower)
    return _by_tens(delta)


def _by_tens(delta: float) -> float:
    return 10.0 ** math.floor(math.log10(max(delta, _LEAST))) if delta else _UNKNOWN


def _summed(found: _Stated, question: Question) -> Interval:
    most = Interval(0, 1 if isinstance(question, DeltaAt) else math.inf)
    try:
        return answer(found.summed, question) if found.summed else most
    except DEAD_ENDS:
        return most


def _single(found: _Stated, question: Question) -> Interval:
    """One step of one statement alone, while all others reveal nothing."""
    answers = []
    for statement, _ in found.parts[:_MOST_KINDS]:
        try:
            answers.append(answer(statement, question))
        except DEAD_ENDS:
            continue
    return max(answers, key=lambda one: one.lower, default=NO_LOWER)


def _bottom(case: _Case) -> Interval:
    """By a game of the last steps, after normal noise or even pairs for all others."""
    tries = {_last_steps(case.found.parts, key) for key in (_by_size, _by_order)}
    return max((_tested(case, *one) for one in tries), key=lambda one: one.lower)


def _tested(case: _Case, played: tuple[tuple[Statement, int], ...], others: _Others, noise: Fraction) -> Interval:
    try:
        curve = games.below(played, case.rare, noise)
        is_all = case.beside.is_nothing and not others
        law = laws.below(curve, near(curve, None, case.question) if is_all else None)
        least = tuple(with_law(one, law) for one in case.beside.below)
        for other, times in others:
            least = tuple(with_law(one, other, times=times) for one in least)
        return case.asked(least, case.question)
    except DEAD_ENDS:
        return _by_noise_alone(case)


def _by_size(statement: Statement) -> float:
    return statement.size


def _by_order(statement: Statement) -> tuple[float, float]:
    """What allows the largest rare losses is worth most at the end."""
    return -statement.last, statement.size


def _last_steps(
    parts: Sequence[tuple[Statement, int]], key: Callable[[Statement], float | tuple[float, float]] = _by_size
) -> tuple[tuple[tuple[Statement, int], ...], _Others, Fraction]:
    """Which steps are played, of few kinds, the largest last; what is allowed before for all others; and mu^2 of normal
    noise for what is rounded, which is part of these steps, and so is not seen before they are chosen.
    """
    left, square, kept = _most_tested(parts), Fraction(0), list[tuple[Statement, int]]()
    others: list[tuple[FiniteLoss | GaussianLoss, int]] = []
    for one, times in sorted(parts, key=lambda part: key(part[0]), reverse=True):
        is_small = isinstance(one, Concentrated) and bool(kept) and _SMALL * one.size < kept[0][0].size
        many = 0 if is_small else min(times, left)
        left -= many
        even = choices.even_pair(one) if isinstance(one, AtOrders) and many < times else None
        others += [(even, times - many)] if even else []
        square += 0 if even else 2 * one.least * (times - many)
        kept += [(one, many)] if many else []
    found: dict[Statement, int] = {}
    noise = Fraction(0)
    together = -(-len(kept) // _MOST_TABLES)
    for k, (one, many) in enumerate(kept):
        least = kept[min(k - k % together + together, len(kept)) - 1][0]
        is_rounded = isinstance(one, Concentrated) and isinstance(least, Concentrated)
        noise += 2 * (one.least - least.least) * many if is_rounded else 0
        kind = least if is_rounded else one
        found[kind] = found.get(kind, 0) + many
    if square:
        others.append((GaussianLoss(mu_squared=square), 1))
    return tuple(reversed(found.items())), tuple(others), noise


def _most_tested(parts: Sequence[tuple[Statement, int]]) -> int:
    """Of one statement about one order not many more than count: all before them are even pairs."""
    ((statement, _), *others) = parts
    if others or not isinstance(statement, AtOrders):
        return games.MOST_TESTED
    if len(statement.bounds) > 1:
        return games.MOST_RUN
    return min(max(math.ceil(_GROWN / float(statement.tangents()[1][0])), _LEAST_TESTED), games.MOST_RUN)


def _by_noise_alone(case: _Case) -> Interval:
    square = sum((2 * one.least * times for one, times in case.found.parts), Fraction(0))
    try:
        least = tuple(with_law(one, GaussianLoss(mu_squared=square)) for one in case.beside.below)
        return case.asked(least, case.question)
    except DEAD_ENDS:
        return NO_LOWER


def _top(case: _Case, bottom: Interval) -> Interval:
    """All zCDP in one game, or of many steps as normal noise, each kind by itself or all together; the least counts."""
    steps = [n for one, n in case.found.parts if isinstance(one, Concentrated)]
    tries = _of_all_zcdp(case, steps, bottom)
    if sum(steps) > _FEW and len(steps) <= _MOST_KINDS:
        tries.append(_above(case, _FEW))
    tries += [_together(case)] if len(case.found.parts) > 1 else []
    most = Interval(0, 1 if isinstance(case.question, DeltaAt) else math.inf)
    return min(filter(None, tries), key=lambda one: one.upper, default=most)


def _of_all_zcdp(case: _Case, steps: Sequence[int], bottom: Interval) -> list[Interval | None]:
    """All steps in one game, by the largest, or by normal noise alone, up to what is nearly narrow: a game of many
    steps loses a little more with each.
    """
    ways: list[Callable[[], Interval | None]] = []
    if sum(steps) <= wave_games.MOST_STEPS:
        ways.append(lambda: _above(case, math.inf))
    if sum(steps) > _FEW and len(steps) > 1:
        ways.append(lambda: _by_the_largest(case) or _above(case, 0))
    tries: list[Interval | None] = []
    for way in reversed(ways) if sum(steps) > _WELL_PLAYED else ways:
        found = way()
        tries.append(found)
        if found and case.question.is_met(proved(bottom.lower, found.upper, method=METHOD), _NEARLY_WELL):
            break
    return tries


def _together(case: _Case) -> Interval | None:
    """Few steps of several kinds, some of listed orders, in one game."""
    if not any(isinstance(one, AtOrders) for one, _ in case.found.parts):
        return None
    try:
        most = _pair(several_games.above(case.found.parts, case.rare), case, is_alone=case.beside.is_nothing)
        above = tuple(with_law(one, most.law, most.infinite) for one in case.beside.above)
        return case.asked(above, case.question)
    except DEAD_ENDS:
        return None


def _by_the_largest(case: _Case) -> Interval | None:
    """All zCDP by the largest step and normal noise, if nothing else is stated."""
    known = tuple((one, n) for one, n in case.found.parts if isinstance(one, Concentrated))
    try:
        if len(known) < len(case.found.parts):
            raise NotApplicable("other statements")
        found, above = largest_last.above(known, case.rare), case.beside.above
        if found.curve:
            most = laws.above(found.curve, most=_MOST_PLACES)
            above = tuple(with_law(one, most.law, most.infinite) for one in above)
        above = tuple(with_law(one, GaussianLoss(mu_squared=found.normal.variance)) for one in above)
        return found.normal.put_back(case.asked(above, found.normal.taken_from(case.question)), case.question)
    except DEAD_ENDS:
        return None


def _above(case: _Case, few: float) -> Interval | None:
    """With normal noise for zCDP of more than so many steps; 0 means that all of it is taken together."""
    above, noise = case.beside.above, Normal(Fraction(0), Fraction(1), Fraction(0))
    known = [(one, n) for one, n in case.found.parts if isinstance(one, Concentrated)]
    others = [(one, n) for one, n in case.found.parts if isinstance(one, AtOrders)]
    is_alone = case.beside.is_nothing
    try:
        if not few:
            noise, known = _all_concentrated(known, case.rare), []
        for statement, times in known:
            if times > few:
                noise = noise.beside(normal_games.above(statement, times, case.rare))
        played = tuple(sorted(((one, n) for one, n in known if n <= few), key=lambda part: part[0].rho))
        if played:
            is_all = is_alone and not others and not noise.variance
            most = _pair(wave_games.above(played, case.rare), case, is_alone=is_all)
            above = tuple(with_law(one, most.law, most.infinite) for one in above)
        for listed, times in others:
            for law, infinite, many, rest in _listed(listed, times, case):
                above = tuple(with_law(one, law, infinite, many) for one in above)
                noise = noise.beside(Normal(Fraction(0), Fraction(1), rest))
        if noise.variance:
            above = tuple(with_law(one, GaussianLoss(mu_squared=noise.variance)) for one in above)
        return noise.put_back(case.asked(above, noise.taken_from(case.question)), case.question)
    except DEAD_ENDS:
        return None


def _listed(statement: AtOrders, times: int, case: _Case) -> list[tuple[FiniteLoss, Fraction, int, Fraction]]:
    """Pairs of all steps of listed orders, what is at infinite loss, how often each counts, and the rest."""
    none = Fraction(0)
    with suppress(*DEAD_ENDS):
        long = long_games.above_many(statement, times, case.rare)
        most = laws.above(long.curve, most=_MOST_OUTCOMES)
        return [(most.law, most.infinite, 1, none), (long.even.law, none, long.many, long.rest)]
    found = []
    for steps, many in listed_games.blocks(times):
        is_all = case.beside.is_nothing and len(case.found.parts) == 1 and steps == times
        most = _pair(listed_games.above_steps(statement, steps, case.rare), case, is_alone=is_all)
        found.append((most.law, min(many * most.infinite, Fraction(1)), many, none))
    return found


def _pair(curve: Curve, case: _Case, *, is_alone: bool) -> laws.Above:
    return laws.above(curve, near(curve, curve.upper, case.question) if is_alone else None)


def _all_concentrated(known: Sequence[tuple[Concentrated, int]], rare: float) -> Normal:
    """All zCDP; very many steps are known well enough without looking at every kind."""
    total = sum((one.rho * times for one, times in known), Fraction(0))
    try:
        rough = mixed_games.above(max(one.rho for one, _ in known), total, sum(times for _, times in known), rare)
    except NotApplicable:
        return sorted_games.above(tuple(known), rare)
    if rough.variance <= 2 * total * (1 + _WELL):
        return rough
    try:
        return min(rough, sorted_games.above(tuple(known), rare), key=lambda one: one.variance)
    except NotApplicable:
        return rough
