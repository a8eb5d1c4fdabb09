"""Very many different ranges from below: where ranges are close to each other, only how many losses are large.

What is left of the steps by that reveals less, and hardly less.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from privately.accounting.adaptive.pairs import reached
from privately.accounting.elementary import ERROR, UNIT, exp_one
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable

Ranges = Sequence[tuple[Fraction, int]]

_CLASSES, _LEAST, _FAINT = 100, 1e-14, 1e-280
_MOST_STEPS = 200_000


def merged(ranges: Ranges, depth: float) -> tuple[FiniteLoss, ...]:
    """For each of some classes of them: from the smallest to the largest, as many steps in each."""
    if sum(times for _, times in ranges) > _MOST_STEPS:
        raise NotApplicable("too many steps")
    sizes = [size for size, times in sorted(ranges) for _ in range(times)]
    count = -(-len(sizes) // _CLASSES)
    return tuple(number_of_large(sizes[k : k + count], depth) for k in range(0, len(sizes), count))


def number_of_large(sizes: Sequence[Fraction], depth: float) -> FiniteLoss:
    """Pairs of two outcomes of these ranges, the larger loss at about 1 - e^-depth of each: how many are the larger.

    Theorem: with any s between 0 and 1, Q = (s, 1 - s) and P = (s e^range/r, (1 - s)/r), r = 1 - s + s e^range, is a
        pair of this range. The number of larger losses of several such pairs is a function of their outcomes, so what
        it tells costs at most as much, and so do tests that ask whether it is large.
    Reference: Dong-Durfee-Rogers 2020, section 4; post-processing
    Proof: docs/theory/accounting/adaptive.md#very-many-ranges-from-below
    Checked-by: tests/accounting/test_merged_ranges.py::test_less_than_by_the_pairs,
        tests/accounting/test_merged_ranges.py::test_hardly_less_than_by_the_pairs
    """
    first = second = np.ones(1)
    nearer = float(np.exp(-depth))
    for size in map(float, sizes):
        share = float(np.expm1(nearer * size) / np.expm1(size))
        odds = share / (1 - share) * exp_one(size)
        likely, rest = odds / (1 + odds), 1 / (1 + odds)
        first = np.append(first * rest, 0.0) + np.append(0.0, first * likely)
        second = np.append(second * (1 - share), 0.0) + np.append(0.0, second * share)
    slack = 4 * len(sizes) * (ERROR + 8 * UNIT * (1 + float(max(sizes))))
    powers, prices = np.cumsum(first[::-1]) * (1 - slack), np.cumsum(second[::-1]) * (1 + slack)
    kept = (np.maximum(first, second) > _LEAST)[::-1] & (
        prices > _FAINT
    )  # smaller ones are not known to a part of them
    return reached(prices[kept], powers[kept])
