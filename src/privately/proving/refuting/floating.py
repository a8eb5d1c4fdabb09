"""Probabilities of paths in floating point, for many inputs at once: what a search looks at, never what it claims.

The constraints of a path hold draws (int symbols) and parameters (str symbols: inputs, bounds of events). The tree of
draws is built once; every evaluation takes a table with a row of parameters for each candidate. Paths of one event have
most of their subtrees in common: each is evaluated once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np

from privately.proving.paths.affine import Affine, Constraint, Relation, Symbol
from privately.proving.paths.densities import Share
from privately.proving.paths.noise import Noise
from privately.proving.paths.systems import Entangled, Part, plain_parts, without_implied, without_support
from privately.proving.paths.whole_parts import without_whole_parts
from privately.proving.refuting.evaluations import Evaluation
from privately.proving.refuting.float_laws import FloatLaw, Floats, float_law

FAR = 1e9
"""What stands for infinity."""


class Names(dict[object, int]):
    """Short names for long keys."""

    def of(self, key: object) -> int:
        """The number of a key, a new one for a new key."""
        return self.setdefault(key, len(self))


@dataclass(frozen=True)
class PathFactor:
    """One of the factors of a path's probability given its main variable: a number for each candidate, or one for each
    point of the main variable's grid."""

    key: object
    columns: frozenset[int]
    compute: Callable[[Evaluation], Floats]

    def values(self, evaluation: Evaluation) -> Floats:
        """A row for each candidate."""
        found = self.compute(evaluation)
        return found if found.ndim > 1 else found[:, None]


class FloatingPath:
    """How likely one path is, as a function of its parameters. Paths that share `names` share what they compute."""

    def __init__(
        self,
        noises: Sequence[Noise],
        constraints: Sequence[Constraint],
        parameters: Sequence[str],
        names: Names | None = None,
    ) -> None:
        places = {name: place for place, name in enumerate(parameters)}
        self.names = Names() if names is None else names
        about_draws = without_whole_parts(constraints, noises)
        self.never = about_draws is None
        about_draws = without_support(about_draws or [], noises)
        try:
            self._build(noises, about_draws, places)
        except Entangled:
            self._build(noises, without_implied(about_draws), places)

    def _build(self, noises: Sequence[Noise], constraints: Sequence[Constraint], places: dict[str, int]) -> None:
        rows = [_Row(one, places, self.names) for one in constraints]
        noisy = [row for row in rows if row.noise]
        # The constant is the number of the row; no arithmetic touches it on the way through.
        marked = [Constraint(Affine(place, row.noise), row.relation) for place, row in enumerate(noisy)]
        roots = [
            _node(part, max(part.shares, key=lambda symbol: len(part.neighbors(symbol))), None, (noisy, self.names))
            for part in plain_parts(marked, noises)
        ]
        main = max(roots, key=lambda root: len(root.joints), default=None)
        self.main = main if main is not None and main.joints else None
        self.factors = [
            *(PathFactor(("row", row.key, row.relation), row.columns, row.holds) for row in rows if not row.noise),
            *(PathFactor(("total", one.key), one.columns, one.total) for one in roots if one is not self.main),
        ]
        if self.main is not None:
            self.factors += [
                PathFactor(("given", one.key), one.columns, partial(self.main.given, one)) for one in self.main.joints
            ]

    def probabilities(self, candidates: Floats | Evaluation) -> Floats:
        """One for each row of parameters."""
        evaluation = candidates if isinstance(candidates, Evaluation) else Evaluation(candidates)
        result = np.ones((len(evaluation), 1)) if self.main is None else self.main.grid(evaluation)[:, 1]
        for one in self.factors:
            result = result * one.values(evaluation)
        return np.zeros(len(evaluation)) if self.never else np.asarray(result.sum(axis=1))


class _Row:
    """The part of a constraint that parameters decide."""

    def __init__(self, constraint: Constraint, places: dict[str, int], names: Names) -> None:
        self.relation = constraint.relation
        self.constant = float(constraint.form.constant)
        self.parts = [(places[s], float(f)) for s, f in constraint.form.terms.items() if isinstance(s, str)]
        self.columns = frozenset(place for place, _ in self.parts)
        self.noise: dict[Symbol, Fraction] = {s: f for s, f in constraint.form.terms.items() if isinstance(s, int)}
        self.key = names.of((self.constant, *sorted(self.parts)))

    def values(self, evaluation: Evaluation) -> Floats:
        return evaluation.once(("row", self.key), lambda: self._values(evaluation.candidates))

    def _values(self, candidates: Floats) -> Floats:
        total = np.full(len(candidates), self.constant)
        for place, factor in self.parts:
            total += factor * candidates[:, place]
        return total

    def holds(self, evaluation: Evaluation) -> Floats:
        values = self.values(evaluation)
        if self.relation == ">":
            return np.asarray(values > 1e-12, dtype=float)
        if self.relation == ">=":
            return np.asarray(values >= -1e-12, dtype=float)
        return np.asarray(np.abs(values) <= 1e-12, dtype=float)


_Bound: TypeAlias = tuple[float, _Row, Relation]
_Edge: TypeAlias = tuple[float, float, _Row, Relation]


def _columns(rows: Iterable[_Row]) -> frozenset[int]:
    return frozenset[int]().union(*(row.columns for row in rows))


class Joint:
    """A variable below another one, and what joins them as (factor, factor of the one above, row, relation)."""

    def __init__(self, child: FloatNode, edges: list[_Edge], names: Names) -> None:
        self.child, self.edges = child, edges
        self.key = names.of((child.key, *sorted((a, b, row.key, relation) for a, b, row, relation in edges)))
        self.columns: frozenset[int] = child.columns | _columns(row for _, _, row, _ in edges)


class FloatNode:
    """A variable, bounds on it as (factor, row, relation), and what lies below it."""

    def __init__(self, shares: tuple[Share, ...], bounds: list[_Bound], joints: list[Joint], names: Names) -> None:
        self.law: FloatLaw = float_law(shares)
        self.bounds, self.joints = bounds, joints
        self.place = names.of((shares, *sorted((factor, row.key, relation) for factor, row, relation in bounds)))
        self.key: int = names.of((self.place, *sorted(joint.key for joint in self.joints)))
        self.own = _columns(row for _, row, _ in bounds)
        self.columns: frozenset[int] = self.own.union(*(joint.columns for joint in self.joints))

    def limits(self, evaluation: Evaluation) -> tuple[Floats, Floats]:
        low, high = np.full(len(evaluation), -FAR), np.full(len(evaluation), FAR)
        for factor, row, relation in self.bounds:
            low, high = _narrowed((low, high), factor, row.values(evaluation), relation, whole=self.law.whole)
        return low, high

    def total(self, evaluation: Evaluation) -> Floats:
        """How likely the whole tree is, for each candidate."""
        return evaluation.of_columns(("total", self.key), self.columns, self._total)

    def _total(self, evaluation: Evaluation) -> Floats:
        if not self.joints:
            return self.law.between(*self.limits(evaluation))
        return np.asarray(self.weighted(evaluation)[1].sum(axis=1))

    def grid(self, evaluation: Evaluation) -> Floats:
        """For each candidate places on a grid, and the probability around each of them."""
        return evaluation.of_columns(
            ("grid", self.place), self.own, lambda part: np.stack(self.law.grid(*self.limits(part)), axis=1)
        )

    def weighted(self, evaluation: Evaluation) -> tuple[Floats, Floats]:
        """A grid for each candidate, and the probability around each of its points, all subtrees met."""
        grid = self.grid(evaluation)
        weights = grid[:, 1]
        for joint in self.joints:
            weights = weights * self.given(joint, evaluation)
        return grid[:, 0], weights

    def given(self, joint: Joint, evaluation: Evaluation) -> Floats:
        """How likely a subtree is, for each point of the grid."""
        return evaluation.of_columns(
            ("given", self.place, joint.key),
            self.own | joint.columns,
            lambda part: joint.child.below(self.grid(part)[:, 0], joint.edges, part),
        )

    def below(self, above: Floats, edges: list[_Edge], evaluation: Evaluation) -> Floats:
        """How likely the subtree is, for each value of the variable above."""
        low, high = (np.broadcast_to(end[:, None], above.shape) for end in self.limits(evaluation))
        sides = {"==" if relation == "==" else factor > 0 for factor, _, _, relation in edges}
        sides |= {"==" if relation == "==" else factor > 0 for factor, _, relation in self.bounds}
        for factor, other, row, relation in edges:
            height = other * above + row.values(evaluation)[:, None]
            low, high = _narrowed((low, high), factor, height, relation, whole=self.law.whole)
        if not self.joints:
            if sides == {True}:
                return self.law.upper(low)
            return self.law.lower(high) if sides == {False} else self.law.between(low, high)
        return _interpolated(*self.weighted(evaluation), low, high, whole=self.law.whole)


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


def _node(part: Part, variable: int, above: int | None, known: tuple[Sequence[_Row], Names]) -> FloatNode:
    rows, names = known
    bounds = [(float(a), rows[int(row)], relation) for a, row, relation in part.bounds.get(variable, ())]
    joints = []
    for child in part.neighbors(variable):
        if child != above:
            edges = [
                (float(a), float(b), rows[int(row)], relation) for a, b, row, relation in part.joining(child, variable)
            ]
            joints.append(Joint(_node(part, child, variable, known), edges, names))
    return FloatNode(part.shares[variable], bounds, joints, names)
