"""The second partial sums of seed 000: noise on every item, which costs one epsilon in all.

For long streams `BinaryTree` and `SquareRootFactorization` err less.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import Derivation, Sensitivity
from privately.mechanisms.additive import spread_over
from privately.mechanisms.mechanism import Accuracy, Alignment, Mechanism
from privately.mechanisms.partial_sums import (
    derive_sums,
    deviation_for_mu,
    largest_error,
    miss_of,
    read_length,
    read_stream,
    saturated,
    scale_for_epsilon,
    standard_errors,
    written_with,
)
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.sums_of_noise import (
    Noise,
    NoiseLaw,
    draw_noise,
    law_of,
    most_noise,
    sum_half_width,
    widest_of,
)
from privately.noise import add
from privately.rounding import Number, rational, whole

_PROGRAMS = written_with("""
def dummy_sum(stream: private, scale):
    total = 0
    answers = []
    for item in stream:
        total = total + item + NOISE(scale)
        answers.append(total)
    return answers
""")


@dataclass(frozen=True, init=False)
class DummySum2(Mechanism):
    """Noise on every item, and partial sums of the noisy items: this costs sensitivity/scale, however many there are.

    >>> from privately.guarantees import Sensitivity
    >>> DummySum2(scale=1, length=100).guarantee(Sensitivity(value=1))
    PureDP(epsilon=1)
    """

    justification = Alignment(shifts="the noise of the item that changed by its change")

    scale: Fraction
    length: int
    noise: Noise

    def __init__(self, *, scale: Number, length: int, noise: Noise = "discrete_laplace") -> None:
        law_of(noise, scale)
        object.__setattr__(self, "scale", rational(scale, "scale"))
        object.__setattr__(self, "length", read_length(length))
        object.__setattr__(self, "noise", noise)

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Sensitivity, *, length: int) -> DummySum2:
        """The least Laplace noise with this epsilon."""
        return cls(scale=scale_for_epsilon(epsilon, sensitivity, length=length, copies=1), length=length)

    @classmethod
    def for_mu(cls, mu: Number, sensitivity: Sensitivity, *, length: int) -> DummySum2:
        """The least normal noise with this mu."""
        deviation = deviation_for_mu(mu, sensitivity, length=length, copies=1)
        return cls(scale=deviation, length=length, noise="rounded_gaussian")

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, length: int, noise: Noise = "discrete_laplace"
    ) -> DummySum2:
        """The most noise with which all sums are within `error` with this confidence, as far as `interval` can tell."""
        scale = most_noise(
            lambda scale: cls(scale=scale, length=length, noise=noise).interval(confidence),
            error,
            highest=widest_of(noise),
        )
        return cls(scale=scale, length=length, noise=noise)

    @property
    def law(self) -> NoiseLaw:
        """The law of the noise on each item."""
        return law_of(self.noise, self.scale)

    @property
    def program(self) -> Program:
        """As in the seed."""
        return _PROGRAMS[self.noise]

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """Each item is in one noisy number."""
        return derive_sums(self.law, sensitivity, length=self.length, copies=1)

    def run(self, value: Any, randomness: Randomness) -> NDArray[np.int64]:
        """All noisy partial sums."""
        items = read_stream(value, self.length)
        noisy: NDArray[Any] = add(items, draw_noise(self.law, self.length, randomness))
        return saturated(np.cumsum(noisy))

    def standard_errors(self) -> NDArray[np.float64]:
        """One for each partial sum; they grow as the square root of its length."""
        return standard_errors(self.law, np.arange(1, self.length + 1))

    def interval(self, confidence: Number) -> Fraction:
        """A w such that all sums are within w of the truth with this confidence.

        Theorem: P(some |S_t| > w) <= 2 P(|S_T| > w) for the partial sums of independent symmetric variables.
        Reference: Levy's inequality
        Proof: docs/theory/mechanisms.md#noise-on-every-item
        Checked-by: tests/mechanisms/test_dummy_sum_2.py::test_all_sums_are_within_the_interval
        """
        miss = miss_of(confidence)
        return Fraction(sum_half_width(self.law, self.length, miss if self.length == 1 else miss / 2))

    def interval_at(self, prefix: int, confidence: Number) -> Fraction:
        """The same for the sum of the first `prefix` items alone; the least one up to 128 items of Laplace noise."""
        terms = whole(prefix, "prefix", maximum=self.length)
        return Fraction(sum_half_width(self.law, terms, miss_of(confidence)))

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """`interval` as a statement."""
        return largest_error(self.interval(confidence), confidence)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The stream, and the scale."""
        return {"stream": read_stream(value, self.length).tolist(), "scale": self.scale}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[int], list[int]]:
        """Any item changes."""
        return spread_over(self.length, floor(sensitivity.to("L1", dimension=self.length).value))
