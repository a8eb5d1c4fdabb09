"""Compositions with samples of statements or of mechanisms of bounded range, alone or beside whatever has a pair."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting import two_outcomes
from privately.accounting.adaptive import Asked, near, with_law
from privately.accounting.adaptive import pairs as laws
from privately.accounting.bounding import bounding, within
from privately.accounting.compositions import Composition, compositions
from privately.accounting.ends import proved
from privately.accounting.events import ZCDP, Event, Exponential, PoissonSample, Renyi, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.losses import DIRECTIONS, Direction, FiniteLoss, GaussianLoss, Loss
from privately.accounting.questions import NO_LOWER, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.sampled_games import games, last_steps, long_runs, rare_losses
from privately.accounting.sampled_games.kinds import Kind, are_played, order
from privately.accounting.sampled_games.profiles import Lattice, OneWay
from privately.accounting.terms import Terms, alternatives
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.alone import has_group, stated
from privately.accounting.two_outcomes.composed import how_rare
from privately.errors import NoSuchRule
from privately.rounding import End, Interval

METHOD = "adaptive choices on samples"

_MOST_KINDS, _MOST_RANGE = 3, Fraction(40)
_LEAST_RANGE = Fraction(1, 1000)
_FINE, _ROUGH, _LEVELS = Fraction(1, 10**5), Fraction(1, 200), 4
_ENOUGH, _ENOUGH_DELTA = Fraction(1, 1000), Fraction(1, 100)
_NONE, _ONE, _NO_EPSILON = Composition(), Fraction(1), math.inf
_AS_LONG_RUNS = -1
"""In place of a level."""


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
    except (*DEAD_ENDS, NoSuchRule):
        return None
    question = replace(question, width=max(question.width, _FINE))
    known = _by_rare_losses(both, question, asked, rare)
    if known is not None and question.is_met(known, _enough(question)):
        return known
    played = _played(both, question, asked, rare)
    return known if played is None else _nearer(known, played)


def _by_rare_losses(both: list[_Sampled], question: Question, asked: Asked, rare: float) -> Interval | None:
    """Where orders are listed: by the statement that all steps are together, and by one choice for all of them."""
    one = both[0]
    if not all(isinstance(kind.base, AtOrders) for kind, _ in one.kinds):
        return None

    def told(pairs: Iterable[tuple[FiniteLoss, int]]) -> End:
        below = one.below
        for law, times in pairs:
            below = with_law(below, law, times=times)
        return asked((below,), question).lower

    lower, upper = NO_LOWER.lower, _NO_EPSILON if isinstance(question, EpsilonAt) else _ONE
    with suppress(*DEAD_ENDS, NoSuchRule):
        lower = rare_losses.largest(one.kinds, told)
    with suppress(*DEAD_ENDS, NoSuchRule):
        if all(way.above.is_nothing for way in both):
            upper = rare_losses.above(one.kinds, question)
        else:
            pair = rare_losses.pair_above(one.kinds, rare)
            upper = asked(tuple(with_law(way.above, pair.law, pair.infinite) for way in both), question).upper
    return proved(lower, upper, method=METHOD)


def _played(both: list[_Sampled], question: Question, asked: Asked, rare: float) -> Interval | None:
    found: Interval | None = None
    try:
        if any(times >= long_runs.LEAST for _, times in both[0].kinds):
            found = _in_long_runs(both, question, asked, rare)
            if found is not None and question.is_met(found, _enough(question)):
                return found
            if found is not None and _are_all_long(both[0]):
                return _with_last_steps(found, both[0], question, asked)
        found = _on_lattices(both, question, asked, rare, found)
    except (*DEAD_ENDS, NoSuchRule):
        return found
    if found is not None and question.is_met(found, _enough(question)):
        return found
    found = found or _in_long_runs(both, question, asked, rare)
    return None if found is None else _with_last_steps(found, both[0], question, asked)


def _enough(question: Question) -> Fraction:
    return max(question.width, _ENOUGH if isinstance(question, EpsilonAt) else _ENOUGH_DELTA)


def _on_lattices(
    both: list[_Sampled], question: Question, asked: Asked, rare: float, found: Interval | None
) -> Interval | None:
    """On finer and finer ones, until the answer is narrow or would take too long; with what is known already."""
    try:
        first = int(all(are_played(*part, 1) for part in both[0].kinds))
        for level in range(first, _LEVELS):
            if level > first and not all(games.is_quick(kind, times, rare, level) for kind, times in both[0].kinds):
                break
            found = _nearer(found, _answered(both, question, asked, rare, level))
            if question.is_met(found, _enough(question)):
                break
    except (*DEAD_ENDS, NoSuchRule):
        return found
    return found


def _in_long_runs(both: list[_Sampled], question: Question, asked: Asked, rare: float) -> Interval | None:
    if all(times <= kind.long for kind, times in both[0].kinds):
        return None
    try:
        return _answered(both, question, asked, rare, _AS_LONG_RUNS)
    except (*DEAD_ENDS, NoSuchRule):
        return None


def _with_last_steps(found: Interval, one: _Sampled, question: Question, asked: Asked) -> Interval:
    """The same with a better lower end, where the last steps of one kind are chosen in the light of all before them."""
    kind, times = one.kinds[0]
    if len(one.kinds) > 1 or not kind.long < times <= last_steps.MOST_IN_ALL:
        return found
    try:
        curve, last = last_steps.tried(kind, times)
        below = _with_all(one.below, games.always(kind, times, one.direction, 1.0), times - last)
        lower = asked((with_law(below, laws.below(curve)),), question).lower
    except (*DEAD_ENDS, NoSuchRule):
        return found
    return proved(max(found.lower, lower), found.upper, method=METHOD)


def _are_all_long(one: _Sampled) -> bool:
    """Whether all are long runs of divergences: games on lattices say less of them."""
    return all(times >= long_runs.MANY and not isinstance(kind.base, Fraction) for kind, times in one.kinds)


def _is_long_run(one: _Sampled, times: int, level: int) -> bool:
    """If none is very long, those that are longest count as such."""
    return level == _AS_LONG_RUNS and times >= min(long_runs.LEAST, max(many for _, many in one.kinds))


def _answered(both: list[_Sampled], question: Question, asked: Asked, rare: float, level: int) -> Interval:
    upper = max(_top(one, question, asked, rare, level).upper for one in both)
    lower = max(_bottom(one, question, asked, rare, level).lower for one in both)
    return proved(lower, upper, method=METHOD)


def _nearer(one: Interval | None, other: Interval) -> Interval:
    if one is None:
        return other
    return proved(max(one.lower, other.lower), min(one.upper, other.upper), method=METHOD)


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


def _top(one: _Sampled, question: Question, asked: Asked, rare: float, level: int) -> Interval:
    found, is_alone = one.above, one.above.is_nothing and len(one.kinds) == 1
    is_removed = one.direction == DIRECTIONS[0]
    for kind, times in one.kinds:
        if _is_long_run(one, times, level):
            run = long_runs.above(kind, times, rare, order(one.kinds, rare), is_removed=is_removed)
            found = _with_run(found, run, is_removed=is_removed)
            continue
        played = games.above(kind, times, rare, max(level, 0))
        curve = (played.profile if is_removed else played.profile.mirrored).curve
        is_all = is_alone and played.jumps is None
        pair = _enclosing(curve, near(curve, curve.upper, question) if is_all else None)
        found = with_law(found, pair.law, pair.infinite)
        if played.jumps is not None:
            law, infinite = played.jumps.law(played.way.lattice.step, is_removed=is_removed)
            found = with_law(found, law, min(played.left * infinite, _ONE), played.left)
    return asked((found,), question)


def _with_run(found: Composition, run: long_runs.LongRun, *, is_removed: bool) -> Composition:
    found = with_law(found, GaussianLoss(mu_squared=run.noise), run.infinite)
    for law, times in run.laws(is_removed=is_removed):
        found = with_law(found, law, times=times)
    return found


def _enclosing(curve: OneWay, around: float | None) -> laws.Above:
    """From values at some places, most of them near one loss if that is all that counts."""
    kept = set(np.linspace(0, curve.upper.size - 1, laws.FEW if around is not None else 2 * laws.MOST).astype(int))
    if around is not None:
        middle = round(around / curve.step) - curve.first
        kept |= {k for k in range(middle - laws.NEIGHBOURS, middle + laws.NEIGHBOURS + 2) if 0 <= k < curve.upper.size}
    y = curve.values(upward=True)
    return laws.enclosing([(Fraction(float(y[k])), Fraction(float(curve.upper[k]))) for k in sorted(kept)])


def _with_all(one: Composition, law: Loss, times: int) -> Composition:
    if isinstance(law, (FiniteLoss, GaussianLoss)):
        return with_law(one, law, times=times)
    return replace(one, parts=(*one.parts, (law, times)))


def _bottom(one: _Sampled, question: Question, asked: Asked, rare: float, level: int) -> Interval:
    """By one game of the last steps of all kinds, the largest last, on the lattice of whichever kind is best."""
    found, several, lattices = one.below, list[tuple[Kind, int, int]](), list[Lattice]()
    for kind, times in sorted(one.kinds, key=lambda part: part[0].spread, reverse=True):
        if _is_long_run(one, times, level):
            found = _with_all(found, games.always(kind, times, one.direction, rare), times)
            continue
        played = games.above(kind, times, rare, max(level, 0))
        last = games.tried(kind, played, times)
        if last < times:
            found = _with_all(found, games.always(kind, times, one.direction, rare), times - last)
        if last:
            several.append((kind, times, last))
            lattices.append(played.way.lattice)
    if not several:
        return asked((found,), question)
    tries = []
    for lattice in dict.fromkeys(lattices):
        curve = _tests(tuple(several), rare, max(level, 0), lattice)
        curve = curve if one.direction == DIRECTIONS[0] else curve.mirrored
        law = laws.below(curve, near(curve, None, question) if found.is_nothing else None)
        tries.append(asked((with_law(found, law),), question))
    return max(tries, key=lambda answer: answer.lower)


@lru_cache(maxsize=4)
def _tests(several: tuple[tuple[Kind, int, int], ...], rare: float, level: int, lattice: Lattice) -> OneWay:
    """Of the last steps of each kind; the same for both directions."""
    return games.below([(games.above(kind, times, rare, level), last) for kind, times, last in several], lattice)
