"""The steps from a table to the numbers that got noise, as lines for people."""

from collections.abc import Iterator, Sequence

from .nodes import Node
from .schema import show
from .statements import GUARANTEES

LINES = 200


def plan_lines(nodes: Sequence[Node]) -> Iterator[str]:
    """One line for each step that is about a table, and for each mechanism that rests on one; at most 200."""
    steps = [
        (i, node)
        for i, node in enumerate(nodes)
        if node.claim.kind not in GUARANTEES or any(nodes[j].claim.kind not in GUARANTEES for j in node.premises)
    ]
    for i, node in steps[:LINES]:
        source = f" of [{node.premises[0]}]" if node.premises else ""
        said = "; ".join(_described(node))
        found = "" if node.name in _KEEP else f" -> {_found(node)}"
        yield f"[{i}] {node.name}{source}{': ' if said else ''}{said}{found}"
    if len(steps) > LINES:
        yield f"and {len(steps) - LINES} more"


def _described(node: Node) -> Iterator[str]:
    for name, value in node.parameters.items():
        if isinstance(value, list):
            for item in value:
                yield _key(item) if isinstance(item, dict) else _plain(item)
        elif value is not None:
            yield _plain(value) if name in _WORDS else f"{name} {_plain(value)}"


def _found(node: Node) -> str:
    """A table says whom it is about; all that follows is about the same."""
    return node.claim.numbers_text() if node.premises else node.claim.text()


_KEEP = frozenset({"filter_rows", "project_rows"})
_WORDS = frozenset({"table", "condition", "argument"})


def _key(key: dict[str, object]) -> str:
    listed = "not listed" if key["values"] is None else f"{key['values']} listed"
    return f"{_plain(key['key'])} ({listed})"


def _plain(value: object) -> str:
    """A text without its quotes, where that is harmless."""
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() and len(value) <= 80 else show(value)
    said = getattr(value, "text", None)
    return said() if callable(said) else show(value)
