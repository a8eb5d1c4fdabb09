"""Processes that are forked while a ledger is open: they can use no ledger, and must not keep the parent's lock.

SQLite keeps in memory which locks its process holds, and mutexes of its own. A forked child has that memory, but not
the locks, nor the threads that would free the mutexes; so it is told at once instead of waiting for ever.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet

from privately.errors import LedgerUnavailable


class Open(Protocol):
    """A ledger that is open in this process, or is being opened or closed."""

    def let_go(self) -> None:
        """Closes, in a forked child, what would keep the parent's lock alive."""


_open: WeakSet[Open] = WeakSet()
_inherited: list[int] = []


def remember(store: Open) -> None:
    """From now on, forked children cannot open ledgers. LedgerUnavailable in such a child."""
    if _inherited:
        hint = "Open ledgers after forking, or start processes with multiprocessing's 'spawn'."
        raise LedgerUnavailable("a ledger was open when this process was forked.", hint=hint)
    _open.add(store)


def forget(store: Open) -> None:
    """It is closed."""
    _open.discard(store)


def _in_child() -> None:
    if _open:
        _inherited.append(os.getppid())
    for store in list(_open):
        store.let_go()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
