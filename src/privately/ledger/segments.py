"""A segment of a ledger, read by itself, so that several can be read at once in processes of their own.

Its records continue the chain from the hash that is stored before it, and its charges are counted by their terms. What
depends on the records before it is noted for whoever puts the segments together (`privately.ledger.dividing`). A
segment that is not as usual is given up: LedgerCorrupt here only means that all must be read in one go.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from privately.errors import LedgerCorrupt
from privately.ledger.alike import Payers, Summed
from privately.ledger.entries import Charged, Checkpoint, Released, Served, kind_of, read, release_members
from privately.ledger.settling import Counted, Look, Run
from privately.ledger.state import BEGINNING
from privately.ledger.stores import EMPTY, Head, Row, SQLiteReader
from privately.ledger.terms import Terms
from privately.ledger.verifying import ANSWERED, Verifier, pages

_MOST_GROUPS, _MOST_NOTED = 2_000, 50_000


class End(NamedTuple):
    """Where a segment begins or ends: the hash and the time of the last record before."""

    hash: bytes
    time: str


class Noted(NamedTuple):
    """A record that depends on those before the segment, what stands before it, and the charges since the last run.

    `answered` tells of a request that was served whether the charge, if it is in the segment, was answered by then.
    """

    row: Row
    checkpoint: int | None
    before: End
    counted: Counted
    answered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The records after this number up to that: its ends, what was noted, and the charges after the last of these.

    `charged` holds a byte for each record: 0 for no charge, 1 for one without an answer, 255 for one with its answer.
    """

    after: int
    upto: int
    start: End
    end: End
    noted: list[Noted]
    counted: Counted
    again: dict[int, int]
    answers: int
    charged: bytes

    def to_lines(self) -> tuple[bytes, bytes]:
        """As two lines of bytes."""
        data = [self.after, self.upto, self.start, self.end, self.noted, self.counted, [*self.again.items()]]
        return json.dumps([*data, self.answers], default=_text).encode("ascii"), self.charged.hex().encode("ascii")

    @classmethod
    def from_lines(cls, first: bytes, second: bytes) -> Segment:
        """What `to_lines` wrote."""
        after, upto, start, end, noted, counted, again, answers = json.loads(first)
        return cls(
            after=after,
            upto=upto,
            start=_end(start),
            end=_end(end),
            noted=[
                Noted(_row(row), checkpoint, _end(before), _counted(listed), answered)
                for row, checkpoint, before, listed, answered in noted
            ],
            counted=_counted(counted),
            again=dict(again),
            answers=answers,
            charged=bytes.fromhex(second.decode("ascii")),
        )


@dataclass(slots=True)
class _Reading(Verifier):
    """How far reading a segment has come. Whatever is not recognised at a glance is noted, or ends it."""

    after: int = 0
    noted: list[Noted] = field(default_factory=list)

    def carefully(self, row: Row, checkpoint: int | None, found: tuple[int, str] | None) -> None:
        """One record that continues the chain, and is not as most are or answers a charge before the segment."""
        first, _, second = row.text.partition(b"\n")
        kind, counted, answered = kind_of(first), Counted([], []), False
        before = End(self.state.head.hash, self.state.time)
        if kind is Charged or len(self.noted) >= _MOST_NOTED:
            raise LedgerCorrupt(f"record {row.number} is not as usual.")
        if kind is Released:
            named, digest, asked, size, time = release_members(second)
            filed = (None, asked, row.charge) == row[3:] and checkpoint is None and type(row.charge) is int
            if not filed or named != str(row.charge) or found != (int(size), digest) or int(named) > self.after:
                raise LedgerCorrupt(f"record {row.number} is not as usual.")
        else:
            entry, time = read(row.text)
            if isinstance(entry, Served):
                answered = self.after < entry.charge < row.number and self.questions[entry.charge] == ANSWERED
            else:
                counted = self.counted()
            if isinstance(entry, Checkpoint):
                self.state.terms = Terms()
        self.noted.append(Noted(row, checkpoint, before, counted, answered))
        self.state.time = time

    def counted(self) -> Counted:
        """The charges since the last run, which ends."""
        found = self.run.counted()
        if len(found.groups) > _MOST_GROUPS:
            raise LedgerCorrupt("charges are on too many terms.")
        self.run = Run(None)
        return found


def read_segment(look: Look, after: int, upto: int, told: Callable[[int], None] | None = None) -> Segment:
    """These records, as far as they can be read by themselves; LedgerCorrupt if that does not suffice.

    The last one before them is a checkpoint, or there is none: they name no terms that were said before it.
    """
    start = End(EMPTY.hash, BEGINNING) if after == 0 else look(lambda session: _end_at(session.row(after)))
    reading = _Reading(look, Head(upto, b""), after=after)
    reading.run = Run(None)
    reading.state.head, reading.state.time = Head(after, start.hash), start.time
    for page in pages(look, after, upto):
        reading.read(page)
        if len(reading.run.groups) > _MOST_GROUPS:
            raise LedgerCorrupt("charges are on too many terms.")
        if told is not None:
            told(reading.state.head.number - after)
    if reading.state.head.number != upto:
        raise LedgerCorrupt("records are missing.")
    charged = bytes(255 if one == ANSWERED else one != 0 for one in reading.questions[after + 1 : upto + 1])
    return Segment(
        after=after,
        upto=upto,
        start=start,
        end=End(reading.state.head.hash, reading.state.time),
        noted=reading.noted,
        counted=reading.counted(),
        again=reading.again,
        answers=reading.answers,
        charged=charged,
    )


def marks(charged: bytes) -> array[int]:
    """As verification remembers which charges there are, and which are answered."""
    return array("q", array("b", charged))


def _end_at(row: Row | None) -> End:
    if row is None:
        raise LedgerCorrupt("a record is missing.")
    return End(row.hash, read(row.text)[1])


def _text(value: object) -> str:
    if not isinstance(value, bytes):
        raise TypeError
    return value.decode("latin-1")


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


def _end(data: Any) -> End:
    hashed, time = data
    return End(_bytes(hashed), time)


def _row(data: Any) -> Row:
    number, hashed, text, *names = data
    return Row(number, _bytes(hashed), _bytes(text), *names)


def _counted(data: Any) -> Counted:
    groups, summed = data
    return Counted(
        [((_bytes(first), *_payers(payers)), numbers) for (first, *payers), numbers in groups],
        [_summed(one) for one in summed],
    )


def _summed(data: Any) -> Summed:
    between, sums, charges, last, terms, groups = data
    return Summed(
        tuple(map(_bytes, between)),
        [(place, [(below, above) for below, above in listed]) for place, listed in sums],
        charges,
        last,
        _bytes(terms),
        [(_payers(payers), numbers) for payers, numbers in groups],
    )


def _payers(data: Any) -> Payers:
    analyst, token, own = data
    return _bytes(analyst), None if token is None else _bytes(token), _bytes(own)


def main() -> None:
    """A process that reads a segment: of which file, after which record, up to which. Tells how far it has come."""
    path, after, upto = sys.argv[1:]
    reader = SQLiteReader(path)

    def look(wanted: Callable[[Any], Any]) -> Any:
        with reader.reading() as session:
            return wanted(session)

    out = sys.stdout.buffer

    def told(done: int) -> None:
        out.write(b"%d\n" % done)
        out.flush()

    first, second = read_segment(look, int(after), int(upto), told).to_lines()
    out.write(first + b"\n" + second + b"\n")
