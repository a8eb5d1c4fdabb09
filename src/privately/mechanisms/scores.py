"""Scores of candidates as integers, so that selection is exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.errors import InvalidParameter
from privately.guarantees import Sensitivity
from privately.mechanisms.additive import read_scale
from privately.mechanisms.grids import FARTHEST, Grid
from privately.mechanisms.neighborhoods import one_direction
from privately.rounding import Number, whole

MAX_CANDIDATES = 2**62
LEVELS = 512
LEVELS_PER_SCALE = 8

MAX_SCORE_BITS = 1200
"""Of numerators and denominators of scores and scales, so that no exponent made of them is too long to be drawn."""

_FARTHEST = FARTHEST - 1
_FAR = 100
_COARSE = 32
_PLACES = 50


@dataclass(frozen=True)
class Scores:
    """Integer scores in units, of 64 bits or Python's."""

    steps: NDArray[Any]
    unit: Fraction

    def gaps(self) -> NDArray[Any]:
        """How far each candidate is from the best, in units."""
        gaps: NDArray[Any] = self.steps.max() - self.steps
        return gaps


def selection_fields(
    *, scale: Number, candidates: int, monotone: bool, grid: Number | None, most: int
) -> dict[str, Any]:
    """The fields of a mechanism that chooses among candidates, checked."""
    points = Grid(grid)
    exact = read_scale(scale, "scale", points.unit)
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > MAX_SCORE_BITS:
        raise InvalidParameter("scale", f"has more than {MAX_SCORE_BITS} bits above or below the line; round it up.")
    if not isinstance(monotone, bool):
        raise InvalidParameter("monotone", f"{monotone!r} is neither True nor False.")
    number = whole(candidates, "candidates", maximum=most)
    return {"scale": exact, "candidates": number, "monotone": monotone, "grid": points}


def read_scores(scores: Any, grid: Grid, candidates: int) -> Scores:
    """Arrays of integers; anything on a grid; or, in a list without a grid, exact fractions over their denominator.

    Which way is taken depends on the container and the grid, never on a score.
    """
    if isinstance(scores, (list, tuple)) and grid.step is None:
        return _fractions(scores, candidates)
    # Within 2^62 of zero, so that gaps fit 64 bits; it brings no two scores further apart.
    return Scores(np.clip(grid.snap(scores, candidates), -_FARTHEST, _FARTHEST), grid.unit)


def _fractions(scores: list[Any] | tuple[Any, ...], candidates: int) -> Scores:
    """Nothing is cut off here: the unit depends on the data, so limits in units would too."""
    fit = all(isinstance(score, (Integral, Fraction)) and not isinstance(score, bool) for score in scores)
    if len(scores) != candidates or not fit:
        raise InvalidParameter("scores", f"must be {candidates} integers or Fractions.", hint="Floats need a grid.")
    scores = [score if isinstance(score, Fraction) else int(score) for score in scores]
    common = lcm(*(score.denominator for score in scores))
    steps = [int(score * common) for score in scores]
    if max(common, *map(abs, steps)).bit_length() > MAX_SCORE_BITS:
        raise InvalidParameter("scores", f"need more than {MAX_SCORE_BITS} bits over their common denominator.")
    short = all(abs(step) <= _FARTHEST for step in steps)
    return Scores(np.array(steps, np.int64 if short else object), Fraction(1, common))


def spread_of(sensitivity: Sensitivity, grid: Grid, *, monotone: bool, whole_steps: bool = False) -> Fraction:
    """The largest change of a score minus the smallest, if each changes by at most so much; scores may be whole steps.

    Theorem: changes in [-a, a] differ by at most 2a; changes of one sign by at most a. Rounding to a grid keeps the
        order of numbers, so changes keep their sign, and grow by at most one step.
    Reference: triangle inequality
    Proof: docs/theory/mechanisms.md#spread and docs/theory/mechanisms.md#grids
    Checked-by: tests/mechanisms/test_scores.py::test_no_allowed_change_exceeds_the_spread
    """
    if monotone:
        one_direction(sensitivity.neighbors, what="scores")
    steps = grid.steps(sensitivity.to("Linf"), 1).value
    change = (Fraction(floor(steps)) if whole_steps else steps) * grid.unit
    return change if monotone else 2 * change


def worst_scores(
    sensitivity: Sensitivity, *, scale: Fraction, candidates: int, monotone: bool, grid: Grid, whole_steps: bool
) -> tuple[list[Any], list[Any]]:
    """One candidate gains what all others lose, far behind them, so that their total hardly changes."""
    if monotone:
        one_direction(sensitivity.neighbors, what="scores")
    change, behind = grid.steps(sensitivity.to("Linf"), 1).value, _FAR * scale / grid.unit
    if whole_steps or grid.step is not None:
        change, behind = Fraction(floor(change)), Fraction(floor(behind))
    others = [Fraction(0)] * (candidates - 1)
    after = others if monotone else [-change] * len(others)
    pair = [-behind, *others], [change - behind, *after]
    if grid.step is None and not whole_steps:
        return pair
    before, moved = (grid.values([int(score) for score in scores]) for scores in pair)
    return before, moved


def levels(gaps: NDArray[Any], scale: Fraction) -> NDArray[np.int64]:
    """For each gap a level of at most 8 gap/scale, at most 512: the candidate's weight is at most exp(-level/8).

    Every rounding is downward, so levels may be a little low, never high.
    """
    dropped = max(int(scale).bit_length() - _COARSE, 0)
    coarse = scale / 2**dropped
    cap = ceil(coarse * LEVELS / LEVELS_PER_SCALE)
    factor = min(int(LEVELS_PER_SCALE / coarse * 2**_PLACES), 2**61 // cap)
    found: NDArray[np.int64] = np.minimum(gaps >> dropped if dropped else gaps, cap).astype(np.int64, copy=False)
    found *= factor
    found >>= _PLACES
    return np.minimum(found, LEVELS, out=found)
