"""All sampled steps of one kind, each chosen in the light of all before it: their profile from both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.elementary import Integers
from privately.accounting.losses import DIRECTIONS, Direction
from privately.accounting.renyi.amplification import Kept
from privately.accounting.renyi.moments import Moments
from privately.accounting.renyi.orders import best_excess, epsilon_score
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.jumps import applied, fitted
from privately.accounting.sampled_games.pairs import Law, allowed, merged, ranged
from privately.accounting.sampled_games.profiles import Lattice, OneWay, Profile, convex
from privately.accounting.sampled_games.ranges import Ranged
from privately.accounting.sampled_games.rules import Bounded, Rule, orders
from privately.accounting.sampled_games.steps import raised
from privately.accounting.sampled_games.trials import Pair, moves, play, start
from privately.accounting.sampled_games.ways import Way
from privately.accounting.two_outcomes.allowed import Concentrated, Statement

_SPARE, _SPARE_LESS = 1e-4, 0.05
_MOST_STATED, _MOST_RANGED = 10, 120
"""Of more steps additions would take too long."""
_FINE, _FINER, _COARSE, _COARSER, _COARSEST, _FEW = 0.1, 0.04, 0.25, 0.5, 0.6, 16
_MOST_PLACES, _MOST_LOSS, _LEAST_RARE = 1200, 60.0, 1e-250
_ONE_BY_ONE, _GROWTH = 30, 0.2
_LOOKED, _MERGED = 60, (1.0, 1.5)
_NEAR = 12
_NEARLY_ONE = 1 - Fraction(1, 2**20)


@dataclass(frozen=True)
class Kind:
    """One step: a statement, or a range, on a sample of this rate."""

    base: Statement | Fraction
    rate: Fraction

    @property
    def moments(self) -> Moments:
        """About those of what is allowed."""
        return self.stated.moments

    @property
    def stated(self) -> Statement:
        return Concentrated(self.base**2 / 8) if isinstance(self.base, Fraction) else self.base

    def moment(self, c: float) -> float:
        c = min(c, self.stated.last)
        return Kept(self.moments, self.rate).rough(c) if self.rate < 1 else self.moments.rough(c)


@dataclass(frozen=True)
class Played:
    """Upper values of all steps, and pairs that are nearly the worst."""

    way: Way
    profile: Profile
    pairs: tuple[Pair, ...]


@lru_cache(maxsize=16)
def above(kind: Kind, times: int, direction: Direction, rare: float) -> Played:
    """Upper values for so many steps; values far below `rare` need not be told apart."""
    if times > (_MOST_RANGED if isinstance(kind.base, Fraction) else _MOST_STATED):
        raise NotApplicable("too many steps")
    way, order = _way(kind, times, direction, rare)
    rule = _rule(kind, way)
    is_less = direction != DIRECTIONS[0] and times > _FEW  # additions cost less, and need not be known as well
    spare, growth = (_SPARE_LESS, 1.0) if is_less else (_SPARE, _GROWTH)
    spare, places = spare * rare / times, _places(way)
    profile, played, laws = Profile.start(way.lattice), 0, list[Law]()
    looked_at = 1
    while played < times:
        profile = convex(profile)
        if isinstance(rule, Bounded) and played + 1 >= looked_at:
            laws += _looked(profile, way, rule)
            looked_at = 2 * (played + 1)
        after = raised(profile, way, rule)
        many = min(int(growth * played), times - played) if played >= _ONE_BY_ONE else 1
        jumps = fitted(profile, after, order, spare, places) if many > 1 else None
        profile = after if jumps is None else applied(profile, jumps, many, spare)
        played += 1 if jumps is None else many
    return Played(way, profile, _pairs(kind, laws))


def below(played: Played, times: int) -> OneWay:
    """Tests for so many steps."""
    if not played.pairs:
        raise NotApplicable("no pair is known to be allowed")
    return play(start(played.way), moves(played.pairs, played.way), times)


def _pairs(kind: Kind, laws: list[Law]) -> tuple[Pair, ...]:
    if isinstance(kind.base, Fraction):
        return tuple(ranged(kind.base))
    return tuple(allowed(kind.base, (merged(law, at) for law in laws for at in _MERGED)))


def _rule(kind: Kind, way: Way) -> Rule:
    if isinstance(kind.base, Fraction):
        return Ranged(kind.base, way.ratios, way.doubt)
    return Bounded(orders(kind.base, way.ratios), way.ratios, way.doubt)


def _looked(profile: Profile, way: Way, rule: Bounded) -> list[Law]:
    """The best laws at some places."""
    found = []
    for place in np.unique(np.linspace(0, way.lattice.last, _LOOKED).astype(int))[::-1].tolist():
        rule.most(*way.payoffs(profile, place))
        found.append(rule.law())
    return [law for law in found if law is not None]


def _places(way: Way) -> Integers:
    """Of jumps: all that are small, and some others; where rows are removed, hardly below what a sample can lead to."""
    some = {*range(-_NEAR, _NEAR + 1), *way.jumps[::3].tolist()} - {0}
    lowest = math.log1p(-float(way.rate)) / way.lattice.step - 2 if way.is_kept and way.rate < 1 else -math.inf
    return np.array(sorted(place for place in some if place >= lowest))


def _way(kind: Kind, times: int, direction: Direction, rare: float) -> tuple[Way, float]:
    """The lattice, and about the order that counts."""
    rate = float(kind.rate)
    if _NEARLY_ONE < kind.rate < 1:
        raise NotApplicable("a rate that is next to 1")

    def excess(log_rare: float) -> float:
        return min(float(best_excess(lambda c: epsilon_score(times * kind.moment(c), c, log_rare))), kind.stated.last)

    far = math.log(max(rare * _SPARE, _LEAST_RARE))
    c = excess(far)
    reach = epsilon_score(times * kind.moment(c), c, far)
    least = min(reach, -times * math.log1p(-rate)) if rate < 1 else reach
    if not 0 < reach < _MOST_LOSS:
        raise NotApplicable("too large losses")
    spread = math.sqrt(math.expm1(min(kind.moments.rough(min(1.0, kind.stated.last)), 1.0)))
    even = rate * min(spread, 1.0)
    left, right = (least, reach) if direction == DIRECTIONS[0] else (reach, least)
    coarse = _COARSE if direction == DIRECTIONS[0] else _COARSER
    fine = coarse if times > _FEW else _FINER if isinstance(kind.base, Fraction) else _FINE
    step = max(fine * even, (left + right) / _MOST_PLACES)
    if step > _COARSEST * even:
        raise NotApplicable("too coarse a lattice")
    lattice = Lattice(step, -math.ceil(left / step) - 2 * _NEAR, math.ceil(right / step) + 2 * _NEAR)
    return Way(kind.rate, direction, lattice), 1 + excess(math.log(rare))
