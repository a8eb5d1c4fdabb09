"""Where to lay the contour: choices that make the bounds good. None of them has to be right for the bounds to hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, cast

import numpy as np

from privately.accounting.contour.protocols import Guided, Sketch, Sketched
from privately.accounting.contour.rough_bundles import sketches
from privately.accounting.contour.rough_samples import FACTORS, MIDDLE, Ladder, RoughSample
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.kept import Kept
from privately.accounting.roads import NotApplicable

_HIGHEST = 2.0**26
_LOWEST = 2.0**-24
_ROUNDS = 60
_START = 3.0
_LOWEST_START, _HIGHEST_START = 0.1, 1000.0
_CLOSE = 0.48
_LONGEST_STRIDE = 2.0
_TOGETHER = 1e-12
_BELOW_CEILING, _MANY = 0.8, 64
_MOST_BEND = 2.0
_FEW_ROUNDS = 2
_LADDERS = 4
"""So often several heights are looked at together: cubics between them may come nearer in ever smaller steps."""
_A_LITTLE = 1.25
"""So much higher than asked, a sampled Gaussian alone is looked at: the first guess is seldom farther off."""
_HEIGHTS = (0.6, 1.06, 1.25, 2.0)


class Outline:
    """K(c), the sum of the logarithms of the transforms, roughly."""

    def __init__(self, parts: Sequence[tuple[Sketched, int]], mu_squared: float) -> None:
        self.parts = parts
        self.mu_squared = mu_squared
        self.ceiling = min(getattr(law, "ceiling", math.inf) for law, _ in parts) if len(parts) > _MANY else math.inf
        """Above this height too little is known of some of many laws."""
        self._is_alone = len(parts) == 1 and isinstance(parts[0][0], SampledGaussian)
        self._sketches: list[tuple[Sketch, int]] = []
        self._highest = 0.0
        self.seen: dict[float, float] = {0.0: 0.0}
        """Heights that were tried, with K there."""
        self.beside: dict[float, float] = {}
        """Heights around those, likewise."""
        self._ladder: Ladder | None = None

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """K(c) and its first two derivatives."""
        self._sketch(c)
        k, mean, variance = (c * c + c) * self.mu_squared / 2, (c + 0.5) * self.mu_squared, self.mu_squared
        for sketch, times in self._sketches:
            one = sketch.cumulants(c)
            k, mean, variance = k + times * one[0], mean + times * one[1], variance + times * one[2]
        self.seen[c] = k
        return k, mean, variance

    def start(self, log_delta: float) -> float:
        """A first guess of the saddle for this delta, right for normal losses; below where a law grows too steep."""
        if len(self.parts) == 1 and not self.mu_squared:
            law, times = self.parts[0]
            if isinstance(law, SampledGaussian):
                variance = times * law.rough_variance
                found = math.sqrt(2 * max(-log_delta, 1.0) / variance) if variance > 0 else _START
                found = _nearer(found, variance, times * law.rough_skewness, log_delta)
                return min(max(min(found, law.steep_from(times)), _LOWEST_START), _HIGHEST_START)
        laws = [(cast("Guided", law), times) for law, times in self.parts if _guides(type(law))]
        variance = self.mu_squared + sum(times * law.rough_variance for law, times in laws)
        if len(laws) < len(self.parts) or not variance > 0:
            return _START
        found = math.sqrt(2 * max(-log_delta, 1.0) / variance)
        found = min([found, *(law.steep_from(times) for law, times in laws)])
        return min(max(found, _LOWEST_START), _HIGHEST_START)

    def reach(self, saddle: Saddle, wanted: float) -> float | None:
        """About where bounds show that a sampled Gaussian alone has fallen so far; None for all else, and where that is
        not plain.
        """
        ladder = self._ladder
        if ladder is None or saddle.c not in ladder.heights:
            ladder = self.ladder(saddle.c)
        law, times = self.parts[0] if self.parts else (None, 0)
        if ladder is None or not isinstance(law, SampledGaussian):
            return None
        mean, variance = ladder.shares(ladder.heights.index(saddle.c))
        if not mean:
            return None
        drift = law.mu * law.mu * mean
        bend = 2 * variance * wanted / times
        if bend > _MOST_BEND:
            return None
        slower = 1 + bend if law.removes else (1 + bend) * (1 + saddle.c * drift * (1 - min(mean, 0.5)))
        return math.sqrt(2 * wanted / times * slower) / (law.mu * mean)

    def ladder(self, c: float) -> Ladder | None:
        """What is seen of a sampled Gaussian alone from c and from heights around it; None for all else."""
        if not self._is_alone or self.mu_squared:
            return None
        self._sketch(c * FACTORS[-1])
        sketch, times = self._sketches[0]
        if not isinstance(sketch, RoughSample):
            return None
        self._ladder = found = sketch.ladder(c)
        for height, level in zip(found.heights, found.levels(), strict=True):
            self.beside[height] = times * level
        self.seen[c] = self.beside[c]
        return found

    def is_amid(self, c: float) -> bool:
        """Whether heights around c were looked at last."""
        return self._ladder is not None and self._ladder.heights[MIDDLE] == c

    def levels(self, heights: Sequence[float]) -> list[float]:
        """K alone, at several places."""
        self._sketch(max(heights))
        places = np.array(heights)
        k = (places * places + places) * (self.mu_squared / 2)
        for sketch, times in self._sketches:
            k += times * sketch.levels(places)
        found: list[float] = k.tolist()
        self.seen.update(zip(heights, found, strict=True))
        return found

    def _sketch(self, c: float) -> None:
        if c > self._highest:
            self._highest = _A_LITTLE * c if self._is_alone else max(4 * c, 64.0)
            self._sketches = sketches(self.parts, self._highest)


@dataclass(eq=False)
class Saddle:
    """A point c of the real line, with the epsilon and the delta for which it is the best."""

    c: float
    k: float
    mean: float
    variance: float

    @property
    def epsilon(self) -> float:
        return self.mean - 1 / self.c - 1 / (1 + self.c)

    @Kept
    def log_sum(self) -> float:
        """ln of the integral along the contour, without e^(K - c epsilon)."""
        return -math.log(self.c * (1 + self.c)) - math.log(2 * math.pi * self.spread) / 2

    @property
    def spread(self) -> float:
        """The second derivative of the logarithm of the integrand."""
        return self.variance + 1 / self.c**2 + 1 / (1 + self.c) ** 2

    @Kept
    def log_delta(self) -> float:
        return self.k - self.c * self.epsilon + self.log_sum


def for_delta(outline: Outline, log_delta: float) -> Saddle:
    """The saddle whose delta is about this one."""

    def excess(saddle: Saddle) -> tuple[float, float]:
        there = saddle.log_delta
        return there - log_delta, _ratio(log_delta, there)

    return _search(outline, excess, outline.start(log_delta))


def for_epsilon(outline: Outline, epsilon: float, start: float = _START) -> Saddle:
    """The saddle whose epsilon is about this one."""
    return _search(
        outline, lambda saddle: ((epsilon - saddle.epsilon) * saddle.c, _ratio(epsilon, saddle.epsilon)), start
    )


def _search(outline: Outline, excess: Callable[[Saddle], tuple[float, float]], start: float = _START) -> Saddle:
    """Where `excess`, which falls in c like ln delta, is nearly 0: Newton's method, kept between the last points on
    either side. With it comes the ratio of what is wanted to what is there, both growing with c like a power of c or
    faster: on logarithmic scales that is nearly a line.
    """
    if not 0 < start < math.inf:  # as where so little is lost that floats cannot tell
        raise NotApplicable("no contour fits")
    highest = min(_HIGHEST, _BELOW_CEILING * outline.ceiling)
    x, left, right = math.log(min(start, highest)), math.log(_LOWEST), math.log(highest) + _TOGETHER
    for turn in range(_ROUNDS):
        saddle, value, ratio, between = _looked(outline, excess, math.exp(x), is_soon=turn < _LADDERS)
        if abs(value) <= _CLOSE or (value > 0 and saddle.c >= highest * (1 - _TOGETHER) and highest < _HIGHEST):
            return saddle  # where the best height is too high, any other serves
        c = saddle.c
        x = math.log(c)
        left, right = (x, right) if value > 0 else (left, x)
        stride = value / (c * c * saddle.spread)
        if ratio > 0 and ratio != 1:
            stride *= math.log(ratio) / (ratio - 1)
        stride = between or stride
        stride = min(max(stride, -_LONGEST_STRIDE), _LONGEST_STRIDE)
        ahead = min(x + stride, math.log(highest))
        x = ahead if left < ahead < right else (left + right) / 2
        if right - left < _TOGETHER:
            break
    raise NotApplicable("no contour fits")


def _looked(
    outline: Outline, excess: Callable[[Saddle], tuple[float, float]], c: float, *, is_soon: bool
) -> tuple[Saddle, float, float, float]:
    """The saddle at c or, where several heights are seen at once, one nearer to where `excess` is 0; with `excess` and
    its ratio there and, if 0 lies before the next height, about how far away on a logarithmic scale.
    """
    ladder = outline.ladder(c) if is_soon else None
    if ladder is None:
        saddle = Saddle(c, *outline.cumulants(c))
        return saddle, *excess(saddle), 0.0
    times, place = outline.parts[0][1], MIDDLE
    saddle = _on(ladder, place, times)
    value, ratio = excess(saddle)
    while abs(value) > _CLOSE:
        place += 1 if value > 0 else -1
        if not 0 <= place < len(ladder.heights):
            break
        other = _on(ladder, place, times)
        there, other_ratio = excess(other)
        if there * value < 0 and abs(there) > _CLOSE:
            return saddle, value, ratio, _between(saddle, value, other, there)
        saddle, value, ratio = other, there, other_ratio
    return saddle, value, ratio, 0.0


def _on(ladder: Ladder, place: int, times: int) -> Saddle:
    k, mean, variance = ladder.rung(place)
    return Saddle(ladder.heights[place], times * k, times * mean, times * variance)


def _between(one: Saddle, value: float, other: Saddle, there: float) -> float:
    """How far ln c is from the first saddle's where `excess` is 0: the cubic through both with their slopes."""
    if not math.isfinite(value - there):
        return 0.0
    share, gap = value / (value - there), math.log(other.c / one.c)
    first, last = ((there - value) / (-saddle.c * saddle.c * saddle.spread) for saddle in (one, other))
    rest = 1 - share
    found = share * share * (1 + 2 * rest) * gap + share * rest * (rest * first - share * last)
    return found if 0 < found / gap < 1 else share * gap


def _nearer(c: float, variance: float, skewness: float, log_delta: float) -> float:
    """The saddle for this delta from a first guess, by Newton's method, for losses of these two cumulants and no others
    whose transform is 1 at -1.
    """
    for _ in range(_FEW_ROUNDS):
        level, mean = variance * (c * c + c) / 2 + skewness * c * c * c / 6, variance * (c + 0.5) + skewness * c * c / 2
        spread = variance + skewness * c + 1 / (c * c) + 1 / ((1 + c) * (1 + c))
        there = level - c * mean + 1 + c / (1 + c) - math.log(c * (1 + c) * math.sqrt(2 * math.pi * spread))
        c *= math.exp(min(max((there - log_delta) / (c * c * spread), -0.5), 0.5))
    return c


@cache
def _guides(kind: type) -> bool:
    """Whether laws of this kind are Guided, which takes long to find out."""
    return hasattr(kind, "rough_variance") and hasattr(kind, "steep_from")


def _ratio(wanted: float, there: float) -> float:
    return wanted / there if there else 0.0


class Shape(NamedTuple):
    """A contour, its step, and two other heights from which Chernoff bounds on the aliases are taken."""

    saddle: Saddle
    epsilon: float
    step: float
    below: float
    above: float
    reach: float | None = None
    """Where the integrand has probably fallen far enough, if that was looked at."""


def shape(outline: Outline, saddle: Saddle, epsilon: float, log_tolerance: float) -> Shape:
    """The widest step with which the aliases stay below e^log_tolerance of delta."""
    c = saddle.c
    level = saddle.k - c * epsilon + saddle.log_sum + log_tolerance

    if not outline.is_amid(c):
        outline.levels([min(c * factor, outline.ceiling) for factor in _HEIGHTS])
    above = below = (math.inf, 0.0)
    for b, k in (outline.seen | outline.beside).items():
        gap = b - c
        if gap > c / 64 and b <= outline.ceiling:
            above = min(above, ((k - b * epsilon - level) / gap, b))
        elif gap < -c / 64:
            below = min(below, ((b * epsilon + level - k) / gap, b))
    step = 2 * math.pi / max(above[0], below[0], 2.0**-20)
    fraction, exponent = math.frexp(step)
    step = math.ldexp(math.floor(fraction * 2**20), exponent - 20)
    return Shape(saddle, epsilon, step, below[1], above[1], outline.reach(saddle, wanted_fall(saddle, log_tolerance)))


def wanted_fall(saddle: Saddle, log_tolerance: float) -> float:
    """How far the integrand must fall for a sum with errors of about this tolerance."""
    return 3 - log_tolerance - saddle.log_sum
