"""What one sampled step may be, and the lattice on which so many of them are played."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from privately.accounting.renyi.amplification import Kept
from privately.accounting.renyi.moments import Moments
from privately.accounting.renyi.orders import best_excess, epsilon_score
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.large_jumps import last_jump
from privately.accounting.sampled_games.profiles import Lattice
from privately.accounting.sampled_games.ways import Way
from privately.accounting.two_outcomes.allowed import Concentrated, Statement

SPARE, FEW = 1e-4, 16
_LONG, _LONG_AND_RARE, _RARE = 240, 600, Fraction(1, 20)
_FINE, _FINER, _COARSE, _COARSEST = 0.1, 0.04, 0.25, 0.6
_MOST_PLACES, _MOST_LOSS, _LEAST_RARE, _BEYOND = 2400, 200.0, 1e-250, 1e-2
_APART, _BESIDE, _LONGEST, _SHORTER = 0.04, 24, 4000, 0.8
_MIDDLE = 1.3
_DEVIATIONS, _LARGE = 6.0, 5.0
_FAR, _BEYOND_LAST, _WORK = 8.0, 8.0, 360_000
_PARTS = np.linspace(0.02, 0.98, 49)
_NEARLY_ONE = 1 - Fraction(1, 2**20)


@dataclass(frozen=True)
class Kind:
    """One step: a statement, or a range, on a sample of this rate."""

    base: Statement | Fraction
    rate: Fraction

    @property
    def long(self) -> int:
        """More steps are a long run. Of rare samples single large losses count longer, as steps one by one show."""
        return _LONG_AND_RARE if self.rate < _RARE and not isinstance(self.base, Fraction) else _LONG

    @property
    def moments(self) -> Moments:
        """About those of what is allowed."""
        return self.stated.moments

    @property
    def stated(self) -> Statement:
        return Concentrated(self.base**2 / 8) if isinstance(self.base, Fraction) else self.base

    def moment(self, c: float) -> float:
        """About the largest logarithmic moment of a sampled step; of ranges by two outcomes."""
        if isinstance(self.base, Fraction):
            low = np.exp(-float(self.base) * _PARTS)
            high = low * math.exp(float(self.base))
            logs = [np.log1p(float(self.rate) * (one - 1)) for one in (low, high)]
            first, second = (np.exp((1 + c) * (one - logs[1])) for one in logs)
            means = ((high - 1) * first + (1 - low) * second) / (high - low)
            return float((np.log(means) + (1 + c) * logs[1]).max())
        if c > self.stated.last:
            return math.inf
        return Kept(self.moments, self.rate).rough(c) if self.rate < 1 else self.moments.rough(c)

    @property
    def spread(self) -> float:
        """About the deviation of one step's loss."""
        found = math.sqrt(math.expm1(min(self.moments.rough(min(1.0, self.stated.last)), 1.0)))
        return float(self.rate) * min(found, 1.0)

    @property
    def deviation(self) -> float:
        """The same of large steps, which have rare and large losses."""
        return float(self.rate) * math.sqrt(math.expm1(min(self.moments.rough(min(1.0, self.stated.last)), _LARGE)))

    def order(self, times: int, rare: float) -> float:
        """About the order that counts after so many steps."""
        return 1 + self._excess(times, math.log(rare))

    def reach(self, times: int, rare: float) -> tuple[float, float]:
        """How far losses of so many steps go on either side, but for what is rarer: by the moments of all of them."""
        far = math.log(max(rare, _LEAST_RARE))
        c = self._excess(times, far)
        reach, rate = epsilon_score(times * self.moment(c), c, far), float(self.rate)
        return (min(reach, -times * math.log1p(-rate)) if rate < 1 else reach), reach

    def reach_of_few(self, times: int, rare: float) -> tuple[float, float]:
        """The same or, where that is less, as far as one leads and the deviation of the others."""
        left, right = self.reach(times, rare)
        if self.rate < 1:
            others = _DEVIATIONS * math.sqrt(times) * self.deviation
            with suppress(NotApplicable):
                one = last_jump(self.base, self.rate, max(rare, _LEAST_RARE))
                return min(left, others + float(self.rate)), min(right, one + others)
        return left, right

    def _excess(self, times: int, log_rare: float) -> float:
        found = best_excess(lambda c: epsilon_score(times * self.moment(c), c, log_rare))
        return min(float(found), self.stated.last)


def order(kinds: tuple[tuple[Kind, int], ...], rare: float) -> float:
    """About the order that counts after all of these."""
    score = partial(_score, kinds, math.log(rare))
    return 1 + min(float(best_excess(score)), *(kind.stated.last for kind, _ in kinds))


def _score(kinds: tuple[tuple[Kind, int], ...], log_rare: float, c: float) -> float:
    return epsilon_score(sum(times * kind.moment(c) for kind, times in kinds), c, log_rare)


def is_middle(kind: Kind, times: int) -> bool:
    """Steps of zCDP that are neither few nor many."""
    return FEW < times <= kind.long and not isinstance(kind.base, Fraction) and kind.base.last == math.inf


def _even(kind: Kind, times: int, rare: float) -> float:
    """How large even steps are that count as much: of rare samples one that leads far is enough."""
    return max(kind.spread, kind.reach_of_few(times, rare)[1] / (_FAR * math.sqrt(times)))


def are_played(kind: Kind, times: int, level: int) -> bool:
    """Whether the steps of a statement are few enough to be played one by one, all of them."""
    return not isinstance(kind.base, Fraction) and (times <= FEW or (times <= kind.long and level > 0))


def laid_out(kind: Kind, times: int, rare: float, level: int) -> tuple[Way, int]:
    """A lattice, finer from level to level, and for how many steps it is wide enough.

    Steps lead to larger y by no more than losses reach on the left. So if all are played, the lattice need not hold all
    that one leads to on the right; but far to the left of it is known where one leads.
    """
    if _NEARLY_ONE < kind.rate < 1:
        raise NotApplicable("a rate that is next to 1")
    is_wide = times > kind.long and not isinstance(kind.base, Fraction)
    finer = 2.0 ** (level / 2 if is_wide else _MIDDLE * level if is_middle(kind, times) else level)
    even, most, least = kind.spread, _MOST_PLACES * 2**level, rare * SPARE / times
    fine = _COARSE if times > FEW else _FINER if isinstance(kind.base, Fraction) else _FINE
    inside, beyond, far = min(times, _LONGEST), least * _BEYOND if is_wide else least, 0.0
    if are_played(kind, times, level):
        even, most = _even(kind, times, rare), min(most, max(_WORK // times, _MOST_PLACES // 2))
        left, farthest = kind.reach_of_few(times, least)
        right = min(farthest, kind.reach_of_few(times, rare / times)[1] + left)
        far = min(farthest, math.log1p(_BEYOND_LAST * math.expm1(min(right, _MOST_LOSS))))
    else:
        left, right = kind.reach(inside, beyond)
        while left + right > most * fine * even / finer and inside > FEW:
            inside = int(inside * _SHORTER)
            left, right = kind.reach(inside, beyond)
    if not 0 < right < _MOST_LOSS:
        raise NotApplicable("too large losses")
    step = max(fine * even / finer, (left + right) / most)
    if step > _COARSEST * even:
        raise NotApplicable("too coarse a lattice")
    first, last = -math.ceil(left / step) - _BESIDE, math.ceil(right / step) + _BESIDE
    lattice = Lattice(step, first, last, max(math.ceil(far / step) - last, 0))
    return Way(kind.rate, lattice, _APART / finer), inside
