"""Which blocks of a stream make up its partial sums.

Blocks of level l have 2^l items and begin at multiples of that; of the topmost level there may be many. A partial sum
consists of all topmost blocks that fit, then of the largest that fits, and so on: the binary digits of its length. Each
item ends one block that partial sums use: the largest that ends there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.rounding import Enclosure, whole


def read_levels(levels: int | None, length: int) -> int:
    """How many levels there are; unless told, as many as have at least two blocks."""
    usual = max(1, (length - 1).bit_length())
    return usual if levels is None else whole(levels, "levels", maximum=length.bit_length())


def closing_levels(length: int, levels: int) -> NDArray[np.int64]:
    """The level of the largest block that ends with each item."""
    ends = np.arange(1, length + 1)
    zeros: NDArray[np.int64] = np.bitwise_count((ends & -ends) - 1).astype(np.int64)
    return np.minimum(zeros, levels - 1)


def chain(blocks: NDArray[Any], levels: int) -> NDArray[Any]:
    """From a value for the largest block that ends with each item, the sums over the blocks of each partial sum.

    Theorem: if the largest block that ends with item t has 2^l items, the blocks of the sum of t items are this one and
        those of the sum of t - 2^l items.
    Reference: Chan-Shi-Song 2011; Dwork-Naor-Pitassi-Rothblum 2010
    Proof: docs/theory/mechanisms.md#binary-tree
    Checked-by: tests/mechanisms/test_tree_blocks.py::test_blocks_of_a_partial_sum_cover_it_once
    """
    sums = blocks.copy()
    top = 1 << (levels - 1)
    sums[top - 1 :: top] = np.cumsum(blocks[top - 1 :: top])
    for level in reversed(range(levels - 1)):
        size = 1 << level
        ends = sums[size - 1 :: 2 * size]
        before = sums[2 * size - 1 :: 2 * size]
        ends[1:] += before[: ends.size - 1]
    return sums


def number_of_blocks(length: int, levels: int) -> NDArray[np.int64]:
    """How many blocks make up each partial sum."""
    return chain(np.ones(length, np.int64), levels).astype(np.int64)


def growth_of_sums(blocks: Sequence[Enclosure], length: int) -> Enclosure:
    """ln of the sum over all partial sums of the product of exp(growth) over their blocks.

    Theorem: over t from 0 to (m 2^L) - 1 it is (1 + g + ... + g^(m-1)) times the product of 1 + g_l over l < L, where
        g_l belongs to level l and g to the topmost, L; and the t beyond a multiple of a power of two share its blocks.
    Reference: binary digits
    Proof: docs/theory/mechanisms.md#all-partial-sums-at-once
    Checked-by: tests/mechanisms/test_tree_blocks.py::test_growths_add_up_over_all_partial_sums
    """
    *lower, top = [growth.exp() for growth in blocks]
    products = [Enclosure.of(1)]
    for factor in lower:
        products.append(products[-1] * (1 + factor))
    full, rest = divmod(length + 1, 1 << len(lower))
    shared = top**full
    total = (shared - 1) / (top - 1) * products[-1]
    for level in reversed(range(len(lower))):
        if rest >> level & 1:
            total = total + shared * products[level]
            shared = shared * lower[level]
    return (total - 1).log()
