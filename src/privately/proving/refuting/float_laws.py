"""The laws of single draws and of sums of them in floating point, for many bounds at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from math import sqrt

import numpy as np
from flint import ctx
from numpy.typing import NDArray

from privately.errors import NotSupported
from privately.proving.paths.densities import Share, density, gaussian_variance, table
from privately.proving.paths.piecewise import Terms, cumulative

Floats = NDArray[np.float64]

POINTS = 256
REACH = 22.0
"""Points of a grid, and its half width in scales."""


class FloatLaw(ABC):
    """A law in floating point: masses on a grid, and the mass between two ends (open below, closed above)."""

    whole = False
    scale = 1.0

    @abstractmethod
    def upper(self, place: Floats) -> Floats:
        """P(X > place)."""

    @abstractmethod
    def lower(self, place: Floats) -> Floats:
        """P(X <= place)."""

    def between(self, low: Floats, high: Floats) -> Floats:
        """P(low < X <= high), from whichever side loses less."""
        right = self.upper(low) - self.upper(high)
        left = self.lower(high) - self.lower(low)
        return np.maximum(np.where(low >= 0, right, left), 0.0) * (high > low)

    def grid(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Cells between the ends, as middles and masses."""
        width = REACH * self.scale
        first = np.clip(low, -width, None)
        first = np.where(high < -width, np.maximum(low, high - width), first)
        last = np.minimum(high, np.maximum(first + width, width))
        last = np.maximum(last, first)
        edges = first[:, None] + (last - first)[:, None] * np.linspace(0, 1, POINTS + 1)
        masses = self.between(edges[:, :-1], edges[:, 1:])
        return (edges[:, :-1] + edges[:, 1:]) / 2, masses


class _Laplace(FloatLaw):
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def upper(self, place: Floats) -> Floats:
        tail = 0.5 * np.exp(-np.abs(place) / self.scale)
        return np.where(place >= 0, tail, 1 - tail)

    def lower(self, place: Floats) -> Floats:
        return self.upper(-place)

    def between(self, low: Floats, high: Floats) -> Floats:
        below, above = (0.5 * np.exp(-np.abs(end) / self.scale) for end in (low, high))
        astride = 1 - below - above
        return np.where(
            low >= high, 0.0, np.where(low >= 0, below - above, np.where(high <= 0, above - below, astride))
        )


class _Exponential(FloatLaw):
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def upper(self, place: Floats) -> Floats:
        return np.exp(-np.maximum(place, 0) / self.scale)

    def lower(self, place: Floats) -> Floats:
        return -np.expm1(-np.maximum(place, 0) / self.scale)


class _Gaussian(FloatLaw):
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def upper(self, place: Floats) -> Floats:
        return _normal_tail(place / self.scale)

    def lower(self, place: Floats) -> Floats:
        return _normal_tail(-place / self.scale)


def _normal_tail(place: Floats) -> Floats:
    """Two terms of the rational approximation would do for a search; this one has a relative error below 2e-7."""
    z = np.abs(np.clip(place, -38, 38)) / sqrt(2)
    t = 1 / (1 + 0.5 * z)
    series = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806]
    series += [0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277]
    total = np.zeros_like(t)
    for coefficient in reversed(series):
        total = total * t + coefficient
    tail = 0.5 * t * np.exp(-z * z + total)
    return np.where(place >= 0, tail, 1 - tail)


class _Sum(FloatLaw):
    """A sum of multiples of Laplace and exponential draws."""

    def __init__(self, shares: tuple[Share, ...]) -> None:
        with ctx.workprec(80):
            summed = cumulative(density(shares)).values
        self.below, self.above = (_floats(piece) for piece in summed.pieces)
        self.scale = sqrt(sum(float(factor * noise.parameter) ** 2 for factor, noise in shares))

    def lower(self, place: Floats) -> Floats:
        near = np.clip(place, -700 * self.scale, 700 * self.scale)
        return np.where(
            place < 0, _evaluated(self.below, np.minimum(near, 0)), _evaluated(self.above, np.maximum(near, 0))
        )

    def upper(self, place: Floats) -> Floats:
        return 1 - self.lower(place)


class _Table(FloatLaw):
    """Any discrete law."""

    whole = True

    def __init__(self, shares: tuple[Share, ...]) -> None:
        with ctx.workprec(40):
            listed = table(shares)
        masses = np.array([float(mass.mid()) for mass in listed.masses])
        self.low = listed.low
        self.masses = masses
        self.left = np.concatenate([[0.0], np.cumsum(masses)])
        self.right = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])
        places = np.arange(len(masses)) + self.low
        self.scale = sqrt(float((masses * places**2).sum())) + 1

    def _place(self, place: Floats) -> NDArray[np.int64]:
        return np.clip(place - self.low + 1, 0, len(self.masses)).astype(np.int64)

    def lower(self, place: Floats) -> Floats:
        return np.asarray(self.left[self._place(place)])

    def upper(self, place: Floats) -> Floats:
        return np.asarray(self.right[self._place(place)])

    def grid(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Whole numbers one by one, as many as count."""
        width = np.ceil(14 * self.scale)
        first = np.maximum(low + 1, -width)
        count = int(min(2 * width + 1, 4000))
        grid = first[:, None] + np.arange(count)
        inside = grid <= high[:, None]
        return grid, self.between(grid - 1, grid) * inside


@lru_cache(maxsize=256)
def float_law(shares: tuple[Share, ...]) -> FloatLaw:
    """The law of a sum of multiples of draws."""
    (factor, noise), *others = shares
    if not noise.continuous:
        return _Table(shares)
    if noise.law == "gaussian":
        return _Gaussian(sqrt(float(gaussian_variance(shares))))
    if others or factor != 1:
        return _Sum(shares)
    if noise.law == "laplace":
        return _Laplace(float(noise.parameter))
    if noise.law == "exponential":
        return _Exponential(float(noise.parameter))
    raise NotSupported(f"{noise.law} is unknown here.")


def _floats(terms: Terms) -> list[tuple[float, int, float]]:
    return [(float(rate), power, float(value.mid())) for (rate, power), value in terms.items()]


def _evaluated(terms: list[tuple[float, int, float]], place: Floats) -> Floats:
    total = np.zeros_like(place)
    for rate, power, value in terms:
        total = total + value * place**power * np.exp(rate * place)
    return total
