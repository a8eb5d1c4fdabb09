"""The parts that all pictures are made of: an SVG document's head, lines, texts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

INK, GRID = "#222222", "#dddddd"
_ILLEGAL = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def head(width: int, height: int, *, title: str, about: str) -> Iterator[str]:
    """The beginning of a document on white, with words for screen readers."""
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' role="img" font-family="sans-serif" font-size="13">'
    )
    yield f"<title>{clean(title)}</title>"
    yield f"<desc>{clean(about)}</desc>"
    yield f'<rect width="{width}" height="{height}" fill="#ffffff"/>'


def rule(left: float, top: float, right: float, bottom: float, colour: str) -> str:
    """A straight line."""
    return f'<line x1="{left:.2f}" y1="{top:.2f}" x2="{right:.2f}" y2="{bottom:.2f}" stroke="{colour}"/>'


def words(
    left: float, top: float, text: str, *, anchor: str = "start", size: int = 13, weight: str = "normal", turn: str = ""
) -> str:
    """A text, from this place on, around it, or up to it."""
    place = f'x="{left:.2f}" y="{top:.2f}" text-anchor="{anchor}"{turn}'
    return f'<text {place} font-size="{size}" font-weight="{weight}" fill="{INK}">{clean(text)}</text>'


def cut(text: str, longest: int) -> str:
    """At most so many characters of it.

    >>> cut("as long as it is", 8)
    'as long…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def clean(text: str) -> str:
    """Text that XML may hold."""
    return html.escape(_ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text))
