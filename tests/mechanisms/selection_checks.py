"""The laws of choosing a candidate, by other means, and what must hold of every mechanism that does."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import mpmath

from privately.guarantees import Sensitivity
from tests.mechanisms.enumeration import Distribution

Score = Fraction | int
Scores = tuple[Score, ...]
Law = Callable[[Scores], Distribution]
LITTLE = 1e-9
ONE = Sensitivity(value=1, norm="Linf")


def number(value: Any) -> Any:
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


def exactly(chances: Sequence[Any]) -> Distribution:
    return Distribution(dict(enumerate(chances)), mpmath.mpf(0))


def softmax(scores: Scores, scale: Score, widths: Sequence[int] | None = None) -> Distribution:
    """In proportion to width exp(score/scale), to 50 digits."""
    best = max(scores)
    sizes = widths or [1] * len(scores)
    weights = [
        size * mpmath.exp(number((score - best) / Fraction(scale))) for score, size in zip(scores, sizes, strict=True)
    ]
    return exactly([weight / sum(weights) for weight in weights])


def permuted(scores: Scores, scale: Score) -> Distribution:
    """The textbook: one of those who wait, uniformly; if its coin refuses, one of the others."""
    best = max(scores)
    accepts = [mpmath.exp(number((score - best) / Fraction(scale))) for score in scores]

    @cache
    def chosen(i: int, waiting: frozenset[int]) -> Any:
        """That it is i, when these are left."""
        others = [(1 - accepts[j]) * chosen(i, waiting - {j}) for j in waiting - {i}]
        return (accepts[i] + sum(others)) / len(waiting)

    everybody = frozenset(range(len(scores)))
    return exactly([chosen(i, everybody) for i in range(len(scores))])


def small_scores(candidates: int, highest: int) -> Iterator[tuple[int, ...]]:
    """All scores from 0 to `highest`, the smallest being 0: adding a number to all changes nothing."""
    return (scores for scores in product(range(highest + 1), repeat=candidates) if min(scores) == 0)


def changed(scores: tuple[int, ...], *, monotone: bool, by: int = 1) -> Iterator[tuple[int, ...]]:
    """Everything that scores of this sensitivity may become; monotone ones upwards."""
    for change in product(range(0 if monotone else -by, by + 1), repeat=len(scores)):
        yield tuple(score + one for score, one in zip(scores, change, strict=True))


def worst_loss(law: Law, pairs: Iterator[tuple[Scores, Scores]] | Sequence[tuple[Scores, Scores]]) -> Any:
    """In both directions, over all pairs."""
    kept = cache(law)
    return max(max(kept(a).loss(kept(b)), kept(b).loss(kept(a))) for a, b in pairs)


def all_pairs(candidates: int, highest: int, *, monotone: bool, by: int = 1) -> list[tuple[Scores, Scores]]:
    return [
        (before, after)
        for before in small_scores(candidates, highest)
        for after in changed(before, monotone=monotone, by=by)
    ]


def renyi(p: Distribution, q: Distribution, order: Any) -> Any:
    a = number(order)
    return mpmath.log(sum(p.chances[o] ** a * q.chances[o] ** (1 - a) for o in p.chances)) / (a - 1)


def expected_score(law: Distribution, scores: Scores) -> Any:
    chances: dict[Any, Any] = law.chances
    return sum(chance * number(scores[i]) for i, chance in chances.items())


def chance_beyond(law: Distribution, scores: Scores, gap: Any, *, strictly: bool) -> Any:
    """That the chosen score is at least so much below the best, or strictly more."""
    chances: dict[Any, Any] = law.chances
    behind = [number(max(scores) - score) for score in scores]
    return sum(chance for i, chance in chances.items() if behind[i] > gap or (behind[i] == gap and not strictly))
