"""Compositions with samples of statements or of mechanisms of bounded range, alone or beside whatever has a pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privately.accounting import two_outcomes
from privately.accounting.adaptive import Asked, near, with_law
from privately.accounting.adaptive import pairs as laws
from privately.accounting.bounding import bounding, within
from privately.accounting.compositions import Composition, compositions
from privately.accounting.events import ZCDP, Event, Exponential, PoissonSample, Renyi, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.losses import DIRECTIONS, Direction
from privately.accounting.questions import EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.sampled_games import games
from privately.accounting.sampled_games.games import Kind
from privately.accounting.sampled_games.profiles import OneWay
from privately.accounting.terms import Terms, alternatives
from privately.accounting.two_outcomes.alone import has_group, stated
from privately.accounting.two_outcomes.composed import how_rare
from privately.errors import NoSuchRule
from privately.rounding import Interval

METHOD = "adaptive choices on samples"

_MOST_KINDS, _MOST_RANGE = 3, Fraction(8)
_LEAST_RANGE = Fraction(1, 1000)
_FINE, _ROUGH = Fraction(1, 10**5), Fraction(1, 200)
_NONE = Composition()


@dataclass(frozen=True)
class _Sampled:
    """Kinds of steps, each so many times, and what is beside them from above and from below, for one direction."""

    kinds: tuple[tuple[Kind, int], ...]
    above: Composition
    below: Composition
    direction: Direction


def chosen(event: Event, question: Question, asked: Asked) -> Interval | None:
    """Where steps of statements, on samples or not, are chosen adaptively."""
    return two_outcomes.composed(event, question, asked) or composed(event, question, asked)


def composed(event: Event, question: Question, asked: Asked) -> Interval | None:
    """The answer for a composition with samples of statements, or None; `asked` answers for several compositions.

    Theorem: in each direction, and in any order, each step chosen in the light of all before, the profile is at most
        that of the pairs beside composed with one pair for each kind of steps, whose profile is the value of the game
        of its own steps; and at least that of any steps that are allowed. The larger direction counts.
    Reference: Dong-Durfee-Rogers 2020, section 5; Zhu-Dong-Wang 2022, Theorems 10 and 11
    Proof: docs/theory/accounting/sampled_games.md#compositions
    Checked-by: tests/accounting/sampled_games/test_road.py::test_one_step_is_the_sample,
        tests/accounting/sampled_games/test_road.py::test_beside_others
    """
    if question.width > _ROUGH or (isinstance(question, EpsilonAt) and not question.delta):
        return None
    try:
        both = _directions(event)
        rare = how_rare(event, question, asked)
        question = replace(question, width=max(question.width, _FINE))
        ends = [(_top(one, question, asked, rare), _bottom(one, question, asked, rare)) for one in both]
    except (*DEAD_ENDS, NoSuchRule):
        return None
    upper = max(top.upper for top, _ in ends)
    return Interval(min(max(bottom.lower for _, bottom in ends), upper), upper, method=METHOD)


def _directions(event: Event) -> list[_Sampled]:
    if has_group(event) or event.neighbors.change != "add_remove" or event.neighbors.size > 1:
        raise NotApplicable("only single rows that come and go")
    listed = alternatives(event)
    if len(listed) != 1:
        raise NotApplicable("several parts")
    kinds, others = _told_apart(listed[0])
    above: tuple[Composition, ...] = (_NONE,)
    below = above
    if others:
        beside = Steps(events=others)
        above, below = compositions(bounding(beside)), compositions(within(beside))
    if max(len(above), len(below)) > len(DIRECTIONS):
        raise NotApplicable("several parts")
    return [
        _Sampled(kinds, above[k % len(above)], below[k % len(below)], direction)
        for k, direction in enumerate(DIRECTIONS)
    ]


def _told_apart(terms: Terms) -> tuple[tuple[tuple[Kind, int], ...], list[Event]]:
    kinds: list[tuple[Kind, int]] = []
    others: list[Event] = []
    for term, times in terms.items():
        inner, rate = (term.event, term.rate) if isinstance(term, PoissonSample) else (term, Fraction(1))
        if isinstance(inner, (ZCDP, Renyi)):
            kinds.append((Kind(stated(inner), rate), times))
        elif isinstance(inner, Exponential) and _LEAST_RANGE <= inner.epsilon <= _MOST_RANGE:
            kinds.append((Kind(inner.epsilon, rate), times))
        else:
            others.append(Repeat(event=term, times=times))
    if len(kinds) > _MOST_KINDS or all(kind.rate == 1 for kind, _ in kinds):
        raise NotApplicable("no samples of statements, or too many different ones")
    return tuple(kinds), others


def _top(one: _Sampled, question: Question, asked: Asked, rare: float) -> Interval:
    found, is_alone = one.above, one.above.is_nothing and len(one.kinds) == 1
    for kind, times in one.kinds:
        played = games.above(kind, times, one.direction, rare)
        curve = played.profile.curve
        pair = _enclosing(curve, near(curve, curve.upper, question) if is_alone else None)
        found = with_law(found, pair.law, pair.infinite)
    return asked((found,), question)


def _enclosing(curve: OneWay, around: float | None) -> laws.Above:
    """From values at some places, most of them near one loss if that is all that counts."""
    kept = set(np.linspace(0, curve.upper.size - 1, laws.FEW if around is not None else 2 * laws.MOST).astype(int))
    if around is not None:
        middle = round(around / curve.step) - curve.first
        kept |= {k for k in range(middle - laws.NEIGHBOURS, middle + laws.NEIGHBOURS + 2) if 0 <= k < curve.upper.size}
    y = curve.values(upward=True)
    return laws.enclosing([(Fraction(float(y[k])), Fraction(float(curve.upper[k]))) for k in sorted(kept)])


def _bottom(one: _Sampled, question: Question, asked: Asked, rare: float) -> Interval:
    found, is_alone = one.below, one.below.is_nothing and len(one.kinds) == 1
    for kind, times in one.kinds:
        played = games.above(kind, times, one.direction, rare)
        curve = games.below(played, times)
        found = with_law(found, laws.below(curve, near(curve, None, question) if is_alone else None))
    return asked((found,), question)
