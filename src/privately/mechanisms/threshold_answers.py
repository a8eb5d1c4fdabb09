"""What all sparse vectors share: sessions, the answers to a list of queries, and how far off a wrong one may be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Generic, TypeVar

from privately.guarantees import Sensitivity
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy
from privately.mechanisms.randomness import SYSTEM, Randomness
from privately.mechanisms.threshold_accuracy import Comparisons, statement
from privately.mechanisms.threshold_sessions import Session, answer_all, begin, read_stream
from privately.mechanisms.threshold_settings import change_in_steps, worst_streams
from privately.rounding import Number

Answer = TypeVar("Answer")


class ThresholdAnswers(ABC, Generic[Answer]):
    """One answer after the other, by comparing a query with one noisy threshold, until the yes answers are used up."""

    threshold_scale: Fraction
    count: int
    threshold: Fraction
    monotone: bool
    grid: Grid

    @property
    @abstractmethod
    def comparisons(self) -> Comparisons:
        """The tests in steps, for the analysis of errors."""

    @abstractmethod
    def compare(self, query: int, threshold: int, randomness: Randomness) -> tuple[Answer, Fraction]:
        """The answer to a query, in steps, and what part of a yes it costs."""

    @property
    def most_answers(self) -> int:
        """How many yes answers there are at most."""
        return self.count

    def start(self, randomness: Randomness = SYSTEM) -> Session[Answer]:
        """A session to ask. It costs the whole guarantee, whatever is asked."""
        return begin(
            compare=self.compare,
            grid=self.grid,
            threshold=self.threshold,
            scale=self.threshold_scale,
            count=self.count,
            source=randomness,
        )

    def run(self, value: Any, randomness: Randomness) -> list[Answer]:
        """The answers to a list of queries, until it stops."""
        return answer_all(self.start, read_stream(value, self.grid), randomness)

    def accuracy(self, *, confidence: Number, queries: int = 1) -> Accuracy:
        """How far from the threshold a query with a wrong answer may be, if there are so many queries."""
        return statement(self.comparisons, confidence, queries=queries, answers=self.most_answers, grid=self.grid)

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[Any], list[Any]]:
        """Queries far above the threshold that go up, then queries far below that go down."""
        before, after = self.worst_steps(sensitivity)
        return self.grid.values(before), self.grid.values(after)

    def worst_steps(self, sensitivity: Sensitivity) -> tuple[list[int], list[int]]:
        """The same in steps."""
        change = int(change_in_steps(sensitivity, self.grid, monotone=self.monotone).value)
        last_scale, _ = self.comparisons.tests[-1]
        return worst_streams(
            scales=(self.threshold_scale, last_scale * self.grid.unit),
            threshold=self.threshold,
            grid=self.grid,
            change=change,
            down=0 if self.monotone else change,
            count=self.count,
        )
