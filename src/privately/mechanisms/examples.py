"""Mechanisms that are NOT private, by name: what tempts people, and why it is refused."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from privately.errors import InvalidParameter, NotPrivate
from privately.guarantees import Derivation, Sensitivity
from privately.mechanisms.additive import spread_over
from privately.mechanisms.mechanism import Accuracy, FiniteExact, Mechanism, set_fields
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.noise.draws import MAX_SIZE
from privately.rounding import Number, rational, whole

_LARGEST = 2**62


@dataclass(frozen=True, kw_only=True)
class TellTale:
    """An answer that `one` gives with this probability and its neighbour `other` never."""

    one: tuple[int, ...]
    other: tuple[int, ...]
    answer: Any
    probability: Fraction


class Rows:
    """So many integers, of which some answer is given without noise.

    Neither `for_epsilon` nor `for_accuracy` exists: there is no noise to choose.
    """

    rows: int

    def __init__(self, *, rows: int) -> None:
        set_fields(self, rows=whole(rows, "rows", maximum=MAX_SIZE))

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """What is shown is true."""
        certain = rational(confidence, "confidence", minimum=0, maximum=1)
        return Accuracy(error=Fraction(0), confidence=certain, measure="the error")

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The rows."""
        return {"values": _rows(value, self.rows).tolist()}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[int], list[int]]:
        """All zero, and all but the first row, which changes however little."""
        return spread_over(self.rows, max(1, floor(sensitivity.value)))


@dataclass(frozen=True, init=False)
class RandomPoint(Rows, Mechanism):
    """San(x) = (j, x_j) for a random j: one person's row as it is. Not private for any epsilon; delta is 1/rows.

    Seed 001's reason why delta must lie far below 1/rows. The answer is a row and its number, both true: there is no
    `interval`.

    >>> from privately.guarantees import Sensitivity
    >>> RandomPoint(rows=3).guarantee(Sensitivity(value=1))
    Traceback (most recent call last):
    privately.errors.NotPrivate: the answer (0, 0) has probability 1/3 for one data set and 0 for its neighbour. ...
    """

    justification = FiniteExact(bounds="refuted: see the witness")
    program = Program("""
def random_point(values: private):
    j = uniform(len(values))
    return [j, values[j]]
""")

    rows: int

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """Refuses, with two neighbours that one answer tells apart."""
        one, other = self.worst_case(sensitivity)
        _refuse(self.rows, one, other, answer=(0, 0), probability=Fraction(1, self.rows))

    def law(self, value: Any) -> dict[tuple[int, int], Fraction]:
        """How likely each answer is."""
        share = Fraction(1, self.rows)
        return dict.fromkeys(enumerate(_rows(value, self.rows).tolist()), share)

    def run(self, value: Any, randomness: Randomness) -> tuple[int, int]:
        """The number of a row, and the row."""
        values = _rows(value, self.rows)
        j = int(randomness.uniform(upper=self.rows, size=1)[0])
        return j, int(values[j])


@dataclass(frozen=True, init=False)
class NoiselessMean(Rows, Mechanism):
    """The mean as it is: not private for any epsilon, and delta is 1. Many rows do not hide one.

    >>> from privately.guarantees import Sensitivity
    >>> NoiselessMean(rows=1000).guarantee(Sensitivity(value=1))
    Traceback (most recent call last):
    privately.errors.NotPrivate: the answer 0 has probability 1 for one data set and 0 for its neighbour. ...
    """

    justification = FiniteExact(bounds="refuted: see the witness")
    program = Program("""
def noiseless_mean(values: private):
    return Fraction(sum(values)) / len(values)
""")

    rows: int

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """Refuses, with two neighbours whose means differ."""
        one, other = self.worst_case(sensitivity)
        _refuse(self.rows, one, other, answer=Fraction(0), probability=Fraction(1))

    def law(self, value: Any) -> dict[Fraction, Fraction]:
        """The one answer there is."""
        return {Fraction(sum(_rows(value, self.rows).tolist()), self.rows): Fraction(1)}

    def run(self, value: Any, randomness: Randomness) -> Fraction:  # noqa: ARG002  (that it draws nothing is the point)
        """The exact mean."""
        (mean,) = self.law(value)
        return mean

    def interval(self, confidence: Number) -> Fraction:
        """Zero."""
        return self.accuracy(confidence=confidence).error


def _refuse(rows: int, one: list[int], other: list[int], *, answer: Any, probability: Fraction) -> NoReturn:
    raise NotPrivate(
        f"the answer {answer} has probability {probability} for one data set and 0 for its neighbour.",
        witness=TellTale(one=tuple(one), other=tuple(other), answer=answer, probability=probability),
        hint=f"Add noise; no delta below {probability} would do for {rows} rows.",
    )


def _rows(value: Any, rows: int) -> NDArray[np.int64]:
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        array = np.empty(0)
    if array.dtype.kind not in "iu" or array.shape != (rows,):
        raise InvalidParameter("value", f"must be a vector of {rows} integers.")
    if array.max() > _LARGEST or array.min() < -_LARGEST:
        raise InvalidParameter("value", "holds an integer beyond 2^62.")
    return array.astype(np.int64)
