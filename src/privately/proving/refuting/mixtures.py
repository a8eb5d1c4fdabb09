"""Sums over paths that differ in independent places, as products of sums.

A sparse vector whose answers can come about in two ways each has as many paths as there are choices; given the noise of
its threshold, the ways of each answer are summed by themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import prod
from typing import TypeAlias

import numpy as np

from privately.proving.refuting.evaluations import Evaluation
from privately.proving.refuting.float_laws import Floats
from privately.proving.refuting.floating import FloatingPath, FloatNode, PathFactor

Factor: TypeAlias = tuple[object, int]
"""What is multiplied, by its key and how many of the same key came before it."""

Way: TypeAlias = frozenset[Factor]
Block: TypeAlias = frozenset[Way]


class _Mixture:
    """Paths of one weight with one main variable, each with its own factors."""

    def __init__(self, weight: float, main: FloatNode | None) -> None:
        self.weight, self.main = weight, main
        self.ways: list[Way] = []
        self.factors: dict[Factor, PathFactor] = {}

    def add(self, factors: Mapping[Factor, PathFactor]) -> None:
        self.ways.append(frozenset(factors))
        self.factors.update(factors)

    def done(self) -> None:
        """After the last path."""
        own = frozenset[int]() if self.main is None else self.main.own
        self.blocks = [
            (block, own.union(*(self.factors[one].columns for way in block for one in way)))
            for block in product_of(self.ways)
        ]
        self.columns = own.union(*(columns for _, columns in self.blocks))

    def probabilities(self, evaluation: Evaluation) -> Floats:
        return self.weight * evaluation.of_columns(("mixture", id(self)), self.columns, self._total)

    def _total(self, evaluation: Evaluation) -> Floats:
        weights = np.ones((len(evaluation), 1)) if self.main is None else self.main.grid(evaluation)[:, 1]
        for block, columns in self.blocks:
            key = ("block", None if self.main is None else self.main.place, block)
            weights = weights * evaluation.of_columns(key, columns, partial(self._block, block))
        return np.asarray(weights.sum(axis=1))

    def _block(self, block: Block, evaluation: Evaluation) -> Floats:
        ways = (prod((self.factors[one].values(evaluation) for one in way), start=np.ones((1, 1))) for way in block)
        total = np.asarray(sum(ways))
        return np.broadcast_to(total, (len(evaluation), total.shape[1]))


class Mixed:
    """The sum of weighted paths, as few sums of products as can be."""

    def __init__(self, paths: Iterable[tuple[float, FloatingPath]]) -> None:
        found: dict[object, _Mixture] = {}
        seen: Counter[object] = Counter()
        for weight, path in paths:
            if not path.never:
                place = None if path.main is None else path.main.place
                factors = _numbered(path.factors)
                same = (weight, place, frozenset(factors))
                found.setdefault((weight, place, seen[same]), _Mixture(weight, path.main)).add(factors)
                seen[same] += 1
        self.mixtures = list(found.values())
        for one in self.mixtures:
            one.done()

    def probabilities(self, evaluation: Evaluation) -> Floats:
        """One for each candidate."""
        total = np.zeros(len(evaluation))
        for one in self.mixtures:
            total += one.probabilities(evaluation)
        return total


def _numbered(factors: Iterable[PathFactor]) -> dict[Factor, PathFactor]:
    seen: Counter[object] = Counter()
    found: dict[Factor, PathFactor] = {}
    for one in factors:
        found[one.key, seen[one.key]] = one
        seen[one.key] += 1
    return found


def product_of(ways: Sequence[Way]) -> list[Block]:
    """Blocks such that to choose a way is to choose one of every block: what they say is the product of their sums."""
    factors = list(dict.fromkeys(factor for way in ways for factor in way))
    blocks = [frozenset(way & part for way in ways) for part in _parts(ways, factors)]
    return blocks if prod(map(len, blocks)) == len(ways) else [frozenset(ways)]


def _parts(ways: Sequence[Way], factors: Sequence[Factor]) -> list[Way]:
    """Factors that come together or instead of one another, as far as pairs tell."""
    there = np.array([[factor in way for factor in factors] for way in ways], dtype=float).reshape(len(ways), -1)
    cases = sum(((a.T @ b) > 0).astype(int) for a in (there, 1 - there) for b in (there, 1 - there))
    alone = np.diag(cases)
    bound = cases < np.outer(alone, alone)
    parts: list[set[int]] = []
    for place in range(len(factors)):
        near = [part for part in parts if any(bound[place, other] for other in part)]
        parts = [part for part in parts if part not in near]
        parts.append({place}.union(*near))
    return [frozenset(factors[place] for place in part) for part in parts]
