"""Terms that many charges share: one record says them, and charges after it name that record.

A charge names one since the last checkpoint, so that whoever goes on from there needs no record before it; and only
the first so many are ever named, so that they can be remembered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from privately.errors import LedgerCorrupt

MOST, LONGEST = 1_000, 4_096
"""So many terms that are said after a checkpoint can be named until the next, and none of more bytes. It is part of the
form of a ledger."""

NAMES = b'{"terms":'
_NAME = re.compile(rb'\{"terms":([1-9][0-9]{0,17}),"what":"charged"\}').fullmatch


def named(first: bytes) -> int | None:
    """The record that says the terms of a charge with this first line; None if the line says them itself."""
    found = _NAME(first)
    return None if found is None else int(found[1])


def naming(number: int) -> bytes:
    """The first line of a charge whose terms that record says."""
    return b'{"terms":%d,"what":"charged"}' % number


@dataclass(slots=True)
class Terms:
    """Terms that charges since the last checkpoint have said: `said` by the line that names them, and `names` back."""

    said: dict[bytes, bytes] = field(default_factory=dict)
    names: dict[bytes, bytes] = field(default_factory=dict)

    def copy(self) -> Terms:
        """Others that may go on by themselves."""
        return Terms(self.said.copy(), self.names.copy())

    def clear(self) -> None:
        """At a checkpoint: nothing that was said before it can be named."""
        self.said.clear()
        self.names.clear()

    def note(self, terms: bytes, number: int) -> None:
        """That a record says these terms, unless one before it did."""
        if len(self.names) < MOST and len(terms) <= LONGEST and terms not in self.names:
            name = naming(number)
            self.said[name], self.names[terms] = terms, name

    def named(self, terms: bytes) -> bytes:
        """The first line of the next charge on these terms."""
        return self.names.get(terms, terms)

    def of(self, first: bytes, number: int) -> bytes:
        """The terms of the charge in a record with this first line: those that it says, or names; or LedgerCorrupt."""
        if not first.startswith(NAMES):
            self.note(first, number)
            return first
        found = self.said.get(first)
        if found is None:
            raise LedgerCorrupt(f"record {number} names terms that no charge since the last checkpoint says.")
        return found
