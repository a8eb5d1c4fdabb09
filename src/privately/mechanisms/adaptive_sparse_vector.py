"""Sparse vector that tries a coarse test first, which costs less, and so answers more queries that are far above."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, Unpack

from privately.errors import InvalidParameter
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
    directions,
    noise_ratio,
    read,
    read_length,
    read_with_scales,
    split,
)
from privately.rounding import Number

NO, COARSE, FINE = 0, 1, 2
"""The answers: no, yes by the first test, yes by the second."""

MARGIN_IN_COARSE_SCALES = 3
"""About two standard deviations."""


@dataclass(frozen=True, init=False)
class AdaptiveSparseVector(ThresholdAnswers[int], Mechanism):
    """A query is a yes if it passes a coarse test, with much noise and a margin to spare, or else a fine one.

    `count` fine yes answers are paid for; a coarse one counts fine_scale/coarse_scale of one. It stops as soon as a
    fine yes might exceed what is left. Answers are 0 for no, 1 for a coarse yes, 2 for a fine one. PureDP with
    epsilon = sensitivity/threshold_scale + 2 count sensitivity/fine_scale; 1 instead of 2 if `monotone`.

    >>> from privately.guarantees import Sensitivity
    >>> mechanism = AdaptiveSparseVector.for_epsilon(1, Sensitivity(value=1), count=4, threshold=100)
    >>> mechanism.guarantee(Sensitivity(value=1)), mechanism.most_answers
    (PureDP(epsilon=1), 7)
    >>> mechanism.release([10_000] * 20), mechanism.release([-10_000] * 3)
    ([1, 1, 1, 1, 1, 1, 1], [0, 0, 0])
    """

    justification = Alignment(shifts="the threshold's noise by the sensitivity, that of a yes so that it stays one")
    program = Program("""
def adaptive_sparse_vector(
    queries: private, threshold, margin, threshold_scale, coarse_scale, fine_scale, count
):
    noisy_threshold = threshold + discrete_laplace(threshold_scale)
    left = count
    answers = []
    for query in queries:
        if left < 1:
            break
        if query + discrete_laplace(coarse_scale) >= noisy_threshold + margin:
            answers.append(1)
            left = left - fine_scale / coarse_scale
        elif query + discrete_laplace(fine_scale) >= noisy_threshold:
            answers.append(2)
            left = left - 1
        else:
            answers.append(0)
    return answers
""")

    threshold_scale: Fraction
    coarse_scale: Fraction
    fine_scale: Fraction
    margin: Fraction
    count: int
    threshold: Fraction
    monotone: bool
    grid: Grid

    def __init__(
        self,
        *,
        threshold_scale: Number,
        coarse_scale: Number,
        fine_scale: Number,
        margin: Number,
        **settings: Unpack[Settings],
    ) -> None:
        scales = {"threshold_scale": threshold_scale, "coarse_scale": coarse_scale, "fine_scale": fine_scale}
        fields = read_with_scales(scales, settings)
        fields["margin"] = read_length(margin, "margin", fields["grid"])
        if fields["coarse_scale"] <= fields["fine_scale"]:
            raise InvalidParameter("coarse_scale", "must be above fine_scale: more noise is what makes a yes cheaper.")
        set_fields(self, **fields)

    @classmethod
    def for_epsilon(
        cls, epsilon: Number, sensitivity: Sensitivity, **settings: Unpack[Settings]
    ) -> AdaptiveSparseVector:
        """The least noise with this epsilon; coarse tests have twice the noise of fine ones, so they cost half."""
        threshold_scale, fine_scale = split(epsilon, sensitivity, **settings)
        return cls._usual(threshold_scale, fine_scale, settings)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, queries: int, **settings: Unpack[Settings]
    ) -> AdaptiveSparseVector:
        """The most noise, hence the most privacy, with which no wrong answer is further off than `error`."""
        fields = read(**settings)
        unit, ratio = fields["grid"].unit, noise_ratio(count=fields["count"], monotone=fields["monotone"])
        scale = unit * most_noise(
            lambda scale: cls._usual(scale * unit, ratio * scale * unit, settings).comparisons,
            error=error,
            confidence=confidence,
            queries=queries,
            answers=cls._usual(unit, ratio * unit, settings).most_answers,
            grid=fields["grid"],
        )
        return cls._usual(scale, ratio * scale, settings)

    @classmethod
    def _usual(cls, threshold_scale: Fraction, fine_scale: Fraction, settings: Settings) -> AdaptiveSparseVector:
        unit = Grid(settings.get("grid")).unit
        return cls(
            threshold_scale=threshold_scale,
            coarse_scale=2 * fine_scale,
            fine_scale=fine_scale,
            margin=ceil(2 * MARGIN_IN_COARSE_SCALES * fine_scale / unit) * unit,
            **settings,
        )

    @cached_property
    def coarse_law(self) -> DiscreteLaplace:
        """The law of the noise of the first test, in steps of the grid."""
        return DiscreteLaplace(scale=self.coarse_scale / self.grid.unit)

    @cached_property
    def fine_law(self) -> DiscreteLaplace:
        """The law of the noise of the second test."""
        return DiscreteLaplace(scale=self.fine_scale / self.grid.unit)

    @cached_property
    def coarse_cost(self) -> Fraction:
        """What part of a fine yes a coarse one costs."""
        return self.fine_scale / self.coarse_scale

    @property
    def most_answers(self) -> int:
        """How many yes answers there are at most: coarse ones until less than one fine one is left."""
        return int((self.count - 1) / self.coarse_cost) + 1

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP, if each query changes by no more than that."""
        unit, change = self.grid.unit, change_in_steps(sensitivity, self.grid, monotone=self.monotone)
        fine = self.fine_scale / unit
        return rules.adaptive_sparse_vector(
            threshold_scale=self.threshold_scale / unit,
            query_scales=[self.coarse_scale / unit, fine],
            query_epsilon=self.count * directions(monotone=self.monotone) * change.value / fine,
            monotone=self.monotone,
            sensitivity=change,
        )

    def interval(self, confidence: Number, *, queries: int = 1) -> Fraction:
        """How far from the threshold a query with a wrong answer may be: answers are no numbers."""
        return self.accuracy(confidence=confidence, queries=queries).error

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The queries and the parameters in steps."""
        names = ("threshold_scale", "coarse_scale", "fine_scale")
        lengths = {name: int(getattr(self, name) / self.grid.unit) for name in ("threshold", "margin")}
        scales = {name: getattr(self, name) / self.grid.unit for name in names}
        return {"queries": read_stream(value, self.grid), **lengths, **scales, "count": self.count}

    @property
    def comparisons(self) -> Comparisons:
        """Both tests in steps, for the analysis of errors."""
        unit = self.grid.unit
        tests = ((self.coarse_law.scale, int(self.margin / unit)), (self.fine_law.scale, 0))
        return Comparisons(threshold_scale=self.threshold_scale / unit, tests=tests)

    def compare(self, query: int, threshold: int, randomness: Randomness) -> tuple[int, Fraction]:
        """Both tests, in steps, and their cost."""
        if query + int(randomness.draw(self.coarse_law, size=1)[0]) >= threshold + int(self.margin / self.grid.unit):
            return COARSE, self.coarse_cost
        if query + int(randomness.draw(self.fine_law, size=1)[0]) >= threshold:
            return FINE, Fraction(1)
        return NO, Fraction(0)
