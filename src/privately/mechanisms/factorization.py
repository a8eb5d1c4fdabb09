"""Partial sums by the square root of their matrix: normal noise on R x, and L = A R^-1 afterwards.

A   the matrix of partial sums, ones on and below the diagonal     R   its square root, rounded to multiples of 2^-bits
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import RoundedNormal
from privately.mechanisms.additive import largest_error, spread_over
from privately.mechanisms.error_bars import miss_of
from privately.mechanisms.grids import FARTHEST, Grid
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.neighborhoods import some_change
from privately.mechanisms.normal_sums import normal_half_width
from privately.mechanisms.partial_sums import SUMMING, mu_for_rho, root_up, standard_errors
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.sums_of_noise import most_noise
from privately.mechanisms.toeplitz import multiply, multiply_exactly, rounded_root, sums_after_inverse
from privately.noise import add
from privately.noise.samplers import NARROWEST, WIDEST_GAUSSIAN
from privately.rounding import Number, rational, tidy, whole

MAX_BITS = 26
MAX_LENGTH = 2**20
"""The exact product of a longer stream would take more than a few seconds, and a gigabyte."""

_SPARE_BITS = 12


@dataclass(frozen=True, init=False)
class SquareRootFactorization(Mechanism):
    """All partial sums of a stream with normal noise; for long streams with smaller errors than any tree's.

    Numerically optimised factorizations have errors that are smaller by a few per cent, but no formula.

    R x times 2^bits is a vector of integers, to which rounded normal noise is added: GaussianDP with
    mu = sensitivity * (the norm of R's first column)/standard deviation, hence zCDP with mu^2/2.

    >>> from privately.guarantees import Sensitivity
    >>> sums = SquareRootFactorization.for_mu("1/4", Sensitivity(value=1), length=1024)
    >>> sums.guarantee(Sensitivity(value=1)), round(float(sums.standard_deviation), 3)
    (GaussianDP(mu=0.25), 7.236)
    """

    justification = Theorem(reference="Fichtenberger-Henzinger-Upadhyay 2023; docs/theory/mechanisms.md")
    program = Program("""
def factorized_sums(stream: private, root, standard_deviation):
    noisy = []
    for t in range(len(stream)):
        product = 0
        for i in range(t + 1):
            product = product + root[t - i] * stream[i]
        noisy.append(product + rounded_gaussian(standard_deviation))
    items = []
    answers = []
    for t in range(len(stream)):
        rest = noisy[t]
        for i in range(t):
            rest = rest - root[t - i] * items[i]
        items.append(Fraction(rest) / root[0])
        answers.append(sum(items))
    return answers
""")

    standard_deviation: Fraction
    length: int
    bits: int

    def __init__(self, *, standard_deviation: Number, length: int, bits: int | None = None) -> None:
        object.__setattr__(self, "length", _read_length(length))
        object.__setattr__(self, "bits", _read_bits(bits, self.length))
        step = Fraction(1, 1 << self.bits)
        exact = rational(
            standard_deviation, "standard_deviation", minimum=NARROWEST * step, maximum=WIDEST_GAUSSIAN * step
        )
        object.__setattr__(self, "standard_deviation", exact)

    @classmethod
    def for_mu(
        cls, mu: Number, sensitivity: Sensitivity, *, length: int, bits: int | None = None
    ) -> SquareRootFactorization:
        """The least noise with this mu."""
        norm = column_norm(_read_length(length), _read_bits(bits, length))
        change = some_change(sensitivity.to("L1", dimension=length).value)
        deviation = tidy(change * norm / rational(mu, "mu", above=0))
        return cls(standard_deviation=deviation, length=length, bits=bits)

    @classmethod
    def for_rho(
        cls, rho: Number, sensitivity: Sensitivity, *, length: int, bits: int | None = None
    ) -> SquareRootFactorization:
        """The least noise with this rho."""
        return cls.for_mu(mu_for_rho(rho), sensitivity, length=length, bits=bits)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, length: int, bits: int | None = None
    ) -> SquareRootFactorization:
        """The most noise with which all sums are within `error` with this confidence, as far as `interval` can tell."""

        def sums(deviation: Fraction) -> SquareRootFactorization:
            return cls(standard_deviation=deviation, length=length, bits=bits)

        highest = WIDEST_GAUSSIAN / (1 << _read_bits(bits, _read_length(length)))
        return sums(most_noise(lambda deviation: sums(deviation).interval(confidence), error, highest=highest))

    @property
    def law(self) -> RoundedNormal:
        """The law of the noise on each entry of R x times 2^bits."""
        return RoundedNormal(standard_deviation=self.standard_deviation * 2**self.bits)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """GaussianDP from the largest column of R, whose norm is computed exactly and rounded up.

        Theorem: if the stream changes by at most s in L1 between neighbours, R x changes by at most s times the largest
            norm of a column of R in L2.
        Reference: triangle inequality; Li-Hay-Rastogi-Miklau-McGregor 2010
        Proof: docs/theory/mechanisms.md#square-root-factorization
        Checked-by: tests/mechanisms/test_factorization.py::test_no_stream_moves_further_than_the_column_norm
        """
        change = sensitivity.to("L1", dimension=self.length)
        steps = tidy(change.value * column_norm(self.length, self.bits) * 2**self.bits)
        moved = Sensitivity(value=steps, norm="L2", neighbors=change.neighbors)
        noisy = rules.rounded_gaussian(standard_deviation=self.law.standard_deviation, sensitivity=moved)
        return rules.postprocessing(noisy, description="multiplied by A R^-1, in floating point")

    def run(self, value: Any, randomness: Randomness) -> NDArray[np.float64]:
        """All estimated partial sums. Items beyond `farthest` are moved to it, which brings no two further apart."""
        items = np.clip(Grid(None).snap(value, self.length), -self.farthest, self.farthest)
        root = rounded_root(self.length, self.bits)
        product = multiply_exactly(root, items + self.farthest) - self.farthest * np.cumsum(root)
        return self.sums_of(add(product, randomness.draw(self.law, size=self.length)).astype(np.float64))

    def sums_of(self, noisy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Partial sums from noisy R x times 2^bits; to about 10^-13 of the largest, which no error bar counts."""
        sums = multiply(sums_after_inverse(self.length, self.bits), noisy, self.length)
        return np.ldexp(sums, -self.bits)

    @property
    def farthest(self) -> int:
        """So far from zero an item may be, so that no entry of R x overflows."""
        return FARTHEST // 2 // int(rounded_root(self.length, self.bits).sum())

    def _squares(self) -> NDArray[np.float64]:
        """For each partial sum, the squares of its row of A R^-1, added up; or a little more."""
        return np.cumsum(sums_after_inverse(self.length, self.bits) ** 2) * SUMMING

    def standard_errors(self) -> NDArray[np.float64]:
        """One for each partial sum."""
        return np.ldexp(standard_errors(self.law, self._squares()), -self.bits)

    def interval(self, confidence: Number) -> Fraction:
        """A w such that all sums are within w of the truth with this confidence; by a union bound."""
        return self._half_width(self._squares(), confidence)

    def interval_at(self, prefix: int, confidence: Number) -> Fraction:
        """The same for the sum of the first `prefix` items alone."""
        last = whole(prefix, "prefix", maximum=self.length)
        return self._half_width(self._squares()[last - 1 : last], confidence)

    def _half_width(self, squares: NDArray[np.float64], confidence: Number) -> Fraction:
        deviation = self.law.standard_deviation
        return normal_half_width(deviation, squares, miss_of(confidence), draws=self.length) / (1 << self.bits)

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """`interval` as a statement."""
        return largest_error(self.interval(confidence), confidence)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The stream, R's first column and the standard deviation, both times 2^bits."""
        items = np.clip(Grid(None).snap(value, self.length), -self.farthest, self.farthest)
        root = rounded_root(self.length, self.bits)
        return {"stream": items.tolist(), "root": root.tolist(), "standard_deviation": self.law.standard_deviation}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[int], list[int]]:
        """The first item changes."""
        return spread_over(self.length, floor(sensitivity.to("L1", dimension=self.length).value))


def column_norm(length: int, bits: int) -> Fraction:
    """The norm of the first column of R, which is the largest, or a little more."""
    root = rounded_root(length, bits)
    return root_up(int(root @ root)) / (1 << bits)


def _read_length(length: int) -> int:
    return whole(length, "length", maximum=MAX_LENGTH)


def _read_bits(bits: int | None, length: int) -> int:
    """Unless told, so many that the smallest entry of R has twelve bits."""
    usual = _SPARE_BITS + isqrt(4 * length).bit_length()
    return min(usual, MAX_BITS) if bits is None else whole(bits, "bits", minimum=0, maximum=MAX_BITS)
