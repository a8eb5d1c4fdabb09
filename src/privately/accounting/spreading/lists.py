"""Lists of losses with their probabilities under P: their profile, their sums, and lists of fewer losses.

A list for the side "upper" has every number rounded up, one for the side "lower" every number rounded down: its
profile, the sum of probability times (1 - e^(epsilon - loss))+, rises with all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, exp_one, expm1, log1p
from privately.accounting.roads import NotApplicable

Side = Literal["lower", "upper"]

LARGEST = 1e10
"""Losses beyond this, up or down, are refused."""

_BLOCK = 1 << 18
_LEAST = 1e-290
_LOST = 1e-170
"""What is smaller may have been lost."""
_STRETCH, _FAR = 256.0, -690.0
_SMALLEST = 1e-13
_TAIL, _WIDER = 1e-3, 4.0


@dataclass(frozen=True)
class Losses:
    """Largest loss first; `outside` is what may be missing, which counts for the side "upper" alone."""

    losses: Floats
    masses: Floats
    outside: float = 0.0

    @classmethod
    def of(cls, losses: Floats, masses: Floats, outside: float = 0.0) -> Losses:
        """In any order."""
        if not losses.size or not np.isfinite(losses).all() or np.abs(losses).max() > LARGEST:
            raise NotApplicable("no losses, or too large ones")
        order = np.argsort(-losses)
        return cls(losses[order], masses[order], outside)

    @cached_property
    def _discounted(self) -> Floats:
        """G_k, the sum of p_j e^(l_k - l_j) over all j <= k: stretch by stretch, so that no power leaves the floats."""
        found, carried = np.empty_like(self.losses), 0.0
        stretches = np.floor((self.losses[0] - self.losses) / _STRETCH)
        starts = np.flatnonzero(np.append(True, stretches[1:] != stretches[:-1])).tolist()
        for start, end in pairwise([*starts, self.losses.size]):
            below = self.losses[start:end] - self.losses[start]
            found[start:end] = (carried + np.cumsum(self.masses[start:end] * exp(-below))) * exp(below)
            if end < self.losses.size:
                fall = max(float(self.losses[end] - self.losses[end - 1]), _FAR)
                carried = float(found[end - 1]) * exp_one(fall)
        return found

    @cached_property
    def _at_losses(self) -> Floats:
        """T_k, the profile at l_k."""
        gained = self._discounted[:-1] * -expm1(np.maximum(np.diff(self.losses), _FAR))
        return np.concatenate([[0.0], np.cumsum(gained)])

    def profile(self, places: Floats) -> Floats:
        """At each place, roughly: within a part `error` of it.

        Theorem: for l_(k+1) <= y <= l_k it is T_k + G_k (1 - e^(y - l_k)), and T_(k+1) = T_k + G_k (1 - e^(l_(k+1) -
            l_k)): sums of positive terms.
        Reference: the definition of the profile
        Proof: docs/theory/accounting/spreading.md#the-profile-of-a-list
        Checked-by: tests/accounting/spreading/test_lists.py::test_profiles_of_lists
        """
        k = np.searchsorted(-self.losses, -places, side="left") - 1  # the last loss above the place
        inside = np.maximum(k, 0)
        falls = expm1(np.minimum(np.maximum(places - self.losses[inside], _FAR), 0.0))
        return np.where(k < 0, 0.0, self._at_losses[inside] - self._discounted[inside] * falls)

    @property
    def error(self) -> float:
        """Of `profile`, relative: products of few factors, sums of as many terms as there are losses."""
        return 4 * (self.losses.size + 16) * UNIT + 16 * ERROR


def profile_of(first: Losses, second: Losses, epsilon: float, side: Side) -> float:
    """The profile of the sum of both, not on the wrong side of that of the two lists.

    Theorem: D(epsilon) = E[D_B(epsilon - A)]; a difference of floats is off by at most a unit of rounding, and the
        profile falls.
    Reference: docs/theory/accounting/conditioning.md
    Proof: docs/theory/accounting/spreading.md#sums-of-two-lists
    Checked-by: tests/accounting/spreading/test_lists.py::test_sums_of_two_lists
    """
    sign = -1.0 if side == "upper" else 1.0
    places = epsilon - first.losses
    places = places + sign * 2 * UNIT * (abs(epsilon) + np.abs(first.losses))
    total = float(first.masses @ second.profile(places))
    off = second.error + 4 * (first.losses.size + 16) * UNIT
    if side == "lower":
        return max(total * (1 - off) - _LOST, 0.0)
    lost = _LOST * (first.losses.size + second.losses.size)
    return total * (1 + off) + lost + (first.outside + second.outside) * (1 + 4 * UNIT)


def summed(first: Losses, second: Losses, count: int, side: Side, rare: float) -> Losses:
    """The sum of both as a list of about `count` losses; at most `rare` of the largest ones is left out.

    Theorem: a loss l between g and h may be replaced by g and h with the probabilities p e^(g - l) expm1(l - h)/
        expm1(g - h) and p expm1(g - l)/expm1(g - h), which costs at least as much; losses of one cell by ln(sum of p /
        sum of p e^-l), which costs at most as much.
    Reference: Doroshenko-Ghazi-Kamath-Kumar-Manurangsi 2022 for the first; data processing for the second
    Proof: docs/theory/accounting/spreading.md#fewer-losses
    Checked-by: tests/accounting/spreading/test_lists.py::test_fewer_losses_are_on_their_side
    """
    grid = _grid(first, second, count)
    cells = grid.size - 1
    upper, lower, moments = np.zeros(cells), np.zeros(cells), np.zeros(cells)
    whole = expm1(np.maximum(grid[:-1] - grid[1:], _FAR))
    largest = 0
    rows = max(_BLOCK // second.losses.size, 1)
    for start in range(0, first.losses.size, rows):
        masses = np.multiply.outer(first.masses[start : start + rows], second.masses).ravel()
        losses = np.add.outer(first.losses[start : start + rows], second.losses).ravel()
        sign = 2 * UNIT if side == "upper" else -2 * UNIT
        losses = np.clip(losses + sign * np.abs(losses), grid[0], grid[-1])
        cell = np.minimum(np.searchsorted(grid, losses, side="right") - 1, cells - 1)
        largest += masses.size
        if side == "upper":
            fall = np.maximum(grid[cell] - losses, _FAR)
            above = masses * expm1(fall) / whole[cell]
            below = masses * exp(fall) * expm1(np.maximum(losses - grid[cell + 1], _FAR)) / whole[cell]
            upper += np.bincount(cell, above, cells)
            lower += np.bincount(cell, below, cells)
        else:
            lower += np.bincount(cell, masses, cells)
            moments += np.bincount(cell, masses * -expm1(np.maximum(grid[cell] - losses, _FAR)), cells)
    off = 4 * (largest + 16) * UNIT + 16 * ERROR
    if side == "upper":
        weights = np.append(lower, 0.0) + np.append(0.0, upper)
        outside = (first.outside + second.outside) * (1 + 4 * UNIT) + grid.size * _LEAST
        return _trimmed(Losses(grid[::-1], weights[::-1] * (1 + off), outside), rare)
    kept = lower > _LEAST
    share = np.minimum(moments[kept] / lower[kept] * (1 - 2 * off), 1 - 2.0**-20)
    gained = -log1p(-np.maximum(share, 0.0)) * (1 - 4 * ERROR)
    left = grid[:-1][kept]
    found = left + gained - 4 * UNIT * (np.abs(left) + gained)
    return _trimmed(Losses.of(found, lower[kept] * (1 - off)), rare)


def _trimmed(found: Losses, rare: float) -> Losses:
    """Without the largest losses, up to `rare` in all, and without those that have no mass."""
    kept = found.masses > _LEAST
    gone = np.cumsum(found.masses) <= rare
    dropped = float(found.masses[gone].sum()) * (1 + 4 * found.masses.size * UNIT)
    kept &= ~gone
    return Losses(found.losses[kept], found.masses[kept], found.outside + dropped + found.masses.size * _LEAST)


def _grid(first: Losses, second: Losses, count: int) -> Floats:
    """From the least sum to the largest: even steps of arsinh(l/scale), denser around 0, and others for the bulk."""
    low, high = (float(first.losses[end] + second.losses[end]) for end in (-1, 0))
    reach = max(abs(low), abs(high), 1e-280)
    low, high = low - 8 * UNIT * reach, high + 8 * UNIT * reach
    (centre, half, typical), (other_centre, other_half, other) = _bulk(first), _bulk(second)
    scale = max(typical + other, _SMALLEST * reach) / 2
    near, wide = centre + other_centre, _WIDER * math.hypot(half, other_half)
    places = np.linspace(math.asinh(low / scale), math.asinh(high / scale), count - count // 3)
    inner = np.linspace(near - wide, near + wide, count // 3)
    grid = np.unique(np.concatenate([scale * np.sinh(places[1:-1]), inner[(inner > low) & (inner < high)]]))
    grid = np.concatenate([[low], grid[(grid > low) & (grid < high)], [high]])
    if not (np.diff(grid) > 0).all():
        raise NotApplicable("no grid of losses")
    return grid


def _bulk(found: Losses) -> tuple[float, float, float]:
    """The middle between two quantiles, how far these are from it, and the median of the absolute losses."""
    masses = np.cumsum(found.masses)
    ends = np.searchsorted(masses, masses[-1] * np.array([_TAIL, 1 - _TAIL])).clip(0, masses.size - 1)
    top, bottom = found.losses[ends].tolist()
    sizes = np.abs(found.losses)
    order = np.argsort(sizes)
    half = np.searchsorted(np.cumsum(found.masses[order]), masses[-1] / 2)
    return (top + bottom) / 2, (top - bottom) / 2, float(sizes[order][min(int(half), sizes.size - 1)])
