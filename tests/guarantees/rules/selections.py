"""The laws of mechanisms that choose a candidate, exact for noise that decays like a rational q."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations, product
from math import factorial, prod
from typing import Any

from tests.guarantees.enumeration import Law, Pair
from tests.guarantees.rules.integer_sums import (
    ONE,
    ZERO,
    Factor,
    exponential,
    exponential_below,
    laplace,
    laplace_below,
    total,
)

Scores = tuple[int, ...]
Selection = Callable[[Scores], Law]
Noise = tuple[Fraction, str]
"""q, and which of NOISES."""

NOISES: dict[str, tuple[Callable[[int, Fraction], Factor], Callable[[int, Fraction], Factor]]] = {
    "discrete_laplace": (laplace, laplace_below),
    "discrete_exponential": (exponential, exponential_below),
}


def changes(candidates: int, highest: int, spread: int) -> Iterator[tuple[Scores, Scores]]:
    """Scores up to `highest` before and after every change of this spread, the smallest score and change being 0.

    What is chosen does not depend on a number that is added to all scores, so this is all of them.
    """
    for scores in product(range(highest + 1), repeat=candidates):
        for change in product(range(spread + 1), repeat=candidates):
            if min(scores) == min(change) == 0:
                yield scores, tuple(score + by for score, by in zip(scores, change, strict=True))


def pairs_of(selection: Selection, listed: Iterator[tuple[Scores, Scores]]) -> list[Pair]:
    return [(selection(_lowered(before)), selection(_lowered(after))) for before, after in listed]


def _lowered(scores: Scores) -> Scores:
    return tuple(score - min(scores) for score in scores)


def exponential_mechanism_law(scores: Scores, q: Fraction, weights: Sequence[int] | None = None) -> Law:
    """In proportion to weight q^-score."""
    listed = [w * q**-score for score, w in zip(scores, weights or [1] * len(scores), strict=True)]
    return {place: mass / sum(listed) for place, mass in enumerate(listed)}


@lru_cache(maxsize=100_000)
def permute_and_flip_law(scores: Scores, q: Fraction) -> Law:
    """All orders of the candidates, and all coins."""
    accepts = [q ** (max(scores) - score) for score in scores]
    law = dict.fromkeys(range(len(scores)), ZERO)
    for order in permutations(range(len(scores))):
        left = Fraction(1, factorial(len(scores)))
        for place in order:
            law[place] += left * accepts[place]
            left *= 1 - accepts[place]
        assert not left
    return law


def exponential_noise_law(scores: Scores, q: Fraction) -> Law:
    """Of the largest score + continuous exponential noise: w_i times the integral of prod (1 - u w_j), 0 < u < 1."""
    weights = [q ** (max(scores) - score) for score in scores]

    def chance(place: int) -> Fraction:
        polynomial = [ONE]
        for weight in weights[:place] + weights[place + 1 :]:
            polynomial = [a - weight * b for a, b in zip([*polynomial, ZERO], [ZERO, *polynomial], strict=True)]
        return weights[place] * sum((c / (n + 1) for n, c in enumerate(polynomial)), ZERO)

    return {place: chance(place) for place in range(len(scores))}


@lru_cache(maxsize=100_000)
def noisy_max_law(scores: Scores, noise: Noise) -> Law:
    """The index of the largest; ties uniformly at random."""
    return {place: sum(_ties(scores, place, noise), ZERO) for place in range(len(scores))}


def _ties(scores: Scores, place: int, noise: Noise) -> Iterator[Fraction]:
    for tied in _subsets(_others(scores, place)):
        yield _mass(scores, place, tied, 0, noise) / (len(tied) + 1)


@lru_cache(maxsize=100_000)
def gap_law(scores: Scores, noise: Noise, *, most: int, by_index: bool = False) -> Law:
    """The index of the largest and the floor of the gap, gaps above `most` as one outcome.

    d above m tied runners-up, the fractions make d - 1 of the gap unless the winner's is the largest of m + 1.
    `by_index` is the false twin without fractions: the first of those that are tied wins.
    """
    law: dict[Any, Fraction] = {}
    for place in range(len(scores)):
        for tied in _subsets(_others(scores, place), least=1):
            for gap in range(most + 2):
                mass = _mass(scores, place, tied, gap, noise)
                for floor, share in _floors(place, tied, gap, by_index=by_index):
                    law[place, floor] = law.get((place, floor), ZERO) + mass * share
        wins = noisy_max_law(scores, noise)[place] if not by_index else _wins_by_index(scores, place, noise)
        law.pop((place, most + 1), None)
        law[place, "more"] = wins - sum((law.get((place, floor), ZERO) for floor in range(most + 1)), ZERO)
    assert sum(law.values()) == 1
    assert min(law.values()) >= 0
    return law


def _floors(place: int, tied: tuple[int, ...], gap: int, *, by_index: bool) -> Iterator[tuple[int, Fraction]]:
    if by_index:
        if gap or place < min(tied):
            yield gap, ONE
    elif gap == 0:
        yield 0, Fraction(1, len(tied) + 1)
    else:
        yield gap - 1, Fraction(len(tied), len(tied) + 1)
        yield gap, Fraction(1, len(tied) + 1)


def _wins_by_index(scores: Scores, place: int, noise: Noise) -> Fraction:
    later = [other for other in _others(scores, place) if other > place]
    return sum((_mass(scores, place, tied, 0, noise) for tied in _subsets(later)), ZERO)


@lru_cache(maxsize=100_000)
def _mass(scores: Scores, place: int, tied: tuple[int, ...], gap: int, noise: Noise) -> Fraction:
    """That the winner is `gap` above the tied ones, and these above all others; no tied ones: above `gap` = 0."""
    q, name = noise
    pmf, below = NOISES[name]
    factors = [pmf(scores[place] - gap, q)]
    factors += [(pmf if other in tied else below)(scores[other], q) for other in _others(scores, place)]
    return total(factors, q)


def _others(scores: Scores, place: int) -> list[int]:
    return [other for other in range(len(scores)) if other != place]


def _subsets(places: Sequence[int], *, least: int = 0) -> Iterator[tuple[int, ...]]:
    for size in range(least, len(places) + 1):
        yield from combinations(places, size)


def noisy_value_law(scores: Scores, q: Fraction, *, outcomes: range) -> Law:
    """The false twin that releases the largest noisy score itself with its index, where no other equals it."""
    law: dict[Any, Fraction] = {}
    for place in range(len(scores)):
        for value in outcomes:
            others = [laplace_below(scores[other], q).at(value) for other in _others(scores, place)]
            law[place, value] = laplace(scores[place], q).at(value) * prod(others, start=ONE)
    law["other"] = 1 - sum(law.values(), ZERO)
    return law
