"""Probabilities of paths in floating point, for many inputs at once: what a search looks at, never what it claims.

The constraints of a path hold draws (int symbols) and parameters (str symbols: inputs, bounds of events). The tree of
draws is built once; every evaluation takes a table with a row of parameters for each candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import sqrt

import numpy as np
from flint import ctx
from numpy.typing import NDArray

from privately.errors import NotSupported
from privately.proving.paths.affine import Affine, Constraint, Relation, Symbol
from privately.proving.paths.densities import Share, density, gaussian_variance, table
from privately.proving.paths.noise import Noise
from privately.proving.paths.piecewise import Terms, cumulative
from privately.proving.paths.systems import Entangled, Part, plain_parts, without_implied

Floats = NDArray[np.float64]

POINTS = 256
REACH = 22.0
FAR = 1e9
"""Points of a grid, its half width in scales, and what stands for infinity."""


class FloatingPath:
    """How likely one path is, as a function of its parameters."""

    def __init__(self, noises: Sequence[Noise], constraints: Sequence[Constraint], parameters: Sequence[str]) -> None:
        places = {name: place for place, name in enumerate(parameters)}
        try:
            self._build(noises, constraints, places)
        except Entangled:
            self._build(noises, without_implied(constraints), places)

    def _build(self, noises: Sequence[Noise], constraints: Sequence[Constraint], places: dict[str, int]) -> None:
        rows = [_Row(one, places) for one in constraints]
        self.fixed = [row for row in rows if not row.noise]
        self.rows = [row for row in rows if row.noise]
        # The constant is the number of the row; no arithmetic touches it on the way through.
        marked = [Constraint(Affine(place, row.noise), row.relation) for place, row in enumerate(self.rows)]
        self.roots = [
            _node(part, max(part.shares, key=lambda symbol: len(part.neighbors(symbol))), None)
            for part in plain_parts(marked, noises)
        ]

    def probabilities(self, candidates: Floats) -> Floats:
        """One for each row of parameters."""
        result = np.ones(len(candidates))
        for row in self.fixed:
            result *= row.holds(candidates)
        heights = [row.values(candidates) for row in self.rows]
        for root in self.roots:
            result *= root.total(heights)
        return result


class _Row:
    """The part of a constraint that parameters decide."""

    def __init__(self, constraint: Constraint, places: dict[str, int]) -> None:
        self.relation = constraint.relation
        self.constant = float(constraint.form.constant)
        self.parts = [(places[s], float(f)) for s, f in constraint.form.terms.items() if isinstance(s, str)]
        self.noise: dict[Symbol, Fraction] = {s: f for s, f in constraint.form.terms.items() if isinstance(s, int)}

    def values(self, candidates: Floats) -> Floats:
        total = np.full(len(candidates), self.constant)
        for place, factor in self.parts:
            total += factor * candidates[:, place]
        return total

    def holds(self, candidates: Floats) -> Floats:
        values = self.values(candidates)
        if self.relation == ">":
            return np.asarray(values > 1e-12, dtype=float)
        if self.relation == ">=":
            return np.asarray(values >= -1e-12, dtype=float)
        return np.asarray(np.abs(values) <= 1e-12, dtype=float)


class _FloatNode:
    """A variable, bounds on it as (factor, row), children with edges as (factor, parent's factor, row)."""

    def __init__(
        self,
        law: FloatLaw,
        bounds: list[tuple[float, int, Relation]],
        children: list[tuple[_FloatNode, list[tuple[float, float, int, Relation]]]],
    ) -> None:
        self.law, self.bounds, self.children = law, bounds, children

    def limits(self, heights: list[Floats]) -> tuple[Floats, Floats]:
        rows = len(heights[0])
        low, high = np.full(rows, -FAR), np.full(rows, FAR)
        for factor, row, relation in self.bounds:
            low, high = _narrowed((low, high), factor, heights[row], relation, whole=self.law.whole)
        return low, high

    def total(self, heights: list[Floats]) -> Floats:
        """How likely the whole tree is, for each candidate."""
        low, high = self.limits(heights)
        if not self.children:
            return self.law.between(low, high)
        return np.asarray(self.weighted(low, high, heights)[1].sum(axis=1))

    def weighted(self, low: Floats, high: Floats, heights: list[Floats]) -> tuple[Floats, Floats]:
        """A grid for each candidate, and the probability around each of its points, all subtrees met."""
        grid, weights = self.law.grid(low, high)
        for child, edges in self.children:
            weights = weights * child.given(grid, edges, heights)
        return grid, weights

    def given(self, above: Floats, edges: list[tuple[float, float, int, Relation]], heights: list[Floats]) -> Floats:
        """How likely the subtree is, for each value of the parent."""
        low, high = (np.broadcast_to(end[:, None], above.shape) for end in self.limits(heights))
        sides = {"==" if relation == "==" else factor > 0 for factor, _, _, relation in edges}
        sides |= {"==" if relation == "==" else factor > 0 for factor, _, relation in self.bounds}
        for factor, other, row, relation in edges:
            height = other * above + heights[row][:, None]
            low, high = _narrowed((low, high), factor, height, relation, whole=self.law.whole)
        if not self.children:
            if sides == {True}:
                return self.law.upper(low)
            return self.law.lower(high) if sides == {False} else self.law.between(low, high)
        grid, weights = self.weighted(*self.limits(heights), heights)
        return _interpolated(grid, weights, low, high, whole=self.law.whole)


def _narrowed(
    ends: tuple[Floats, Floats], factor: float, height: Floats, relation: Relation, *, whole: bool
) -> tuple[Floats, Floats]:
    """Bounds are kept as open at low, closed at high, in whole numbers if the law is whole."""
    low, high = ends
    edge = -height / factor
    if relation == "==":
        if not whole:
            return low, np.minimum(high, low)
        near = np.round(edge)
        exact = np.abs(edge - near) < 1e-9
        return np.maximum(low, np.where(exact, near - 1, FAR)), np.minimum(high, np.where(exact, near, -FAR))
    if not whole:
        return (np.maximum(low, edge), high) if factor > 0 else (low, np.minimum(high, edge))
    if factor > 0:
        return np.maximum(low, np.floor(edge + 1e-9) if relation == ">" else np.ceil(edge - 1e-9) - 1), high
    return low, np.minimum(high, np.ceil(edge - 1e-9) - 1 if relation == ">" else np.floor(edge + 1e-9))


def _interpolated(grid: Floats, weights: Floats, low: Floats, high: Floats, *, whole: bool) -> Floats:
    """The weight between two ends, from the grid of each candidate."""
    before = np.concatenate([np.zeros((len(grid), 1)), np.cumsum(weights, axis=1)], axis=1)
    step = grid[:, 1] - grid[:, 0]
    step = np.where(step > 0, step, 1.0)
    shift = 1.0 if whole else 0.5

    def up_to(place: Floats) -> Floats:
        position = np.clip((place - grid[:, :1]) / step[:, None] + shift, 0, grid.shape[1])
        if whole:
            return np.take_along_axis(before, np.floor(position + 1e-9).astype(np.int64), axis=1)
        base = np.minimum(position.astype(np.int64), grid.shape[1] - 1)
        part = position - base
        start = np.take_along_axis(before, base, axis=1)
        return np.asarray(start + part * (np.take_along_axis(before, base + 1, axis=1) - start))

    return np.asarray(np.maximum(up_to(high) - up_to(low), 0.0) * (high > low))


def _node(part: Part, variable: int, above: int | None) -> _FloatNode:
    bounds = [(float(a), int(row), relation) for a, row, relation in part.bounds.get(variable, ())]
    children = []
    for child in part.neighbors(variable):
        if child != above:
            edges = [(float(a), float(b), int(row), relation) for a, b, row, relation in part.joining(child, variable)]
            children.append((_node(part, child, variable), edges))
    return _FloatNode(float_law(part.shares[variable]), bounds, children)


class FloatLaw:
    """A law in floating point: masses on a grid, and the mass between two ends (open below, closed above)."""

    whole = False
    scale = 1.0

    def upper(self, place: Floats) -> Floats:
        """P(X > place)."""
        raise NotImplementedError

    def lower(self, place: Floats) -> Floats:
        """P(X <= place)."""
        raise NotImplementedError

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
