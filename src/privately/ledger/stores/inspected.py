"""Files that are only looked at in this process. SQLite cannot write to one at the same time from the same process."""

from __future__ import annotations

import os
import threading
from collections import Counter
from pathlib import Path

from privately.errors import LedgerUnavailable

_looked_at: Counter[tuple[int, int]] = Counter()
_guard = threading.Lock()


def place_of(path: Path) -> tuple[int, int]:
    """Which file it is, whatever its name."""
    found = path.stat()
    return found.st_dev, found.st_ino


def begin(place: tuple[int, int]) -> None:
    """Somebody looks."""
    with _guard:
        _looked_at[place] += 1


def end(place: tuple[int, int]) -> None:
    """Somebody has looked."""
    with _guard:
        _looked_at[place] -= 1


def check(path: Path) -> None:
    """LedgerUnavailable if somebody in this process looks at the file."""
    try:
        place = place_of(path)
    except OSError:
        return
    if _looked_at[place] > 0 and os.access(path, os.W_OK):
        hint = "Close what `Ledger.inspect` returned first, or look from another process."
        raise LedgerUnavailable(f"{path} is being inspected in this process.", hint=hint)
