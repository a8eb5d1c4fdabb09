"""Columns line up whatever is in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.views import table

CELLS = st.text(alphabet="ab1. \n\t", max_size=6)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_every_column_starts_at_one_place(rows: list[tuple[str, str]]) -> None:
    lines = table(["first", "second"], rows).split("\n")
    assert len(lines) == 1 + len(rows)
    start = lines[0].index("second")
    for line, (first, second) in zip(lines[1:], rows, strict=True):
        assert line[:start].strip() == " ".join(first.split())
        assert line[start:] == " ".join(second.split())


def test_a_table_without_rows_is_its_header() -> None:
    assert table(["delta", "epsilon"], []) == "delta   epsilon"


@pytest.mark.parametrize("row", [["1"], ["1", "2", "3"]])
def test_a_row_of_another_length_is_refused(row: list[str]) -> None:
    with pytest.raises(InvalidParameter, match="2 cells"):
        table(["delta", "epsilon"], [row])
