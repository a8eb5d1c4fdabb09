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
from privately.mechanisms.error_bars import miss_of
from privately.mechanisms.laplace_sums import EXACT_TERMS, chernoff_half_width, growth_of
from privately.mechanisms.mechanism import Alignment, Mechanism, set_fields
from privately.mechanisms.noisy_sums import NoisySums
from privately.mechanisms.partial_sums import (
    derive_sums,
    read_length,
    read_stream,
    read_sums,
    saturated,
    standard_errors,
    written_with,
)
from privately.mechanisms.randomness import SYSTEM, Randomness
from privately.mechanisms.stream_sessions import StreamSession, over_blocks, with_noise
from privately.mechanisms.sums_of_noise import Noise, counted, draw_noise, sum_half_width, sums_half_width
from privately.mechanisms.tree_blocks import chain, growth_of_sums, number_of_blocks, read_levels
from privately.noise import add
from privately.rounding import Enclosure, Number, whole


@dataclass(frozen=True, init=False)
class BinaryTree(NoisySums, Mechanism):
    """All partial sums of a stream, each from at most about log2(length) noisy blocks.

    An item is in one block of each of the `levels`, so this costs levels * sensitivity/scale. Unless told otherwise
    there are log2(length) levels, rounded up: the tree without its root, which would serve a single sum. Adding or
    removing an item means that its value was, or becomes, zero; the length is public.

    >>> from privately.guarantees import Sensitivity
    >>> BinaryTree(scale=10, length=1024).guarantee(Sensitivity(value=1))
    PureDP(epsilon=1)
    """

    justification = Alignment(shifts="the noise of each block that holds the changed item by its change")
    programs = written_with("""
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

    scale: Fraction
    length: int
    levels: int
    noise: Noise

    def __init__(
        self, *, scale: Number, length: int, levels: int | None = None, noise: Noise = "discrete_laplace"
    ) -> None:
        set_fields(self, **read_sums(scale, length, noise), levels=read_levels(levels, read_length(length)))

    @property
    def copies(self) -> int:
        """Each item is in one block of each level."""
        return self.levels

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP with epsilon = levels sensitivity/scale, or GaussianDP with mu = sqrt(levels) sensitivity/scale."""
        return derive_sums(self.law, sensitivity, length=self.length, copies=self.copies)

    def run(self, value: Any, randomness: Randomness) -> NDArray[np.int64]:
        """All noisy partial sums; the noise is that of the largest block that ends with each item, in this order."""
        sums = np.cumsum(read_stream(value, self.length))
        noise = draw_noise(self.law, self.length, randomness)
        return saturated(add(sums, chain(noise, self.levels)))

    def session(self, randomness: Randomness = SYSTEM) -> StreamSession[int]:
        """The same item by item, for a stream that is still to come."""
        noisy = with_noise(self.law, randomness)
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

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The stream, the levels and the scale."""
        return {**super().program_inputs(value), "levels": self.levels}
