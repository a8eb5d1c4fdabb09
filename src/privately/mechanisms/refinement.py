"""Honaker's estimate of a block from below: the best mean of its own noisy sum and the estimates of its two halves.

K_l = (2^l N_l + (2^l - 1) (K + K'))/(2^(l+1) - 1)     N_l  the noisy sum      K, K'  the estimates of the halves
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from privately.mechanisms.laplace_sums import chernoff_half_width, growth_at_most
from privately.mechanisms.tree_blocks import growth_of_sums
from privately.rounding import Enclosure

Floats = NDArray[np.float64]
Number = TypeVar("Number", float, Floats)


def refine(own: Number, halves: Number, level: int) -> Number:
    """The estimates of blocks from their noisy sums and the sums of the estimates of their halves.

    Theorem: of all unbiased means of the two, this one has the least variance, 2^l/(2^(l+1)-1) times that of the noise.
    Reference: Honaker 2015, estimation from below
    Proof: docs/theory/mechanisms.md#honakers-refinement
    Checked-by: tests/mechanisms/test_refinement.py::test_no_other_weight_has_less_variance
    """
    size = 2.0**level
    return (size * own + (size - 1) * halves) / (2 * size - 1)


def refined(noisy: Sequence[Floats]) -> list[Floats]:
    """The estimates of all blocks of all levels."""
    estimates = [noisy[0]]
    for level, own in enumerate(noisy[1:], start=1):
        below = estimates[-1][: 2 * own.size]
        estimates.append(refine(own, below[0::2] + below[1::2], level))
    return estimates


def block_squares(levels: int) -> Floats:
    """For each level, the sum of the squares of the weights of the noise in an estimate."""
    sizes = 2.0 ** np.arange(levels)
    return sizes / (2 * sizes - 1)


def block_growths(levels: int, y: Fraction) -> list[Enclosure]:
    """For each level l, a bound on ln E exp(y Z) for the Laplace noise Z of an estimate, in scales.

    Theorem: Z is the sum over j <= l of 2^(l-j) draws, each times 2^j/(2^(l+1)-1).
    Reference: induction over the levels
    Proof: docs/theory/mechanisms.md#honakers-refinement
    Checked-by: tests/mechanisms/test_refinement.py::test_weights_of_the_noise
    """
    growths = []
    for level in range(levels):
        weights = (Fraction(2**j, 2 ** (level + 1) - 1) for j in range(level + 1))
        parts = (2 ** (level - j) * growth_at_most(weight * y) for j, weight in enumerate(weights))
        growths.append(sum(parts, Enclosure.of(0)))
    return growths


@lru_cache(maxsize=64)
def sums_half_width(length: int, levels: int, miss: Fraction) -> Fraction:
    """A w, in scales of Laplace noise, such that all partial sums are within w but for a probability of `miss`."""
    return chernoff_half_width(lambda y: growth_of_sums(block_growths(levels, y), length), miss)


def sum_half_width(prefix: int, levels: int, miss: Fraction) -> Fraction:
    """The same for one partial sum."""

    def growth(y: Fraction) -> Enclosure:
        *lower, top = block_growths(levels, y)
        digits = (part for level, part in enumerate(lower) if prefix >> level & 1)
        return sum(digits, (prefix >> len(lower)) * top)

    return chernoff_half_width(growth, miss)
