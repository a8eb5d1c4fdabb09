"""The points of many laws in one row, the points of one law after those of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privately.accounting.elementary import Floats

MOST_TOGETHER = 1 << 14
"""More points in a row would take more memory and save no time."""
MOST_KEPT = 1 << 17
"""If there are more points in all, they are laid whenever they are needed."""


def packs(sizes: Sequence[int]) -> Iterator[slice]:
    """Neighbours with so many points together as are not too many for one row."""
    first = total = 0
    for place, size in enumerate(sizes):
        total += size
        if total > MOST_TOGETHER and place > first:
            yield slice(first, place)
            first, total = place, size
    yield slice(first, len(sizes))


@dataclass(frozen=True)
class Segments:
    """How long each law's part of the row is."""

    sizes: NDArray[np.int64]

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def places(self) -> Floats:
        """0, 1, ... for each law."""
        return np.arange(self.sizes.sum(), dtype=np.float64) - self.spread(self.starts.astype(np.float64))

    def spread(self, values: Floats) -> Floats:
        """A number of each law for all its points."""
        return np.repeat(values, self.sizes, axis=-1)

    def sums(self, row: Floats) -> Floats:
        """Of each law's points, or of the cells between them."""
        found: Floats = np.add.reduceat(row, self.starts, axis=-1)
        return found
