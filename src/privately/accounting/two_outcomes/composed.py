"""Compositions with statements: steps that are chosen adaptively, alone or beside whatever has a pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from privately.accounting.adaptive import Asked, Beside, near, with_law
from privately.accounting.adaptive import pairs as laws
from privately.accounting.adaptive.curves import Curve
from privately.accounting.bounding import bounding, within
from privately.accounting.compositions import Composition, compositions
from privately.accounting.events import ZCDP, Event, Renyi, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.losses import GaussianLoss
from privately.accounting.questions import NO_LOWER, DeltaAt, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.terms import flatten
from privately.accounting.two_outcomes import games, listed_games, mixed_games, normal_games
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated, Statement
from privately.accounting.two_outcomes.alone import has_group, stated
from privately.accounting.two_outcomes.normal_games import Normal
from privately.accounting.two_outcomes.road import answer
from privately.errors import NoSuchRule
from privately.rounding import Interval

METHOD = "adaptive choices of two outcomes"

_MOST_KINDS, _MOST_ORDERS = 3, 24
_FEW, _SOME = 12, 32
"""Of more steps zCDP is nearly normal noise; of more still it is not looked at otherwise."""
_UNKNOWN, _LEAST = 1e-40, 1e-250
_NARROW = Fraction(1, 10**4)
_FINE = Fraction(1, 10**5)
_ROUGH = Fraction(1, 200)
"""Whoever asks for no more than this is not kept waiting."""


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

    @property
    def beside(self) -> Beside:
        if not self.others:
            return Beside((Composition(),), (Composition(),))
        both = Steps(events=self.others)
        return Beside(compositions(bounding(both)), compositions(within(both)))

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
        beside = found.beside
        rare = _rare(event, question, asked)
    except (*DEAD_ENDS, NoSuchRule):
        return None
    summed = _summed(found, question)
    case = _Case(found, beside, replace(question, width=max(question.width, _FINE)), asked, rare)
    bottom = max(_bottom(case), _single(found, question), key=lambda one: one.lower)
    known = Interval(min(bottom.lower, summed.upper), summed.upper, method=METHOD)
    if question.is_met(known, max(question.width, _NARROW)):
        return known
    upper = min(summed.upper, _top(case).upper)
    return Interval(min(bottom.lower, upper), upper, method=METHOD)


@dataclass(frozen=True)
class _Case:
    """What is asked, of what, and how small deltas count."""

    found: _Stated
    beside: Beside
    question: Question
    asked: Asked
    rare: float


def _rare(event: Event, question: Question, asked: Asked) -> float:
    """About how small deltas count; by tens, so that games are not played anew for every question."""
    if isinstance(question, EpsilonAt):
        delta = float(question.delta)
    else:
        delta = float(asked(compositions(within(event)), replace(question, width=Fraction(1, 10))).lower)
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
    """By a game of the last steps, after normal noise for all others."""
    parts = case.found.parts
    total = sum(times for _, times in parts)
    if len(parts) > _MOST_KINDS:
        return _by_noise_alone(case)
    played = tuple((one, -(-times * min(games.MOST_TESTED, total) // total)) for one, times in parts)
    left = (2 * one.least * (n - kept) for (one, n), (_, kept) in zip(parts, played, strict=True))
    square = sum(left, Fraction(0))
    try:
        curve = games.below(played, case.rare)
        is_all = case.beside.is_nothing and not square
        law = laws.below(curve, near(curve, None, case.question) if is_all else None)
        least = tuple(with_law(one, law) for one in case.beside.below)
        if square:
            least = tuple(with_law(one, GaussianLoss(mu_squared=square)) for one in least)
        return case.asked(least, case.question)
    except DEAD_ENDS:
        return NO_LOWER


def _by_noise_alone(case: _Case) -> Interval:
    square = sum((2 * one.least * times for one, times in case.found.parts), Fraction(0))
    try:
        least = tuple(with_law(one, GaussianLoss(mu_squared=square)) for one in case.beside.below)
        return case.asked(least, case.question)
    except DEAD_ENDS:
        return NO_LOWER


def _top(case: _Case) -> Interval:
    """Each statement as its game, or zCDP of many steps as normal noise; for some numbers of steps both are tried."""
    times = [n for one, n in case.found.parts if isinstance(one, Concentrated)]
    found = _above(case, _FEW) if max(times, default=0) > _FEW or len(times) > _MOST_KINDS else None
    if len(times) <= _MOST_KINDS and (found is None or max(times, default=0) <= _SOME):
        found = min(filter(None, [found, _above(case, None)]), key=lambda one: one.upper, default=None)
    return found or Interval(0, 1 if isinstance(case.question, DeltaAt) else math.inf)


def _above(case: _Case, few: int | None) -> Interval | None:
    """With normal noise for zCDP of more than a few steps, if a number is given."""
    above, noise = case.beside.above, Normal(Fraction(0), Fraction(1), Fraction(0))
    is_alone = case.beside.is_nothing and len(case.found.parts) == 1
    try:
        parts = case.found.parts
        if few is not None and sum(isinstance(one, Concentrated) for one, _ in parts) > _MOST_KINDS:
            noise = _mixed(parts, case.rare)
            parts = tuple(part for part in parts if not isinstance(part[0], Concentrated))
        for statement, times in parts:
            if few is not None and times > few and isinstance(statement, Concentrated):
                noise = noise.beside(normal_games.above(statement, times, case.rare))
            elif isinstance(statement, AtOrders):
                for steps, many in listed_games.blocks(times):
                    curve = listed_games.above_steps(statement, steps, case.rare)
                    most = _pair(curve, case, is_alone=is_alone and steps == times)
                    infinite = min(many * most.infinite, Fraction(1))
                    above = tuple(with_law(one, most.law, infinite, many) for one in above)
            else:
                most = _pair(games.above(statement, times, case.rare), case, is_alone=is_alone)
                above = tuple(with_law(one, most.law, most.infinite) for one in above)
        if noise.variance:
            above = tuple(with_law(one, GaussianLoss(mu_squared=noise.variance)) for one in above)
        return noise.put_back(case.asked(above, noise.taken_from(case.question)), case.question)
    except DEAD_ENDS:
        return None


def _pair(curve: Curve, case: _Case, *, is_alone: bool) -> laws.Above:
    return laws.above(curve, near(curve, curve.upper, case.question) if is_alone else None)


def _mixed(parts: Sequence[tuple[Statement, int]], rare: float) -> Normal:
    """All zCDP together."""
    known = [(one.rho, times) for one, times in parts if isinstance(one, Concentrated)]
    total = sum((rho * times for rho, times in known), Fraction(0))
    return mixed_games.above(max(rho for rho, _ in known), total, sum(times for _, times in known), rare)
