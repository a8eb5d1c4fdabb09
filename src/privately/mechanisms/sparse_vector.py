"""Sparse vector: which queries reach a threshold, where only the yes answers cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Unpack

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteLaplace
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy, Alignment, Mechanism
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import SYSTEM, Randomness
from privately.mechanisms.threshold_accuracy import Comparisons, most_noise, statement
from privately.mechanisms.threshold_sessions import Session, answer_all, begin, read_stream
from privately.mechanisms.threshold_settings import (
    Settings,
    change_in_steps,
    noise_ratio,
    read,
    read_scale,
    split,
    worst_streams,
)
from privately.rounding import Number


@dataclass(frozen=True, init=False)
class SparseVector(Mechanism):
    """Whether query + noise >= threshold + noise, for one query after the other, until `count` of them were a yes.

    Queries are integers, or floats with a `grid`. The threshold and all yes answers are paid for at once: PureDP with
    epsilon = sensitivity/threshold_scale + 2 count sensitivity/query_scale. With `monotone` queries, which all move
    the same way between neighbours, the 2 becomes 1.

    >>> from privately.guarantees import Sensitivity
    >>> mechanism = SparseVector.for_epsilon(1, Sensitivity(value=1), count=4, threshold=100)
    >>> mechanism.guarantee(Sensitivity(value=1)), mechanism.threshold_scale, mechanism.query_scale
    (PureDP(epsilon=1), Fraction(5, 1), Fraction(10, 1))
    >>> print(mechanism.accuracy(confidence="0.95", queries=1000))
    With probability at least 95 %, the distance from the threshold of any of 1000 queries with a wrong answer is ...
    >>> session = mechanism.start()
    >>> session.ask(10_000), session.ask(-10_000), session.stopped
    (True, False, False)
    """

    justification = Alignment(shifts="the threshold's noise by the sensitivity, that of a yes so that it stays one")
    program = Program("""
def sparse_vector(queries: private, threshold, threshold_scale, query_scale, count):
    noisy_threshold = threshold + discrete_laplace(threshold_scale)
    answers = []
    for query in queries:
        if count == 0:
            break
        if query + discrete_laplace(query_scale) >= noisy_threshold:
            answers.append(True)
            count = count - 1
        else:
            answers.append(False)
    return answers
""")

    threshold_scale: Fraction
    query_scale: Fraction
    count: int
    threshold: Fraction
    monotone: bool
    grid: Grid

    def __init__(self, *, threshold_scale: Number, query_scale: Number, **settings: Unpack[Settings]) -> None:
        fields = read(**settings)
        fields["threshold_scale"] = read_scale(threshold_scale, "threshold_scale", fields["grid"])
        fields["query_scale"] = read_scale(query_scale, "query_scale", fields["grid"])
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Sensitivity, **settings: Unpack[Settings]) -> SparseVector:
        """The least noise with this epsilon, divided in the best way between threshold and queries."""
        threshold_scale, query_scale = split(epsilon, sensitivity, **settings)
        return cls(threshold_scale=threshold_scale, query_scale=query_scale, **settings)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, queries: int, **settings: Unpack[Settings]
    ) -> SparseVector:
        """The most noise, hence the most privacy, with which no wrong answer is further off than `error`."""
        fields = read(**settings)
        ratio = noise_ratio(count=fields["count"], monotone=fields["monotone"])
        scale = fields["grid"].unit * most_noise(
            lambda scale: Comparisons(threshold_scale=scale, tests=((ratio * scale, 0),)),
            error=error,
            confidence=confidence,
            queries=queries,
            answers=fields["count"],
            grid=fields["grid"],
        )
        return cls(threshold_scale=scale, query_scale=ratio * scale, **settings)

    @cached_property
    def query_law(self) -> DiscreteLaplace:
        """The law of a query's noise, in steps of the grid."""
        return DiscreteLaplace(scale=self.query_scale / self.grid.unit)

    @property
    def comparisons(self) -> Comparisons:
        """The test in steps, for the analysis of errors."""
        return Comparisons(threshold_scale=self.threshold_scale / self.grid.unit, tests=((self.query_law.scale, 0),))

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP, if each query changes by no more than that."""
        return rules.sparse_vector(
            threshold_scale=self.threshold_scale / self.grid.unit,
            query_scale=self.query_law.scale,
            count=self.count,
            monotone=self.monotone,
            sensitivity=change_in_steps(sensitivity, self.grid, monotone=self.monotone),
        )

    def start(self, randomness: Randomness = SYSTEM) -> Session[bool]:
        """A session to ask. It costs the whole guarantee, whatever is asked."""
        return begin(
            compare=self.compare,
            grid=self.grid,
            threshold=self.threshold,
            scale=self.threshold_scale,
            count=self.count,
            source=randomness,
        )

    def run(self, value: Any, randomness: Randomness) -> list[bool]:
        """The answers to a list of queries, until it stops."""
        return answer_all(self.start, read_stream(value, self.grid), randomness)

    def compare(self, query: int, threshold: int, randomness: Randomness) -> tuple[bool, Fraction]:
        """One test, in steps, and its cost."""
        reached = query + int(randomness.draw(self.query_law, size=1)[0]) >= threshold
        return reached, Fraction(reached)

    def accuracy(self, *, confidence: Number, queries: int = 1) -> Accuracy:
        """How far from the threshold a query with a wrong answer may be, if there are so many queries."""
        return statement(self.comparisons, confidence, queries=queries, answers=self.count, grid=self.grid)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The queries, the threshold and the scales in steps."""
        return {
            "queries": read_stream(value, self.grid),
            "threshold": int(self.threshold / self.grid.unit),
            "threshold_scale": self.threshold_scale / self.grid.unit,
            "query_scale": self.query_law.scale,
            "count": self.count,
        }

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[int], list[int]]:
        """Queries far above the threshold that go up, then queries far below that go down; in steps."""
        change = int(change_in_steps(sensitivity, self.grid, monotone=self.monotone).value)
        return worst_streams(
            scales=(self.threshold_scale, self.query_scale),
            threshold=self.threshold,
            grid=self.grid,
            change=change,
            down=0 if self.monotone else change,
            count=self.count,
        )
