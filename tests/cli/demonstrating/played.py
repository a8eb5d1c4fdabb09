"""The story, played once on a small table."""

import tempfile
from functools import cache
from pathlib import Path

from privately.cli.demonstrating.story import Story, happened


@cache
def small() -> tuple[Story, tuple[tuple[str, str], ...]]:
    """What happened, and what was said."""
    said: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        story = happened(path, path / "certificate.json", lambda title, text: said.append((title, text)), rows=3_000)
    return story, tuple(said)
