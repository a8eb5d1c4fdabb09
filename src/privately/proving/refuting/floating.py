"""Probabilities of paths in floating point, for many inputs at once: what a search looks at, never what it claims.

The constraints of a path hold draws (int symbols) and parameters (str symbols: inputs, bounds of events). The tree of
draws is built once; every evaluation takes a table with a row of parameters for each candidate. Paths of one event have
most of their subtrees in common: each is evaluated once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from privately.proving.paths.affine import Affine, Constraint, Relation, Symbol
from privately.proving.paths.densities import Share
from privately.proving.paths.noise import Noise
from privately.proving.paths.systems import Entangled, Part, plain_parts, without_implied, without_support
from privately.proving.paths.whole_parts import without_whole_parts
from privately.proving.refuting.float_laws import FloatLaw, Floats, float_law

FAR = 1e9
"""What stands for infinity."""

MOST_KEPT = 20_000_000
"""Numbers that one evaluation keeps."""


class Evaluation:
    """A table of candidates, and what has been computed for it: things with one key have one value."""

    def __init__(self, candidates: Floats) -> None:
        self.candidates = candidates
        self.kept: dict[object, Floats] = {}
        self.room = MOST_KEPT

    def __len__(self) -> int:
        return len(self.candidates)

    def once(self, key: object, compute: Callable[[], Floats]) -> Floats:
        """What was computed under this key, or what is computed now."""
        found = self.kept.get(key)
        if found is None:
            found = compute()
            self.room -= found.size
            if self.room > 0:
                self.kept[key] = found
        return found


class Names(dict[object, int]):
    """Short names for long keys."""

    def of(self, key: object) -> int:
        """The number of a key, a new one for a new key."""
        return self.setdefault(key, len(self))


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
        self.fixed = [row for row in rows if not row.noise]
        noisy = [row for row in rows if row.noise]
        # The constant is the number of the row; no arithmetic touches it on the way through.
        marked = [Constraint(Affine(place, row.noise), row.relation) for place, row in enumerate(noisy)]
        self.roots = [
            _node(part, max(part.shares, key=lambda symbol: len(part.neighbors(symbol))), None, (noisy, self.names))
            for part in plain_parts(marked, noises)
        ]

    def probabilities(self, candidates: Floats | Evaluation) -> Floats:
        """One for each row of parameters."""
        evaluation = candidates if isinstance(candidates, Evaluation) else Evaluation(candidates)
        result = np.zeros(len(evaluation)) if self.never else np.ones(len(evaluation))
        for row in self.fixed:
            result *= row.holds(evaluation)
        for root in self.roots:
            result *= root.total(evaluation)
        return result


class _Row:
    """The part of a constraint that parameters decide."""

    def __init__(self, constraint: Constraint, places: dict[str, int], names: Names) -> None:
        self.relation = constraint.relation
        self.constant = float(constraint.form.constant)
        self.parts = [(places[s], float(f)) for s, f in constraint.form.terms.items() if isinstance(s, str)]
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


class _FloatNode:
    """A variable, bounds on it as (factor, row), children with edges as (factor, parent's factor, row)."""

    def __init__(
        self,
        shares: tuple[Share, ...],
        bounds: list[tuple[float, _Row, Relation]],
        children: list[tuple[_FloatNode, list[tuple[float, float, _Row, Relation]]]],
        names: Names,
    ) -> None:
        self.law: FloatLaw = float_law(shares)
        self.bounds, self.children = bounds, children
        self.place = names.of((shares, *sorted((factor, row.key, relation) for factor, row, relation in bounds)))
        self.joints = [
            names.of((child.key, *sorted((a, b, row.key, relation) for a, b, row, relation in edges)))
            for child, edges in children
        ]
        self.key: int = names.of((self.place, *sorted(self.joints)))

    def limits(self, evaluation: Evaluation) -> tuple[Floats, Floats]:
        low, high = np.full(len(evaluation), -FAR), np.full(len(evaluation), FAR)
        for factor, row, relation in self.bounds:
            low, high = _narrowed((low, high), factor, row.values(evaluation), relation, whole=self.law.whole)
        return low, high

    def total(self, evaluation: Evaluation) -> Floats:
        """How likely the whole tree is, for each candidate."""
        return evaluation.once(("total", self.key), lambda: self._total(evaluation))

    def _total(self, evaluation: Evaluation) -> Floats:
        if not self.children:
            return self.law.between(*self.limits(evaluation))
        return np.asarray(self.weighted(evaluation)[1].sum(axis=1))

    def weighted(self, evaluation: Evaluation) -> tuple[Floats, Floats]:
        """A grid for each candidate, and the probability around each of its points, all subtrees met."""
        grid, weights = evaluation.once(("grid", self.place), lambda: np.stack(self.law.grid(*self.limits(evaluation))))
        for (child, edges), joint in zip(self.children, self.joints, strict=True):
            key = ("given", self.place, joint)
            weights = weights * evaluation.once(key, lambda: child.given(grid, edges, evaluation))  # noqa: B023 - called at once
        return grid, weights

    def given(self, above: Floats, edges: list[tuple[float, float, _Row, Relation]], evaluation: Evaluation) -> Floats:
        """How likely the subtree is, for each value of the parent."""
        low, high = (np.broadcast_to(end[:, None], above.shape) for end in self.limits(evaluation))
        sides = {"==" if relation == "==" else factor > 0 for factor, _, _, relation in edges}
        sides |= {"==" if relation == "==" else factor > 0 for factor, _, relation in self.bounds}
        for factor, other, row, relation in edges:
            height = other * above + row.values(evaluation)[:, None]
            low, high = _narrowed((low, high), factor, height, relation, whole=self.law.whole)
        if not self.children:
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


def _node(part: Part, variable: int, above: int | None, known: tuple[Sequence[_Row], Names]) -> _FloatNode:
    rows, names = known
    bounds = [(float(a), rows[int(row)], relation) for a, row, relation in part.bounds.get(variable, ())]
    children = []
    for child in part.neighbors(variable):
        if child != above:
            edges = [
                (float(a), float(b), rows[int(row)], relation) for a, b, row, relation in part.joining(child, variable)
            ]
            children.append((_node(part, child, variable, known), edges))
    return _FloatNode(part.shares[variable], bounds, children, names)
