"""Constants come back as they went in."""

from datetime import date, datetime

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.engines.duckdb.literals import NAMES, literal, name, text, whole
from privately.plans import Type, Value
from privately.plans.types import type_of


def back(written: str) -> object:
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT {written}").fetchone()
    assert found is not None
    return found[0]


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        2**62 - 1,
        1 - 2**62,
        0.1,
        5e-324,
        -1.7976931348623157e308,
        True,
        False,
        date(1, 1, 1),
        date(9999, 12, 31),
        datetime(1, 1, 1),
        datetime(9999, 12, 31, 23, 59, 59, 999999),
        "",
        "it's",
        "\\",
        "\0",
        "$$",
        "--",
        "é\u0301",
    ],
)
def test_constants(value: Value) -> None:
    found = back(literal(value, type_of(value)))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("kind", Type)
def test_null_has_a_type(kind: Type) -> None:
    assert back(f"typeof({literal(None, kind)})") == NAMES[kind]
    assert back(literal(None, kind)) is None


def test_whole_numbers_of_reals_are_real() -> None:
    assert isinstance(back(literal(3, Type.REAL)), float)


@given(st.text(max_size=20))
def test_texts_never_end_early(value: str) -> None:
    if not any("\ud800" <= one <= "\udfff" for one in value):
        assert back(text(value)) == value
        assert (
            back(f"t.{name('x' + value)} FROM (SELECT 5 AS {name('x' + value)}) t") == 5 if "\0" not in value else True
        )


@given(st.integers(-(2**126), 2**126))
def test_wide_whole_numbers(value: int) -> None:
    assert back(whole(value)) == value
