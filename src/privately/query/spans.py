"""Where in the text a part of the tree came from, so that a refusal can point at it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from privately.errors import Refused

Span: TypeAlias = tuple[int, int]

_CALLED = re.compile(r"(\w+)\s*\(\s*\Z")
_LONGEST_CALL = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The text of a question, and where its brackets are: places of the opening (+1) and the closing ones (-1)."""

    text: str
    brackets: Sequence[tuple[int, int]] = ()

    def span(self, node: exp.Expr | None) -> Span:
        """From the first to behind the last character of what the node was made of, as far as that is known.

        The tree keeps the places of names, constants and function names; what has none of these gets the span of the
        part around it. Places in the names of types are those of another text.
        """
        type_ = None if node is None else node.find_ancestor(exp.DataType)
        node = node if type_ is None else type_
        while node is not None:
            inner = node.walk(prune=_is_type)
            places = [place for place in (place_of(one) for one in inner if not _is_type(one)) if place is not None]
            if places:
                start = self._called(node, min(start for start, _ in places))
                return self._closed(start, max(end for _, end in places))
            node = node.parent
        return 0, len(self.text)

    def words(self, node: exp.Expr) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def _called(self, node: exp.Expr, start: int) -> int:
        """Where the name of a function stands, of which the tree has kept the arguments alone, as of MAX(x)."""
        if not isinstance(node, exp.Func) or place_of(node) is not None:
            return start
        word = _CALLED.search(self.text, max(0, start - _LONGEST_CALL), start)
        return word.start() if word and word[1].upper() in node.sql_names() else start

    def _closed(self, start: int, end: int) -> Span:
        """With the brackets that were opened in it closed."""
        open_ = 0
        for place, change in self.brackets:
            if place < start or (place >= end and open_ <= 0):
                continue
            open_ += change
            if place >= end:
                end = place + 1
        return start, end

    def refuse(self, error: Refused, node: exp.Expr) -> Refused:
        """The same error, with the place in the text if it has none yet."""
        if error.span is None:
            error.span = self.span(node)
        return error


def _is_type(node: exp.Expr) -> bool:
    return isinstance(node, exp.DataType)


def place_of(node: exp.Expr) -> Span | None:
    """Where the word of a node itself is, if the tree has kept it."""
    start, end = node.meta.get("start"), node.meta.get("end")
    return (start, end + 1) if isinstance(start, int) and isinstance(end, int) else None
