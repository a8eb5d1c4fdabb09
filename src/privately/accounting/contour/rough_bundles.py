"""A first look at many sampled Gaussians at once: to choose a contour by, not to claim by."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from privately.accounting.contour.protocols import Sketch, Sketched
from privately.accounting.contour.rough_samples import DENSITY
from privately.accounting.contour.sampled_gaussian import ROUGH_WIDTH, SampledGaussian
from privately.accounting.contour.segments import MOST_KEPT, Segments, packs
from privately.accounting.elementary import Floats

_PER_ROOT = 0.3989422804014327
_LARGEST_LOSS = 600.0
_WIDEST, _MANY = 256.0, 64
"""Wider ones stay alone, unless there are many."""


def sketches(parts: Sequence[tuple[Sketched, int]], highest: float) -> list[tuple[Sketch, int]]:
    """A first look at every part, up to this height."""
    if len(parts) == 1:
        return [(parts[0][0].rough(highest), parts[0][1])]
    found: list[tuple[Sketch, int]] = []
    alike: dict[bool, tuple[array[float], list[int]]] = {}
    for law, times in parts:
        if isinstance(law, SampledGaussian):
            left, right = law.ends(highest, ROUGH_WIDTH)
            if right - left < _WIDEST or len(parts) > _MANY:
                rows, sizes = alike.setdefault(law.removes, (array("d"), []))
                rows.extend((left, right - left, law.mu, law.rate, times))
                sizes.append(int((right - left) * DENSITY) + 2)
                continue
        found.append((law.rough(highest), times))
    total = sum(sum(sizes) for _, sizes in alike.values())
    for removes, (rows, sizes) in alike.items():
        numbers = np.array(rows).reshape(-1, 5).T
        for part in packs(sizes):
            lay = partial(_laid, numbers[:, part], removes=removes)
            found.append((lay() if total <= MOST_KEPT else Unlaid(lay), 1))
    return found


@dataclass(frozen=True)
class RoughBundle:
    """ln M(c) of all together nearly, as `Rough`."""

    segments: Segments
    losses: Floats
    base: Floats
    times: Floats

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """K(c) and its first two derivatives."""
        top, weights = self._weights(np.array([c]))
        weighted = weights * self.losses
        total, first, second = (self.segments.sums(row) for row in (weights, weighted, weighted * self.losses))
        mean = first / total
        spread = np.maximum(second / total - mean * mean, 0)
        level, slope, bend = (float((row @ self.times)[0]) for row in (top + np.log(total), mean, spread))
        return level, slope, bend

    def levels(self, heights: Floats) -> Floats:
        """K alone, at several places."""
        top, weights = self._weights(heights)
        found: Floats = (top + np.log(self.segments.sums(weights))) @ self.times
        return found

    def _weights(self, heights: Floats) -> tuple[Floats, Floats]:
        exponents = self.base + heights[:, None] * self.losses
        top = np.maximum.reduceat(exponents, self.segments.starts, axis=-1)
        exponents -= self.segments.spread(top)
        return top, np.exp(exponents, out=exponents)


def _laid(numbers: Floats, *, removes: bool) -> RoughBundle:
    """The points of sampled Gaussians, in a column each: where its points begin, how wide they lie, mu, the rate, and
    how often it comes.
    """
    left, width, mu, rate, times = numbers
    segments = Segments((width * DENSITY).astype(np.int64) + 2)
    step = width / (segments.sizes - 1)
    each = segments.spread(np.array([left, step, mu, mu * mu / 2, rate, np.log(step * _PER_ROOT)]))
    x = each[0] + segments.places * each[1]
    loss = np.log1p(each[4] * np.expm1(np.minimum(each[2] * x - each[3], _LARGEST_LOSS)))
    base = each[5] - x * x / 2
    return RoughBundle(segments, *((loss, base + loss) if removes else (-loss, base)), times)


@dataclass(frozen=True)
class Unlaid:
    """A bundle whose points are laid whenever they are needed: those of very many laws are too many to be kept."""

    laid: Callable[[], RoughBundle]

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """As the bundle's."""
        return self.laid().cumulants(c)

    def levels(self, heights: Floats) -> Floats:
        """As the bundle's."""
        return self.laid().levels(heights)
