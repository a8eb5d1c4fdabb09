"""Reading everything again: the chain, the answers, and that all charges add up to what was spent, within every cap.

Charges come in great numbers and on few terms. Those between two other entries are counted by their terms, and each
account pays for all of them at once, which comes to the same while totals are exact; where they are not, one by one.
Records are read page by page, and nothing is locked in between: those that were there at the beginning never change.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import NoReturn

from privately.errors import InvalidParameter, LedgerCorrupt
from privately.ledger.book import names
from privately.ledger.entries import (
    CHARGED_END,
    Charged,
    Checkpoint,
    Opened,
    Registered,
    Released,
    Served,
    charge_line,
    kind_of,
    read,
    release_members,
)
from privately.ledger.following import join
from privately.ledger.lines import is_plain, release_text, usual_charge, usual_question, usual_time
from privately.ledger.names import checked_name
from privately.ledger.rederiving import check_keys, check_opened, check_registered, check_served
from privately.ledger.settling import Look, Run, settle
from privately.ledger.state import State
from privately.ledger.stores import Checking, Head, Page, Row, Session

_EVERY, _LONG = 1_000, 20_000
ANSWERED = -1
"""Which no hash is."""
_NOTHING = (None, None, None)
_TEXT = {str, type(None)}

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found to be in order."""

    records: int
    charges: int
    answers: int


def verified(
    look: Look, *, aside: Callable[[], Checking | None] | None = None, progress: Progress | None = None
) -> Verification:
    """Passes if every record follows from those before it, and every answer is the one that was stored.

    For long ledgers `aside` begins to look at the database meanwhile, as `Store.checking` does.
    """
    end: Head = look(lambda session: session.head())
    checking = None if aside is None or end.number < _LONG else aside()
    try:
        verifier = Verifier(look, end)
        for page in pages(look, 0, end.number):
            verifier.read(page)
            verifier.check_whom_they_served()
            upto = verifier.state.head.number
            if progress is not None and upto % _EVERY == 0:
                progress(upto, end.number)
        return verifier.finished(checking)
    finally:
        if checking is not None:
            checking.stop()


def pages(look: Look, after: int, upto: int) -> Iterator[Page]:
    """These records page by page."""
    for start in range(after, upto, _EVERY):
        yield look(partial(_page, start, min(start + _EVERY, upto)))


def _page(after: int, upto: int, session: Session) -> Page:
    return session.page(after, upto)


@dataclass(slots=True)
class Verifier:
    """How far verification has come. `questions` holds, for each charge without an answer, a hash of its question.

    `kept` tells whether some lineage does not let its answers serve everyone; only then it matters whom they `served`.
    """

    look: Look
    end: Head
    state: State = field(default_factory=State)
    run: Run = field(init=False)
    questions: array[int] = field(init=False)
    again: dict[int, int] = field(default_factory=dict)
    served: dict[int, Served] = field(default_factory=dict)
    kept: bool = False
    charges: int = 0
    answers: int = 0

    def __post_init__(self) -> None:
        self.run = Run(self.state.accounts)
        self.questions = array("q", bytes(8 * (self.end.number + 1)))

    def read(self, page: Page) -> None:
        """Goes on by these records. What `join` does for each, but for the sums of charges.

        What is written as usual is recognised here; all else, and whatever is wrong, is looked at with care.
        """
        (before, previous), latest = self.state.head, self.state.time.encode("ascii")
        groups, questions, answered, said = self.run.groups, self.questions, 0, self.state.terms.said
        rows, answers = page
        first, analyst, own, earlier, token = b"", b"", b"", None, None
        for number, hashed, text, key, question, charge, checkpoint in rows:
            before += 1
            if number != before or type(text) is not bytes or sha256(previous + text).digest() != hashed:
                raise LedgerCorrupt(f"record {number} breaks the chain.")
            usual, time, asked = False, latest, None
            if type(key) is str:
                first, _, second = text.partition(b"\n")
                found = usual_charge(second)
                if found is not None and first.endswith(CHARGED_END) and is_plain(second):
                    first = said.get(first) or self.state.terms.of(first, number)
                    analyst, earlier, body, name, _, own, snapshot, time, token = found.groups()
                    asked = body if own == b"false" and not snapshot else usual_question(body, snapshot, analyst, own)
                    usual = key.encode() == name + b"\n" + analyst and (question, charge, checkpoint) == _NOTHING
            elif key is None and type(charge) is int and type(question) in _TEXT and number in answers:
                size, digest = answers[number]
                asked, time = None if question is None else question.encode(), text[-29:-2]
                usual = (
                    type(digest) is str
                    and text == release_text(charge, digest.encode(), asked, size, time)
                    and checkpoint is None
                )
                usual = usual and 0 < charge < number and questions[charge] == (hash(asked) or 1)
            if not usual or not (time == latest or (time > latest and usual_time(time) is not None)):
                self.state.head, self.state.time = Head(before - 1, previous), latest.decode("ascii")
                self.carefully(Row(number, hashed, text, key, question, charge), checkpoint, answers.get(number))
                groups, time = self.run.groups, self.state.time.encode("ascii")
                said = self.state.terms.said
            elif charge is not None:
                questions[charge] = ANSWERED
                answered += 1
            else:
                group = groups.get((first, analyst, token, own))
                if group is None:
                    self.run.add((first, analyst, token, own), number)
                else:
                    group[0] += 1
                    group[2] = number
                questions[number] = hash(asked) or 1
                if earlier is not None:
                    self.again[number] = int(earlier)
            previous, latest = hashed, time
        self.state.head, self.state.time = Head(before, previous), latest.decode("ascii")
        self.answers += answered

    def check_whom_they_served(self) -> None:
        """That those who were served since the last time may be."""
        if self.served:
            self.look(lambda session: check_served(session, self.served, self.state.accounts))
            self.served.clear()

    def carefully(self, row: Row, checkpoint: int | None, found: tuple[int, str] | None) -> None:
        """One record that continues the chain, whatever is in it."""
        number, _, text, key, question, charge = row
        first, _, second = text.partition(b"\n")
        kind = kind_of(first)
        if kind is Charged:
            line = charge_line(second)
            if key != f"{line.key}\n{line.analyst}" or (question, charge, checkpoint) != _NOTHING:
                _misfiled(number)
            time, token = line.time, None if line.token is None else _encoded(line.token)
            payers = _encoded(line.analyst), token, _encoded(line.own)
            self.run.add((self.state.terms.of(first, number), *payers), number)
            self.questions[number] = _odd(line.question)
            if line.before is not None:
                self.again[number] = int(line.before)
        elif kind is Released:
            named, digest, asked, size, time = release_members(second)
            if (
                type(charge) is not int
                or named != str(charge)
                or question != asked
                or (key, checkpoint) != (None, None)
            ):
                _misfiled(number)
            else:
                self._answered(number, charge, asked, found, (int(size), digest))
        elif kind is Served:
            time = self._served(row, checkpoint)
        else:
            self._other(row, checkpoint)
            return
        if time < self.state.time:
            raise LedgerCorrupt(f"record {number} is older than the one before it.")
        self.state.time = time

    def finished(self, checking: Checking | None) -> Verification:
        """What was verified, if it ends where it should."""
        self._settle(self.end.number)
        if self.state.head != self.end:
            raise LedgerCorrupt("the last record is not the end of the chain.")
        self.look(lambda session: check_keys(session, self.again, self.end.number))
        if checking is None:
            self.look(lambda session: session.check())
        else:
            checking.wait()
            self.look(lambda session: session.head())  # notices if the file was replaced meanwhile
        return Verification(records=self.end.number, charges=self.charges, answers=self.answers)

    def _answered(
        self, number: int, charge: int, question: str | None, found: tuple[int, str] | None, said: tuple[int, str]
    ) -> None:
        """An answer belongs to a charge before it that nothing else answers, and is what its record says."""
        usual = hash(None if question is None else _encoded(question)) or 1
        if not 0 < charge < number or self.questions[charge] not in {usual, _odd(question)}:
            raise LedgerCorrupt(f"record {number} answers what was not charged, or not any more.")
        self.questions[charge] = ANSWERED
        if found != said:
            raise LedgerCorrupt(f"the answer stored with record {number} does not verify.")
        self.answers += 1

    def _served(self, row: Row, checkpoint: int | None) -> str:
        """A request was served the answer to an earlier charge, which was stored by then. Its time."""
        entry, time = read(row.text)
        if row[3:] != names(entry) or checkpoint is not None:
            _misfiled(row.number)
        if not isinstance(entry, Served) or not 0 < entry.charge < row.number:
            raise LedgerCorrupt(f"record {row.number} was served what was not stored.")
        if self.questions[entry.charge] != ANSWERED:
            raise LedgerCorrupt(f"record {row.number} was served what was not stored.")
        try:
            checked_name(entry.analyst, "analyst")
            checked_name(entry.key, "key")
        except InvalidParameter as fault:
            raise LedgerCorrupt(f"record {row.number} cannot have been served like this ({fault}).") from None
        if self.kept:
            self.served[row.number] = entry
        return time

    def _other(self, row: Row, checkpoint: int | None) -> None:
        """Any record that is neither a charge nor an answer."""
        entry, _ = read(row.text)
        if (checkpoint is not None) != isinstance(entry, Checkpoint):
            raise LedgerCorrupt(f"record {row.number} is filed as a checkpoint and is none, or is one and is not.")
        self._settle(row.number - 1)
        if isinstance(entry, Opened):
            check_opened(self.look, entry, self.state)
            self.kept = self.kept or entry.reuse != "everyone"
        if isinstance(entry, Registered):
            check_registered(entry, self.state)
        join(self.state, row)

    def _settle(self, upto: int) -> None:
        self.charges += self.run.charges
        settle(self.look, self.state, self.run, upto)
        self.run = Run(self.state.accounts, upto + 1)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _odd(question: str | None) -> int:
    """Questions that were not recognised at a glance are not recognised with their answers either."""
    return hash((question,)) or 1


def _misfiled(number: int) -> NoReturn:
    raise LedgerCorrupt(f"record {number} is filed under names that are not its own.")
