"""The points of many laws in one row, tilted to one place: sums are taken law by law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.contour.points import LEAST_MASS, Points, Tilted
from privately.accounting.contour.segments import Segments
from privately.accounting.contour.view import (
    Complex,
    Turns,
    View,
    enlarged,
    every_turn,
    largest,
    points_at_once,
    product,
    raised,
    turn_error,
)
from privately.accounting.elementary import LARGEST_ANGLE, UNIT, Floats, log1p
from privately.accounting.roads import NotApplicable

_FEW = 8
"""Of laws with at most so many points each, sums are taken for many laws at once."""
_CELLS = 1 << 17


@dataclass(frozen=True)
class Row:
    """All laws tilted: the sum of each law's weights, and their shares of it."""

    segments: Segments
    times: tuple[int, ...]
    tilted: Tilted
    total: Floats
    shares: Floats

    @classmethod
    def of(cls, segments: Segments, times: tuple[int, ...], points: Points, s: float) -> Row:
        """The weights of e^(sL)."""
        tilted = points.tilted(s)
        if tilted.shift:
            raise NotApplicable("weights beyond the range of floats")
        total = segments.sums(tilted.weights)
        return cls(segments, times, tilted, total, tilted.weights / segments.spread(total))

    def log_mass(self, missing: Floats | float) -> tuple[float, float]:
        """The sum of all ln M, enclosed, where the points of each law miss at most this part of M and of 1."""
        tilted, sums = self.tilted, self.segments.sums
        sizes = np.abs(tilted.excess)
        off = sums(sizes * (3 * tilted.error)) + sums(tilted.weights * tilted.spread)
        off += 2 * UNIT * self.segments.sizes * sums(sizes)
        off = (off + 2 * missing * np.maximum(self.total, 1.0)) * enlarged(1.0)
        found = sums(tilted.excess)
        low, high = found - off, found + off
        if low.min() + 1 < LEAST_MASS:
            raise NotApplicable("the points do not tell the transform from 0")
        lows, highs = log1p(np.stack([low, high]))
        lows, highs = lows - np.abs(lows) * (16 * UNIT), highs + np.abs(highs) * (16 * UNIT)
        return weighed(lows.tolist(), self.times)[0], weighed(highs.tolist(), self.times)[1]

    def doubt(self, missing: Floats | float) -> Floats:
        """How far the sum of each law's weights may be from M, relative to it."""
        found: Floats = missing + self.segments.sums(self.shares * self.tilted.error) + self.segments.sizes * UNIT
        return found

    def view(self, losses: Floats, missing: Floats | float) -> RowView:
        """What the integral needs, by points on the real line."""
        tilted, segments, loss_error = self.tilted, self.segments, self.tilted.points.loss_error
        log_mass = self.log_mass(missing)  # refuses what is not finite
        centres = segments.sums(self.shares * losses)
        centre = segments.spread(centres)
        centred = losses - centre
        sizes = np.abs(centred)
        doubt = self.doubt(missing)
        off = loss_error + 2 * UNIT * (np.abs(losses) + np.abs(centre))
        slope = segments.sums(self.shares * ((tilted.error + segments.spread(doubt)) * sizes + off))
        return RowView(
            log_mass=log_mass,
            centre=total_of(self.times, centres.tolist()),
            weights=self.shares,
            losses=centred,
            error=0.0,
            slope=0.0,
            segments=segments,
            times=self.times,
            errors=2 * missing * enlarged(1.0) * np.ones(segments.sizes.size),
            slopes=slope * enlarged(1.0) * (1 + 2 * doubt),
            spreads=segments.sums(self.shares * sizes),
        )


@dataclass(frozen=True)
class RowView(View):
    """All laws seen from one place; `error` and `slope` are given law by law."""

    segments: Segments
    times: tuple[int, ...]
    errors: Floats
    slopes: Floats
    spreads: Floats

    def transforms(self, step: float, count: int) -> tuple[Complex, Floats]:
        """phi - 1 of all laws together at step, 2 step, ..., count step, and bounds on the errors."""
        if step * largest(self.losses.real) > LARGEST_ANGLE:
            raise NotApplicable("the sum turns too often")
        if self.segments.sizes.max() <= _FEW and self.losses.dtype == np.float64:
            return self._at_once(step, count)
        sizes, most = self.segments.sizes, points_at_once(count)
        found = np.empty((sizes.size, count), dtype=np.complex128)
        ends = np.cumsum(sizes).tolist()
        law = start = 0
        while law < len(ends):
            last = law
            while last + 1 < len(ends) and ends[last + 1] - start <= most:
                last += 1
            turns = Turns.of(step * self.losses[start : ends[last]], count)
            left = start
            for place in range(law, last + 1):
                right = ends[place]
                part = slice(left - start, right - start)
                found[place] = turns.sums(self.weights[left:right], count, part)
                left = right
            law, start = last + 1, ends[last]
        return raised(found, self._bounds(step, count, slice(None)), self.times)

    def _at_once(self, step: float, count: int) -> tuple[Complex, Floats]:
        """The same for laws of few points: every turn of every point, some laws at a time."""
        starts, sizes = self.segments.starts, self.segments.sizes
        most = max(_CELLS // (count * _FEW), 1)
        known: tuple[Complex, Floats] | None = None
        for first in range(0, sizes.size, most):
            laws = slice(first, first + most)
            begin, end = int(starts[first]), int((starts[laws] + sizes[laws])[-1])
            turns = every_turn(step * self.losses.real[begin:end], count)
            turns *= self.weights[begin:end]
            found = np.add.reduceat(turns, starts[laws] - begin, axis=1).T
            some = raised(found, self._bounds(step, count, laws), self.times[laws])
            known = some if known is None else product(*known, *some)
        if known is None:
            raise NotApplicable("nothing to add up")
        return known

    def _bounds(self, step: float, count: int, laws: slice) -> Floats:
        """On the errors of some laws, at all places."""
        places = step * np.arange(1, count + 1, dtype=np.float64)
        slopes = self.slopes[laws] + (turn_error(count) + 4 * UNIT * self.segments.sizes[laws]) * self.spreads[laws]
        bounds: Floats = (self.errors[laws, None] + places * slopes[:, None]) * enlarged(1.0)
        return bounds


def total_of(times: Sequence[int], values: Sequence[float]) -> Fraction:
    """The sum of all values, each so many times, exactly: denominators of floats are powers of two."""
    ratios = [value.as_integer_ratio() for value in values]
    common = max(below for _, below in ratios)
    return Fraction(sum(n * above * (common // below) for n, (above, below) in zip(times, ratios, strict=True)), common)


def weighed(values: Sequence[float], times: Sequence[int]) -> tuple[float, float]:
    """Bounds on the sum of times value."""
    total = math.fsum(n * value for n, value in zip(times, values, strict=True))
    size = math.fsum(n * abs(value) for n, value in zip(times, values, strict=True))
    return total - 4 * UNIT * size, total + 4 * UNIT * size
