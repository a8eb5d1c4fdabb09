"""The first partial sums of seed 000: noise on every sum, which costs as many epsilons as there are items.

It is here as an example. For long streams `BinaryTree` and `SquareRootFactorization` err less.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import Derivation, Sensitivity
from privately.mechanisms.error_bars import half_width
from privately.mechanisms.mechanism import Alignment, Mechanism, set_fields
from privately.mechanisms.noisy_sums import NoisySums
from privately.mechanisms.partial_sums import (
    derive_sums,
    read_stream,
    read_sums,
    saturated,
    standard_errors,
    written_with,
)
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.sums_of_noise import Noise, draw_noise
from privately.noise import add
from privately.rounding import Number, whole


@dataclass(frozen=True, init=False)
class DummySum1(NoisySums, Mechanism):
    """Noise on every partial sum. The first item is in all of them, so this costs length * sensitivity/scale.

    >>> from privately.guarantees import Sensitivity
    >>> DummySum1(scale=1, length=100).guarantee(Sensitivity(value=1))
    PureDP(epsilon=100)
    """

    justification = Alignment(shifts="the noise of each sum by the difference of the sums")
    programs = written_with("""
def dummy_sum(stream: private, scale):
    total = 0
    answers = []
    for item in stream:
        total = total + item
        answers.append(total + NOISE(scale))
    return answers
""")

    scale: Fraction
    length: int
    noise: Noise

    def __init__(self, *, scale: Number, length: int, noise: Noise = "discrete_laplace") -> None:
        set_fields(self, **read_sums(scale, length, noise))

    @property
    def copies(self) -> int:
        """The first item is in all the sums, and nothing less is true of it."""
        return self.length

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP with epsilon = length sensitivity/scale, or GaussianDP with mu = sqrt(length) sensitivity/scale."""
        return derive_sums(self.law, sensitivity, length=self.length, copies=self.copies)

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
