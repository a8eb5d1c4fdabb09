"""The first partial sums of seed 000: noise on every sum, which costs as many epsilons as there are items.

It is here as an example. For long streams `BinaryTree` and `SquareRootFactorization` err less.
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
from privately.mechanisms.error_bars import half_width
from privately.mechanisms.mechanism import Accuracy, Alignment, Mechanism
from privately.mechanisms.partial_sums import (
    derive_sums,
    deviation_for_mu,
    largest_error,
    read_length,
    read_stream,
    saturated,
    scale_for_epsilon,
    standard_errors,
    written_with,
)
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.sums_of_noise import Noise, NoiseLaw, draw_noise, law_of, most_noise, widest_of
from privately.noise import add
from privately.rounding import Number, rational, whole

_PROGRAMS = written_with("""
def dummy_sum(stream: private, scale):
    total = 0
    answers = []
    for item in stream:
        total = total + item
        answers.append(total + NOISE(scale))
    return answers
""")


@dataclass(frozen=True, init=False)
class DummySum1(Mechanism):
    """Noise on every partial sum. The first item is in all of them, so this costs length * sensitivity/scale.

    >>> from privately.guarantees import Sensitivity
    >>> DummySum1(scale=1, length=100).guarantee(Sensitivity(value=1))
    PureDP(epsilon=100)
    """

    justification = Alignment(shifts="the noise of each sum by the difference of the sums")

    scale: Fraction
    length: int
    noise: Noise

    def __init__(self, *, scale: Number, length: int, noise: Noise = "discrete_laplace") -> None:
        law_of(noise, scale)
        object.__setattr__(self, "scale", rational(scale, "scale"))
        object.__setattr__(self, "length", read_length(length))
        object.__setattr__(self, "noise", noise)

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Sensitivity, *, length: int) -> DummySum1:
        """The least Laplace noise with this epsilon, for all sums together."""
        return cls(scale=scale_for_epsilon(epsilon, sensitivity, length=length, copies=length), length=length)

    @classmethod
    def for_mu(cls, mu: Number, sensitivity: Sensitivity, *, length: int) -> DummySum1:
        """The least normal noise with this mu, for all sums together."""
        deviation = deviation_for_mu(mu, sensitivity, length=length, copies=length)
        return cls(scale=deviation, length=length, noise="rounded_gaussian")

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, length: int, noise: Noise = "discrete_laplace"
    ) -> DummySum1:
        """The most noise with which all sums are within `error` with this confidence."""
        scale = most_noise(
            lambda scale: half_width(law_of(noise, scale), confidence, length), error, highest=widest_of(noise)
        )
        return cls(scale=scale, length=length, noise=noise)

    @property
    def law(self) -> NoiseLaw:
        """The law of the noise on each sum."""
        return law_of(self.noise, self.scale)

    @property
    def program(self) -> Program:
        """As in the seed."""
        return _PROGRAMS[self.noise]

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """Each item is in up to `length` noisy sums; for the first of them nothing less is true."""
        return derive_sums(self.law, sensitivity, length=self.length, copies=self.length)

    def run(self, value: Any, randomness: Randomness) -> NDArray[np.int64]:
        """All noisy partial sums."""
        sums = np.cumsum(read_stream(value, self.length))
        return saturated(add(sums, draw_noise(self.law, self.length, randomness)))

    def standard_errors(self) -> NDArray[np.float64]:
        """One for each partial sum: all the same."""
        return standard_errors(self.law, np.ones(self.length))

    def interval(self, confidence: Number) -> Fraction:
        """The least w such that all sums are within w of the truth with this confidence."""
        return Fraction(half_width(self.law, confidence, self.length))

    def interval_at(self, prefix: int, confidence: Number) -> Fraction:
        """The same for the sum of the first `prefix` items alone."""
        whole(prefix, "prefix", maximum=self.length)
        return Fraction(half_width(self.law, confidence, 1))

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """`interval` as a statement."""
        return largest_error(self.interval(confidence), confidence)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The stream, and the scale."""
        return {"stream": read_stream(value, self.length).tolist(), "scale": self.scale}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[int], list[int]]:
        """The first item changes."""
        return spread_over(self.length, floor(sensitivity.to("L1", dimension=self.length).value))
