"""From noisy answers back to counts.

A person who belongs to a category gives its answer with probability `inside`, any other with probability `outside`. So
the number of such answers is a sum of independent coins, and its mean is a line in the number of people.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from privately.errors import InvalidParameter
from privately.mechanisms.laplace_sums import lowest_point
from privately.rounding import Enclosure

MAX_PEOPLE = 2**50
_STEEPEST = 50


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

    Theorem: for y > 0, P(answers - mean >= t) <= exp(n max(g(inside), g(outside)) - y t), where g(p) =
        ln(1 - p + p e^y) - y p; and the same for the other side, with -y in place of y.
    Reference: Chernoff 1952
    Proof: docs/theory/mechanisms.md#counts-from-answers
    Checked-by: tests/mechanisms/test_answer_counts.py::test_errors_are_covered_for_every_data_set
    """
    if inside == outside:
        raise InvalidParameter("truth", "says nothing: everybody gives every answer with the same probability.")
    sides = [(inside, outside), (1 - inside, 1 - outside)]
    return max(_one_side(people, chances, miss / 2) for chances in sides) / abs(inside - outside)


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
