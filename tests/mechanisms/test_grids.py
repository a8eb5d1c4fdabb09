"""From numbers to steps: nothing moves by more than half a step, and neighbours stay as close as stated."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import Neighbors, Sensitivity
from privately.guarantees.sensitivity import LARGEST_SENSITIVITY, Norm
from privately.mechanisms.grids import FARTHEST, HIGHEST, LOWEST, Grid

NORMS: list[Norm] = ["L1", "L2", "Linf"]
EXPONENTS = [-1000, -1074 + 100, -60, -10, -1, 0, 1, 7, 52, 60, 63, 64, 400, 900]
FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(min_value=-8, max_value=8),
    st.integers(-20, 20).map(lambda k: k / 2),  # ties, for a step of one
    st.sampled_from([5e-324, -5e-324, 2.0**-1022, 2.0**53 + 2, 1.7976931348623157e308, -0.0, 0.49999999999999994]),
)
INTEGERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9), st.integers(2**53 - 4, 2**53 + 4))


def square(vector: list[Fraction], norm: Norm) -> Fraction:
    sizes = [abs(entry) for entry in vector]
    match norm:
        case "L1":
            return sum(sizes, Fraction(0)) ** 2
        case "L2":
            return sum((size**2 for size in sizes), Fraction(0))
    return max(sizes) ** 2


def root_up(value: Fraction) -> Fraction:
    """The square root, or a little more where it is not rational."""
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top**2 == value.numerator and bottom**2 == value.denominator:
        return Fraction(top, bottom)
    return Fraction(math.isqrt(math.ceil(value * 2**400)) + 1, 2**200)


def exceeds(grid: Grid, before: Any, after: Any, *, allowed: Any = Grid.steps) -> bool:
    """Whether the steps of two vectors are farther apart than stated, in some norm."""
    change = [(Fraction(b) - Fraction(a)) / grid.unit for a, b in zip(before.tolist(), after.tolist(), strict=True)]
    steps = grid.snap(after, len(change)).astype(object) - grid.snap(before, len(change)).astype(object)
    for norm in NORMS:
        size = root_up(square(change, norm))
        if max(size + len(change), size * grid.unit) > LARGEST_SENSITIVITY:
            continue
        stated = allowed(grid, Sensitivity(value=size * grid.unit, norm=norm), len(change)).value
        if square([Fraction(step) for step in steps], norm) > stated**2:
            return True
    return False


@given(
    pairs=st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=4),
    exponent=st.sampled_from(EXPONENTS),
    relative=st.booleans(),
)
@example(pairs=[(0.5, 1.5)], exponent=0, relative=False)
@example(pairs=[(0.5, 1.5)] * 4, exponent=0, relative=False)
def test_snapped_neighbours_stay_within_the_widened_sensitivity(
    pairs: list[tuple[float, float]], exponent: int, relative: bool
) -> None:
    grid = Grid(Fraction(2) ** exponent)
    before, after = np.array(pairs).T
    if relative:  # numbers that are neither huge nor nothing on this grid
        with np.errstate(all="ignore"):
            before, after = np.ldexp(before, exponent), np.ldexp(after, exponent)
        assume(np.isfinite([before, after]).all())
    assert not exceeds(grid, before, after)


@given(pairs=st.lists(st.tuples(INTEGERS, INTEGERS), min_size=1, max_size=4), exponent=st.sampled_from(EXPONENTS))
@example(pairs=[(2**53 + 1, 2**53 + 3)], exponent=-1)
@example(pairs=[(-(2**63), 2**63 - 1)], exponent=1)
def test_snapped_integers_stay_within_the_widened_sensitivity(pairs: list[tuple[int, int]], exponent: int) -> None:
    before, after = np.array(pairs, np.int64).T
    assert not exceeds(Grid(Fraction(2) ** exponent), before, after)
    assert not exceeds(Grid(None), before, after)


def unwidened(grid: Grid, sensitivity: Sensitivity, dimension: int) -> Sensitivity:
    return sensitivity.scaled(1 / grid.unit)


def one_step(grid: Grid, sensitivity: Sensitivity, dimension: int) -> Sensitivity:
    return Sensitivity(value=sensitivity.value / grid.unit + 1, norm=sensitivity.norm)


def test_twins_that_widen_less_are_refuted() -> None:
    grid, tied, other = Grid(1), np.array([0.5] * 4), np.array([1.5] * 4)
    assert exceeds(grid, tied, other, allowed=unwidened)
    assert exceeds(grid, tied, other, allowed=one_step)
    assert not exceeds(grid, tied, other)


def test_integers_through_floats_would_be_refuted() -> None:
    """2^53 + 1 and 2^53 + 3 are two apart, and four as floats."""
    grid, pair = Grid("1/2"), np.array([2**53 + 1, 2**53 + 3])
    exact = grid.snap(pair, 2)
    rounded = grid.snap(pair.astype(np.float64), 2)
    assert (exact[1] - exact[0], rounded[1] - rounded[0]) == (4, 8)
    assert grid.steps(Sensitivity(value=2), 1).value == 5


@given(value=FLOATS, exponent=st.sampled_from(EXPONENTS))
def test_a_value_goes_to_its_nearest_point(value: float, exponent: int) -> None:
    grid = Grid(Fraction(2) ** exponent)
    (step,) = grid.snap(value, 1).tolist()
    if abs(Fraction(value)) <= FARTHEST * grid.unit:
        assert abs(step * grid.unit - Fraction(value)) <= grid.rounding
    else:
        assert step == math.copysign(FARTHEST, value)
    assert grid.snap(-value, 1).tolist() == [-step]


@given(value=INTEGERS, exponent=st.sampled_from(EXPONENTS))
@example(value=1, exponent=1)
@example(value=-3, exponent=1)
@example(value=1, exponent=-62)
@example(value=-1, exponent=-1000)
@example(value=-(2**63), exponent=63)
@example(value=2**62 + 1, exponent=63)
@example(value=2**62, exponent=63)
@example(value=-(2**63), exponent=64)
def test_an_integer_goes_to_its_nearest_point(value: int, exponent: int) -> None:
    grid = Grid(Fraction(2) ** exponent)
    (step,) = grid.snap(value, 1).tolist()
    if abs(value) <= FARTHEST * grid.unit:
        assert abs(step * grid.unit - value) <= grid.rounding
    else:
        assert step == math.copysign(FARTHEST, value)
    if abs(value) <= 2**53:
        assert grid.snap(float(value), 1).tolist() == [step], "as its float does"


@given(values=st.lists(FLOATS, min_size=2, max_size=2), exponent=st.sampled_from(EXPONENTS))
def test_rounding_keeps_the_order(values: list[float], exponent: int) -> None:
    lower, upper = Grid(Fraction(2) ** exponent).snap(sorted(values), 2).tolist()
    assert lower <= upper


@pytest.mark.parametrize("kind", "bhilqBHILQ")
def test_integers_of_every_type_stay_as_they_are(kind: str) -> None:
    ends = np.iinfo(kind)
    array = np.array([ends.min, 0, 7, ends.max], kind)
    found = Grid(None).snap(array, 4)
    assert found.dtype == np.int64
    assert found.tolist() == [max(one, LOWEST) if one < HIGHEST else HIGHEST for one in array.tolist()]


@pytest.mark.parametrize("kind", ["e", "f", "d", "g"])
def test_floats_of_every_type(kind: str) -> None:
    array = np.array([0.5, -1.25, 3], kind)
    assert Grid("1/4").snap(array, 3).tolist() == [2, -5, 12]


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="no longer floats on this machine")
def test_long_floats_are_not_shortened() -> None:
    pair = np.array([2**53 + 1, 2**53 + 3]).astype(np.longdouble)
    assert np.diff(Grid("1/2").snap(pair, 2)).tolist() == [4]


BAD: dict[str, Any] = {
    "NaN": [1.0, math.nan],
    "an infinity": [1.0, math.inf],
    "minus infinity": np.array([-math.inf, 0]),
    "objects": np.array([1, 2], object),
    "fractions": [Fraction(1), Fraction(2)],
    "texts": ["1", "2"],
    "nothing": None,
    "nothing in it": [1, None],
    "booleans": [True, False],
    "complex numbers": [1j, 2],
    "dates": np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"),
    "spans of time": np.array([1, 2], "timedelta64[s]"),
    "records": np.array([(1, 2.0), (3, 4.0)], "i4,f4"),
    "an empty vector": [],
    "an empty array": np.zeros(0),
    "an empty table": np.zeros((0, 2)),
    "a table": [[1, 2]],
    "too few": [1],
    "too many": [1, 2, 3],
    "one number": 1,
    "ragged": [[1], [2, 3]],
    "a set": {1, 2},
    "a dictionary": {1: 2},
    "a generator": (x for x in (1, 2)),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("step", [None, "1/2"])
def test_bad_values(name: str, step: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Grid(step).snap(BAD[name], 2)
    assert caught.value.field == "value"


def test_floats_need_a_grid() -> None:
    with pytest.raises(InvalidParameter, match="grid"):
        Grid(None).snap([1.0], 1)
    assert Grid(1).snap([1.0], 1).tolist() == [1]


@pytest.mark.parametrize(
    "step", [0, -1, 3, "0.1", math.nan, math.inf, True, "wide", Fraction(1, 2**1001), 2**901, Fraction(3, 2), [1]]
)
def test_bad_steps(step: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Grid(step)
    assert caught.value.field == "grid"


@pytest.mark.parametrize("step", [None, 1, "1/1024", 2**40, Fraction(1, 2**1000), 2**900])
def test_back_and_forth(step: Any) -> None:
    grid, steps = Grid(step), np.array([0, 1, -7, 2**53, -(2**53)])
    assert grid.snap(grid.back(steps), 5).tolist() == steps.tolist()
    assert grid.snap(grid.values(steps.tolist()), 5).tolist() == steps.tolist()
    assert grid.back(steps).dtype == (np.int64 if step is None else np.float64)
    assert [Fraction(one) for one in grid.back(steps).tolist()] == [k * grid.unit for k in steps.tolist()]


def test_both_ends_saturate() -> None:
    far = np.array([2**63, -(2**63) - 1, 2**200, -(2**200), 5], object)
    assert Grid(None).back(far).tolist() == [HIGHEST, LOWEST, HIGHEST, LOWEST, 5]
    assert Grid("1/2").back(far).tolist() == [2.0**62, -(2.0**62), 2.0**62, -(2.0**62), 2.5]


def test_what_is_added_in_each_norm() -> None:
    grid = Grid("1/4")
    widths: list[tuple[Norm, int]] = [("L1", 9), ("L2", 3), ("Linf", 1)]
    for norm, added in widths:
        stated = Sensitivity(value="1.5", norm=norm, neighbors=Neighbors.REPLACE)
        assert grid.steps(stated, 9) == Sensitivity(value=6 + added, norm=norm, neighbors=Neighbors.REPLACE)
        assert Grid(None).steps(stated, 9) == stated
    assert grid.steps(Sensitivity(value="1.1"), 1).value == 5
    assert grid.steps(Sensitivity(value="1.1", norm="L2"), 1).value == 5
    assert grid.steps(Sensitivity(value="1.1", norm="L2"), 4).value == Fraction("6.4")
    assert (grid.steps(Sensitivity(value=1, norm="L2"), 2).value - 4) ** 2 >= 2


def test_without_a_grid_nothing_is_rounded() -> None:
    assert (Grid(None).unit, Grid(None).rounding) == (Fraction(1), Fraction(0))
    assert (Grid("1/8").unit, Grid("1/8").rounding) == (Fraction(1, 8), Fraction(1, 16))
    assert Grid(0.125) == Grid("1/8")


@pytest.mark.parametrize("step", [None, "1/2"])
def test_no_integer_is_too_long(step: Any) -> None:
    """An error would tell that such a value is there; it is moved to the end, as documented."""
    ends = Grid(step).snap([2**70, -(10**400), 2**63, 5], 4).tolist()
    near = 5 if step is None else 10
    assert ends == ([2**63 - 1, -(2**63), 2**63 - 1, near] if step is None else [2**62, -(2**62), 2**62, near])
    assert Grid(step).snap(10**30, 1).tolist() == ends[:1]


def test_mixed_lists_are_exact() -> None:
    assert Grid("1/2").snap([2**53 + 1, 0.5, np.int8(3), np.float32(0.25)], 4).tolist() == [2**54 + 2, 1, 6, 0]


def test_masked_entries_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="mask"):
        Grid(None).snap(np.ma.array([1, 2], mask=[False, True]), 2)


@pytest.mark.parametrize("grid", [None, "1/4"])
def test_fractions_are_refused_with_what_to_give_instead(grid: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"holds a Fraction.*floats together with a grid"):
        Grid(grid).snap([Fraction(1, 2)], 1)
