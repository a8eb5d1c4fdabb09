"""Which lines are the best for a step of zCDP, at all places of a lattice at once, by smooth values of a profile.

All of this is a search in floats: whatever is found, `waves` proves what it says of it. Names are those of `waves`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from privately.accounting.elementary import Floats

Whole: TypeAlias = NDArray[np.int64]

_TINY = 1e-280
_BACK, _KERNEL, _AROUND = 40, 25, 3
_SHARE = 0.25
"""How far on either side slopes are taken, in parts of V(1): of many steps V is smooth, what is proved of it is not."""
_NEAR, _TANGENTS, _FIRST = 12, 6, 0.02
_STEADY = 40
_NOTHING = -3.0
"""Values so much less, as logarithms, are those beyond the largest loss: what is smooth goes on there."""


@dataclass(frozen=True)
class Touched:
    """Where lines touch, as in `touching`, and the step of the lattice, by which they are less."""

    highs: Floats
    lows: Floats
    orders: Floats
    shares: Floats
    means: Floats
    """Bounds on the means of f."""
    step: float

    @cached_property
    def powers(self) -> tuple[Floats, Floats, Floats, Floats]:
        """f and its slope at the larger loss, and at the smaller, as they are on the lattice."""
        t, share, bulge = self.orders, self.shares, self.step**2 / 8
        found = []
        for loss in (self.highs, self.lows):
            near = np.where(t == 1, loss, np.expm1((t - 1) * loss) / np.where(t == 1, 1.0, t - 1))
            f = share * (np.exp(loss) * near - np.expm1(t * loss) / t) + (1 - share) * (np.expm1(loss) - loss)
            slope = share * near - (1 - share) * np.expm1(-loss)
            bent = bulge * share * np.exp(t * loss)
            found += [f - bent - bulge * (1 - share), slope - t * bent * np.exp(-loss)]
        one, two, three, four = found
        return one, two, three, four


@dataclass(frozen=True)
class Smooth:
    """ln V from `far` places before 0 on, and its slope."""

    logs: Floats
    slopes: Floats
    far: int
    step: float

    @classmethod
    def of(cls, values: Floats, far: int, step: float) -> Smooth:
        """From the values at 0 and beyond; where they end they go on as those of normal noise do."""
        known = np.log(np.maximum(values, _TINY))
        back = min(_BACK, known.size // 4)
        one, two, three = (float(known[-1 - k * back]) for k in range(3))
        slope, bend = (3 * one - 4 * two + three) / (2 * back), min((one - 2 * two + three) / back**2, 0.0)
        beyond = np.arange(1.0, far + 1)
        known = np.concatenate([known, one + slope * beyond + bend / 2 * beyond**2])
        losses = np.arange(-far, 0) * step
        before = np.log(np.exp(np.minimum(losses + known[far:0:-1], 0.0)) - np.expm1(losses))
        logs = np.maximum(np.concatenate([before, known]), math.log(_TINY))
        around = max(_AROUND, _scale(values, step))
        wide = np.pad(logs, around, mode="edge")
        return cls(logs, (wide[2 * around :] - wide[: -2 * around]) / (2 * around * step), far, step)

    def _at(self, place: Floats) -> tuple[Floats, Floats]:
        """V, and the slope of w where a loss leads there."""
        low = np.clip(place.astype(np.int64), -self.far, self.logs.size - self.far - 2) + self.far
        x = place + self.far - low
        values = np.exp(np.minimum(self.logs[low] * (1 - x) + self.logs[low + 1] * x, 0.0))
        return values, values * (1 - self.slopes[low] * (1 - x) - self.slopes[low + 1] * x)

    def _line(self, touched: Touched, kind: Whole) -> tuple[Floats, Floats, Floats]:
        """C of lines that touch there, how much higher they are at the larger loss, and the mean of w of that pair."""
        place, high, low = np.arange(kind.size), touched.highs[kind], touched.lows[kind]
        f_high, up, f_low, down = (one[kind] for one in touched.powers)
        (v_high, v_low), (w_high, w_low) = self._at(np.stack([place - high / self.step, place - low / self.step]))
        ratio, rest = np.exp(high), np.exp(low)
        factor = np.maximum((w_high - w_low) / (up - down), 1e-300)
        tilt = w_low - factor * down
        uneven = ratio * (v_high - tilt) - factor * f_high - rest * (v_low - tilt) + factor * f_low
        share = (1 - rest) / (ratio - rest)
        return factor, uneven, share * ratio * v_high + (1 - share) * rest * v_low

    def best(self, touched: Touched, size: int) -> tuple[Whole, Floats, Smooth]:
        """Lines that touch twice, their C, and V with the step before it."""
        low, high = np.zeros(size, dtype=np.int64), np.full(size, touched.orders.size - 1)
        while int((high - low).max()) > 1:
            middle = (low + high) // 2
            is_low = self._line(touched, middle)[1] < 0
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        kind = _steadied(low)
        factor, _, mean = self._line(touched, kind)
        return kind, factor, Smooth.of(mean, self.far, self.step)

    def fitted(self, upper: Floats) -> Smooth:
        """Nearly these values, as smooth as this."""
        wide, half = _KERNEL, _KERNEL // 2
        losses = np.arange(-wide, 0) * self.step
        around = np.concatenate([np.exp(losses) * upper[wide:0:-1] - np.expm1(losses), upper])
        known = _without_waves(self.logs, _scale(upper, self.step))[self.far - wide : self.far + upper.size]
        apart = np.log(np.maximum(around, _TINY)) - known
        apart = np.pad(np.where(apart < _NOTHING, 0.0, apart), (0, wide), mode="edge")
        for _ in range(2):
            apart = np.convolve(apart, np.full(wide, 1 / wide), mode="valid")
        known = known[wide:] + apart[wide - 2 * half : wide - 2 * half + upper.size]
        return Smooth.of(np.exp(np.minimum(known, 0.0)), self.far, self.step)


def _scale(values: Floats, step: float) -> int:
    """So many places are a small part of what all steps lead to."""
    return int(_SHARE * float(values[0]) / step)


def _without_waves(logs: Floats, around: int) -> Floats:
    """Without what comes and goes within so many places; but for the fourth derivative, all else is kept."""
    if around < 1:
        return logs

    def even(one: Floats) -> Floats:
        wide = np.pad(one, around, mode="reflect", reflect_type="odd")
        sums = np.cumsum(np.append(0.0, wide))
        found: Floats = (sums[2 * around + 1 :] - sums[: -2 * around - 1]) / (2 * around + 1)
        return found

    once = even(logs)
    return 2 * once - even(once)


def _steadied(kind: Whole) -> Whole:
    """The median of those around each place: an order that is too low proves nothing."""
    around = np.pad(kind, _STEADY, mode="reflect", reflect_type="odd")
    found: Whole = np.sort(sliding_window_view(around, 2 * _STEADY + 1), axis=1)[:, _STEADY]
    return np.clip(found, 0, kind.max())


@dataclass(frozen=True)
class Fit:
    """Which line at each place, its C and its b."""

    kind: Whole
    factor: Floats
    tilt: Floats


@dataclass(frozen=True)
class _Side:
    """r, V and f at some differences of places beside one of the losses where a line touches."""

    ratios: Floats
    values: Floats
    f: Floats

    def highest(self, factor: Floats, tilt: Floats) -> Whole:
        """Where w - b r - C f is largest."""
        gaps = self.ratios * (self.values - tilt[:, None]) - factor[:, None] * self.f
        found: Whole = gaps.argmax(axis=1)
        return found

    def at(self, index: Whole) -> tuple[Floats, Floats, Floats]:
        row = np.arange(index.size)
        return self.ratios[row, index], self.values[row, index], self.f[row, index]


def fit(touched: Touched, kind: Whole, factor: Floats, near: Floats, f: Floats) -> Fit:
    """The least a + b + C m by places beside both losses, for V and f as they are on the lattice; in C by tangents.

    For each C the best b is that with which both sides are as high.
    """
    wide, row = (near.shape[1] - 1) // 2, np.arange(kind.size)[:, None]
    sides = []
    for loss, first, last in ((touched.highs, 1, wide), (touched.lows, -wide, 0)):
        d = np.round(loss[kind] / touched.step).astype(np.int64)[:, None] + np.arange(-_NEAR, _NEAR + 1)
        d = np.clip(d, first, last)
        sides.append(_Side(np.exp(d * touched.step), near[row, d + wide], f[row, d + wide]))
    up, down = sides
    places, mean = (np.full(kind.size, _NEAR), np.full(kind.size, _NEAR)), touched.means[kind]
    best, kept = np.full(kind.size, math.inf), np.stack([factor, np.zeros(kind.size)])
    left, right = np.full((3, kind.size), math.nan), np.full((3, kind.size), math.nan)
    x, grow = factor, _FIRST
    for _ in range(_TANGENTS):
        tilt, places = _balanced(up, down, x, places)
        tilt, places = _balanced(up, down, x, places)
        (r, v, g), (s, u, h) = up.at(places[0]), down.at(places[1])
        value = np.maximum(r * (v - tilt) - x * g, s * (u - tilt) - x * h) + tilt + x * mean
        slope = mean - ((1 - s) * g + (r - 1) * h) / (r - s)
        kept = np.where(value < best, np.stack([x, tilt]), kept)
        best = np.minimum(best, value)
        now = np.stack([x, value, slope])
        left, right = np.where(slope < 0, now, left), np.where(slope < 0, right, now)
        with np.errstate(invalid="ignore", divide="ignore"):
            cut = (right[1] - left[1] + left[2] * left[0] - right[2] * right[0]) / (left[2] - right[2])
        cut = np.where((cut > left[0]) & (cut < right[0]), cut, (left[0] + right[0]) / 2)
        x = np.where(np.isnan(right[0]), x * (1 + grow), np.where(np.isnan(left[0]), x / (1 + grow), cut))
        grow *= 2
    return Fit(kind, kept[0], kept[1])


def _balanced(
    up: _Side, down: _Side, factor: Floats, places: tuple[Whole, Whole]
) -> tuple[Floats, tuple[Whole, Whole]]:
    """The b for which two places are as high, and which ones then are the highest."""
    (r, v, g), (s, u, h) = up.at(places[0]), down.at(places[1])
    tilt = np.maximum((r * v - s * u - factor * (g - h)) / (r - s), 0.0)
    return tilt, (up.highest(factor, tilt), down.highest(factor, tilt))
