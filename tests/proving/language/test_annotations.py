"""Annotations are read from their text."""

import ast

import pytest

from privately.errors import NotSupported
from privately.proving.language.annotations import declared
from privately.proving.language.declarations import POSITIVE, between, each, replaced, whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("each(1)", each(1)),
        ("each(0.5)", each(0.5)),
        ("replaced(0, 1)", replaced(0, 1)),
        ("replaced(whole(0, 3))", replaced(whole(0, 3))),
        ("between(-1, 1/2)", between(-1, "1/2")),
        ("'each(1)'", each(1)),
        ("positive", POSITIVE),
        ("private", "private"),
        ("int", None),
    ],
)
def test_what_annotations_say(text: str, expected: object) -> None:
    assert declared(ast.parse(text, mode="eval").body, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("list", "each", "each(x)", "each(1, 2, 3)", "f(1)", "'each('", "each(distance=1)"),
        *("each(-'a')", "each(-'1e999999999')", "each(1/'0')", "each(1/0)", "each(1/-0.0)"),
        f"each({'1/(' * 60}1{')' * 60})",
    ],
)
def test_the_rest_is_refused(text: str) -> None:
    with pytest.raises(NotSupported, match="line 1"):
        declared(ast.parse(text, mode="eval").body, text)
