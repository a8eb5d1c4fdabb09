"""Candidates by how far behind they are, in eighths of a scale: so few kinds that each can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privately.errors import InvalidParameter
from privately.mechanisms.grids import Grid
from privately.mechanisms.scores import LEVELS_PER_SCALE, Scores, levels, read_scores


@dataclass(frozen=True)
class Levels:
    """Pieces, of one candidate each or of `widths`, and their levels; `counts` and `exponents` are of the used ones."""

    gaps: NDArray[Any]
    scale: Fraction
    widths: NDArray[np.int64] | None
    level: NDArray[np.int64]
    used: NDArray[np.intp]
    counts: list[int]
    exponents: list[Fraction]

    @classmethod
    def of(cls, scores: Scores, widths: NDArray[np.int64] | None, scale: Fraction) -> Levels:
        """In units of the scores."""
        gaps, steps = scores.gaps(), scale / scores.unit
        level = levels(gaps, steps)
        counts = _totals(level, widths)
        used = np.flatnonzero(counts)
        exponents = [_exponent(one) for one in used.tolist()]
        return cls(gaps, steps, widths, level, used, counts[used].tolist(), exponents)

    def member(self, kind: int, place: int) -> tuple[int, int]:
        """Of a used level, the piece that a candidate is in, and its place in it."""
        members = np.flatnonzero(self.level == self.used[kind])
        if self.widths is None:
            return int(members[place]), 0
        ends = np.cumsum(self.widths[members])
        i = int(np.searchsorted(ends, place, side="right"))
        return int(members[i]), place - int(ends[i] - self.widths[members[i]])

    def excess(self, piece: int) -> Fraction:
        """How much further behind it is than its level says, in scales."""
        return int(self.gaps[piece]) / self.scale - _exponent(int(self.level[piece]))


def read_ranges(
    scores: Any, widths: ArrayLike, *, grid: Grid, candidates: int
) -> tuple[Scores, NDArray[np.int64], NDArray[np.intp]]:
    """Scores of ranges of candidates, how many there are in each, and which ranges these are: those without are not."""
    try:
        sizes = np.asarray(widths)
    except ValueError:
        sizes = np.array(())
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or sizes.size == 0 or (sizes < 0).any():
        raise InvalidParameter("widths", "must be whole numbers of at least 0, one for each range.")
    if sum(sizes.tolist()) != candidates:
        raise InvalidParameter("widths", f"do not add up to {candidates} candidates.")
    read = read_scores(scores, grid, sizes.size)
    kept = np.flatnonzero(sizes)
    return Scores(read.steps[kept], read.unit), sizes[kept].astype(np.int64), kept


@lru_cache(maxsize=1024)
def _exponent(level: int) -> Fraction:
    return Fraction(level, LEVELS_PER_SCALE)


def _totals(level: NDArray[np.int64], widths: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """How many candidates each level has; in integers, as floats would lose some."""
    if widths is None:
        return np.bincount(level)
    totals = np.zeros(int(level.max()) + 1, np.int64)
    np.add.at(totals, level, widths)
    return totals
