"""Events from files."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from privately.cli.account.numbers import options
from privately.errors import InvalidParameter

if TYPE_CHECKING:
    from privately.accounting import Event

LARGEST = 10**8
"""Bytes."""


def read_event(path: Path) -> Event:
    """The event in a JSON file, or on standard input for `-`."""
    from privately.accounting import encoding

    content, name = _read(path), "standard input" if str(path) == "-" else repr(str(path))
    if len(content) > LARGEST:
        raise InvalidParameter(name, f"is larger than {LARGEST // 10**6} MB.")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidParameter(name, f"is not a text in UTF-8; write {encoding.FORM} in UTF-8.") from None
    with options({"text": name, "data": name}):
        return encoding.from_text(text)


def _read(path: Path) -> bytes:
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read(LARGEST + 1)
        if stat.S_ISREG(path.stat().st_mode):
            with path.open("rb") as file:
                return file.read(LARGEST + 1)
    except OSError as fault:
        raise InvalidParameter("FILE", f"{str(path)!r} cannot be read: {fault.strerror}.") from None
    except (AttributeError, ValueError):  # standard input is closed, or the name is none
        raise InvalidParameter("FILE", f"{str(path)!r} cannot be read.") from None
    raise InvalidParameter("FILE", f"{str(path)!r} is not a regular file; use - for standard input.")
