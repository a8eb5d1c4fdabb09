"""Candidates by level: who is in which, and how much further behind. That choices by level are exact is shown there."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privately.errors import InvalidParameter
from privately.mechanisms.grids import Grid
from privately.mechanisms.levels import Levels, read_ranges
from privately.mechanisms.scores import Scores

SCORES = Scores(np.array([9, 0, 8, 9, -500]), Fraction(1, 2))
WIDTHS = np.array([2, 3, 1, 4, 10**12])


def test_every_candidate_is_in_one_level() -> None:
    by_level = Levels.of(SCORES, WIDTHS, Fraction(7, 3))
    assert sum(by_level.counts) == WIDTHS.sum()
    places = {by_level.member(0, place) for place in range(by_level.counts[0])}
    assert places == {(0, 0), (0, 1), (3, 0), (3, 1), (3, 2), (3, 3)}
    assert by_level.member(len(by_level.counts) - 1, 10**12 - 1) == (4, 10**12 - 1)


def test_level_and_excess_make_the_gap() -> None:
    for widths in (WIDTHS, None):
        by_level = Levels.of(SCORES, widths, Fraction(7, 3))
        for kind, exponent in enumerate(by_level.exponents):
            piece, _ = by_level.member(kind, 0)
            behind = (9 - int(SCORES.steps[piece])) * SCORES.unit / Fraction(7, 3)
            assert by_level.excess(piece) >= 0
            assert exponent + by_level.excess(piece) == behind
        assert by_level.exponents[0] == 0


def test_ranges_without_candidates_are_left_out() -> None:
    scores, sizes, kept = read_ranges([5, 9, 1], [2, 0, 3], grid=Grid(None), candidates=5)
    assert (scores.steps.tolist(), sizes.tolist(), kept.tolist()) == ([5, 1], [2, 3], [0, 2])


@pytest.mark.parametrize("widths", [[], [1], [1, 1, 2], [-1, 3, 3], [1.0, 2, 2], [[1], [2, 2]], [[5]]])
def test_bad_ranges(widths: Any) -> None:
    with pytest.raises(InvalidParameter):
        read_ranges([5, 9, 1], widths, grid=Grid(None), candidates=5)
