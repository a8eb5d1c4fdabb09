"""The second partial sums of seed 000: noise on every item, which costs one epsilon in all.

For long streams `BinaryTree` and `SquareRootFactorization` err less.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import Derivation, Sensitivity
from privately.mechanisms.error_bars import miss_of
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
from privately.mechanisms.sums_of_noise import Noise, draw_noise, sum_half_width
from privately.noise import add
from privately.rounding import Number, whole


@dataclass(frozen=True, init=False)
class DummySum2(NoisySums, Mechanism):
    """Noise on every item, and partial sums of the noisy items: this costs sensitivity/scale, however many there are.

    >>> from privately.guarantees import Sensitivity
    >>> DummySum2(scale=1, length=100).guarantee(Sensitivity(value=1))
    PureDP(epsilon=1)
    """

    justification = Alignment(shifts="the noise of the item that changed by its change")
    programs = written_with("""
def dummy_sum(stream: private, scale):
    total = 0
    answers = []
    for item in stream:
        total = total + item + NOISE(scale)
        answers.append(total)
    return answers
""")

    scale: Fraction
    length: int
    noise: Noise

    def __init__(self, *, scale: Number, length: int, noise: Noise = "discrete_laplace") -> None:
        set_fields(self, **read_sums(scale, length, noise))

    @property
    def copies(self) -> int:
        """Each item is in one noisy number."""
        return 1

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP with epsilon = sensitivity/scale, or GaussianDP with mu = sensitivity/scale."""
        return derive_sums(self.law, sensitivity, length=self.length, copies=self.copies)

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
