"""Points of a rarely sampled Gaussian that is split, their weights, and how fast its near losses fall."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from privately.accounting.contour.view import enlarged
from privately.accounting.elementary import (
    ERROR,
    UNIT,
    Floats,
    exp,
    exp_and_expm1,
    expm1,
    log1p,
    log_between,
)
from privately.accounting.roads import NotApplicable

LOWEST, STEEPEST = -600.0, 600.0
SAFE = 2.0**-20
_PER_ROOT = 0.3989422804014327
_MOST_POINTS = 1 << 16
_LEAST_MASS = 2.0**-40
_SOFT = 0.25


@dataclass(frozen=True)
class Split:
    """Where losses become jumps, and how steeply: floats of few bits."""

    at: float
    steepness: float

    @classmethod
    def near(cls, at: float, steepness: float) -> Split:
        return cls(round(at * 64) / 64, max(round(steepness * 8), 8) / 8)


class Places:
    """Points x, and what is known of them for every rate: the row's part, E, and the weights of a normal law."""

    def __init__(self, mu: float, split: Split, ends: tuple[int, int], step: float) -> None:
        first, last = ends
        if last - first > _MOST_POINTS:
            raise NotApplicable("too many points")
        self.x = np.arange(first, last + 1, dtype=np.float64) * step
        drift = mu * self.x
        t = drift - mu * mu / 2
        if t[-1] > STEEPEST:
            raise NotApplicable("losses beyond the range of floats")
        self.grown, self.lifted = exp_and_expm1(t)
        self.moved = 8 * UNIT * (np.abs(drift) + mu * mu)
        self.growth = exp(np.minimum(split.steepness * (self.x - split.at), 100.0))
        self.log_base = -self.x * self.x / 2
        self.base = step * _PER_ROOT * exp(self.log_base)
        self.base_error = 8 * UNIT + 2 * ERROR - 4 * UNIT * self.log_base


_places = lru_cache(maxsize=2)(Places)
"""Laws that differ in their rates alone follow each other."""


class Steps:
    """Points x of one law, with their losses in the direction "remove", and E at each."""

    def __init__(self, mu: float, rate: float, split: Split, ends: tuple[int, int], step: float) -> None:
        places = _places(mu, split, ends, step)
        self.mu, self.step, self.split = mu, step, split
        self.x, self.log_base, self.base, self.base_error = places.x, places.log_base, places.base, places.base_error
        lifted = rate * places.lifted
        whole = 1 + lifted
        self.loss = log1p(lifted)
        self.share = np.minimum(rate * places.grown / whole, 1.0)
        """The part of the mixture at x that comes from the row: dL/dx = mu share."""
        self.loss_error = ERROR * np.abs(self.loss) + 2 * ERROR * np.abs(lifted) / whole + self.share * places.moved
        self.growth = places.growth
        """E."""
        self.tilted: dict[tuple[bool, float], Weights] = {}
        """Jumps or near losses, by height, where these points are kept but for a while."""

    def near(self, s: float) -> Weights:
        """The weights of g e^(sL), and their excess over the base weights."""
        exponent = np.maximum(s * self.loss - self.growth, LOWEST)
        spread = abs(s) * self.loss_error + 2 * ERROR * np.minimum(self.growth, -LOWEST)
        rounded = np.abs(s * self.loss) + np.minimum(self.growth, -LOWEST)
        error = spread + self.base_error + 2 * ERROR + 4 * UNIT * rounded
        if exponent.max() > STEEPEST:
            raise NotApplicable("weights beyond the range of floats")
        small = np.minimum(exponent, 1.0)
        excess = self.base * expm1(small)
        large = step_exp(self.step, exponent + self.log_base)
        excess = np.where(exponent > 1, large - self.base, excess)
        return Weights(s, np.where(np.abs(exponent) > 1, large, self.base + excess), excess, error, spread)

    def jumps(self, s: float) -> Weights:
        """The weights of (1 - g) e^(sL)."""
        exponent = s * self.loss + self.log_base
        if exponent.max() > STEEPEST:
            raise NotApplicable("weights beyond the range of floats")
        weights = step_exp(self.step, exponent) * -expm1(-np.minimum(self.growth, 50.0))
        spread = abs(s) * self.loss_error
        error = spread + self.base_error + 8 * ERROR + 4 * UNIT * np.abs(s * self.loss)
        return Weights(s, weights, weights, error, spread)

    def upper_sum(self, exponent: Floats, slopes: tuple[Floats, Floats], more: Floats | float = 0.0) -> float:
        """The integral of e^exponent over the normal law, from above: cell by cell.

        `slopes` are bounds on the logarithmic slope of the whole integrand in each cell, from below and from above;
        `more` is added to the exponent of a cell.
        """
        rise = self.step * np.maximum(np.minimum(-slopes[0], slopes[1]), 0.0)
        whole = exponent + self.log_base
        cells = np.maximum(whole[:-1], whole[1:]) + rise + more
        if cells.max() > STEEPEST:
            return math.inf
        return enlarged(self.step * _PER_ROOT * float(exp(np.maximum(cells, LOWEST)).sum()))

    def slopes(self, s: float, softer: float = 1.0) -> tuple[Floats, Floats]:
        """Bounds on the logarithmic slope of g^softer e^(sL) times the normal density, s >= 0, in each cell."""
        pull, fall = s * self.mu * self.share, softer * self.split.steepness * self.growth
        return pull[:-1] - fall[1:] - self.x[1:], pull[1:] - fall[:-1] - self.x[:-1]


def step_exp(step: float, exponent: Floats) -> Floats:
    """The weight of points of a normal law."""
    return step * _PER_ROOT * exp(exponent)


@dataclass(frozen=True)
class Weights:
    """Tilted weights with their relative errors; `spread` is the part of these that wrong exponents have."""

    s: float
    weights: Floats
    excess: Floats
    error: Floats
    spread: Floats

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    def log_mass(self, missing: float) -> tuple[float, float]:
        """ln of the mass of near losses, of which the points miss at most this part of it and of 1."""
        sizes = np.abs(self.excess)
        off = 3 * float((sizes * self.error).sum()) + float((self.weights * self.spread).sum())
        off += 2 * sizes.size * UNIT * float(sizes.sum()) + 2 * missing * max(self.total, 1.0)
        off, found = enlarged(off), float(self.excess.sum())
        if found - off + 1 < _LEAST_MASS:
            raise NotApplicable("the points do not tell the transform from 0")
        return log_between(found - off, 1)[0], log_between(found + off, 1)[1]

    def mass(self, missing: float) -> tuple[float, float]:
        """The mass of jumps, of which the points miss at most this part."""
        off = float((self.weights * self.error).sum()) + self.total * (missing + 2 * self.weights.size * UNIT)
        return self.total - enlarged(off), self.total + enlarged(off)


class NearFalls:
    """How far |phi(w)| of tilted near losses has fallen, of which the points miss at most this part.

    All that does not depend on the frequency is kept.
    """

    def __init__(self, steps: Steps, tilted: Weights, missing: float) -> None:
        self.steps, self.s, self.missing, self.total = steps, tilted.s, missing, tilted.total
        cells = int((steps.growth[1:] <= _SOFT).sum())  # E rises
        low, high = (slope[:cells] for slope in steps.slopes(self.s))
        dip = steps.step * np.maximum(np.minimum(-low, high), 0.0)
        if (dip > 1).any():
            raise NotApplicable("the grid is too coarse")
        first, last = tilted.weights[:cells] / self.total, tilted.weights[1 : cells + 1] / self.total
        self.least = np.minimum(first, last) * (1 - dip) * (1 - SAFE)
        self.most = np.maximum(first, last) * exp(dip) * (1 + SAFE)
        self.share, self.growth = steps.share[: cells + 1], steps.growth[1 : cells + 1]
        self._losses: dict[float, float] = {}

    def along(self, y: float) -> Callable[[float], float]:
        """A lower bound on -ln |phi(w)| for all w from a frequency on, by paths up to this height."""
        if y not in self._losses:
            self._losses[y] = self._lost(y)
        mu, lost = self.steps.mu, self._losses[y]
        cost = (1 + mu * mu + self.steps.split.steepness**2 * self.growth) / 2

        def fallen(frequency: float) -> float:
            height = np.minimum(self.share * (frequency * mu / (1 + mu * mu)), min(y, 1 / mu))
            left, right = height[:-1], height[1:] * (1 + SAFE)
            sine = mu * left * (1 - (mu * left) ** 2 / 6)
            tangent = self.share[:-1] * sine * (1 - SAFE)
            angle = 3 * tangent / (1 + 2 * np.sqrt(1 + tangent * tangent)) * (1 - SAFE)
            change = expm1(np.minimum(right * right * cost - frequency * angle, 3.0))
            gain = -float((np.where(change < 0, self.least, self.most) * change).sum()) - lost
            gain = min(max(gain, -1.0), 1 - 2.0**-30)
            return max(-float(log1p(np.array([-gain]))[0]), 0.0) * (1 - SAFE)

        return fallen

    def _lost(self, y: float) -> float:
        """What cells may have in which no gain is counted, and what the points miss."""
        steps, mu = self.steps, self.steps.mu
        softer = 1 - (steps.split.steepness * y) ** 2 / 2
        exponent = self.s * steps.loss - np.minimum(softer * steps.growth, -2 * LOWEST)
        outer = np.where(steps.growth > _SOFT / 2, exponent + (1 + mu * mu) * y * y / 2, LOWEST)
        return 2 * steps.upper_sum(outer, steps.slopes(self.s, softer)) / self.total + 4 * self.missing
