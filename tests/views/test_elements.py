"""Parts of pictures are well-formed whatever texts they hold."""

from xml.etree import ElementTree as ET

import pytest

from privately.views.elements import clean, cut, head, rule, words


def test_a_document_says_what_it_shows() -> None:
    root = ET.fromstring("".join([*head(100, 50, title="A & B", about="<two>"), "</svg>"]))
    assert root.attrib["viewBox"] == "0 0 100 50"
    assert ["".join(one.itertext()) for one in root] == ["A & B", "<two>", ""]


@pytest.mark.parametrize("text", ["a\x00b", "<&>", "\ud800", "\x1b[2J", "é", ""])
def test_any_text_can_be_shown(text: str) -> None:
    assert ET.fromstring(words(1, 2, text)).attrib["x"] == "1.00"
    assert "\x00" not in clean(text)


def test_lines_and_cuts() -> None:
    assert ET.fromstring(rule(0, 1, 2, 3, "#222222")).attrib["y2"] == "3.00"
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "ab…"
