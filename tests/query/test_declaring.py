"""Tables as their owner declares them, in Python and in TOML, and what is wrong with a declaration."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.plans import Column, Range, Type, Unit
from privately.query.declaring import columns_of, read_declaration, unit_of

TOML = """
[table]
name = "visits"
lineage = "patients"
unit = "patient"
max_rows_per_unit = 3

[columns.ward]
type = "text"
categories = ["A", "B"]

[columns.cost]
type = "real"
bounds = [0, 1000]
step = "0.01"
resolution = 5
"""


def test_columns_in_three_ways() -> None:
    declared = columns_of(
        {"a": Column(name="a", type=Type.DATE), "b": "text", "c": {"type": "integer", "bounds": (0, 9)}}
    )
    assert [column.type for column in declared] == [Type.DATE, Type.TEXT, Type.INTEGER]
    assert declared[2].bounds == Range(Fraction(0), Fraction(9))


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "visits.toml"
    path.write_text(TOML, encoding="utf-8")
    table, columns = read_declaration(path)
    assert table == {"name": "visits", "lineage": "patients", "unit": "patient", "max_rows_per_unit": 3}
    assert [(column.name, column.step) for column in columns] == [("ward", None), ("cost", Fraction(1, 100))]
    assert [column.resolution for column in columns] == [None, 5]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[table", "cannot read"),
        ("[tables]\nname = 'x'", "sections"),
        ("table = 3", "sections"),
        ("[table]\nunits = 'x'\n[columns.a]\ntype = 'text'", "has no 'units'"),
        ("[columns.a]\ntype = 'texts'", r"columns.a.type: must be one of"),
        ("[columns.a]\nbounds = [0, 1]", "say its type"),
        ("[columns.a]\ntype = 'integer'\nbounds = [9, 0]", r"columns.a.bounds: the first must be below"),
        ("[columns.a]\ntype = 'integer'\nbound = [0, 9]", "has no 'bound'"),
        ("[table]\nname = 'x'", "declare them"),
    ],
)
def test_wrong_files(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidParameter, match=what):
        read_declaration(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"[table]\nname = '\xe9'")
    for name in ("latin.toml", "missing.toml"):
        with pytest.raises(InvalidParameter, match="cannot read"):
            read_declaration(tmp_path / name)


def test_units() -> None:
    assert unit_of(None) == Unit()
    assert unit_of("p", rows=3, groups=2, change="replace") == Unit(column="p", rows=3, groups=2, change="replace")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"column": "p"}, "max_rows_per_unit"),
        ({"column": None, "rows": 3}, "unit"),
        ({"column": None, "change": "add"}, "change"),
        ({"column": "p", "rows": 0}, "max_rows_per_unit"),
    ],
)
def test_wrong_units(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        unit_of(**given)
    assert caught.value.field == field


@pytest.mark.parametrize("wrong", [{}, None, {"a": 3}, {"a": {}}, {"a": {"type": "text", "colour": "red"}}])
def test_wrong_columns(wrong: Any) -> None:
    with pytest.raises(InvalidParameter):
        columns_of(wrong)


def test_categories_that_no_value_could_be_are_refused() -> None:
    """They would be groups of noise, and their rows in the group of NULL."""
    good: dict[str, Any] = {"word": {"type": "text", "categories": ["abc"], "length": 3}}
    whole: dict[str, Any] = {"n": {"type": "integer", "categories": [0, 5], "bounds": (0, 5)}}
    assert [one.categories for one in columns_of(good | whole)] == [("abc",), (0, 5)]
    with pytest.raises(InvalidParameter, match=r"columns\.word\.categories.*Declare length=4"):
        columns_of({"word": good["word"] | {"categories": ["ab", "abcd"]}})
    with pytest.raises(InvalidParameter, match=r"columns\.n\.categories: 7 is beyond the bounds"):
        columns_of({"n": whole["n"] | {"categories": [1, 7]}})
    with pytest.raises(InvalidParameter, match="Declare length=101"):
        columns_of({"word": Column(name="word", type="text", categories=["a" * 101])})
