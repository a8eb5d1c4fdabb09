"""Constants are what is written, or refused."""

from datetime import date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import NotSupported
from privately.plans import Type
from privately.query.binding.constants import read_instant, read_number, read_text


@given(st.integers(0, 2**62 - 1))
def test_whole_numbers_are_whole(value: int) -> None:
    assert read_number(str(value)).value == value
    assert read_number(str(value)).known.type is Type.INTEGER


@given(st.floats(0, allow_infinity=False).filter(lambda value: not value.is_integer() or value > 1e16))
def test_other_numbers_are_doubles(value: float) -> None:
    assert read_number(repr(value)).value == value
    assert read_number(repr(value)).known.type is Type.REAL


@pytest.mark.parametrize(
    "text", [str(2**62), "9" * 5000, "1e999", "1e", "inf", "nan", "1_0.5", "0x1f", "٣", "1" * 5000 + ".5", ""]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(NotSupported):
        read_number(text)


def test_texts_have_a_longest() -> None:
    assert read_text("é" * 1000).known.length == 1000
    with pytest.raises(NotSupported, match="too long"):
        read_text("x" * 1001)


@pytest.mark.parametrize(
    ("text", "type_", "wanted"),
    [
        ("2024-02-29", None, date(2024, 2, 29)),
        ("2024-02-29", Type.DATE, date(2024, 2, 29)),
        ("2024-02-29", Type.TIMESTAMP, datetime.combine(date(2024, 2, 29), time())),
        ("2024-02-29 12:00:01", None, datetime.combine(date(2024, 2, 29), time(12, 0, 1))),
    ],
)
def test_dates_and_times(text: str, type_: Type | None, wanted: date) -> None:
    found = read_instant(text, type_).value
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize(("text", "type_"), [("2023-02-29", None), ("today", None), ("2024-02-29 12:00:01", Type.DATE)])
def test_what_is_no_date_is_refused(text: str, type_: Type | None) -> None:
    with pytest.raises(NotSupported, match="no date"):
        read_instant(text, type_)
