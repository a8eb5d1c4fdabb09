"""What a ledger needs of a database: rows that are only appended, one writer at a time, three ways to find one.

A store knows nothing of budgets. It keeps bytes, in order; what they mean is for `privately.ledger.book`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol


class Head(NamedTuple):
    """How far a chain of records goes, and the hash of the last one, which stands for all of them."""

    number: int
    hash: bytes


EMPTY = Head(0, bytes(32))
"""Before the first record."""


class Row(NamedTuple):
    """One record: its place in the chain, its text, and the names under which it is found again."""

    number: int
    hash: bytes
    text: bytes
    key: str | None = None
    question: str | None = None
    charge: int | None = None

    @property
    def head(self) -> Head:
        return Head(self.number, self.hash)


class Session(Protocol):
    """What may be done while a store is read or written. Everything seen is of one moment."""

    def head(self) -> Head: ...

    def rows(self, after: int, upto: int | None = None) -> Iterator[Row]: ...

    def row(self, number: int) -> Row | None: ...

    def latest(self, *, key: str | None = None, question: str | None = None, charge: int | None = None) -> Row | None:
        """The last record that was filed under this one name."""

    def checkpoint(self) -> int:
        """The number of the last record that was appended as a checkpoint, or 0."""

    def answer(self, number: int) -> bytes | None:
        """The bytes that were kept with a record."""

    def backup(self, path: str) -> None:
        """All that was committed, in a new file that appears whole or not at all."""

    def check(self) -> None:
        """LedgerCorrupt if the database is damaged where reading the records does not show it, as in an index."""

    def everything(self) -> Iterator[tuple[Row, bool, bytes | None]]:
        """All records in order, whether they are filed as checkpoints, and the bytes that are kept with them."""

    def keyed(self, start: str, end: str) -> Iterator[Row]:
        """The records whose key is not before the one and before the other, in order."""

    def append(self, row: Row, *, answer: bytes | None = None, checkpoint: bool = False) -> None: ...


class Store(Protocol):
    """A database that writes for one at a time, durably, or not at all."""

    durable: bool
    writable: bool

    def reading(self) -> AbstractContextManager[Session]:
        """Looks at all that was committed."""

    def writing(self) -> AbstractContextManager[Session]:
        """Waits for its turn; commits durably on leaving, and forgets everything on an error."""

    def close(self) -> None: ...
