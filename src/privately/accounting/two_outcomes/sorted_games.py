"""Many steps that zCDP allows, of different rho, in any order: at most what they are with the largest last.

s        half of mu^2 of normal noise, whose profile is G
f_c(s)   s + c + c^2/(alpha c + beta s): a step of rho c before G of s reveals at most what G of f_c(s) does
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privately.accounting.elementary import UNIT, Floats, normal_tail_one
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.before_normal import FARTHEST, Lines, by_one_order, gained_by, lines, weight
from privately.accounting.two_outcomes.normal_games import SPARE, Normal
from privately.accounting.two_outcomes.touching import Touching, touching

_MOST_KINDS, _MOST_STEPS = 2000, 100_000
_FLOORS = 0.4, 0.55, 0.8, 1.2
"""Where s begins, in shares of the largest rho."""
_ALPHA, _BETAS = 1.0, (5.6, 5.4, 5.2, 5.0, 4.7, 4.3, 3.8, 3.2, 2.5, 1.8, 1.2)
_LEVELS = (2.0, 1.12, 1.0), (8.0, 1.18, 1.001), (128.0, 1.4, 1.015)
"""Lines are looked for at some rho: down to what part of the largest, how far apart, and what a rho counts as."""
_SMALLEST = 1.04
"""What still smaller ones count as; then one order is enough."""
_FINE, _GROWTH = 0.1, 1.08
_LARGEST_SHARE, _NEAR, _NEAR_SPARE = 0.4, 2.0, 1e-3
_HALVINGS = 40
_DOUBT, _UP = 1e-9, 1 + 8 * UNIT


@dataclass(frozen=True)
class Kinds:
    """All rho, from the largest on, what each counts as, how often it comes, and whose lines serve for it, if any."""

    rho: Floats
    size: Floats
    times: Sequence[int]
    lines: Sequence[Touching]
    which: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[tuple[Concentrated, int]], rarest: float) -> Kinds:
        ordered = sorted(parts, key=lambda part: part[0].rho, reverse=True)
        rho = np.array([math.nextafter(float(one.rho), math.inf) for one, _ in ordered])
        chosen, which, size = list[int](), list[int](), list[float]()
        for k, one in enumerate(rho.tolist()):
            level = next((level for level in _LEVELS if one * level[0] >= rho[0]), None)
            if level and (not chosen or one * level[1] < rho[chosen[-1]]):
                chosen.append(k)
            which.append(len(chosen) - 1 if level else len(rho))
            size.append(one * (level[2] if level else _SMALLEST))
        found = [touching(ordered[k][0], rarest) for k in chosen]
        return cls(rho, np.array(size), [times for _, times in ordered], found, np.array(which))

    def of_those(self, kept: NDArray[np.bool_]) -> Kinds:
        """Some of them, with all lines."""
        times = [n for n, is_kept in zip(self.times, kept.tolist(), strict=True) if is_kept]
        return Kinds(self.rho[kept], self.size[kept], times, self.lines, self.which[kept])

    def most_within(self, total: float) -> int:
        """How many steps may begin before their sum is so much: the smallest ones."""
        count = 0
        for size, times in zip(reversed(self.rho.tolist()), reversed(self.times), strict=True):
            some = min(times, int(total / size) + 1)
            count, total = count + some, total - some * size
            if total < 0:
                break
        return count + 1


@lru_cache(maxsize=8)
def above(parts: tuple[tuple[Concentrated, int], ...], rare: float) -> Normal:
    """All of these steps; values far below `rare` need not be told apart.

    Theorem: for a <= b, f_a(f_b(s)) >= f_b(f_a(s)). So if every step of c before G of s is at most G of f_c(s), and a
        factor that its growth makes good, V <= rest + A G of s for all that is left, in whatever order, where s is
        found with the largest last.
    Reference: none
    Proof: docs/theory/accounting/two_outcomes.md#the-largest-last
    Checked-by: tests/accounting/two_outcomes/test_sorted_games.py::test_no_order_is_above,
        tests/accounting/two_outcomes/test_sorted_games.py::test_the_largest_last_is_the_most,
        tests/accounting/two_outcomes/test_sorted_games.py::test_one_step_before_normal_noise
    """
    steps = sum(times for _, times in parts)
    if len(parts) > _MOST_KINDS or steps > _MOST_STEPS:
        raise NotApplicable("too many different steps")
    rarest = rare * SPARE / steps
    kinds = Kinds.of(parts, rarest)
    few = kinds.most_within(_NEAR * _GROWTH * float(kinds.rho[0]) * (1 + _DOUBT))
    far = _Far(edge(rare * _NEAR_SPARE / few), edge(rarest))
    for floor in _FLOORS:
        try:
            last, height = _carried(kinds, floor * float(kinds.rho[0]), far)
        except NotApplicable:
            continue
        factor = math.exp(height) * (1 + _DOUBT)
        rest = factor * (few * normal_tail_one(far.near) + steps * normal_tail_one(far.later)) * (1 + _DOUBT)
        return Normal(Fraction(2 * last), Fraction(factor), Fraction(min(rest, 1.0)))
    raise NotApplicable("steps unlike normal noise")


@dataclass(frozen=True)
class _Far:
    """How far off the middle losses count, in normal deviations: where s is small, and later."""

    near: float
    later: float


def edge(probability: float) -> float:
    """Nearly where the tail of normal noise is no more than this."""
    low, high = 0.0, FARTHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if normal_tail_one(middle) > probability else (low, middle)
    return high


def more(size: Floats, s: float, beta: float) -> Floats:
    """f_c(s) - s - c."""
    found: Floats = size * size / (_ALPHA * size + beta * s)
    return found


def _sum(kinds: Kinds, first: float, beta: float) -> float:
    """s after all steps, the largest last, rounded up."""
    s = first
    for size, times in sorted(zip(kinds.size.tolist(), kinds.times, strict=True), reverse=True):
        for _ in range(times):
            s = (s + size + size * size / (_ALPHA * size + beta * s)) * _UP
    return s


def _carried(kinds: Kinds, first: float, far: _Far) -> tuple[float, float]:
    """s after all steps, and the logarithm of the factor.

    What is known before G of s holds for more noise too; so it is looked at where s has grown by some part.
    """
    betas = list(_BETAS)
    s, last = first, _sum(kinds, first, betas[0])
    rho = float(kinds.rho[0])
    known: list[tuple[Floats, Floats] | None] = [None] * len(kinds.lines)
    places, slopes = [s], list[float]()
    while s < last:
        after = s * _GROWTH
        before, known = Before.of(kinds, s, far.near if s < _NEAR * rho else far.later, known)
        while betas and (slope := before.slope(kinds, after, betas[0])) == math.inf:
            betas.pop(0)
            last = _sum(kinds, first, betas[0]) if betas else last
        if not betas or _LARGEST_SHARE * (_ALPHA + betas[0] * first / rho) < 1:
            raise NotApplicable("steps unlike normal noise")
        places.append(after)
        slopes.append(slope)
        s = after
    reach = (rho + float(more(kinds.size[:1], first, betas[0])[0])) * (1 + _DOUBT)
    return last, height_of(places, slopes, reach)


def height_of(places: Sequence[float], slopes: Sequence[float], reach: float) -> float:
    """The integral of the largest slope that counts at each place: that of all from which one step leads there."""
    ends = np.array(places[1:])
    total = 0.0
    for k in range(len(slopes)):
        back = int(np.searchsorted(ends + reach, places[k]))
        total += max(slopes[min(back, k) : k + 1]) * (places[k + 1] - places[k])
    return total * (1 + _DOUBT)


@dataclass(frozen=True)
class Before:
    """What one step of each kind adds before G of s, in the measure of `before_normal`: a row for each kind."""

    v: float
    tau: Floats
    begin: int
    """Before this place it need not be all that normal noise gains."""
    counts: NDArray[np.bool_]
    """Up to where each kind is looked at."""
    step: Floats

    @classmethod
    def of(
        cls, kinds: Kinds, s: float, farthest: float, known: Sequence[tuple[Floats, Floats] | None]
    ) -> tuple[Before, list[tuple[Floats, Floats] | None]]:
        """Also which lines tell it, as they are looked for near those of a lesser s."""
        v, rho = 2 * s, float(kinds.rho[0])
        root, widest = math.sqrt(v), np.sqrt(v + 2 * (1 + _LARGEST_SHARE) * kinds.rho) * _UP
        first, lasts = max(0.0, 0.5 - farthest / root), (widest / 2 + farthest) * widest / v * _UP
        apart = (_FINE if s > rho else _FINE / 2) / root
        tau = np.unique(np.append(np.arange(first, lasts[0], apart), [0.5, lasts[0]]))
        counts = np.arange(tau.size) <= np.searchsorted(tau, lasts)[:, None]
        begin = int(np.searchsorted(tau, 0.5 if s < _NEAR * rho else 0.5 + 1 / root))
        found, now = list[Lines](), list[tuple[Floats, Floats] | None]()
        for one, near in zip(kinds.lines, known, strict=True):
            line, index = lines(one, v, tau, None if near is None else np.interp(tau * root, *near))
            found.append(line)
            now.append((tau * root, index))
        rows = [line.most(tau, kinds.rho[kinds.which == k, None]) for k, line in enumerate(found)]
        step = np.concatenate([*rows, by_one_order(tau, kinds.rho[kinds.which >= len(found), None])])
        return cls(v, tau, begin, counts, step), now

    def slope(self, kinds: Kinds, after: float, beta: float) -> float:
        """How fast the logarithm of the factor has to grow, for s up to `after`; infinite if f is not enough."""
        excess = self.excess(kinds, more(kinds.size, after, beta))
        return float((np.log1p(excess) / kinds.size).max()) * (1 + _DOUBT)

    def excess(self, kinds: Kinds, extra: Floats) -> Floats:
        """What part of G is missing for each kind, if f_c(s) - s - c is so much; infinite if that is not enough."""
        grown = 2 * (kinds.size + extra) * (1 - 8 * UNIT)
        apart = np.diff(self.tau)
        wide = np.maximum(np.append(apart, 0.0), np.append(0.0, apart))
        bend = grown[:, None] + ((self.tau + wide) * grown[:, None]) ** 2 / 4
        gains = gained_by(self.v, self.tau, grown) * (1 - wide * wide / 8 * bend * (1 + _DOUBT))
        # what is not a number is not enough
        is_enough = ((self.step <= gains) | ~self.counts)[:, self.begin :].all(axis=1)
        below = self._excess(kinds, grown, gains) if self.begin else np.zeros(kinds.size.size)
        return np.where(is_enough, below, math.inf)

    def _excess(self, kinds: Kinds, grown: Floats, gains: Floats) -> Floats:
        """The part of G that is still missing before `begin`; as for equal steps."""
        upto, tau, step = self.begin, self.tau, self.step
        missing = np.maximum(1 - gains / step, 0.0)
        known = np.maximum(missing[:, :upto], missing[:, 1 : upto + 1])
        known *= np.maximum(step[:, :upto], step[:, 1 : upto + 1])
        size = weight(self.v, tau[1 : upto + 1])
        if tau[0] > 0:  # from 0 to the first place
            nothing = kinds.rho - gained_by(self.v, np.zeros(1), grown)[:, 0]
            known[:, 0] = np.maximum(known[:, 0], nothing)
            size[0] = min(size[0], float(weight(self.v, tau[:1])[0]))
        if (known > 0).any() and float(size.min()) <= 0:
            raise NotApplicable("a profile that is out of range")
        found: Floats = (known / np.where(size > 0, size, 1.0)).max(axis=1) * (1 + _DOUBT)
        return found
