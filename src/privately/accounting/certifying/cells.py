"""Witnesses for the checker's lattice: how wide its cells are, where they begin, and which epsilon they will show.

Everything here is a choice in floating point. A poor one makes the checker's bound large, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.accounting.certifying.laws import Law
from privately.accounting.losses import Direction
from privately.accounting.roads import NotApplicable

Floats = NDArray[np.float64]

MOST_STEPS = 20_000
_COUNTS = (256, 512, 1024, 2048, 4096)
_LONGEST = 12_000
_CLOSE, _CLOSE_ENOUGH = 2e-4, 1e-2
_FINER = 0.7
_MOST_BITS = 1.5e6
_SLACK = 1e-5
RARE = 2.0**-18
_SMALLEST = Fraction(1, 10**60)
_NARROWEST, _WIDEST = 1e-9, 0.5
_DENORMAL = 1e-150
LARGEST_CELLS = 300
"""Epsilons beyond are not for cells."""
_LARGEST = float(LARGEST_CELLS)
_TURNS = 12
_HALVINGS = 60


def _plain(masses: Floats) -> Floats:
    """Without those so small that multiplying them takes a hundred times as long."""
    found: Floats = np.where(np.abs(masses) < _DENORMAL, 0.0, masses)
    return found


@dataclass(frozen=True)
class Sums:
    """P of the losses (first + i) step, and P and Q of larger ones; those that are counted as infinite only in P."""

    first: int
    near: Floats
    far: tuple[float, float]

    def delta(self, step: float, epsilon: float) -> float:
        losses = (self.first + np.arange(self.near.size)) * step
        above = np.maximum(-np.expm1(np.minimum(epsilon - losses, 0.0)), 0.0)
        return float(self.near @ above) + self.far[0] - math.exp(epsilon) * self.far[1]

    def finite(self, step: float) -> float:
        """Q of all that is not counted as infinite, or of a loss of -infinity."""
        losses = (self.first + np.arange(self.near.size)) * step
        return min(float(self.near @ np.exp(np.minimum(-losses, _LARGEST))) + self.far[1], 1.0)


class Lattice:
    """As the checker will lay it, for epsilons up to `highest`."""

    def __init__(self, step: float, highest: float, delta: float, steps: int, direction: Direction) -> None:
        self.step, self.direction, self.steps, self.highest = step, direction, steps, highest
        self.last = math.floor(highest / step)
        self.negligible = delta * RARE / steps
        self.rare = delta * RARE / (2 * steps.bit_length() + 2)
        self.longest = 0

    def laid(self, law: Law, first: int, rest: int) -> Sums:
        """One law; all other losses together are at least `rest`."""
        count = max(self.last - rest + 1 - first, 1)
        length = min(count, _LONGEST)
        losses: Floats = (first + np.arange(length + 1.0)) * self.step
        masses, left, beyond = law.masses(losses, self.direction)
        rare = np.flatnonzero(left <= self.negligible)
        end = int(rare[0]) + 1 if rare.size else length
        if end == length < count and not rare.size:
            raise NotApplicable("too many cells")
        far = float(max(left[end - 1], 0.0)), float(max(beyond[end - 1], 0.0)) if end == count else 0.0
        self.longest = max(self.longest, end + 1)
        return Sums(first, _plain(masses[:end]), far)

    def summed(self, laws: Sequence[tuple[Law, int]], firsts: Sequence[int]) -> Sums:
        """All of these laws, each from its own first loss on."""
        rest = sum(first * times for first, (_, times) in zip(firsts, laws, strict=True))
        total: Sums | None = None
        for first, (law, times) in zip(firsts, laws, strict=True):
            before = 0 if total is None else total.first
            one = self.laid(law, first, before + rest - first)
            rest -= first * times
            one = self.power(one, times, before + rest)
            total = one if total is None else self.sum(total, one, rest)
        if total is None:
            raise NotApplicable("no law")
        return total

    def power(self, one: Sums, times: int, rest: int) -> Sums:
        result, done = one, 1
        for bit in bin(times)[3:]:
            done *= 2
            result = self.sum(result, result, rest + (times - done) * one.first)
            if bit == "1":
                done += 1
                result = self.sum(result, one, rest + (times - done) * one.first)
        return result

    def sum(self, one: Sums, other: Sums, rest: int) -> Sums:
        near = _plain(np.convolve(one.near, other.near))
        first = one.first + other.first
        p, (mine, theirs) = one.far[0] + other.far[0] - one.far[0] * other.far[0], (one.far[1], other.far[1])
        q = mine * other.finite(self.step) + theirs * one.finite(self.step) - mine * theirs if mine or theirs else 0.0
        kept = self.last - rest + 1 - first
        if kept < near.size:
            kept = max(kept, 1)
            gone = (first + np.arange(kept, near.size)) * self.step
            p, q = p + float(near[kept:].sum()), q + float(near[kept:] @ np.exp(np.minimum(-gone, _LARGEST)))
            near = near[:kept]
        summed = np.cumsum(near)
        skipped = int(np.searchsorted(summed, self.rare, side="right"))
        skipped = max(min(skipped, near.size - 1, self.last - first), 0)
        p += float(near[:skipped].sum())
        near, first = near[skipped:], first + skipped
        if near.size > _LONGEST:
            raise NotApplicable("too many cells")
        # What is negligible at the upper end is moved down by the checker, if it has no room for it; and what is
        # beyond it too, which then costs e^epsilon times its Q.
        ends = np.cumsum(near[::-1])[::-1] + q * math.exp(self.highest) <= self.negligible
        if ends.any():
            end = max(int(np.argmax(ends)), 1)
            p, near = p + float(near[end:].sum()), near[:end]
        self.longest = max(self.longest, near.size + 1)
        return Sums(first, near, (p, q))


@dataclass(frozen=True)
class Found:
    """An epsilon that a lattice shows, and its witness."""

    epsilon: float
    step: float
    firsts: tuple[int, ...]
    longest: int
    lowest: float
    is_close: bool = False
    """Whether narrower cells hardly show less."""

    def witness(self) -> dict[str, Any]:
        return {
            "method": "cells",
            "step": str(Fraction(self.step)),
            "cells": with_room(self.longest),
            "firsts": list(self.firsts),
        }


def with_room(longest: int) -> int:
    """So many cells, and some more."""
    return longest + longest // 8 + 16


def by_cells(
    laws: Sequence[tuple[Law, int]], direction: Direction, delta: Fraction, highest: float, enough: float = 0.0
) -> Found:
    """The least epsilon found, for laws in the checker's order, or one below `enough`; `highest` is an epsilon that
    they are known not to exceed.
    """
    steps = sum(times for _, times in laws)
    if steps > MOST_STEPS or delta < _SMALLEST or highest <= 0:
        raise NotApplicable("too many steps, or too small a delta")
    for law, _ in laws:
        law.require_within_floats()
    highest = min(highest, _LARGEST)
    search = _Search(laws, direction, float(delta), steps)
    best: Found | None = None
    before: Found | None = None
    for count in _COUNTS:
        found = search.narrowed(count, highest if best is None else best.epsilon * 1.01)
        if found is None or found.longest > search.room(found.epsilon):
            continue
        if found.epsilon <= max(enough, 0.0):
            return replace(found, is_close=True)
        is_finer = best is not None and found.step < _FINER * best.step
        if best is not None and is_finer and best.epsilon - found.epsilon < _CLOSE * found.epsilon:
            return replace(min(best, found, key=lambda one: one.epsilon), is_close=True)
        before, best = best, found
    if best is None:
        raise NotApplicable("no epsilon was found")
    return replace(best, is_close=before is not None and before.epsilon - best.epsilon < _CLOSE_ENOUGH * best.epsilon)


class _Search:
    def __init__(self, laws: Sequence[tuple[Law, int]], direction: Direction, delta: float, steps: int) -> None:
        self.laws, self.direction, self.delta, self.steps = laws, direction, delta, steps
        self.bottoms = [law.bottom(delta * RARE / steps, direction) for law, _ in laws]
        self.lowest = sum(times * bottom for (_, times), bottom in zip(laws, self.bottoms, strict=True))
        self.anchor = min(law.anchor(direction) for law, _ in laws)

    def room(self, epsilon: float) -> float:
        """How many cells a checker multiplies in some tenths of a second: e^epsilon/delta has so many bits."""
        return _MOST_BITS / (90 + (epsilon - math.log(self.delta)) / math.log(2) + math.log2(self.steps))

    def narrowed(self, count: int, highest: float) -> Found | None:
        """With about so many cells between the lowest sum and epsilon, both of which come nearer every time."""
        found: Found | None = None
        for _ in range(_TURNS):
            length = highest - self.lowest
            try:
                here = self.at(self._step(min(length / count, _WIDEST)), highest)
            except NotApplicable:
                if found is not None or highest >= _LARGEST:
                    return found
                highest = min(4 * highest, _LARGEST)  # only to see where the sums begin
                continue
            found = here if found is None or here.epsilon <= found.epsilon else found
            if not found.epsilon:
                return found
            self.lowest, highest = max(here.lowest, self.lowest), min(1.02 * here.epsilon, highest)
            if highest - self.lowest > 0.8 * length:
                return found
        return found

    def _step(self, step: float) -> float:
        """At most this, and a divisor of the anchor."""
        if step <= 0:
            raise NotApplicable("all sums are above the largest epsilon that is looked at")
        return self.anchor / math.ceil(self.anchor / step) * (1 + 2.0**-50) if step < self.anchor < math.inf else step

    def at(self, step: float, highest: float) -> Found:
        if step < _NARROWEST * max(highest, *(-bottom for bottom in self.bottoms)):
            raise NotApplicable("floats cannot tell such losses apart")
        firsts = [math.floor(bottom / step) for bottom in self.bottoms]
        lattice = Lattice(step, highest, self.delta, self.steps, self.direction)
        total = lattice.summed(self.laws, firsts)
        enough = self.delta * (1 - _SLACK)
        if total.delta(step, highest) > enough:
            raise NotApplicable("the cells are too wide")
        low, high = 0.0, 0.0 if total.delta(step, 0.0) <= enough else highest
        for _ in range(_HALVINGS if high else 0):
            middle = (low + high) / 2
            low, high = (middle, high) if total.delta(step, middle) > enough else (low, middle)
        return Found(high * (1 + 1e-9), step, tuple(firsts), lattice.longest, total.first * step)
