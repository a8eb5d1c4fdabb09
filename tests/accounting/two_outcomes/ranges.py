"""Pairs of bounded range, with other code than the library's."""

from __future__ import annotations

import math

import numpy as np


def pairs_of_range(size: float, count: int) -> list[tuple[float, float]]:
    """Two outcomes whose losses are as far apart as the range, from even to rare ones: P and Q of the larger loss."""
    found = []
    for odds in np.linspace(-12.0, 12.0, count):
        p, q = (1 / (1 + math.exp(odds - part)) for part in (size / 2, -size / 2))
        found.append((p, q))
    return found
