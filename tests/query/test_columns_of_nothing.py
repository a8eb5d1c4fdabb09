"""Columns without a single value have no type of their own: nobody can tell them from columns with one."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privately as pv
from privately.errors import InvalidParameter
from privately.query import OwnerWarning

COLUMNS: dict[str, Any] = {
    "p": "integer",
    "g": {"type": "text", "categories": ["a", "b"]},
    "x": {"type": "real", "bounds": (0, 10)},
    "day": "date",
}
ROWS: dict[str, list[Any]] = {"p": [1, 2], "g": ["a", "b"], "x": [1.0, 2.0], "day": [None, None]}
QUESTION = "SELECT g, COUNT(x) AS n, SUM(x) AS s, MEDIAN(x) AS m FROM t WHERE day IS NULL GROUP BY g"


def groups(data: Any, **options: Any) -> list[Any]:
    with (
        pytest.warns(OwnerWarning),
        pv.open(data, name="t", budget=pv.PureDP(epsilon=9), ledger=":memory:", columns=COLUMNS, **options) as session,
    ):
        return [row[0] for row in session.sql(QUESTION, epsilon=1).rows]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("column", ["g", "x", "p"])
@pytest.mark.parametrize("unit", [{}, {"unit": "p", "max_rows_per_unit": 1}])
def test_a_column_of_nothing_is_whatever_is_declared(column: str, unit: dict[str, Any]) -> None:
    assert groups(pd.DataFrame(ROWS | {column: [None, None]}), **unit) == ["a", "b", None]


def test_a_frame_of_nothing() -> None:
    assert groups(pd.DataFrame({name: [] for name in ROWS})) == ["a", "b", None]
    assert groups(pl.DataFrame({name: [] for name in ROWS})) == ["a", "b", None]


def test_it_must_be_declared(tmp_path: Path) -> None:
    """Otherwise the first person with a value would make it a column."""
    told = {name: column for name, column in COLUMNS.items() if name != "day"}
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table(ROWS), file)
    for data in (pd.DataFrame(ROWS), pl.DataFrame(ROWS), file):
        with pytest.raises(InvalidParameter, match=r"'day' has no value, and so no type\. Declare what it would hold"):
            pv.open(data, name="t", budget=pv.PureDP(epsilon=9), ledger=":memory:", columns=told)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_numbers_of_frames_that_nobody_declared_are_real(frame: Any) -> None:
    """Whether they are whole is decided by each value."""
    for last in (3.0, 0.5):
        with pv.open(
            frame({"x": [1, 2, 3] if last == 3 else [1.0, 2.0, last]}),
            name="t",
            budget=pv.PureDP(epsilon=9),
            ledger=":memory:",
        ) as session:
            assert session.sql("SELECT COUNT(*) AS n FROM t WHERE x / 2 > 0.6", epsilon=1).rows
            with pytest.raises(pv.errors.PrivatelyError):
                session.sql("SELECT COUNT(*) AS n FROM t WHERE x % 2 = 1", epsilon=1)
