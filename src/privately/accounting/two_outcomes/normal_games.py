"""Many steps that zCDP allows, each chosen in the light of all before it: hardly more than normal noise, from above."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from privately.accounting.adaptive.blocks import distance
from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import UNIT, Floats, normal_tail_one
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import wave_games
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.before_normal import FARTHEST, gained, most, weight
from privately.accounting.two_outcomes.single import between, profile
from privately.accounting.two_outcomes.steps import NEVER
from privately.accounting.two_outcomes.touching import Touching, touching
from privately.rounding import Interval

SPARE = 1e-4
"""What part of a value that counts may be neglected, in all."""
_MOST_STEPS = 100_000
"""More are taken together."""
_PLAYED, _SOME = 30, 5000
"""So many are played as a game, unless there are very many."""
_MOST_EXCESS = 1.4
_FINE, _GROWTH = 0.1, 0.05
_LATER, _FACTORS = 0.88, (1.0, 1.0003, 1.001, 1.003, 1.01, 1.02, 1.04, 1.08, 1.16)
_HALVINGS, _LARGEST_RISE, _WIDE = 12, 16.0, 2.8
_PLACES, _LINES = 400, 2
_DOUBT, _UP = 1e-9, 1 + 8 * UNIT
_MOST_LOSS = 600.0


Known: TypeAlias = tuple[Floats, Floats]
"""Which lines were the best, at which epsilon/sqrt(v)."""


@dataclass(frozen=True)
class Normal:
    """The profile is at most rest + factor G, with G that of normal noise of mu^2 = variance."""

    variance: Fraction
    factor: Fraction
    rest: Fraction

    def beside(self, other: Normal) -> Normal:
        """Of both, composed.

        Theorem: with any profile H beside it, the mean over H of rest + factor G is rest + factor (G beside H).
        Reference: composition of pairs, Zhu-Dong-Wang 2022, Theorem 10
        Proof: docs/theory/accounting/two_outcomes.md#many-steps
        Checked-by: tests/accounting/two_outcomes/test_normal_games.py::test_two_beside_each_other
        """
        return Normal(self.variance + other.variance, self.factor * other.factor, self.rest + self.factor * other.rest)

    def taken_from(self, question: Question) -> Question:
        """What is to be asked of normal noise beside the others."""
        if isinstance(question, DeltaAt):
            return question
        left = (question.delta - self.rest) / self.factor
        if left <= 0:
            raise NotApplicable("a delta that is smaller than what was neglected")
        return replace(question, delta=left)

    def put_back(self, found: Interval, question: Question) -> Interval:
        """The upper end for both, from that for normal noise."""
        if isinstance(question, EpsilonAt):
            return found
        return Interval(0, min(self.rest + self.factor * Fraction(found.upper), Fraction(1)), method=found.method)


@dataclass(frozen=True)
class _Rise:
    """A step before G_v reveals at most rest + (1 + excess) G_(v + more)."""

    more: float
    excess: float
    rest: float


@lru_cache(maxsize=8)
def above(statement: Concentrated, times: int, rare: float) -> Normal:
    """So many steps; values far below `rare` need not be told apart.

    Theorem: what bounds a step before G_v bounds it before every G_w, w >= v, with the same gain: a step of a mean is
        at most the mean of steps. So the steps are bounded one by one, from the last to the first.
    Reference: Dong-Durfee-Rogers 2020, section 5, for games of this kind
    Proof: docs/theory/accounting/two_outcomes.md#many-steps
    Checked-by: tests/accounting/two_outcomes/test_normal_games.py::test_no_strategy_is_above,
        tests/accounting/two_outcomes/test_normal_games.py::test_a_step_that_is_left_out_is_missed
    """
    block = -(-times // _MOST_STEPS)
    statement, times = statement.repeated(block), -(-times // block)
    rarest = rare * SPARE / times
    farthest = math.sqrt(-2 * math.log(rarest))
    lines = touching(statement, rarest)
    even = 2 * lines.rho
    price = -math.log(rare) / (times * even)
    played = min(_PLAYED, times) if times <= _SOME else 1
    try:
        v, factor, rest = nearest(_cut(_played(statement, played, rare), rare * SPARE), price)
        _check((v + math.log(factor) / price) / even - played)
    except NotApplicable:
        played, (v, factor, rest) = 1, last_step(statement, lines, farthest, price)
    left = times - played
    known: Known | None = None
    while left:
        steps = max(1, min(left, int(_GROWTH * v / even)))
        rise, known = _rise(lines, v, farthest, price, known)
        v = (v + steps * rise.more * _UP) * _UP
        factor *= (1 + rise.excess * _UP) ** steps * (1 + 4 * steps * UNIT) * _UP
        rest = (rest + steps * factor * rise.rest * _UP) * _UP
        left -= steps
    return Normal(Fraction(v), Fraction(factor), Fraction(min(rest, 1.0)))


def last_step(
    statement: Concentrated, lines: Touching, farthest: float, price: float = math.inf
) -> tuple[float, float, float]:
    """mu^2, a factor and a rest for the last step; what mu^2 costs, in powers of e, if the factor is not to be 1.

    Theorem: the line that touches at any two losses bounds the profile at one place; a profile is convex, falls, and
        nowhere faster than by 1.
    Reference: as for one statement
    Proof: docs/theory/accounting/two_outcomes.md#many-steps
    Checked-by: tests/accounting/two_outcomes/test_normal_games.py::test_the_last_step
    """
    y, known = profile(statement, lines, _LINES)
    reach = min(lines.rho + farthest * math.sqrt(2 * lines.rho) * 1.1, math.log(y[-1]))
    if not 0 < reach < _MOST_LOSS:
        raise NotApplicable("losses that are out of range")
    step = reach / _PLACES
    curve = Curve(step, 0, NEVER, np.ones(_PLACES), np.zeros(_PLACES), np.zeros(_PLACES))
    upper = np.minimum.accumulate(between(curve.values(upward=False), y, known))
    return nearest(replace(curve, upper=upper), price)


def _played(statement: Concentrated, steps: int, rare: float) -> Curve:
    """Upper values of the last steps; of a single one more is known otherwise."""
    if steps == 1:
        raise NotApplicable("a single step")
    return wave_games.above(((statement, steps),), rare)


def _check(excess: float) -> None:
    """Whether as many steps need hardly more noise than they should."""
    if excess > _MOST_EXCESS:
        raise NotApplicable("a game whose lines are not good")


def _cut(curve: Curve, rare: float) -> Curve:
    """Up to values so small: farther on lines are not as good."""
    kept = slice(min(int((curve.upper > rare).sum()), curve.upper.size - 1) + 1)
    return replace(curve, upper=curve.upper[kept], powers=curve.powers[kept], prices=curve.prices[kept])


def nearest(curve: Curve, price: float) -> tuple[float, float, float]:
    """mu^2, a factor and a rest for upper values of the last steps.

    Theorem: if the profile less the rest, over the factor, is below r + (1 - r) G, r the rest, so is it below the rest
        and the factor times G.
    Reference: none
    Proof: docs/theory/accounting/two_outcomes.md#many-steps
    Checked-by: tests/accounting/two_outcomes/test_normal_games.py::test_the_last_step,
        tests/accounting/two_outcomes/test_normal_games.py::test_some_steps_that_were_played
    """
    best, rest = (math.inf, 1.0, 0.0), float(curve.upper[-1])
    for factor in _FACTORS if price < math.inf else (1.0,):
        mu = distance(replace(curve, upper=rest + (curve.upper - rest) / factor * (1 + _DOUBT)))
        cost = _LATER * price * mu * mu + math.log(factor) if price < math.inf else 0.0
        best = min(best, (cost, mu * mu * _UP, factor))
    return best[1], best[2], rest * _UP


def _rise(lines: Touching, v: float, farthest: float, price: float, known: Known | None = None) -> tuple[_Rise, Known]:
    """What one step before G_v needs, up to losses of v/2 + farthest sqrt(v).

    Theorem: the step is at most G_v + p S, p the density of the loss at epsilon; S is convex in tau, as its logarithm
        is, and so is what G gains, whose logarithm bends by at most more + tau^2 more^2/4. Beyond the last place a
        profile is at most what it is there.
    Reference: none
    Proof: docs/theory/accounting/two_outcomes.md#many-steps
    Checked-by: tests/accounting/two_outcomes/test_normal_games.py::test_one_step_before_normal_noise
    """
    root = math.sqrt(v)
    widest = math.sqrt(v + _WIDE * lines.rho)
    first, last = max(0.0, 0.5 - farthest / root), (widest / 2 + farthest) * widest / v
    tau = np.append(np.arange(first, last, _FINE / root), last)
    if first < 0.5:
        tau = np.unique(np.append(tau, 0.5))
    step, index = most(lines, v, tau, None if known is None else np.interp(tau * root, *known))
    tries = []
    for begin in (
        *([0] if first == 0 else []),
        int(np.searchsorted(tau, 0.5)),
        int(np.searchsorted(tau, 0.5 + 1 / root)),
    ):
        more = _least_rise(step[begin:], v, tau[begin:], lines.rho)
        excess = _excess(step, v, tau, more, below=begin, rho=lines.rho)
        tries.append((price * (1 - lines.rho / (3 * v)) * more + excess, more, excess))  # later steps then need less
    _, more, excess = min(tries)
    after = math.sqrt(v + more)
    edge = (last * v / after - after / 2) * (1 - 16 * UNIT * (1 + root))
    rest = normal_tail_one(min(edge, FARTHEST)) * (1 + _DOUBT) * (1 + excess)
    return _Rise(more, excess, rest), (tau * root, index)


def _least_rise(step: Floats, v: float, tau: Floats, rho: float) -> float:
    """Nearly the least gain of v that is enough at all these places."""
    even, low, high = 2 * rho, 0.0, 2 * rho / (3 * v)
    while not _is_enough(step, v, tau, even * (1 + high)):
        low, high = high, 2 * high
        if high > _LARGEST_RISE:
            raise NotApplicable("steps unlike normal noise")
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_enough = _is_enough(step, v, tau, even * (1 + middle))
        low, high = (low, middle) if is_enough else (middle, high)
    return even * (1 + high)


def _is_enough(step: Floats, v: float, tau: Floats, more: float) -> bool:
    return bool((step <= _between(v, tau, more)).all())


def _between(v: float, tau: Floats, more: float) -> Floats:
    """What G gains at these places, less by what the chord of its logarithm is above it next to them."""
    apart = np.diff(tau)
    wide = np.maximum(np.append(apart, 0.0), np.append(0.0, apart))
    bend = more + ((tau + wide) * more) ** 2 / 4
    found: Floats = gained(v, tau, more) * (1 - wide * wide / 8 * bend * (1 + _DOUBT))
    return found


def _excess(step: Floats, v: float, tau: Floats, more: float, *, below: int, rho: float) -> float:
    """The part of G that is still missing before this place: near 0 more is allowed than orders from 1 on tell."""
    if not below:
        return 0.0
    missing = np.maximum(1 - _between(v, tau, more) / step, 0.0)
    known = np.maximum(missing[:below], missing[1 : below + 1]) * np.maximum(step[:below], step[1 : below + 1])
    if tau[0] > 0:  # from 0 to the first place
        nothing = 1 - float(gained(v, np.zeros(1), more)[0]) / rho
        known[0] = max(known[0], nothing * rho)
    size = weight(v, tau[1 : below + 1])
    if tau[0] > 0:
        size[0] = min(size[0], float(weight(v, tau[:1])[0]))
    if (size[known > 0] <= 0).any():
        raise NotApplicable("a profile that is out of range")
    return float(np.where(known > 0, known / np.where(size > 0, size, 1.0), 0.0).max()) * (1 + _DOUBT)
