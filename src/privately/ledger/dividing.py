"""Verification divided among processes: each reads a segment of the chain, and what they found is put together here.

It either comes to what reading everything in one go does, or says nothing: where anything is not as usual, or wrong,
all is read in one go, which says what it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from queue import SimpleQueue
from subprocess import DEVNULL, PIPE, Popen
from threading import Thread
from typing import Any, Self, TypeAlias

from privately.errors import LedgerCorrupt, LedgerUnavailable
from privately.ledger.book import fetched
from privately.ledger.entries import Charged, Released, Served, kind_of, read
from privately.ledger.segments import End, Noted, Segment, marks
from privately.ledger.settling import Look
from privately.ledger.state import BEGINNING
from privately.ledger.stores import EMPTY, Checking, Head, Session
from privately.ledger.verifying import ANSWERED, Progress, Verification, Verifier

SHORTEST, MOST_PROCESSES = 100_000, 8
"""A segment has at least so many records: starting a process for it takes as long as reading some 50,000."""

MOST_ACCOUNTS = 2_000
"""With more of them there are charges on so many terms that segments would be given up: none is begun."""

_READ = "from privately.ledger.segments import main; main()"
_WRONG = (LedgerCorrupt, LedgerUnavailable, OSError, ValueError, KeyError, TypeError, IndexError)


def verified_divided(
    look: Look, place: str | None, *, aside: Callable[[], Checking | None], progress: Progress | None = None
) -> Verification | None:
    """What `verified` returns, found by several processes that open the ledger at `place`; None if it must be asked."""
    end: Head = look(lambda session: session.head())
    number = min(_processors(), MOST_PROCESSES, end.number // SHORTEST)
    if place is None or number < 2 or not _is_python():
        return None
    limits: list[int] = look(lambda session: _limits(session, end.number, number))
    if len(limits) < 3:
        return None
    checking = aside()
    try:
        with _Processes(place, limits) as processes:
            segments = processes.found(progress, end.number)
        return _put_together(look, segments, end, checking)
    finally:
        if checking is not None:
            checking.stop()


def _limits(session: Session, upto: int, number: int) -> list[int]:
    """Where segments end: about so many of them, each but the last with a checkpoint."""
    between = {session.checkpoint(upto * at // number) for at in range(1, number)}
    return sorted({0, *between, upto})


def _is_python() -> bool:
    """Whether a process can be started as this one was.

    A program that embeds Python would start itself; and one that is told to heed no environment, or no packages of the
    user's, would start others that do.
    """
    is_apart = sys.flags.isolated or sys.flags.ignore_environment or sys.flags.no_user_site or sys.flags.no_site
    return Path(sys.executable or "").name.startswith("python") and not hasattr(sys, "frozen") and not is_apart


def _processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _put_together(
    look: Look, segments: Sequence[Segment] | None, end: Head, checking: Checking | None
) -> Verification | None:
    try:
        return None if segments is None else put_together(look, segments, end, checking)
    except _WRONG:
        return None


def put_together(look: Look, segments: Iterable[Segment], end: Head, checking: Checking | None = None) -> Verification:
    """What all segments come to, one after the other. LedgerCorrupt if they do not continue one another.

    If this returns, so does reading the same records in one go, and the same. For every record was read at a glance
    in its segment, where it continues the chain and the times from the end of the segment before; or it was noted,
    and is looked at here in its place, in the state that all records before it come to. A charge has one answer, which
    repeats its question: within a segment this is seen there, otherwise here.
    """
    verifier = Verifier(look, end)
    last = End(EMPTY.hash, BEGINNING)
    upto = 0
    for segment in segments:
        if (segment.start, segment.after) != (last, upto) or verifier.state.checkpoint != upto:
            raise LedgerCorrupt("segments do not continue one another, or not after a checkpoint.")
        for noted in segment.noted:
            _look_at(look, verifier, segment, noted)
        verifier.run.take(segment.counted)
        verifier.check_whom_they_served()
        asked = marks(segment.charged)
        if len(asked) != segment.upto - segment.after:
            raise LedgerCorrupt("a segment was cut off.")
        verifier.questions[segment.after + 1 : segment.upto + 1] = asked
        verifier.again |= segment.again
        verifier.answers += segment.answers
        last, upto = segment.end, segment.upto
        verifier.state.head, verifier.state.time = Head(upto, last.hash), last.time
    return verifier.finished(checking)


def _look_at(look: Look, verifier: Verifier, segment: Segment, noted: Noted) -> None:
    """One record that depends on those before the segment, in the state after them."""
    row, checkpoint, before, counted, answered = noted
    verifier.state.head, verifier.state.time = Head(row.number - 1, before.hash), before.time
    verifier.run.take(counted)
    kind = kind_of(row.text.partition(b"\n")[0])
    if kind is Released:
        _answered(look, verifier, noted)
        return
    entry, _ = read(row.text)
    if isinstance(entry, Served) and segment.after < entry.charge < row.number:
        verifier.questions[entry.charge] = ANSWERED if answered else 0
    verifier.carefully(row, checkpoint, None)


def _answered(look: Look, verifier: Verifier, noted: Noted) -> None:
    """An answer to a charge of an earlier segment, which says the same question and has no other answer."""
    row = noted.row
    entry, time = read(row.text)
    if not isinstance(entry, Released) or verifier.questions[entry.charge] != 1 or time < noted.before.time:
        raise LedgerCorrupt(f"record {row.number} answers what was not charged, or not any more.")
    charged, _ = look(lambda session: fetched(session, entry.charge))
    if not isinstance(charged, Charged) or charged.question != entry.question:
        raise LedgerCorrupt(f"record {row.number} answers what was not charged, or not any more.")
    verifier.questions[entry.charge] = ANSWERED
    verifier.answers += 1


_Message: TypeAlias = tuple[int, int | Segment | None]


class _Processes:
    """Processes that read a segment each. They are ended when they are not needed any more."""

    def __init__(self, place: str, limits: Sequence[int]) -> None:
        self._messages: SimpleQueue[_Message] = SimpleQueue()
        self._place, self._limits = place, limits
        self._started: list[Popen[bytes]] = []
        self._threads: list[Thread] = []

    def __enter__(self) -> Self:
        try:
            for at, (after, upto) in enumerate(zip(self._limits, self._limits[1:], strict=False)):
                command = [sys.executable, "-P", "-c", _READ, self._place, str(after), str(upto)]
                process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=_environment())  # noqa: S603 - ours alone
                self._started.append(process)
                self._threads.append(Thread(target=self._listen, args=(at, process), daemon=True))
                self._threads[-1].start()
        except OSError:
            self._messages.put((0, None))  # it cannot be started
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.kill()
        for process in self._started:
            process.wait()
        for thread in self._threads:
            thread.join()

    def found(self, progress: Progress | None, total: int) -> list[Segment] | None:
        """All segments in order; None as soon as one could not be read. Told meanwhile: how many records were."""
        segments: list[Segment | None] = [None] * (len(self._limits) - 1)
        done = [0] * len(segments)
        while None in segments:
            at, told = self._messages.get()
            if told is None:
                return None
            if isinstance(told, Segment):
                segments[at] = told
            else:
                done[at] = told
                if progress is not None:
                    progress(sum(done), total)
        return [segment for segment in segments if segment is not None]

    def _listen(self, at: int, process: Popen[bytes]) -> None:
        found: _Message = (at, None)
        out: Any = process.stdout
        try:
            line = b""
            for line in out:
                if not line.strip().isdigit():
                    break
                self._messages.put((at, int(line)))
            found = at, Segment.from_lines(line, out.readline())
        except _WRONG:
            pass
        finally:
            self._messages.put(found)
            out.close()


def _environment() -> dict[str, str]:
    """The same package is imported there, and no library starts threads of its own."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
