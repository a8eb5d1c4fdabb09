"""Partial sums from a binary tree: noise on blocks of 1, 2, 4, ... items, of which each sum needs a few."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import Derivation, Sensitivity
from privately.laws import RoundedNormal
from privately.mechanisms.additive import spread_over
from privately.mechanisms.laplace_sums import EXACT_TERMS, chernoff_half_width, growth_of
from privately.mechanisms.mechanism import Accuracy, Alignment, Mechanism
from privately.mechanisms.partial_sums import (
    derive_sums,
    deviation_for_mu,
    largest_error,
    miss_of,
    mu_for_rho,
    read_length,
    read_stream,
    saturated,
    scale_for_epsilon,
    standard_errors,
    written_with,
)
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import SYSTEM, Randomness
from privately.mechanisms.stream_sessions import StreamSession, over_blocks
from privately.mechanisms.sums_of_noise import (
    Noise,
    NoiseLaw,
    counted,
    draw_noise,
    law_of,
    most_noise,
    sum_half_width,
    sums_half_width,
    widest_of,
)
from privately.mechanisms.tree_blocks import chain, growth_of_sums, number_of_blocks, read_levels
from privately.noise import add
from privately.rounding import Enclosure, Number, rational, whole

_PROGRAMS = written_with("""
def binary_tree(stream: private, levels, scale):
    exact = [0 for level in range(levels)]
    noisy = [0 for level in range(levels)]
    answers = []
    for i in range(len(stream)):
        level = 0
        total = stream[i]
        while level < levels - 1 and (i + 1) // 2 ** level % 2 == 0:
            total = total + exact[level]
            exact[level] = 0
            noisy[level] = 0
            level = level + 1
        exact[level] = total
        noisy[level] = noisy[level] + total + NOISE(scale)
        answers.append(sum(noisy))
    return answers
""")


@dataclass(frozen=True, init=False)
class BinaryTree(Mechanism):
    """All partial sums of a stream, each from at most about log2(length) noisy blocks.

    An item is in one block of each of the `levels`, so this costs levels * sensitivity/scale. Unless told otherwise
    there are log2(length) levels, rounded up: the tree without its root, which would serve a single sum. Adding or
    removing an item means that its value was, or becomes, zero; the length is public.

    >>> from privately.guarantees import Sensitivity
    >>> BinaryTree(scale=10, length=1024).guarantee(Sensitivity(value=1))
    PureDP(epsilon=1)
    """

    justification = Alignment(shifts="the noise of each block that holds the changed item by its change")

    scale: Fraction
    length: int
    levels: int
    noise: Noise

    def __init__(
        self, *, scale: Number, length: int, levels: int | None = None, noise: Noise = "discrete_laplace"
    ) -> None:
        law_of(noise, scale)
        object.__setattr__(self, "scale", rational(scale, "scale"))
        object.__setattr__(self, "length", read_length(length))
        object.__setattr__(self, "levels", read_levels(levels, self.length))
        object.__setattr__(self, "noise", noise)

    @classmethod
    def for_epsilon(
        cls, epsilon: Number, sensitivity: Sensitivity, *, length: int, levels: int | None = None
    ) -> BinaryTree:
        """The least Laplace noise with this epsilon."""
        copies = read_levels(levels, read_length(length))
        scale = scale_for_epsilon(epsilon, sensitivity, length=length, copies=copies)
        return cls(scale=scale, length=length, levels=levels)

    @classmethod
    def for_mu(cls, mu: Number, sensitivity: Sensitivity, *, length: int, levels: int | None = None) -> BinaryTree:
        """The least normal noise with this mu."""
        copies = read_levels(levels, read_length(length))
        deviation = deviation_for_mu(mu, sensitivity, length=length, copies=copies)
        return cls(scale=deviation, length=length, levels=levels, noise="rounded_gaussian")

    @classmethod
    def for_rho(cls, rho: Number, sensitivity: Sensitivity, *, length: int, levels: int | None = None) -> BinaryTree:
        """The least normal noise with this rho."""
        return cls.for_mu(mu_for_rho(rho), sensitivity, length=length, levels=levels)

    @classmethod
    def for_accuracy(
        cls,
        *,
        error: Number,
        confidence: Number,
        length: int,
        levels: int | None = None,
        noise: Noise = "discrete_laplace",
    ) -> BinaryTree:
        """The most noise with which all sums are within `error` with this confidence, as far as `interval` can tell."""

        def tree(scale: Fraction) -> BinaryTree:
            return cls(scale=scale, length=length, levels=levels, noise=noise)

        return tree(most_noise(lambda scale: tree(scale).interval(confidence), error, highest=widest_of(noise)))

    @property
    def law(self) -> NoiseLaw:
        """The law of the noise on each block."""
        return law_of(self.noise, self.scale)

    @property
    def program(self) -> Program:
        """Item by item, as a session does it."""
        return _PROGRAMS[self.noise]

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """Each item is in one block of each level."""
        return derive_sums(self.law, sensitivity, length=self.length, copies=self.levels)

    def run(self, value: Any, randomness: Randomness) -> NDArray[np.int64]:
        """All noisy partial sums; the noise is that of the largest block that ends with each item, in this order."""
        sums = np.cumsum(read_stream(value, self.length))
        noise = draw_noise(self.law, self.length, randomness)
        return saturated(add(sums, chain(noise, self.levels)))

    def session(self, randomness: Randomness = SYSTEM) -> StreamSession[int]:
        """The same item by item, for a stream that is still to come."""

        def noisy(total: int) -> int:
            return total + int(randomness.draw(self.law, size=1)[0])

        return StreamSession(length=self.length, advance=over_blocks(self.levels, noisy))

    def standard_errors(self) -> NDArray[np.float64]:
        """One for each partial sum."""
        return standard_errors(self.law, number_of_blocks(self.length, self.levels))

    def interval(self, confidence: Number) -> Fraction:
        """A w such that all sums are within w of the truth with this confidence; the least by a union bound."""
        blocks, law, miss = number_of_blocks(self.length, self.levels), self.law, miss_of(confidence)
        if isinstance(law, RoundedNormal) or blocks.max() <= EXACT_TERMS:
            return Fraction(sums_half_width(law, counted(blocks), miss))

        def growth(y: Fraction) -> Enclosure:
            return growth_of_sums([growth_of(law, y)] * self.levels, self.length)

        return Fraction(floor(law.scale * chernoff_half_width(growth, miss)))

    def interval_at(self, prefix: int, confidence: Number) -> Fraction:
        """The same for the sum of the first `prefix` items alone; the least one up to 128 blocks of Laplace noise."""
        last = whole(prefix, "prefix", maximum=self.length) - 1
        blocks = int(number_of_blocks(self.length, self.levels)[last])
        return Fraction(sum_half_width(self.law, blocks, miss_of(confidence)))

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """`interval` as a statement."""
        return largest_error(self.interval(confidence), confidence)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The stream, the levels and the scale."""
        return {"stream": read_stream(value, self.length).tolist(), "levels": self.levels, "scale": self.scale}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[int], list[int]]:
        """The first item changes: the sums use a block of every level that holds it."""
        return spread_over(self.length, floor(sensitivity.to("L1", dimension=self.length).value))
