"""Sums of lists whose losses are so large, up or down, that e to their power is no float: on a lattice, term by term.

Masses under P alone are added up, so that nothing is ever larger than 1, and all terms are positive: no error is larger
than a small part of a mass, however small that is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, Integers, expm1
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading.lists import Losses, Side

FAR = 600.0
"""Losses beyond this, up or down, are far."""

NO_LOSS = Losses(np.zeros(1), np.ones(1))

_ROUGH, _FINE, _FINER = 1 << 11, 1 << 17, 1 << 18
_MANY, _MOST_STEPS = 7, 1 << 10
_FAINT, _FAINTER, _FAINTER_PART = 1e-290, 1e-150, 1e-9
_LONGEST, _BLOCK = 1 << 20, 1 << 12


def is_far(found: Losses) -> bool:
    return max(abs(float(found.losses[0])), abs(float(found.losses[-1]))) > FAR


@dataclass(frozen=True)
class Laid:
    """Masses at the losses (first + i) step, i = 0, 1, ..., as for `Losses`; the step is a power of two."""

    step: float
    first: int
    masses: Floats
    outside: float

    def losses(self) -> Losses:
        kept = np.flatnonzero(self.masses)[::-1]
        places = kept.astype(np.float64) + float(self.first)
        return Losses(places * self.step, self.masses[kept], self.outside)


def far_two_of(
    singles: Sequence[tuple[Losses, int]], side: Side, rare: float, *, is_rough: bool = False
) -> tuple[Losses, Losses]:
    """Two lists whose sum is that of all these, each so many times; about `rare` is left out in all.

    Theorem: on a lattice of losses, a list whose masses are divided between the two next places so that those under P
        and under Q stay costs at least as much, one whose losses are lowered to the next place at most as much; and so
        do sums of them.
    Reference: Doroshenko-Ghazi-Kamath-Kumar-Manurangsi 2022
    Proof: docs/theory/accounting/spreading.md#far-losses
    Checked-by: tests/accounting/spreading/test_far_losses.py::test_sums_are_on_their_sides
    """
    steps = sum(times for _, times in singles)
    if steps > _MOST_STEPS:
        raise NotApplicable("too many steps")
    wide = max(sum(times * float(one.losses[0] - one.losses[-1]) for one, times in singles), 1.0)
    rough = _two_on_a_lattice(singles, _step(wide, _ROUGH), side, rare)
    wide = max(math.fsum(one.masses.size * one.step for one in rough), 1.0)
    fine = 2 * _ROUGH if is_rough else _FINE if steps < _MANY else _FINER
    first, second = _two_on_a_lattice(singles, _step(wide, fine), side, rare)
    return first.losses(), second.losses()


def _step(wide: float, places: int) -> float:
    return 2.0 ** math.ceil(math.log2(wide / places))


def _two_on_a_lattice(singles: Sequence[tuple[Losses, int]], step: float, side: Side, rare: float) -> tuple[Laid, Laid]:
    """Half of the steps of every kind, and the others."""
    each = rare / (8 * sum(times for _, times in singles))
    halves = [Laid(step, 0, np.ones(1), 0.0)] * 2
    for turn, (one, times) in enumerate(singles):
        single = _trimmed(_laid(one, step, side), side, each)
        fewer = _repeated(single, times // 2, side, each)
        more = _added(fewer, single, side, each) if times % 2 else fewer
        pair = (more, fewer) if turn % 2 else (fewer, more)
        halves = [_added(half, part, side, each) for half, part in zip(halves, pair, strict=True)]
    return halves[0], halves[1]


def _laid(found: Losses, step: float, side: Side) -> Laid:
    """A list onto the lattice."""
    places = np.floor(found.losses / step)
    first, last = int(places[-1]), int(places[0]) + 2
    if last - first > _LONGEST:
        raise NotApplicable("losses are too far apart")
    at = (places - first).astype(np.int64)
    if side == "lower":
        return Laid(step, first, _gathered(at, found.masses, last - first) * (1 - _off(at.size)), 0.0)
    above = np.clip(found.losses - places * step, 0.0, step)
    share = np.minimum(expm1(-above) / expm1(np.array([-step])) * (1 + 8 * ERROR), 1.0)
    upper = found.masses * share
    masses = _gathered(at, found.masses - upper, last - first) + _gathered(at + 1, upper, last - first)
    return Laid(step, first, masses * (1 + _off(2 * at.size)), found.outside)


def _gathered(places: Integers, masses: Floats, count: int) -> Floats:
    return np.bincount(places, masses, count).astype(np.float64, copy=False)


def _repeated(single: Laid, times: int, side: Side, rare: float) -> Laid:
    """So many steps, by squaring."""
    result = Laid(single.step, 0, np.ones(1), 0.0)
    for bit in format(times, "b") if times else "":
        result = _added(result, result, side, rare)
        if bit == "1":
            result = _added(result, single, side, rare)
    return result


def _added(one: Laid, other: Laid, side: Side, rare: float) -> Laid:
    """The sum of two, without what is rare."""
    if one.masses.size + other.masses.size > _LONGEST:
        raise NotApplicable("losses are too far apart")
    masses = _convolved(one.masses, other.masses)
    off = _off(min(one.masses.size, other.masses.size))
    first = one.first + other.first
    if side == "lower":
        return _trimmed(Laid(one.step, first, masses * (1 - off), 0.0), side, rare)
    totals = [float(each.masses.sum()) * (1 + _off(each.masses.size)) for each in (one, other)]
    outside = one.outside * (totals[1] + other.outside) + other.outside * totals[0]
    outside = outside * (1 + 16 * UNIT) + masses.size * _FAINT
    return _trimmed(Laid(one.step, first, masses * (1 + off), outside), side, rare)


def _convolved(one: Floats, other: Floats) -> Floats:
    """In blocks so small that they stay on one processor: sums of positive products, in some order."""
    longer, shorter = (one, other) if one.size > other.size else (other, one)
    found = np.zeros(one.size + other.size - 1)
    for start in range(0, shorter.size, _BLOCK):
        part = shorter[start : start + _BLOCK]
        found[start : start + part.size + longer.size - 1] += np.convolve(longer, part)
    return found


def _trimmed(found: Laid, side: Side, rare: float) -> Laid:
    """Without the largest losses, up to `rare` in all, and without what is next to nothing; the smallest ones are
    raised, or left out as well.
    """
    below, above = np.cumsum(found.masses), np.cumsum(found.masses[::-1])
    low = min(int(np.searchsorted(below, rare, side="right")), found.masses.size - 1)
    high = max(found.masses.size - int(np.searchsorted(above, rare, side="right")), low + 1)
    masses = found.masses[low:high].copy()
    faint = min(_FAINTER, rare * _FAINTER_PART)
    masses[masses < faint] = 0.0  # products that leave the floats take long
    if side == "lower":
        return Laid(found.step, found.first + low, masses, 0.0)
    gone = float(above[found.masses.size - high - 1]) if high < found.masses.size else 0.0
    masses[0] += (float(below[low - 1]) if low else 0.0) * (1 + _off(found.masses.size))
    outside = found.outside + gone * (1 + _off(found.masses.size)) + masses.size * faint
    return Laid(found.step, found.first + low, masses * (1 + 4 * UNIT), outside * (1 + 4 * UNIT))


def _off(terms: int) -> float:
    """A sum of so many positive terms, each a product of few, is off by at most this part."""
    return 2 * (terms + 16) * UNIT
