"""Refusals of what the language does not hold, with the line."""

from __future__ import annotations

from typing import Any

from privately.errors import NotSupported


def refusal(node: Any, message: str, hint: str = "") -> NotSupported:
    """The error to raise; `node` knows its line, if anything does."""
    where = f"line {node.lineno}: " if node is not None and hasattr(node, "lineno") else ""
    return NotSupported(f"{where}{message}", hint=hint)
