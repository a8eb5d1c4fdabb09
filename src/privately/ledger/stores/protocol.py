"""What a ledger needs of a database: rows that are only appended, one writer at a time, three ways to find one.

A store knows nothing of budgets. It keeps bytes, in order; what they mean is for `privately.ledger.book`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, TypeAlias


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


Whole: TypeAlias = tuple[int, bytes, bytes, str | None, str | None, int | None, int | None]
"""A row, and whether it is filed as a checkpoint: 1, or None."""

Page: TypeAlias = tuple[list[Whole], dict[int, tuple[int, str]]]
"""Rows in order; and for each with which bytes are kept, by its number, their length and SHA-256."""


class NotNow(Exception):
    """A turn would have to be waited for, or would take long."""


class Session(Protocol):
    """What may be done while a store is read or written. Everything seen is of one moment."""

    def head(self) -> Head: ...

    def rows(self, after: int, upto: int | None = None) -> Iterator[Row]: ...

    def row(self, number: int) -> Row | None: ...

    def latest(self, *, key: str | None = None, question: str | None = None, charge: int | None = None) -> Row | None:
        """The last record that was filed under this one name."""

    def known(self, *, keys: Sequence[str] = (), questions: Sequence[str] = ()) -> set[str]:
        """Which of these names something was filed under."""

    def several(self, numbers: Collection[int]) -> dict[int, Row]:
        """Those of these records that there are."""

    def last_of(self, keys: Sequence[str]) -> dict[str, int]:
        """Which record was filed last under each of these keys, where one was."""

    def answered(self, charges: Sequence[int]) -> set[int]:
        """Which of these charges have an answer."""

    def checkpoint(self, upto: int | None = None) -> int:
        """The number of the last record, or the last of the first so many, that was appended as a checkpoint, or 0."""

    def answer(self, number: int) -> bytes | None:
        """The bytes that were kept with a record."""

    def backup(self, path: str) -> None:
        """All that was committed, in a new file that appears whole or not at all."""

    def check(self) -> None:
        """LedgerCorrupt if the database is damaged where reading the records does not show it, as in an index."""

    def page(self, after: int, upto: int) -> Page:
        """All that is kept of these records, in order."""

    def keyed(self, end: str, after: int, upto: int) -> Iterator[Row]:
        """Those of these records whose key ends so, in order."""

    def repeated(self, upto: int) -> Iterator[tuple[str, int]]:
        """The keys under which several of the first records are filed, each with their numbers in order."""

    def append(self, row: Row, *, answer: bytes | None = None, checkpoint: bool = False) -> None:
        """Adds a record. Whatever is asked of the session later takes account of it."""

    def extend(self, rows: Sequence[Whole], answers: Sequence[tuple[int, bytes]] = ()) -> None:
        """The same for several records, at least one; `answers` are the bytes to be kept with some of them."""


class Checking(Protocol):
    """A look at a whole database that goes on meanwhile."""

    def wait(self) -> None:
        """Passes if all is in order, as `Session.check` does."""

    def stop(self) -> None:
        """Ends at once, whatever was found."""


class Store(Protocol):
    """A database that writes for one at a time, durably, or not at all."""

    durable: bool
    writable: bool

    @property
    def elsewhere(self) -> str | None:
        """Where another process finds the same database, to look at it; None where it cannot."""

    def reading(self) -> AbstractContextManager[Session]:
        """Looks at all that was committed."""

    def checking(self) -> Checking | None:
        """Begins what `Session.check` does, while others read; None where this is not possible."""

    def writing(self, *, waits: bool = True) -> AbstractContextManager[Session]:
        """Waits for its turn; commits durably on leaving, and forgets everything on an error.

        Who cannot wait is told NotNow before the turn begins, unless it begins at once and is short.
        """

    def close(self) -> None: ...
