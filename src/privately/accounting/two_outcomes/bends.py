"""How far a profile may be above a function between two neighbours of a lattice, by what both bend.

Bends are as in `majorants`: a second derivative at the first of both, times the square of their distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from privately.accounting.elementary import Floats

Powered: TypeAlias = tuple[Floats, Floats]
"""Exponents, and the bends of these powers."""

_DOUBT = 1e-9


def more_bent(own: Sequence[Powered], known: Sequence[Powered], step: float) -> Floats:
    """At most how much more bent the first are than what is known, up to the next place; less than 0 if they are not.

    Theorem: a sum of powers x^k with factors of both signs is at most x^m times the sum of the factors, each times the
        largest value of x^(k-m) if it is positive, and the least if it is not; for every m.
    Reference: none
    Proof: docs/theory/accounting/two_outcomes.md#functions-above
    Checked-by: tests/accounting/two_outcomes/test_bends.py::test_no_more_bent_than_said
    """
    left, net = [bend for _, bend in known], []
    for k, bend in own:
        rest = bend
        for j, (other, _) in enumerate(known):
            same = other == k
            rest, left[j] = np.where(same, rest - left[j], rest), np.where(same, 0.0, left[j])
        net.append((k, rest))
    net += [(k, -bend) for (k, _), bend in zip(known, left, strict=True)]
    found = np.full(own[0][0].size, np.inf)
    for middle in (np.full(1, 2.0), *(k for k, _ in own)):
        total = np.zeros(found.size)
        for k, bend in net:
            far = (k - middle) * step
            grown = np.exp(np.where(bend > 0, np.maximum(far, 0.0), np.minimum(far, 0.0)))
            total += bend * grown * np.where(bend > 0, 1 + _DOUBT, 1 - _DOUBT)
        found = np.minimum(found, total * np.exp(np.maximum((middle - 2) * step, 0.0)) * (1 + _DOUBT))
    return found


def summit(start: Floats, end: Floats, bend: Floats) -> Floats:
    """The largest value, over x from 0 to 1, of (1-x) start + x end + bend x(1-x)/2."""
    apart = end - start
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        highest = (start + end) / 2 + apart * (apart / (2 * bend)) + bend / 8
    return np.where(np.abs(apart) < bend / 2, highest, np.maximum(start, end))
