"""Groups of rows that are divided among parts: against enumeration of what they see, in all directions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting import grouped_parts
from privately.accounting.grouped_parts import splits

Law = Any
Pair = tuple[Law, Law]


def noise_of(scale: float, rows: int) -> Pair:
    """Discrete Laplace noise, and the same moved by so many steps: the worst that `Pure` has for a group."""
    places = np.arange(-80, 81 + rows)
    first, second = (np.exp(-abs(places - move) / scale) for move in (0, rows))
    return first / first.sum(), second / second.sum()


def answers_of(epsilon: float, rows: int) -> Pair:
    """Randomized responses of so many."""
    one = np.array([1.0, math.exp(epsilon)]) / (1 + math.exp(epsilon))
    first = second = np.ones(1)
    for _ in range(rows):
        first, second = np.outer(first, one).ravel(), np.outer(second, one[::-1]).ravel()
    return first, second


def enumerated(parts: list[Any], size: int, epsilon: float) -> float:
    """The largest delta over all ways to divide the rows, and over all directions of all parts."""
    found = 0.0
    for rows in product(range(size + 1), repeat=len(parts)):
        pairs = [part(count) for part, count in zip(parts, rows, strict=True) if count]
        for turned in product((False, True), repeat=len(pairs)) if sum(rows) == size else ():
            first = second = np.ones(1)
            for (one, other), swaps in zip(pairs, turned, strict=True):
                one, other = (other, one) if swaps else (one, other)  # noqa: PLW2901
                first, second = np.outer(first, one).ravel(), np.outer(second, other).ravel()
            found = max(found, float(np.maximum(first - math.exp(epsilon) * second, 0).sum()))
    return found


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("epsilon", [0.1, 0.6, 1.1])
def test_groups_of_parts_by_enumeration(size: int, epsilon: float) -> None:
    parts = acc.Parallel(events=[acc.Pure(epsilon="0.5"), acc.RandomizedResponse(epsilon="0.4")])
    found = acc.delta(acc.Group(event=parts, size=size), epsilon=Fraction(epsilon))
    laws = [lambda rows: noise_of(2, rows), lambda rows: answers_of(0.4, rows)]
    truth = enumerated(laws, size, epsilon)
    assert float(found.lower) == pytest.approx(truth, rel=1e-6)
    assert float(found.upper) == pytest.approx(truth, rel=1e-6)


def test_every_way_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the worst way to divide the rows is forgotten."""
    group = acc.Group(event=acc.Parallel(events=[acc.Laplace(scale=2), acc.Laplace(scale="2.1")]), size=2)
    ways = splits(group)
    assert len(ways) == 3
    right = acc.epsilon(group, delta="0.05")
    costs = [acc.epsilon(way, delta="0.05").upper for way in ways]
    assert max(costs) == right.upper
    worst = costs.index(max(costs))
    monkeypatch.setattr("privately.accounting.answers.splits", lambda _: [*ways[:worst], *ways[worst + 1 :]])
    assert acc.epsilon(group, delta="0.05").upper < right.lower


def test_left_to_others() -> None:
    """Parts on samples, statements, too many ways, and what is no group of parts."""
    noise = acc.Gaussian(noise_multiplier=1)
    sampled = acc.Parallel(events=[noise, acc.PoissonSample(event=noise, rate="0.1")])
    many = acc.Parallel(events=[acc.Laplace(scale=k) for k in range(1, 40)])
    for event in (sampled, acc.Parallel(events=[noise, acc.ZCDP(rho=1)]), many, noise):
        assert splits(acc.Group(event=event, size=2)) == []
    assert splits(many) == []
    assert grouped_parts.splits(acc.Group(event=acc.Parallel(events=[noise, noise]), size=2))
