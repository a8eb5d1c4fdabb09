"""Processes that are forked while a ledger is open: they must neither use it nor keep its lock.

SQLite keeps in memory which locks its process holds. A forked child has that memory but not the locks, so it can not
even open the same file again; it is told so instead of waiting for itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol
from weakref import WeakSet

from privately.errors import LedgerUnavailable


class Open(Protocol):
    """A ledger file that is open in this process."""

    @property
    def place(self) -> tuple[int, int]: ...

    def let_go(self) -> None:
        """Closes, in a forked child, what would keep the parent's lock alive."""


_open: WeakSet[Open] = WeakSet()
_inherited: set[tuple[int, int]] = set()


def remember(store: Open) -> None:
    """From now on, forked children cannot open this file."""
    _open.add(store)


def forget(store: Open) -> None:
    """The file is closed."""
    _open.discard(store)


def check(path: Path) -> None:
    """LedgerUnavailable if a parent had this file open when this process was forked."""
    try:
        found = os.stat(path)  # noqa: PTH116 - follows what the others do
    except OSError:
        return
    if (found.st_dev, found.st_ino) in _inherited:
        hint = "Open ledgers after forking, or start processes with multiprocessing's 'spawn'."
        raise LedgerUnavailable(f"{path} was open when this process was forked.", hint=hint)


def _in_child() -> None:
    for store in list(_open):
        _inherited.add(store.place)
        store.let_go()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
