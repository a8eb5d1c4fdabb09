"""Sparse vector that answers a yes with the query itself, with fresh noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Unpack

from privately.errors import InvalidParameter
from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteLaplace
from privately.mechanisms.error_bars import half_width
from privately.mechanisms.grids import Grid
from privately.mechanisms.laplace import Laplace
from privately.mechanisms.mechanism import Alignment, Mechanism, set_fields
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.sparse_vector import SparseVector, plain_tests
from privately.mechanisms.threshold_accuracy import Comparisons
from privately.mechanisms.threshold_answers import ThresholdAnswers
from privately.mechanisms.threshold_settings import Settings, change_in_steps, read, read_with_scales, split
from privately.rounding import Number, rational


@dataclass(frozen=True, init=False)
class NumericSparseVector(ThresholdAnswers[Fraction | None], Mechanism):
    """Sparse vector where a yes comes as query + new noise of `value_scale`; the answer to a no is None.

    The noise that was compared is never shown: it is not paid for. PureDP with the epsilon of sparse vector and
    count sensitivity/value_scale for the values.

    >>> from privately.guarantees import Sensitivity
    >>> mechanism = NumericSparseVector.for_epsilon(2, Sensitivity(value=1), count=4, threshold=100)
    >>> mechanism.guarantee(Sensitivity(value=1)), mechanism.query_scale, mechanism.value_scale
    (PureDP(epsilon=2), Fraction(10, 1), Fraction(4, 1))
    >>> print(mechanism.interval("0.95"))
    17
    """

    justification = Alignment(shifts="those of sparse vector, and each value's noise by the difference of the values")
    program = Program("""
def numeric_sparse_vector(queries: private, threshold, threshold_scale, query_scale, value_scale, count):
    noisy_threshold = threshold + discrete_laplace(threshold_scale)
    answers = []
    for query in queries:
        if count == 0:
            break
        if query + discrete_laplace(query_scale) >= noisy_threshold:
            answers.append([query + discrete_laplace(value_scale)])
            count = count - 1
        else:
            answers.append([])
    return answers
""")

    threshold_scale: Fraction
    query_scale: Fraction
    value_scale: Fraction
    count: int
    threshold: Fraction
    monotone: bool
    grid: Grid

    def __init__(
        self, *, threshold_scale: Number, query_scale: Number, value_scale: Number, **settings: Unpack[Settings]
    ) -> None:
        scales = {"threshold_scale": threshold_scale, "query_scale": query_scale, "value_scale": value_scale}
        set_fields(self, **read_with_scales(scales, settings))

    @classmethod
    def for_epsilon(
        cls, epsilon: Number, sensitivity: Sensitivity, *, values: Number = "1/2", **settings: Unpack[Settings]
    ) -> NumericSparseVector:
        """The least noise with this epsilon, if this part of it goes into the values."""
        exact, part = rational(epsilon, "epsilon", above=0), rational(values, "values", above=0)
        if part >= 1:
            raise InvalidParameter("values", "must be below 1: the tests need a part of epsilon too.")
        checked = read(**settings)
        steps = change_in_steps(sensitivity, checked["grid"], monotone=checked["monotone"]).value
        threshold_scale, query_scale = split(exact * (1 - part), sensitivity, **settings)
        value_scale = checked["count"] * steps * checked["grid"].unit / (exact * part)
        return cls(threshold_scale=threshold_scale, query_scale=query_scale, value_scale=value_scale, **settings)

    @classmethod
    def for_accuracy(
        cls,
        *,
        error: Number,
        confidence: Number,
        queries: int,
        value_error: Number | None = None,
        **settings: Unpack[Settings],
    ) -> NumericSparseVector:
        """The most noise with which no wrong answer is further off than `error`, and no value than `value_error`.

        Each of the two has the confidence by itself.
        """
        tests = SparseVector.for_accuracy(error=error, confidence=confidence, queries=queries, **settings)
        grid = settings.get("grid")
        allowed = error if value_error is None else value_error
        values = Laplace.for_accuracy(error=allowed, confidence=confidence, grid=grid, dimension=tests.count)
        return cls(
            threshold_scale=tests.threshold_scale, query_scale=tests.query_scale, value_scale=values.scale, **settings
        )

    @cached_property
    def tests(self) -> SparseVector:
        """The same without values."""
        return plain_tests(self, self.query_scale)

    @property
    def comparisons(self) -> Comparisons:
        """Those of the tests."""
        return self.tests.comparisons

    @cached_property
    def value_law(self) -> DiscreteLaplace:
        """The law of the noise on the values, in steps of the grid."""
        return DiscreteLaplace(scale=self.value_scale / self.grid.unit)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP of the tests and of `count` values, added up.

        Theorem: the answers of sparse vector and values with noise of their own have, for every transcript, a
            probability that is the product of those of the two parts; so their losses add, in whatever order.
        Reference: Dwork-Roth 2014, Theorem 3.28
        Proof: docs/theory/mechanisms.md#values-released-with-a-yes
        Checked-by: tests/mechanisms/test_numeric_sparse_vector.py::test_no_loss_exceeds_the_claim
        """
        change = change_in_steps(sensitivity, self.grid, monotone=self.monotone).to("L1", dimension=1)
        value = rules.discrete_laplace(scale=self.value_law.scale, sensitivity=change)
        return rules.sequential(self.tests.derive(sensitivity), value, counts=[1, self.count])

    def interval(self, confidence: Number) -> Fraction:
        """The least w such that all values are within w of the truth with this confidence."""
        return half_width(self.value_law, confidence, self.count) * self.grid.unit + self.grid.rounding

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The queries, the threshold and the scales in steps."""
        return {**self.tests.program_inputs(value), "value_scale": self.value_law.scale}

    def worst_steps(self, sensitivity: Sensitivity) -> tuple[list[int], list[int]]:
        """Queries far above the threshold that go up, then queries far below that go down.

        Where all must go up, the latter stay, unless their values tell more than their tests.
        """
        before, after = super().worst_steps(sensitivity)
        if self.monotone and self.value_scale < self.query_scale:
            up = after[0] - before[0]
            after[-self.count :] = [query + up for query in after[-self.count :]]
        return before, after

    def compare(self, query: int, threshold: int, randomness: Randomness) -> tuple[Fraction | None, Fraction]:
        """One test, in steps, and its cost."""
        asked, cost = self.tests.compare(query, threshold, randomness)
        if not asked:
            return None, cost
        return (query + int(randomness.draw(self.value_law, size=1)[0])) * self.grid.unit, cost
