"""A first look at a sampled Gaussian from several heights at once: to choose a contour by, not to claim by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from privately.accounting.contour.view import Rough
from privately.accounting.elementary import Floats

DENSITY, _LEAST_DENSITY = 3.0, 1.6
"""Points to a unit: an error of about e^(-2 pi^2 d^2) for normal weights and of e^(-2 pi^2 d/mu) by the poles."""
FACTORS = (0.6, 0.84, 0.93, 1.0, 1.06, 1.25, 2.0)
"""Heights that are looked at together, over the one that is asked for."""
MIDDLE = FACTORS.index(1.0)
_EACH = np.array(FACTORS)
_FLAT = [0.0] * len(FACTORS)
_FARTHEST, _FINE = 64.0, 8
"""Points up to here are kept, for densities that are multiples of an eighth."""
_PER_ROOT = 0.3989422804014327
_LARGEST_LOSS = 600.0
_FAINT = 1e-6


class Sample(Protocol):
    """What of a sampled Gaussian is needed here."""

    @property
    def mu(self) -> float: ...
    @property
    def rate(self) -> float: ...
    @property
    def removes(self) -> bool: ...


@dataclass(eq=False)
class RoughSample(Rough):
    """Points as for any law; with powers of the losses and of the row's shares, of which means are taken."""

    powers: Floats
    """A column each: 1, the loss and its square, the share and its square."""
    tame: float
    """Up to this height no exponential comes near the end of the range of floats."""

    @classmethod
    def over(cls, law: Sample, left: float, right: float) -> RoughSample:
        """Points from left to right."""
        density = min(_LEAST_DENSITY * max(law.mu, 1.0), DENSITY) if law.removes else DENSITY
        x, base = _between(1 / (math.ceil(density * _FINE) / _FINE), left, right)
        grown = x * law.mu
        if right * law.mu > _LARGEST_LOSS:
            np.minimum(grown, _LARGEST_LOSS, out=grown)
        grown += math.log(law.rate) - law.mu * law.mu / 2
        np.exp(grown, out=grown)
        powers = np.empty((5, x.size))
        ones, loss, square, share, share_square = powers
        ones.fill(1.0)
        whole = np.add(grown, 1 - law.rate, out=square)
        np.log(whole, out=loss)
        np.divide(grown, whole, out=share)
        if law.removes:  # s L - x^2/2 <= s mu x - x^2/2 <= (s mu)^2/2
            base = base + loss
            tame = math.sqrt(2 * _LARGEST_LOSS) / law.mu - 1
        else:
            np.negative(loss, out=loss)
            tame = -_LARGEST_LOSS / math.log1p(-law.rate)
        np.multiply(loss, loss, out=square)
        np.multiply(share, share, out=share_square)
        return cls(loss, base, powers.T, tame)

    def ladder(self, c: float) -> Ladder:
        """What is seen from c times each of the factors."""
        heights = _EACH * c
        exponents = heights[:, None] * self.losses
        exponents += self.base
        tops = _FLAT
        if FACTORS[-1] * c > self.tame:
            highest = np.maximum.reduce(exponents, axis=1)
            exponents -= highest[:, None]
            tops = highest.tolist()
        np.exp(exponents, out=exponents)
        return Ladder(self, heights.tolist(), tops, (exponents @ self.powers).tolist())


def _between(step: float, left: float, right: float) -> tuple[Floats, Floats]:
    """Multiples of a step from left to right and beyond, with the logarithms of their normal weights."""
    first, last = math.floor(left / step), math.ceil(right / step)
    if max(-first, last) * step > _FARTHEST:
        return _weighed(step, first, last)
    end = math.ceil(_FARTHEST / step)
    x, weights = _weighed_once(step, -end, end)
    return x[end + first : end + last + 1], weights[end + first : end + last + 1]


def _weighed(step: float, first: int, last: int) -> tuple[Floats, Floats]:
    x = np.arange(first, last + 1.0) * step
    return x, math.log(step * _PER_ROOT) - x * x / 2


_weighed_once = lru_cache(maxsize=16)(_weighed)


class Ladder(NamedTuple):
    """What is seen from several heights: sums over the points, over e^top."""

    sketch: Rough
    heights: list[float]
    tops: list[float]
    sums: list[list[float]]

    def levels(self) -> list[float]:
        """K at all heights."""
        return [top + math.log(row[0]) for top, row in zip(self.tops, self.sums, strict=True)]

    def rung(self, place: int) -> tuple[float, float, float]:
        """K and two derivatives at one of them."""
        total, loss, square, _, _ = self.sums[place]
        mean = loss / total
        variance = square / total - mean * mean
        if variance < _FAINT * mean * mean:
            variance = self.sketch.cumulants(self.heights[place])[2]
        return self.tops[place] + math.log(total), mean, variance

    def shares(self, place: int) -> tuple[float, float]:
        """The mean of the row's share of the mixture, and its variance relative to the square of that."""
        total, _, _, share, square = self.sums[place]
        mean = share / total
        return mean, max(square / (total * mean * mean) - 1, 0.0) if total * mean * mean > 0 else math.inf
