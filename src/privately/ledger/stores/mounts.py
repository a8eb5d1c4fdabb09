"""Files that are mounted one by one have a directory, and so a log and a lock, of their own at each place."""

from __future__ import annotations

import re
from pathlib import Path

from privately.errors import LedgerUnavailable

_MOUNTS = Path("/proc/self/mountinfo")


def check_mounts(path: Path, mounts: Path = _MOUNTS) -> None:
    """LedgerUnavailable if the file itself is mounted; where the system does not tell, nothing is known."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    if any(_unescaped(line.split(" ")[4]) == str(path) for line in lines if line.count(" ") > 4):
        hint = "Mount the directory that it is in: its log and its lock must be the same for everybody."
        raise LedgerUnavailable(f"{path} is mounted as a single file.", hint=hint)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
