"""Scores as integers: exact gaps, levels that are never too high, and the spread of what may change."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import Sensitivity
from privately.mechanisms.grids import FARTHEST, Grid
from privately.mechanisms.scores import (
    LEVELS,
    LEVELS_PER_SCALE,
    MAX_SCORE_BITS,
    Scores,
    levels,
    read_scores,
    selection_fields,
    spread_of,
    worst_scores,
)

NONE = Grid(None)
FLOATS = st.one_of(
    st.floats(-8, 8), st.integers(-20, 20).map(lambda k: k / 2), st.sampled_from([5e-324, -0.0, 1e300, -1e300])
)


def test_integers_stay_and_fractions_share_a_denominator() -> None:
    assert read_scores([3, -1], NONE, 2).steps.tolist() == [3, -1]
    found = read_scores([Fraction(1, 6), Fraction(-3, 4), 2], NONE, 3)
    assert (found.steps.tolist(), found.unit) == ([2, -9, 24], Fraction(1, 12))
    assert found.steps.dtype == np.int64
    rounded = read_scores([0.3, 0.6], Grid("1/4"), 2)
    assert (rounded.steps.tolist(), rounded.unit) == ([1, 2], Fraction(1, 4))
    with pytest.raises(InvalidParameter):
        read_scores((Fraction(1, 3), 0), Grid("1/4"), 2)


def test_the_type_of_one_score_does_not_decide_how_the_others_are_read() -> None:
    """Else neighbours that differ in a type alone could be told apart."""
    for scores in ([2**63 - 1, 0], [Fraction(2**63 - 1), 0]):
        assert read_scores(scores, NONE, 2).gaps().tolist() == [0, 2**63 - 1]


def test_gaps_of_the_farthest_scores_do_not_wrap_around() -> None:
    for ends in ([2**63 - 1, -(2**63)], [2**62, -(2**62)]):
        gaps = read_scores(np.array(ends), NONE, 2).gaps()
        assert gaps.tolist() == [0, 2 * (FARTHEST - 1)]
    assert read_scores([1e300, -1e300], Grid("1/4"), 2).gaps().tolist() == [0, 2 * (FARTHEST - 1)]
    wrapped = Scores(np.array([2**62, -(2**62)]), Fraction(1)).gaps()
    assert wrapped.min() < 0, "what would happen otherwise"


def test_fractions_are_never_cut_off() -> None:
    """Their unit depends on the data: cut off in units, these neighbours would be 2^30 and 2^22."""
    for score in (Fraction(2**30), Fraction(2**30) + Fraction(1, 2**40), Fraction(1, 3**100), Fraction(2**100, 3)):
        found = read_scores([score, Fraction(0)], NONE, 2)
        assert found.gaps().tolist()[1] * found.unit == score


@given(st.lists(st.fractions(), min_size=1, max_size=5), st.integers(-(10**40), 10**40))
def test_gaps_are_exact(scores: list[Fraction], shift: int) -> None:
    found = read_scores([*scores, Fraction(shift)], NONE, len(scores) + 1)
    listed = [*scores, Fraction(shift)]
    best: Fraction = max(listed)
    assert [int(gap) * found.unit for gap in found.gaps()] == [best - score for score in listed]


@pytest.mark.parametrize(
    "scores",
    [
        [Fraction(1), 0.5],
        [Fraction(1)],
        [Fraction(1), "1"],
        [Fraction(1), None],
        [Fraction(1), math.nan],
        [Fraction(1, 2**MAX_SCORE_BITS), 1],
        [Fraction(2**MAX_SCORE_BITS), 1],
        [Fraction(1, 3**400), Fraction(1, 5**300)],
    ],
)
def test_bad_fractions(scores: list[Any]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_scores(scores, NONE, 2)
    assert caught.value.field == "scores"


@pytest.mark.parametrize("scores", [[], [0.5, 1], [math.nan, 1.0], np.array([Fraction(1), 2], object), [[1, 2]], 3])
def test_bad_scores(scores: Any) -> None:
    with pytest.raises(InvalidParameter):
        read_scores(scores, NONE, 2)


SCALES = st.one_of(
    st.fractions(Fraction(1, 1000), 100),
    st.integers(1, 2**60).map(Fraction),
    st.integers(0, 60).map(lambda n: Fraction(2**n)),
    st.integers(1, 2**60).map(lambda n: Fraction(n, 1000)),
    st.integers(0, 10**300).map(lambda n: n + Fraction(1, 7)),
    st.integers(0, 900).map(lambda n: Fraction(1, 2**n)),
)
GAPS = st.one_of(st.integers(0, 2**63 - 2), st.integers(0, 2000), st.integers(0, 62).map(lambda n: 2**n))


@given(gaps=st.lists(GAPS, min_size=1, max_size=20), scale=SCALES)
@example(gaps=[0, 1, 2**62, 2**63 - 2], scale=Fraction(1, 1000))
@example(gaps=[0, 1, 2**62, 2**63 - 2], scale=Fraction(2**60))
@example(gaps=[2**58, 2**62], scale=Fraction(2**58))
@example(gaps=[1, 2**62], scale=Fraction(1, 2**21))
def test_levels_are_never_too_high_nor_much_too_low(gaps: list[int], scale: Fraction) -> None:
    """Too high would be wrong; more than two too low would only be slow."""
    found = levels(np.array([0, *gaps]), scale).tolist()
    assert found[0] == 0
    for gap, level in zip(gaps, found[1:], strict=True):
        exact = min(LEVELS_PER_SCALE * gap / scale, Fraction(LEVELS))
        assert max(exact - 2, 0) <= level <= exact


@given(gaps=st.lists(st.integers(0, 10**60), min_size=1, max_size=9), scale=SCALES)
def test_levels_of_long_gaps(gaps: list[int], scale: Fraction) -> None:
    found = levels(np.array([0, *gaps], object), scale)
    assert found.dtype == np.int64
    for gap, level in zip([0, *gaps], found.tolist(), strict=True):
        exact = min(LEVELS_PER_SCALE * gap / scale, Fraction(LEVELS))
        assert exact - 2 <= level <= exact


def test_gaps_are_left_alone() -> None:
    gaps = np.array([0, 5, 9])
    levels(gaps, Fraction(2))
    assert gaps.tolist() == [0, 5, 9]


def rounded_up(gaps: Any, scale: Fraction) -> list[int]:
    """The false twin that rounds to the nearest level."""
    return [round(LEVELS_PER_SCALE * Fraction(int(gap)) / scale) for gap in gaps]


def test_a_twin_that_rounds_up_is_found() -> None:
    assert any(
        level > LEVELS_PER_SCALE * gap / Fraction(7) for gap, level in enumerate(rounded_up(range(9), Fraction(7)))
    )


def moved(grid: Grid, before: list[float], after: list[float]) -> Fraction:
    """The largest change of a rounded score minus the smallest."""
    changes = grid.snap(after, len(after)).astype(object) - grid.snap(before, len(before)).astype(object)
    return (int(changes.max()) - int(changes.min())) * grid.unit


@given(
    pairs=st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=4),
    exponent=st.integers(-3, 2),
    monotone=st.booleans(),
)
@example(pairs=[(0.5, 1.5), (1.5, 0.5)], exponent=0, monotone=False)
@example(pairs=[(0.5, 1.5), (0.0, 0.0)], exponent=0, monotone=True)
def test_no_allowed_change_exceeds_the_spread(pairs: list[tuple[float, float]], exponent: int, monotone: bool) -> None:
    """Whatever floats do at ties; one-sided changes stay one-sided."""
    if monotone:
        pairs = [(min(pair), max(pair)) for pair in pairs]
    size = max(abs(Fraction(b) - Fraction(a)) for a, b in pairs)
    assume(size < 10**20)
    grid = Grid(Fraction(2) ** exponent)
    before, after = [a for a, _ in pairs], [b for _, b in pairs]
    allowed = spread_of(Sensitivity(value=size, norm="Linf"), grid, monotone=monotone)
    assert moved(grid, before, after) <= allowed
    if monotone:
        changes = grid.snap(after, len(after)) - grid.snap(before, len(before))
        assert changes.min() >= 0


def test_spreads_that_forget_something_are_exceeded() -> None:
    grid, one = Grid(1), Sensitivity(value=1, norm="Linf")
    both_ways = moved(grid, [0.5, 1.5], [1.5, 0.5])
    assert both_ways == spread_of(one, grid, monotone=False) == 4
    assert both_ways > spread_of(one, grid, monotone=True), "monotone claimed wrongly"
    assert both_ways > 2 * one.value, "rounding forgotten"
    assert moved(grid, [0.5, 0.0], [1.5, 0.0]) == spread_of(one, grid, monotone=True) == 2


def test_spreads_of_exact_scores() -> None:
    for norm in ("L1", "L2", "Linf"):
        stated = Sensitivity(value="3/2", norm=norm)
        assert spread_of(stated, NONE, monotone=False) == 3
        assert spread_of(stated, NONE, monotone=True) == Fraction(3, 2)


GOOD: dict[str, Any] = {"scale": 2, "candidates": 3, "monotone": False, "grid": None}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("scale", one) for one in (0, -1, math.nan, math.inf, "x", None, True, "1/1001", 2**60 + 1)),
        ("scale", Fraction(2**1300 + 1, 2**1300)),
        *(("candidates", one) for one in (0, -1, 1.0, "3", None, True, 101)),
        *(("monotone", one) for one in ("no", "False", 0, 1, None, np.bool_(True))),
        *(("grid", one) for one in (0, 3, "x", math.nan)),
    ],
)
def test_bad_fields(field: str, value: Any) -> None:
    selection_fields(**GOOD, most=100)
    with pytest.raises(InvalidParameter) as caught:
        selection_fields(**{**GOOD, field: value}, most=100)
    assert caught.value.field == field


def test_scales_are_limited_in_steps() -> None:
    assert selection_fields(**{**GOOD, "scale": "1e-300", "grid": Fraction(1, 2**1000)}, most=9)["scale"] < 1
    with pytest.raises(InvalidParameter):
        selection_fields(**{**GOOD, "scale": 1, "grid": Fraction(1, 2**1000)}, most=9)


@pytest.mark.parametrize("grid", [None, "1/4"])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("whole_steps", [False, True])
def test_worst_scores_have_the_whole_spread(grid: Any, monotone: bool, whole_steps: bool) -> None:
    points = Grid(grid)
    stated = Sensitivity(value="5/3", norm="Linf")
    before, after = worst_scores(
        stated, scale=Fraction(2), candidates=3, monotone=monotone, grid=points, whole_steps=whole_steps
    )
    changes = [Fraction(b) - Fraction(a) for a, b in zip(before, after, strict=True)]
    allowed = spread_of(stated, points, monotone=monotone)
    if grid is None and whole_steps:
        allowed = Fraction(1 if monotone else 2)
    assert max(changes) - min(changes) == allowed
    assert max(changes) == changes[0] > 0
    assert before[0] == -200
    assert read_scores(before, points, 3).gaps()[0] > 0
