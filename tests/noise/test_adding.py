"""Sums are exact at any size; what is no integer is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.noise import add

LEAST, GREATEST = -(2**63), 2**63 - 1
LONG = st.integers(LEAST, GREATEST) | st.sampled_from([LEAST, LEAST + 1, -1, 0, 1, GREATEST - 1, GREATEST])


def int64(numbers: list[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


@given(st.lists(st.tuples(LONG, LONG), min_size=1, max_size=5))
@example([(GREATEST, 1)])
@example([(LEAST, -1)])
@example([(LEAST, LEAST)])
@example([(GREATEST, GREATEST)])
@example([(1, GREATEST), (0, 0)])
@example([(GREATEST, LEAST), (LEAST, GREATEST), (GREATEST, 0), (0, LEAST)])
def test_sums_are_exact_and_64_bits_long_if_they_fit(pairs: list[tuple[int, int]]) -> None:
    total = add(int64([value for value, _ in pairs]), int64([noise for _, noise in pairs]))
    expected = [value + noise for value, noise in pairs]
    assert total.tolist() == expected
    assert (total.dtype == np.int64) == all(LEAST <= one <= GREATEST for one in expected)


@given(st.lists(st.tuples(st.integers(-(2**200), 2**200), st.integers(-(2**200), 2**200)), min_size=1, max_size=5))
def test_python_integers_stay_exact(pairs: list[tuple[int, int]]) -> None:
    values = np.array([value for value, _ in pairs], object)
    noise = np.array([noise for _, noise in pairs], object)
    total = add(values, noise)
    assert total.tolist() == [value + noise for value, noise in pairs]
    assert (total.dtype == np.int64) == all(LEAST <= one <= GREATEST for one in total.tolist())


@given(st.lists(st.tuples(LONG, st.integers(-(2**70), 2**70)), min_size=1, max_size=5), st.booleans())
@example([(GREATEST, 1)], False)
@example([(GREATEST, 1)], True)
def test_only_one_side_may_be_long(pairs: list[tuple[int, int]], turned: bool) -> None:
    short, long = int64([one for one, _ in pairs]), np.array([other for _, other in pairs], object)
    total = add(long, short) if turned else add(short, long)
    assert total.tolist() == [one + other for one, other in pairs]
    assert (total.dtype == np.int64) == all(LEAST <= one <= GREATEST for one in total.tolist())


@pytest.mark.parametrize(
    "values",
    [[2**63 - 1], np.array([2**63 - 1]), np.array([2**63 - 1], np.uint64), np.array([2**63 - 1], object)],
    ids=["list", "int64", "uint64", "object"],
)
def test_the_type_of_the_sums_says_nothing_of_the_values(values: Any) -> None:
    """A neighbour that is larger by one, with noise that is smaller by one, has the same sum: nothing may tell them."""
    one, other = add(values, int64([0])), add([2**63], int64([-1]))
    assert one.tolist() == other.tolist()
    assert one.dtype == other.dtype


def test_masked_entries_are_not_added_up() -> None:
    with pytest.raises(InvalidParameter, match="mask"):
        add(np.ma.array([1, 2], mask=[False, True]), int64([0, 0]))


def test_numbers_without_a_dimension_give_an_array_without_one() -> None:
    for value in (5, 2**63 - 1):
        total = add(value, np.array(3))
        assert isinstance(total, np.ndarray)
        assert total.tolist() == value + 3


def test_lists_of_python_integers() -> None:
    assert add([2**70], int64([5])).tolist() == [2**70 + 5]
    assert add([1, 2], int64([3, 4])).dtype == np.int64


def test_values_beyond_int64_that_come_as_uint64() -> None:
    values = np.array([2**64 - 1, 2**63, 2**63 - 1, 0], np.uint64)
    assert add(values, int64([1, -1, 1, -1])).tolist() == [2**64, 2**63 - 1, 2**63, -1]
    small = add(np.array([2**63 - 1, 7], np.uint64), int64([0, -9]))
    assert small.tolist() == [2**63 - 1, -2]
    assert small.dtype == np.int64


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "u1", "u2", "u4", ">i2", ">u4", ">i8"])
def test_short_integers_do_not_wrap_around(kind: str) -> None:
    ends = np.iinfo(kind)
    total = add(np.array([ends.max, ends.min], kind), int64([1, -1]))
    assert total.tolist() == [ends.max + 1, ends.min - 1]


@pytest.mark.parametrize(
    ("value", "noise"),
    [
        (np.int64(GREATEST), 1),
        (np.int64(LEAST), -1),
        (np.uint8(200), 100),
        (np.uint64(5), -6),
        (np.int8(127), np.int8(1)),
        (1, np.int64(GREATEST)),
    ],
    ids=str,
)
def test_numpy_integers_among_python_integers_do_not_wrap_around(value: Any, noise: Any) -> None:
    for values in (np.array([value, 2**70], object), [value, 2**70]):
        total = add(values, np.array([noise, 0], object))
        assert total.tolist() == [int(value) + int(noise), 2**70]
        assert all(type(one) is int for one in total)


def test_neither_side_is_changed() -> None:
    values, noise = int64([GREATEST, 1]), int64([1, 2])
    add(values, noise)
    assert (values.tolist(), noise.tolist()) == ([GREATEST, 1], [1, 2])


def test_noise_may_be_unsigned_or_short() -> None:
    unsigned: Any = np.array([2**63, 1], np.uint64)
    short: Any = np.array([1, -1], np.int8)
    assert add([1, -2], unsigned).tolist() == [2**63 + 1, -1]
    assert add(int64([GREATEST, LEAST]), short).tolist() == [GREATEST + 1, LEAST - 1]


def test_shapes_are_kept() -> None:
    values, noise = np.arange(6).reshape(2, 3), np.full((2, 3), GREATEST)
    assert add(values, noise).tolist() == [[GREATEST + i for i in row] for row in ([0, 1, 2], [3, 4, 5])]
    assert add(values[:, ::2], -noise[:, ::2]).tolist() == [[-GREATEST, 2 - GREATEST], [3 - GREATEST, 5 - GREATEST]]


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.int8, object])
def test_nothing_plus_nothing_is_nothing(kind: Any) -> None:
    assert add(np.array([], kind), int64([])).size == 0
    assert add([], np.array([], kind)).size == 0


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0],
        np.array([1, 2], np.float32),
        [True, False],
        [1, True],
        ["1", "2"],
        [1 + 0j, 2],
        np.array([1, True], object),
        np.array([1, 2.0], object),
        np.array([1, None], object),
        np.array([1, "2"], object),
        np.array(["2020-01-01", "2020-01-02"], "M8[D]"),
        np.array([1, 2], "m8[s]"),
    ],
    ids=lambda values: str(np.asarray(values).dtype),
)
def test_what_is_no_integer_is_refused(values: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        add(values, int64([0, 0]))
    assert caught.value.field == "values"


@pytest.mark.parametrize("values", [[1], [1, 2, 3], [[1, 2]], 1, [[1], [2]]])
def test_shapes_must_agree(values: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        add(values, int64([0, 0]))
    assert caught.value.field == "noise"


def test_values_without_a_shape_are_refused() -> None:
    with pytest.raises(InvalidParameter) as caught:
        add([[1], [2, 3]], int64([0, 0]))
    assert caught.value.field == "values"


@pytest.mark.parametrize("noise", [np.array([0.5, 1.5]), np.array([0.5, 1], object)], ids=["float64", "object"])
def test_noise_that_is_no_integer_is_refused(noise: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        add([1, 2], noise)
    assert caught.value.field == "noise"


def test_a_list_of_python_integers_may_have_any_of_them() -> None:
    """NumPy alone would make floats of these, which are neither all int64 nor all uint64."""
    assert add([2**63, 1], int64([-1, 1])).tolist() == [2**63 - 1, 2]
    assert add([2**63, -1], int64([1, 1])).tolist() == [2**63 + 1, 0]
