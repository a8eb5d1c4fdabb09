"""Rows of a public table are the groups, and no others."""

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privately.errors import InvalidParameter
from privately.plans import Column, Table, Unit
from privately.query.binding import bind
from privately.query.listing import groups_of, public_groups
from privately.query.public_tables import PublicTable, read_keys

TABLE = Table(
    name="visits",
    columns=(Column(name="ward", type="text", length=10), Column(name="level", type="integer", bounds=(0, 9))),
    unit=Unit(),
)
BY_BOTH = "SELECT level, ward, COUNT(*) AS n FROM visits GROUP BY level, ward"
DATA = {"ward": ["a", "b", "a", None], "level": [1, 2, 1, 2]}


@pytest.mark.parametrize("made", [pa.table, pd.DataFrame, pl.DataFrame])
def test_tables_of_all_libraries(made: Any) -> None:
    if made is pd.DataFrame:
        public = read_keys(pd.DataFrame({"ward": pd.array(DATA["ward"], dtype="string"), "level": DATA["level"]}))
    else:
        public = read_keys(made(DATA))
    question = bind(BY_BOTH, {"visits": TABLE}, keys=public)
    assert groups_of(question) == ((1, "a"), (2, "b"), (2, None))
    assert public_groups(question) == question.aggregation.listed_groups == 3


def test_names_of_columns_are_those_of_the_question() -> None:
    public = PublicTable(columns=("STATION", "Level"), rows=(("a", 1),))
    question = bind(BY_BOTH.replace("level, ward,", "level, ward AS station,"), {"visits": TABLE}, keys=public)
    assert groups_of(question) == ((1, "a"),)


def test_more_combinations_than_could_be_answered_need_not_be() -> None:
    rows = tuple((f"w{one}", one % 10) for one in range(20_000))
    question = bind(BY_BOTH, {"visits": TABLE}, keys=PublicTable(columns=("ward", "level"), rows=rows))
    assert public_groups(question) == 20_000


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (pa.table({"ward": ["a"]}), "exactly the columns of GROUP BY"),
        (pa.table({**DATA, "more": [1, 2, 3, 4]}), "nothing is grouped by more"),
        (pa.table({"ward": ["a"], "level": ["1"]}), "'1' is no integer"),
        (pa.table({"ward": pa.array([], pa.string()), "level": pa.array([], pa.int64())}), "list between 1 and"),
        (pa.table([pa.array(["a"]), pa.array(["b"])], names=["ward", "Ward"]), "the same name"),
        (7, "neither lists by name nor a table"),
        ("ward", "neither lists by name nor a table"),
    ],
)
def test_what_is_no_list_of_groups_is_refused(keys: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        bind(BY_BOTH, {"visits": TABLE}, keys=read_keys(keys))
