"""From noisy answers back to counts.

A person who belongs to a category gives its answer with probability `inside`, any other with probability `outside`. So
the number of such answers is a sum of independent coins, and its mean is a line in the number of people.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from privately.errors import InvalidParameter
from privately.mechanisms.laplace_sums import lowest_point
from privately.rounding import Enclosure

MAX_PEOPLE = 2**50
EXACT_PEOPLE = 512
"""The laws of more answers would take long to add up for everybody who may be inside."""

_STEEPEST = 50
_TOO_UNLIKELY = Fraction(1, 2**800)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Unbiased estimates of how many people belong to each category.

    With the stated confidence, all of them are within `error` of the truth.
    """

    estimates: tuple[Fraction, ...]
    error: Fraction
    confidence: Fraction


def unbiased(answers: int, people: int, inside: Fraction, outside: Fraction) -> Fraction:
    """An estimate of the number of people in a category from the number of answers, with the true mean.

    Theorem: m people inside and n - m outside give m inside + (n - m) outside answers on average.
    Reference: linearity of expectations
    Proof: docs/theory/mechanisms.md#counts-from-answers
    Checked-by: tests/mechanisms/test_answer_counts.py::test_estimates_are_unbiased
    """
    return (answers - people * outside) / (inside - outside)


def error_of_counts(people: int, inside: Fraction, outside: Fraction, miss: Fraction) -> Fraction:
    """A bound on the error of `unbiased` that fails with a probability of at most `miss`, whoever is in the category.

    For up to 512 people the least one; for more, a bound that is some 1.4 times as wide at a confidence of 95 %.
    """
    if inside == outside:
        raise InvalidParameter("truth", "says nothing: everybody gives every answer with the same probability.")
    if people <= EXACT_PEOPLE and miss > _TOO_UNLIKELY:
        return exact_deviation(people, inside, outside, miss) / abs(inside - outside)
    return chernoff_deviation(people, inside, outside, miss) / abs(inside - outside)


def exact_deviation(people: int, inside: Fraction, outside: Fraction, miss: Fraction) -> Fraction:
    """The least t such that answers are within t of their mean but for a probability of `miss`, whoever is inside.

    Theorem: probabilities of sums of independent coins, computed in floats by sums and products of positive numbers,
        have relative errors of at most (8 n + 8) 2^-53, but for what lies below 2^-900.
    Reference: IEEE 754: a rounding moves a number by at most its 2^-53th part, unless it underflows
    Proof: docs/theory/mechanisms.md#counts-from-answers
    Checked-by: tests/mechanisms/test_answer_counts.py::test_exact_errors_are_the_least_for_every_data_set
    """
    laws_inside, laws_outside = _coin_laws(people, inside), _coin_laws(people, outside)
    allowed = float(miss) * (1 - (16 * people + 16) * 2.0**-53)
    widest = Fraction(0)
    for members in range(people + 1):
        mean = members * inside + (people - members) * outside
        law = np.convolve(laws_inside[members], laws_outside[people - members])
        left_out = _outermost(law, ceil(2 * mean), allowed)
        widest = max(widest, abs(left_out - mean))
    return widest


def _coin_laws(most: int, heads: Fraction) -> list[NDArray[np.float64]]:
    """How many of 0, 1, ..., `most` coins show heads."""
    laws = [np.ones(1)]
    for _ in range(most):
        laws.append(np.convolve(laws[-1], [float(1 - heads), float(heads)]))
    return laws


def _outermost(law: NDArray[np.float64], twice_the_mean: int, allowed: float) -> int:
    """The outcome furthest from the mean that cannot be left out, with all that are as far, without missing more."""
    below, above = np.cumsum(law).tolist(), np.cumsum(law[::-1])[::-1].tolist()
    low, high = 0, law.size - 1
    while low < high:
        if low + high >= twice_the_mean:
            if above[high] + (below[low - 1] if low else 0) > allowed:
                return high
            high -= 1
        else:
            if below[low] + (above[high + 1] if high + 1 < law.size else 0) > allowed:
                return low
            low += 1
    return low


def chernoff_deviation(people: int, inside: Fraction, outside: Fraction, miss: Fraction) -> Fraction:
    """A bound on the same for any number of people.

    Theorem: for y > 0, P(answers - mean >= t) <= exp(n max(g(inside), g(outside)) - y t), where g(p) =
        ln(1 - p + p e^y) - y p; and the same for the other side, with -y in place of y.
    Reference: Chernoff 1952
    Proof: docs/theory/mechanisms.md#counts-from-answers
    Checked-by: tests/mechanisms/test_answer_counts.py::test_errors_are_covered_for_every_data_set
    """
    sides = [(inside, outside), (1 - inside, 1 - outside)]
    return max(_one_side(people, chances, miss / 2) for chances in sides)


def _one_side(people: int, chances: tuple[Fraction, Fraction], miss: Fraction) -> Fraction:
    """t such that answers exceed their mean by more than t with a probability of at most `miss`."""
    surprise = Enclosure.of(1 / miss).log()

    def rough(part: Fraction) -> float:
        y = float(_STEEPEST * part)
        growths = (math.log1p(float(p) * math.expm1(y)) - y * float(p) for p in chances)
        return (people * max(growths) + float(surprise.upper)) / y

    y = _STEEPEST * lowest_point(rough)
    bound = (people * _growth(chances, y) + surprise) / y
    return min(bound.claim(), people * (1 - min(chances)))


def _growth(chances: tuple[Fraction, Fraction], y: Fraction) -> Enclosure:
    power = Enclosure.of(y).exp()
    growths = [(1 - p + p * power).log() - y * p for p in chances]
    return Enclosure(max(g.lower for g in growths), max(g.upper for g in growths))
