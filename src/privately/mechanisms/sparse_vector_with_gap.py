"""Sparse vector that tells by how much a yes exceeded the threshold, for the same price."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Unpack

from privately.guarantees import Derivation, Sensitivity
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Alignment, Mechanism, set_fields
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.sparse_vector import SparseVector, plain_tests
from privately.mechanisms.threshold_accuracy import Comparisons
from privately.mechanisms.threshold_answers import ThresholdAnswers
from privately.mechanisms.threshold_settings import Settings, read_with_scales
from privately.rounding import Number


@dataclass(frozen=True, init=False)
class SparseVectorWithGap(ThresholdAnswers[Fraction | None], Mechanism):
    """Sparse vector where a yes is told as its gap, query + noise - (threshold + noise); the answer to a no is None.

    A gap plus the threshold estimates the query. It may be told once: another gap with other noise would cost again.

    >>> from privately.guarantees import Sensitivity
    >>> mechanism = SparseVectorWithGap(threshold_scale=5, query_scale=10, count=4, threshold=100)
    >>> mechanism.guarantee(Sensitivity(value=1))
    PureDP(epsilon=1)
    """

    justification = Alignment(shifts="the threshold's noise by the sensitivity, that of a yes so that its gap stays")
    program = Program("""
def sparse_vector_with_gap(queries: private, threshold, threshold_scale, query_scale, count):
    noisy_threshold = threshold + discrete_laplace(threshold_scale)
    answers = []
    for query in queries:
        if count == 0:
            break
        gap = query + discrete_laplace(query_scale) - noisy_threshold
        if gap >= 0:
            answers.append([gap])
            count = count - 1
        else:
            answers.append([])
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
    def for_epsilon(
        cls, epsilon: Number, sensitivity: Sensitivity, **settings: Unpack[Settings]
    ) -> SparseVectorWithGap:
        """The least noise with this epsilon, divided in the best way between threshold and queries."""
        tests = SparseVector.for_epsilon(epsilon, sensitivity, **settings)
        return cls(threshold_scale=tests.threshold_scale, query_scale=tests.query_scale, **settings)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, queries: int, **settings: Unpack[Settings]
    ) -> SparseVectorWithGap:
        """The most noise, hence the most privacy, with which no wrong answer is further off than `error`."""
        tests = SparseVector.for_accuracy(error=error, confidence=confidence, queries=queries, **settings)
        return cls(threshold_scale=tests.threshold_scale, query_scale=tests.query_scale, **settings)

    @cached_property
    def tests(self) -> SparseVector:
        """The same without gaps."""
        return plain_tests(self, self.query_scale)

    @property
    def comparisons(self) -> Comparisons:
        """Those of the tests."""
        return self.tests.comparisons

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP, if each query changes by no more than that."""
        return self.tests.derive(sensitivity)

    def compare(self, query: int, threshold: int, randomness: Randomness) -> tuple[Fraction | None, Fraction]:
        """One test, in steps, and its cost."""
        gap = query + int(randomness.draw(self.tests.query_law, size=1)[0]) - threshold
        return (gap * self.grid.unit, Fraction(1)) if gap >= 0 else (None, Fraction(0))

    def interval(self, confidence: Number, *, queries: int = 1) -> Fraction:
        """The least w such that all gaps, of so many queries, are within w of the truth with this confidence."""
        width = self.comparisons.width(confidence, queries=queries)
        return width * self.grid.unit + self.grid.rounding

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The queries, the threshold and the scales in steps."""
        return self.tests.program_inputs(value)
