"""Answers as tables of other libraries."""

from datetime import date

from privately.engines.frames import arrow_table


def test_values_and_types() -> None:
    table = arrow_table(["a", "b", "c", "d"], [[1, 2.5, "x", date(2026, 1, 31)], [None, None, None, None]])
    assert table.to_pylist() == [
        {"a": 1, "b": 2.5, "c": "x", "d": date(2026, 1, 31)},
        {"a": None, "b": None, "c": None, "d": None},
    ]


def test_no_rows() -> None:
    assert arrow_table(["a"], []).num_rows == 0
