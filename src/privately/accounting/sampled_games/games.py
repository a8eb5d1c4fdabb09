"""All sampled steps of one kind, each chosen in the light of all before it: their profile from both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.elementary import Integers
from privately.accounting.losses import DIRECTIONS, Direction, FiniteLoss, GaussianLoss, Loss, SampledGaussianLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.jumps import Jumps, applied, fitted
from privately.accounting.sampled_games.kinds import FEW, SPARE, Kind, are_played, is_middle, laid_out
from privately.accounting.sampled_games.pairs import Law, allowed, ranged
from privately.accounting.sampled_games.profiles import Lattice, OneWay, Profile, convex
from privately.accounting.sampled_games.ranges import Ranged
from privately.accounting.sampled_games.rules import Bounded, Rule, orders
from privately.accounting.sampled_games.steps import Steps
from privately.accounting.sampled_games.trials import Pair, mixed, moves, play, start
from privately.accounting.sampled_games.ways import Way
from privately.accounting.sampled_games.worst import Worst, few_laws
from privately.accounting.two_outcomes.allowed import Statement

_ONE_BY_ONE, _GROWTH, _LONG_GROWTH, _IN_VAIN = 30, 0.2, 0.5, 20
_SMOOTHED = 500
_WORK, _EASY, _HARDER, _LESS_HARD, _REFITS = 300_000, 2, 5, 3, 20
_AGAIN, _FINER, _LOOKED = 1.6, 2, (60, 240)
_NEAR, _FAR = np.geomspace(0.3, 4.0, 20), 30
_LITTLE, _NONE = 0.02, Fraction(0)


@dataclass(frozen=True)
class Played:
    """Upper values of some steps, the jumps that stand for each of the others, and pairs that are nearly the worst."""

    way: Way
    profile: Profile
    jumps: Jumps | None
    left: int
    pairs: tuple[Pair, ...]


@lru_cache(maxsize=16)
def above(kind: Kind, times: int, rare: float, level: int) -> Played:
    """Upper values for so many steps; values far below `rare` need not be told apart."""
    way, inside = laid_out(kind, times, rare, level)
    order, spare, places = kind.order(times, rare), SPARE * rare / times, _places(kind, way)
    is_long = times > kind.long
    one_by_one = times if are_played(kind, times, level) else _ONE_BY_ONE
    rules, laws = _rules(kind, way, spare), list[Law]()
    high = rules[0] if isinstance(rules[0], Bounded) and not is_long else None
    worst = Worst(way, kind.stated, high) if high is not None and is_middle(kind, times) else None
    steps, profile, played, looked_at, in_vain = (
        Steps(way, rules, are_shared=max(one_by_one, FEW) >= times),
        _started(kind, way, times),
        0,
        1,
        0,
    )
    known: tuple[Profile, Jumps, int] | None = None
    while played < times:
        profile = convex(profile)
        if worst is not None and played + 1 >= looked_at:
            laws += worst.laws(profile, rare ** (played / times))
            looked_at = int(_AGAIN * (played + 1)) + 1
        elif high is not None and played + 1 >= looked_at:
            laws += few_laws(profile, way, high, _LOOKED[min(level, 1) if times <= FEW else 0])
            looked_at = 2 * (played + 1)
        after = steps.raised(profile)
        jumps = fitted(profile, after, order, spare, places) if is_long or played >= one_by_one else None
        many = min(max(int((_LONG_GROWTH if is_long else _GROWTH) * played), 1), times - played)
        if jumps is not None:
            known = profile, jumps, times - played
            if played + many > inside:
                break
        in_vain = 0 if jumps is not None or played < one_by_one else in_vain + 1
        if in_vain > (_IN_VAIN if known is None else 0):
            break
        profile = after if jumps is None or many == 1 else applied(profile, jumps, many)
        played += many if jumps is not None else 1
    if played >= times:
        return Played(way, profile, None, 0, _pairs(kind, laws))
    if known is None:
        raise NotApplicable("no jumps are found")
    return Played(way, *known, _pairs(kind, laws))


def is_quick(kind: Kind, times: int, rare: float, level: int) -> bool:
    """Whether a level takes no longer than can be waited for."""
    way, _ = laid_out(kind, times, rare, level)
    plays = _REFITS if times > kind.long else min(times, _ONE_BY_ONE + _REFITS)
    hard = _HARDER if times <= kind.long else _LESS_HARD
    each = 1 if isinstance(kind.base, Fraction) else _EASY if times <= FEW else hard
    return plays * way.lattice.size * each <= _WORK


def _started(kind: Kind, way: Way, times: int) -> Profile:
    """Of long runs the first steps come after some noise, which makes good that they are not played."""
    if times < max(_SMOOTHED, kind.long + 1) or isinstance(kind.base, Fraction):
        return Profile.start(way.lattice)
    return Profile.smooth(way.lattice, kind.spread * math.sqrt(min(max(times / 1000, 1.0), 4.0)))


def tried(kind: Kind, played: Played, times: int) -> int:
    """How many of the last steps are chosen in the light of others, from below."""
    return times if times <= kind.long else min(kind.long, times - played.left) if played.pairs else 0


def below(several: Sequence[tuple[Played, int]], lattice: Lattice) -> OneWay:
    """Tests for so many steps of each kind, the first kind last, on one lattice.

    Theorem: steps of one kind before tests of all others are tests of both. Tests of each kind by itself, composed like
        pairs, would not be: they belong to different strategies.
    Reference: none; by what a composition is
    Proof: docs/theory/accounting/sampled_games.md#compositions
    Checked-by: tests/accounting/sampled_games/test_games.py::test_several_kinds_are_one_game
    """
    curve = start(lattice)
    for played, times in several:
        if not played.pairs:
            raise NotApplicable("no pair is known to be allowed")
        curve = play(curve, moves(played.pairs, played.way.rate, lattice.step), times)
    return curve


def always(kind: Kind, times: int, direction: Direction, rare: float) -> Loss:
    """One choice for every step of a long run: normal noise, or the pair of two outcomes of the largest moment."""
    if not isinstance(kind.base, Fraction):
        square = 2 * kind.base.least
        if kind.rate == 1:
            return GaussianLoss(mu_squared=square)
        return SampledGaussianLoss(mu_squared=square, rate=kind.rate, direction=direction)
    c = kind.order(times, rare) - 1
    either = [pair for one in ranged(kind.base) for pair in (one, tuple((q, p) for p, q in one))]
    sampled = [sorted(mixed(pair, kind.rate), key=lambda both: both[1] / both[0]) for pair in either]
    if direction != DIRECTIONS[0]:
        sampled = [[(q, p) for p, q in reversed(pair)] for pair in sampled]
    best = max(sampled, key=lambda pair: sum(float(p) * float(p / q) ** c for p, q in pair))
    return FiniteLoss(epsilon=_NONE, outcomes=tuple(((p, _NONE), (q, _NONE)) for p, q in best))


def _pairs(kind: Kind, laws: list[Law]) -> tuple[Pair, ...]:
    if isinstance(kind.base, Fraction):
        return tuple(ranged(kind.base))
    return tuple(allowed(kind.base, laws))


def _rules(kind: Kind, way: Way, spare: float) -> tuple[Rule, Rule]:
    if isinstance(kind.base, Fraction):
        one = Ranged(kind.base, way.ratios, way.doubt)
        return one, one
    high, low = (_bounded(kind.base, way, _LITTLE * spare, is_low=is_low) for is_low in (False, True))
    return high, low


def _bounded(statement: Statement, way: Way, little: float, *, is_low: bool) -> Bounded:
    found, finer = (
        Bounded(orders(statement, way.ratios, is_low=is_low, finer=k), way.ratios, way.doubt, little)
        for k in (1, _FINER)
    )
    found.finer = finer
    return found


def _places(kind: Kind, way: Way) -> Integers:
    """Of jumps: of about the size of a step, and fewer that are larger; hardly below what a sample can lead to."""
    near = kind.spread / way.lattice.step * _NEAR
    far = np.geomspace(max(near[-1], 1.0), way.jumps[-1], _FAR)
    places = {int(sign * place) for place in np.concatenate([near, far]).round() for sign in (-1, 1)} - {0}
    lowest = math.log1p(-float(way.rate)) / way.lattice.step - 2 if way.rate < 1 else -math.inf
    return np.array(sorted(place for place in places if lowest <= place <= way.jumps[-1] and -place < way.lattice.size))
