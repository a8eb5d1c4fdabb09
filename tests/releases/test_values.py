"""Values are written exactly and read back the same."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately import Interval
from privately.errors import InvalidParameter
from privately.releases.values import decode_interval, decode_value, encode_interval, encode_value, freeze

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.fractions()
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=8
)


@given(values)
def test_round_trip(value: Any) -> None:
    frozen = freeze(value)
    again = decode_value(encode_value(frozen))
    assert again == frozen
    assert encode_value(again) == encode_value(frozen)


@given(st.fractions(), st.fractions())
def test_intervals_round_trip(first: Fraction, second: Fraction) -> None:
    interval = Interval(min(first, second), max(first, second))
    assert decode_interval(encode_interval(interval)) == interval
    assert decode_interval(encode_interval(Interval(first, math.inf))) == Interval(first, math.inf)


@pytest.mark.parametrize("value", [math.nan, math.inf, {1}, b"x", {1: 2}, object(), 1j, [math.nan]])
def test_what_cannot_be_written_exactly_is_refused(value: Any) -> None:
    with pytest.raises(InvalidParameter, match="value"):
        freeze(value)


def test_deep_values_are_refused() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InvalidParameter, match="nested"):
        freeze(value)


@pytest.mark.parametrize("data", [[1], 1.5, {"rational": 1}, {"list": 3}, {"rational": "1", "float": "0x1p0"}, {}])
def test_other_forms_are_refused(data: Any) -> None:
    with pytest.raises(InvalidParameter, match="form"):
        decode_value(data)
