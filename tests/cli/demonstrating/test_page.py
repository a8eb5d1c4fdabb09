"""The report is one well-formed page that loads nothing."""

import re
from html.parser import HTMLParser

from privately.cli.demonstrating.page import page
from tests.cli.demonstrating.played import small

VOID = {"meta", "rect", "line"}


class Nesting(HTMLParser):
    """Fails unless every element is closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def test_it_is_whole_and_loads_nothing() -> None:
    text = page(small()[0])
    parser = Nesting()
    parser.feed(text)
    assert parser.open == []
    assert parser.seen.count("svg") == 4
    assert parser.seen.count("section") == 9
    assert not re.search(r"(src|href)=|url\(|@import", text)
    assert set(re.findall(r"https?://[^\"]*", text)) == {"http://www.w3.org/2000/svg"}


def test_it_tells_the_story() -> None:
    story, _ = small()
    text = page(story)
    for told in story.answers:
        assert told.question.title.split("?")[0] in text
    assert "Refused:" in text
    assert "checked by check.pyz" in text
    assert "0.819 spent by five questions" in text
