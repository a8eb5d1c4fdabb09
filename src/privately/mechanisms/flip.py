"""The randomized response of seed 002: a coin decides whether the truth is told, and if not, makes up the answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.accounting.events import Event
from privately.errors import InvalidParameter
from privately.guarantees import Derivation, FiniteMechanism, Guarantee, Neighbors, Sensitivity, rules
from privately.mechanisms.answer_counts import MAX_PEOPLE, Counts, error_of_counts, unbiased
from privately.mechanisms.error_bars import largest, miss_of
from privately.mechanisms.mechanism import Accuracy, FiniteExact, Mechanism
from privately.mechanisms.programs import Program
from privately.mechanisms.randomized_response import (
    COUNTED,
    ONE_ANSWER,
    answers_of_one_row,
    ratio_below,
    read_categories,
)
from privately.mechanisms.randomness import Randomness
from privately.rounding import Enclosure, Number, rational, whole


@dataclass(frozen=True, init=False)
class Flip(Mechanism):
    """b := flip(p); the truth if b = 1, otherwise flip(p). PureDP under replacement of one row, with epsilon

    ln((2-p)/(1-p)) for 0 < p <= 1/2, ln((p^2-p+1)/(1-p)^2) for 1/2 <= p < 1, and 0 for p = 0.

    >>> Flip(probability="1/2").guarantee()
    PureDP(epsilon=1.098612289, neighbors=<replacing one row>)
    """

    justification = FiniteExact(bounds="one row, 0 or 1: all there is")
    program = Program("""
def randomized_response(values: private, probability):
    answers = []
    for value in values:
        if flip(probability):
            answers.append(value)
        elif flip(probability):
            answers.append(1)
        else:
            answers.append(0)
    return answers
""")

    probability: Fraction

    def __init__(self, *, probability: Number) -> None:
        object.__setattr__(self, "probability", rational(probability, "probability", minimum=0, maximum=1))

    @classmethod
    def for_epsilon(cls, epsilon: Number) -> Flip:
        """The largest probability with this epsilon, which is to be above ln 2, rounded down."""
        ratio = ratio_below(epsilon)
        if ratio <= 2:
            raise InvalidParameter(
                "epsilon", "must be above ln 2, about 0.6932: any coin that is ever 1 costs as much."
            )
        if ratio <= 3:
            return cls(probability=(ratio - 2) / (ratio - 1))
        root = Fraction(Enclosure.of(4 * ratio - 3).sqrt().upper)
        return cls(probability=(2 * ratio - 1 - root) / (2 * (ratio - 1)))

    @classmethod
    def for_accuracy(cls, *, error: Number, confidence: Number, people: int) -> Flip:
        """The least probability with which the counts of so many people are within `error` with this confidence.

        Counts are whole, so a little more truth may err a little more; what bisection finds was seen to fit.
        """
        allowed = rational(error, "error", above=0)

        def fits(lie: Fraction) -> bool:
            return cls(probability=1 - lie).accuracy(confidence=confidence, people=people).error <= allowed

        small = Fraction(1, 10**9)
        return cls(probability=1 - largest(fits, lowest=small, highest=1 - small, field="error"))

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """How likely the answer 1 is for those whose truth is 1, and for those whose truth is 0."""
        p = self.probability
        return p + (1 - p) * p, (1 - p) * p

    def derive(self, sensitivity: Sensitivity = ONE_ANSWER) -> Derivation:
        """By comparing all outcomes; the sensitivity says how many answers a row gives."""
        answers = answers_of_one_row(sensitivity)
        chance = dict(zip(("1", "0"), self.chances, strict=True))
        table = FiniteMechanism.tabulate(
            lambda data: {"1": chance[data[0]], "0": 1 - chance[data[0]]}, records=["0", "1"], sizes=[1]
        )
        one = rules.finite_table(table, neighbors=Neighbors.REPLACE)
        return one if answers == 1 else rules.sequential(one, counts=[answers])

    def guarantee(self, sensitivity: Sensitivity = ONE_ANSWER) -> Guarantee:
        """What `derive` concludes."""
        return self.derive(sensitivity).conclusion

    def event(self, sensitivity: Sensitivity = ONE_ANSWER) -> Event:
        """What its guarantee allows."""
        return super().event(sensitivity)

    def run(self, value: Any, randomness: Randomness) -> int | NDArray[np.int64]:
        """One answer for a 0 or 1, a vector of answers for a vector."""
        truth = read_categories(value, 2, "value")
        honest, made_up = (randomness.bernoulli(probability=self.probability, size=truth.size) for _ in range(2))
        answers = np.where(honest, truth, made_up.astype(np.int64))
        return answers if np.ndim(value) else int(answers[0])

    def estimate(self, answers: Any, *, confidence: Number) -> Counts:
        """How many people have a 0 and a 1: unbiased, with the error bar of `interval`."""
        given = read_categories(answers, 2, "answers")
        bound = self.accuracy(confidence=confidence, people=given.size)
        ones = unbiased(int(given.sum()), given.size, *self.chances)
        return Counts(estimates=(given.size - ones, ones), error=bound.error, confidence=bound.confidence)

    def accuracy(self, *, confidence: Number, people: int = 1) -> Accuracy:
        """`interval` as a statement."""
        error = self.interval(confidence, people=people)
        return Accuracy(error=error, confidence=rational(confidence, "confidence"), measure=COUNTED)

    def interval(self, confidence: Number, *, people: int = 1) -> Fraction:
        """How far off the estimated counts of so many people may be, from the exact law for up to 512 of them."""
        number = whole(people, "people", maximum=MAX_PEOPLE)
        if self.probability == 0:
            raise InvalidParameter("probability", "of 0 says nothing: all answers are 0.")
        return error_of_counts(number, *self.chances, miss_of(confidence))

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The truth of all rows, and the probability."""
        return {"values": read_categories(value, 2, "value").tolist(), "probability": self.probability}

    def worst_case(self, sensitivity: Sensitivity = ONE_ANSWER) -> tuple[list[int], list[int]]:
        """All answers of the changed row change."""
        answers = answers_of_one_row(sensitivity)
        return [0] * answers, [1] * answers
