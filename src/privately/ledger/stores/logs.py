"""The log of a ledger file: how long it is, and how it is carried over into the file, by whoever holds the lock.

A log that was carried over is written again from its beginning. It keeps its length on the disk meanwhile, so that
syncing what is written over it has no new length of a file to record.
"""

from __future__ import annotations

import os

import apsw

LONG = 8 << 20
"""So many bytes are carried over."""

PAUSE = 20
_TOO_LONG = 4
_FRAME = 4096 + 24


class Log:
    """The log that a connection writes."""

    def __init__(self, connection: apsw.Connection, name: str, patience: float) -> None:
        self._connection, self._name, self._patience = connection, name, int(patience * 1000)
        self._frames = self._turns_to_wait = 0
        connection.set_wal_hook(self._committed)

    @property
    def size(self) -> int:
        """How much of it counts since the last commit; as much again may be left of earlier ones."""
        return self._frames * _FRAME

    @property
    def is_due(self) -> bool:
        """Whether it should be carried over."""
        return self.size > LONG and not self._turns_to_wait

    def carry_over(self) -> None:
        """While somebody reads for long, trying costs a sync and brings little: only now and then is it due."""
        self._turns_to_wait = PAUSE
        too_long = os.stat(self._name).st_size > _TOO_LONG * LONG  # noqa: PTH116 - a name, as in the store
        self._carry_over(apsw.SQLITE_CHECKPOINT_TRUNCATE if too_long else apsw.SQLITE_CHECKPOINT_PASSIVE)

    def carry_all_over(self) -> None:
        """Leaves an empty log, if nobody is in the way."""
        self._carry_over(apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def _carry_over(self, mode: int) -> None:
        """Only if nobody is in the way: what is committed is durable in the log too, and there will be other times."""
        self._connection.set_busy_timeout(0)
        try:
            self._connection.wal_checkpoint(mode=mode)
        except apsw.Error:
            pass  # somebody reads what would be overwritten, or the disk is full: the log stays
        finally:
            self._connection.set_busy_timeout(self._patience)

    def _committed(self, _connection: apsw.Connection, _database: str, frames: int) -> int:
        self._frames = frames
        self._turns_to_wait = max(self._turns_to_wait - 1, 0) if self.size > LONG else 0
        return apsw.SQLITE_OK
