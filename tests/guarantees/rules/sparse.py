"""The laws of sparse vector, all answers with their exact probability, for noise that decays like a rational q.

Rates are inverse scales: noise of rate r decays like q^(r |k|). The threshold is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, Literal

from tests.guarantees.enumeration import Law, Pair
from tests.guarantees.rules.integer_sums import (
    ONE,
    ZERO,
    Factor,
    laplace,
    laplace_at_least,
    laplace_below,
    total,
    up_to,
)

Queries = tuple[int, ...]
Told = Literal["answers", "gaps", "values"]


@dataclass(frozen=True)
class Sparse:
    """The tests of each query, as (rate, how far above the threshold), what a yes by each costs, and the budget.

    `told` says what comes with a yes: nothing, the gap up to `most`, or, falsely, the noisy query itself. Without a
    `threshold_rate` the threshold gets no noise, falsely.
    """

    q: Fraction
    threshold_rate: int | None
    tests: tuple[tuple[int, int], ...]
    costs: tuple[int, ...]
    budget: int
    told: Told = "answers"
    most: int = 3

    def law(self, queries: Queries) -> Law:
        return _law(self, queries)

    def runs(self, queries: Queries, spent: int) -> Iterator[tuple[tuple[Any, ...], list[Factor]]]:
        """All that can be answered from here on, each with its probability as a function of the noisy threshold."""
        allowed = [t for t, cost in enumerate(self.costs) if spent + cost <= self.budget]
        if not queries or not allowed:
            yield (), []
            return
        failed: list[Factor] = []
        for t in allowed:
            rate, above = self.tests[t]
            centre = queries[0] - above
            for told, factors in self.told_with_yes(centre, rate):
                for answers, rest in self.runs(queries[1:], spent + self.costs[t]):
                    yield (("yes", t, told), *answers), [*failed, *factors, *rest]
            failed = [*failed, laplace_below(centre, self.q, rate)]
        for answers, rest in self.runs(queries[1:], spent):
            yield ("no", *answers), [*failed, *rest]

    def told_with_yes(self, centre: int, rate: int) -> Iterator[tuple[Any, list[Factor]]]:
        match self.told:
            case "answers":
                yield None, [laplace_at_least(centre, self.q, rate)]
            case "gaps":
                for gap in range(self.most + 1):
                    yield gap, [laplace(centre - gap, self.q, rate)]
                yield "more", [laplace_at_least(centre - self.most - 1, self.q, rate)]
            case "values":
                for value in range(-self.most, self.most + 1):
                    chance = laplace(centre, self.q, rate).at(value)
                    yield value, [_scaled(up_to(value), chance)]


@lru_cache(maxsize=100_000)
def _law(mechanism: Sparse, queries: Queries) -> Law:
    def chance(factors: list[Factor]) -> Fraction:
        if mechanism.threshold_rate is None:
            return prod((factor.at(0) for factor in factors), start=ONE)
        return total([laplace(0, mechanism.q, mechanism.threshold_rate), *factors], mechanism.q)

    law = {answers: chance(factors) for answers, factors in mechanism.runs(queries, 0)}
    if mechanism.told == "values":  # those outside are left out
        law["other",] = 1 - sum(law.values(), ZERO)
    assert sum(law.values()) == 1
    return law


def _scaled(factor: Factor, by: Fraction) -> Factor:
    return Factor(
        lambda t: by * factor.at(t),
        factor.low,
        factor.high,
        {n: by * c for n, c in factor.left.items()},
        {n: by * c for n, c in factor.right.items()},
    )


def moves(length: int, *, monotone: bool) -> list[Queries]:
    """All changes of the queries by at most 1; monotone ones upwards, for the other direction is the same pair."""
    return list(product((0, 1) if monotone else (-1, 0, 1), repeat=length))


def moved(queries: Queries, by: Queries) -> Queries:
    return tuple(query + change for query, change in zip(queries, by, strict=True))


def sparse_pairs(mechanism: Sparse, values: Sequence[int], length: int, *, monotone: bool) -> list[Pair]:
    """All queries with these values, before and after all changes."""
    listed = {
        tuple(sorted((before, moved(before, by))))
        for before in product(values, repeat=length)
        for by in moves(length, monotone=monotone)
        if any(by)
    }
    return [(mechanism.law(before), mechanism.law(after)) for before, after in sorted(listed)]
