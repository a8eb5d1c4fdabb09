"""Randomized response: everybody answers for themselves, truthfully or not, and need trust nobody."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.accounting import events
from privately.accounting.events import Event
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Derivation, Guarantee, Neighbors, Sensitivity, rules
from privately.guarantees.rules.limits import LARGEST_EXPONENT
from privately.mechanisms.answer_counts import MAX_PEOPLE, Counts, error_of_counts, unbiased
from privately.mechanisms.error_bars import largest, miss_of
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.noise.draws import MAX_SIZE
from privately.rounding import Enclosure, Number, rational, round_down, whole

ONE_ANSWER = Sensitivity(value=1, neighbors=Neighbors.REPLACE)
"""Each row gives one answer."""

COUNTED = "the largest error of a count"
MAX_COUNTED = 2**24

_CLAIM = 1 - Fraction(1, 10**19)
_LEAST_LIE = Fraction(1, 10**12)


@dataclass(frozen=True, init=False)
class RandomizedResponse(Mechanism):
    """The true category with probability `truth`, otherwise any of the *others*, all alike. Categories are 0, 1, ....

    PureDP under replacement of one row, with epsilon = |ln(truth (categories-1)/(1-truth))|.

    >>> RandomizedResponse(categories=2, truth="3/4").guarantee()
    PureDP(epsilon=1.098612289, neighbors=<replacing one row>)
    """

    justification = Theorem(reference="Warner 1965; docs/theory/mechanisms.md#randomized-response")
    program = Program("""
def randomized_response(values: private, categories, truth):
    answers = []
    for value in values:
        if flip(truth):
            answers.append(value)
        else:
            other = uniform(categories - 1)
            answers.append(other + 1 if other >= value else other)
    return answers
""")

    categories: int
    truth: Fraction

    def __init__(self, *, categories: int, truth: Number) -> None:
        object.__setattr__(self, "categories", whole(categories, "categories", minimum=2))
        exact = rational(truth, "truth", above=0)
        if exact >= 1:
            raise InvalidParameter("truth", "must be below 1: who always says the truth is not protected.")
        object.__setattr__(self, "truth", exact)

    @classmethod
    def for_epsilon(cls, epsilon: Number, *, categories: int) -> RandomizedResponse:
        """The most truth with this epsilon: e^epsilon/(categories - 1 + e^epsilon), rounded down."""
        ratio = ratio_below(epsilon)
        return cls(categories=categories, truth=ratio / (ratio + whole(categories, "categories", minimum=2) - 1))

    @classmethod
    def for_accuracy(cls, *, error: Number, confidence: Number, people: int, categories: int = 2) -> RandomizedResponse:
        """The least truth with which all counts of so many people are within `error` with this confidence.

        Counts are whole, so a little more truth may err a little more; what bisection finds was seen to fit.
        """
        allowed, number = rational(error, "error", above=0), whole(categories, "categories", minimum=2)

        def fits(lie: Fraction) -> bool:
            return cls(categories=number, truth=1 - lie).accuracy(confidence=confidence, people=people).error <= allowed

        guessing = Fraction(number - 1, number)
        lie = largest(fits, lowest=_LEAST_LIE, highest=guessing * (1 - Fraction(1, 10**9)), field="error")
        return cls(categories=number, truth=1 - lie)

    def derive(self, sensitivity: Sensitivity = ONE_ANSWER) -> Derivation:
        """PureDP if one row is replaced; the sensitivity says how many answers a row gives, and they add up."""
        answers = answers_of_one_row(sensitivity)
        one = rules.randomized_response(categories=self.categories, truth=self.truth)
        return one if answers == 1 else rules.sequential(one, counts=[answers])

    def guarantee(self, sensitivity: Sensitivity = ONE_ANSWER) -> Guarantee:
        """What `derive` concludes."""
        return self.derive(sensitivity).conclusion

    def event(self, sensitivity: Sensitivity = ONE_ANSWER) -> Event:
        """One response for each answer of a row, or what its guarantee allows when the truth is not the likeliest."""
        if self.truth * self.categories <= 1:
            return super().event(sensitivity)
        one = self.guarantee()
        response = events.RandomizedResponse(
            epsilon=one.parameters["epsilon"], categories=self.categories, neighbors=one.neighbors
        )
        return events.Repeat(event=response, times=answers_of_one_row(sensitivity))

    def run(self, value: Any, randomness: Randomness) -> int | NDArray[np.int64]:
        """One answer for a category, a vector of answers for a vector of categories."""
        categories = read_categories(value, self.categories, "value")
        honest = randomness.bernoulli(probability=self.truth, size=categories.size)
        others = randomness.uniform(upper=self.categories - 1, size=categories.size).astype(np.int64)
        answers = np.where(honest, categories, others + (others >= categories))
        return answers if np.ndim(value) else int(answers[0])

    @property
    def lie(self) -> Fraction:
        """The probability of each single category that is not the true one."""
        return (1 - self.truth) / (self.categories - 1)

    def estimate(self, answers: Any, *, confidence: Number) -> Counts:
        """How many people belong to each category: unbiased, with the error bar of `interval`."""
        given = read_categories(answers, whole(self.categories, "categories", maximum=MAX_COUNTED), "answers")
        bound = self.accuracy(confidence=confidence, people=given.size)
        numbers = np.bincount(given, minlength=self.categories).tolist()
        estimates = tuple(unbiased(number, given.size, self.truth, self.lie) for number in numbers)
        return Counts(estimates=estimates, error=bound.error, confidence=bound.confidence)

    def accuracy(self, *, confidence: Number, people: int = 1) -> Accuracy:
        """`interval` as a statement."""
        error = self.interval(confidence, people=people)
        return Accuracy(error=error, confidence=rational(confidence, "confidence"), measure=COUNTED)

    def interval(self, confidence: Number, *, people: int = 1) -> Fraction:
        """How far off the estimated counts of so many people may be, from the exact law for up to 512 of them.

        Two categories have one error, others each their own. The number of people is public, as rows are replaced.
        """
        number = whole(people, "people", maximum=MAX_PEOPLE)
        errors = 1 if self.categories == 2 else self.categories
        return error_of_counts(number, self.truth, self.lie, miss_of(confidence) / errors)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The categories of all rows, and the parameters."""
        values = read_categories(value, self.categories, "value").tolist()
        return {"values": values, "categories": self.categories, "truth": self.truth}

    def worst_case(self, sensitivity: Sensitivity = ONE_ANSWER) -> tuple[list[int], list[int]]:
        """All answers of the changed row change."""
        answers = answers_of_one_row(sensitivity)
        return [0] * answers, [1] * answers


def answers_of_one_row(sensitivity: Sensitivity) -> int:
    """How many answers change if one row is replaced, or why there is no rule."""
    if sensitivity.neighbors != Neighbors.REPLACE:
        raise NoSuchRule(
            premise=f"answers that change by {sensitivity}",
            wanted="randomized response",
            hint="Everybody answers, so rows are replaced: use Sensitivity(value=1, neighbors=Neighbors.REPLACE).",
        )
    if sensitivity.value < 1 or sensitivity.value.denominator != 1:
        raise InvalidParameter("sensitivity", "must be the number of answers that a row gives, at least 1.")
    return int(sensitivity.value)


def ratio_below(epsilon: Number) -> Fraction:
    """e^epsilon, or so little less that a rule concludes no more than epsilon from it."""
    exact = round_down(rational(epsilon, "epsilon", above=0, maximum=LARGEST_EXPONENT))
    return round_down(Fraction(Enclosure.of(exact * _CLAIM).exp().lower), 30)


def read_categories(value: Any, categories: int, field: str) -> NDArray[np.int64]:
    """One number of a category, or a vector of them; truth values count as 0 and 1."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise InvalidParameter(field, "is not a vector of the numbers of categories.") from None
    if isinstance(value, np.ma.MaskedArray) or array.dtype.kind not in "biu":
        raise InvalidParameter(field, f"of type {array.dtype.type.__name__} is not made of the numbers of categories.")
    if array.ndim > 1 or not 0 < array.size <= MAX_SIZE:
        raise InvalidParameter(field, "is empty, too long or no vector; give one category, or a vector of them.")
    if array.min() < 0 or array.max() >= categories:
        raise InvalidParameter(field, f"holds a category that is none of 0, ..., {categories - 1}.")
    return array.reshape(array.size).astype(np.int64)
