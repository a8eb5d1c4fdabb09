"""Names are short, printable, and never two for one thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.ledger.names import LONGEST_NAME, SEPARATOR, checked_name, checked_text


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
