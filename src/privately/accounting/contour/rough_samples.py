"""A first look at a sampled Gaussian from several heights at once: to choose a contour by, not to claim by."""

from __future__ import annotations

import math
from dataclasses import dataclass
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
_COUNTING = np.arange(512.0)
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


@dataclass(frozen=True)
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
        count = int((right - left) * density) + 2
        step, half = (right - left) / (count - 1), law.mu * law.mu / 2
        x = (_COUNTING[:count] if count <= _COUNTING.size else np.arange(float(count))) * step
        x += left
        grown = x * law.mu
        if right * law.mu > _LARGEST_LOSS:
            np.minimum(grown, _LARGEST_LOSS, out=grown)
        grown -= half
        np.exp(grown, out=grown)
        grown *= law.rate
        powers = np.ones((5, count))
        _, loss, square, share, share_square = powers
        whole = np.add(grown, 1 - law.rate, out=square)
        np.log(whole, out=loss)
        np.divide(grown, whole, out=share)
        x *= x
        x *= -0.5
        x += math.log(step * _PER_ROOT)
        if law.removes:  # s L - x^2/2 <= s mu x - x^2/2 <= (s mu)^2/2
            x += loss
            tame = math.sqrt(2 * _LARGEST_LOSS) / law.mu - 1
        else:
            np.negative(loss, out=loss)
            tame = -_LARGEST_LOSS / math.log1p(-law.rate)
        np.multiply(loss, loss, out=square)
        np.multiply(share, share, out=share_square)
        return cls(loss, x, powers.T, tame)

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
