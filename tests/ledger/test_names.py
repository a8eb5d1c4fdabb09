"""Names are short, printable, and never two for one thing."""

import os
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import BudgetExhausted, InvalidParameter
from privately.guarantees import PureDP
from privately.ledger import Ledger
from privately.ledger.names import LONGEST_FILE, LONGEST_NAME, SEPARATOR, checked_name, checked_path, checked_text
from tests.ledger.examples import charge, founded


@pytest.mark.parametrize("name", ["visits", "a b", "Zürich", "患者", "a" * LONGEST_NAME, "x.y-z_1", "\u00e9"])
def test_names(name: str) -> None:
    assert checked_name(name, "lineage") == name


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("", "must not be empty"),
        (" visits", "begin or end with a space"),
        ("visits\u00a0", "begin or end with a space"),
        ("a/b", "holds '/'"),
        ("a\nb", "cannot be printed"),
        ("a\x00b", "cannot be printed"),
        ("a\x1b[2Jb", "cannot be printed"),
        ("a\u202eb", "cannot be printed"),
        ("a\u200bb", "cannot be printed"),
        ("a" * (LONGEST_NAME + 1), "201 characters; 200 is the most"),
        ("e\u0301", "another spelling"),
        ("\ud800", "a lone surrogate"),
        (7, "give a text, not a value of type int"),
        (None, "give a text, not a value of type NoneType"),
        (b"visits", "give a text, not a value of type bytes"),
    ],
)
def test_no_names(name: object, complaint: str) -> None:
    with pytest.raises(InvalidParameter, match=complaint) as caught:
        checked_name(name, "lineage")
    assert caught.value.field == "lineage"


@given(st.text(max_size=30))
def test_a_name_is_refused_or_itself(text: str) -> None:
    try:
        name = checked_name(text, "lineage")
    except InvalidParameter:
        return
    assert name == text
    assert SEPARATOR not in name
    assert "\n" not in name
    name.encode()


def test_texts_may_hold_more() -> None:
    assert checked_text("a/b\n", "label", longest=4) == "a/b\n"
    with pytest.raises(InvalidParameter, match="has 5 characters; 4 is the most"):
        checked_text("12345", "label", longest=4)
    with pytest.raises(InvalidParameter, match="lone surrogate"):
        checked_text("\udfff", "label", longest=4)


class Named(str, Enum):  # noqa: UP042 - written as its value by JSON, as its name in an f-string
    ANN, TOKEN, VISITS, KEY, TEXT, EVERYONE, NEVER = "ann", "t", "visits", "k", "text", "everyone", "never"


class Loud(str):  # noqa: SLOT000
    """Says something else each time."""

    def __str__(self) -> str:
        return "loud"

    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize("kind", [Named, Loud])
def test_a_name_is_a_plain_text_whatever_it_inherits_from(kind: Any) -> None:
    for found in (checked_name(kind("ann"), "analyst"), checked_text(kind("text"), "label", longest=10)):
        assert type(found) is str
        assert found in {"ann", "text"}
    if kind is Loud:
        with pytest.raises(InvalidParameter, match="is the most"):
            checked_text(Loud("12345"), "label", longest=4)


def test_members_of_an_enum_are_the_names_that_they_stand_for(tmp_path: Path) -> None:
    """Each cap is asked, and what is recorded can be read by everybody."""
    with founded(tmp_path / "l", cap=5) as ledger:
        ledger.account("visits", analyst="ann", cap=PureDP(epsilon="0.5"))
        ledger.account("visits", analyst="ann", token="t", cap=PureDP(epsilon="0.3"))
        for changed in ({"analyst": Named.ANN}, {"token": Named.TOKEN}, {"lineages": (Named.VISITS,)}):
            asked: dict[str, Any] = {"analyst": "ann", "token": "t", **changed}
            with pytest.raises(BudgetExhausted):
                ledger.charge(charge(cost=PureDP(epsilon="0.4"), **asked))
            ledger.charge(charge(f"{changed}", **asked))
        texts: dict[str, Any] = {"key": Named.KEY, "label": Named.TEXT, "snapshot": Named.TEXT}
        ledger.charge(charge(Named.TEXT, analyst=Named.ANN, **texts))
        ledger.account(Named.VISITS, cap=PureDP(epsilon=5), reuse=Named.EVERYONE)  # type: ignore[arg-type]
        ledger.account("claims", cap=PureDP(epsilon=1), reuse=Named.NEVER)  # type: ignore[arg-type]
        assert ledger.budget(Named.VISITS, analyst=Named.ANN, token=Named.TOKEN).remaining == PureDP(epsilon=0)
        assert ledger.budget("visits", analyst="ann").remaining == PureDP(epsilon="0.1")
        ledger.verify()
    with Ledger.open(tmp_path / "l") as again:
        assert again.verify().charges == 4


def test_paths(tmp_path: Path) -> None:
    assert checked_path(tmp_path / "l") == os.fspath(tmp_path / "l")
    assert checked_path(":memory:") == ":memory:"
    wrong: list[Any] = ["", "a\0b", "\udc80", b"l", 7, None]
    for path in wrong:
        with pytest.raises(InvalidParameter, match="path of a file"):
            checked_path(path)


def test_a_name_that_leaves_no_room_for_the_files_beside_it(tmp_path: Path) -> None:
    """Otherwise a ledger would be made that can never be opened."""
    with Ledger.open(tmp_path / ("é" * (LONGEST_FILE // 2))) as ledger:
        assert ledger.head.number == 1
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InvalidParameter, match="more than 240 bytes"):
        Ledger.open(tmp_path / ("é" * (LONGEST_FILE // 2) + "e"))
    assert sorted(tmp_path.iterdir()) == before
