"""Refusals of what the language does not hold, with the line."""

from __future__ import annotations

from typing import Any

from privately.errors import NotSupported

MOST_CHARACTERS = 100_000
"""The longest text of a program."""


def refusal(node: Any, message: str, hint: str = "") -> NotSupported:
    """The error to raise; `node` knows its line, if anything does."""
    where = f"line {node.lineno}: " if node is not None and hasattr(node, "lineno") else ""
    return NotSupported(f"{where}{message}", hint=hint)


def check_length(source: str) -> None:
    """Refuses texts that are too long: a file is not read further, so nothing may be said of what was."""
    if len(source) > MOST_CHARACTERS:
        raise NotSupported(f"the text has more than {MOST_CHARACTERS} characters.")
