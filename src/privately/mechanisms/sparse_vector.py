"""Sparse vector: which queries reach a threshold, where only the yes answers cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Unpack

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteLaplace
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Alignment, Mechanism, set_fields
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.threshold_accuracy import Comparisons, most_noise
from privately.mechanisms.threshold_answers import ThresholdAnswers
from privately.mechanisms.threshold_sessions import read_stream
from privately.mechanisms.threshold_settings import (
    Settings,
    change_in_steps,
    noise_ratio,
    read,
    read_with_scales,
    split,
)
from privately.rounding import Number


@dataclass(frozen=True, init=False)
class SparseVector(ThresholdAnswers[bool], Mechanism):
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
        scales = {"threshold_scale": threshold_scale, "query_scale": query_scale}
        set_fields(self, **read_with_scales(scales, settings))

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

    def compare(self, query: int, threshold: int, randomness: Randomness) -> tuple[bool, Fraction]:
        """One test, in steps, and its cost."""
        reached = query + int(randomness.draw(self.query_law, size=1)[0]) >= threshold
        return reached, Fraction(reached)

    def interval(self, confidence: Number, *, queries: int = 1) -> Fraction:
        """How far from the threshold a query with a wrong answer may be: answers are no numbers."""
        return self.accuracy(confidence=confidence, queries=queries).error

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The queries, the threshold and the scales in steps."""
        return {
            "queries": read_stream(value, self.grid),
            "threshold": int(self.threshold / self.grid.unit),
            "threshold_scale": self.threshold_scale / self.grid.unit,
            "query_scale": self.query_law.scale,
            "count": self.count,
        }


def plain_tests(mechanism: ThresholdAnswers[Any], query_scale: Fraction) -> SparseVector:
    """The yes and no of a mechanism that says more."""
    return SparseVector(
        threshold_scale=mechanism.threshold_scale,
        query_scale=query_scale,
        count=mechanism.count,
        threshold=mechanism.threshold,
        monotone=mechanism.monotone,
        grid=mechanism.grid.step,
    )
