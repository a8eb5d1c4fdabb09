"""The life of one ledger: several processes at work, killed or cut off again and again, and examined every time."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from unittest.mock import patch

from privately.accounting import Filter
from privately.errors import BudgetExhausted, LedgerUnavailable
from privately.ledger import Charge, Receipt, book
from privately.ledger.acts import MakeCharge
from privately.ledger.stores import SQLiteStore, logs
from privately.ledger.writer import Writer
from tests.ledger.simulation.clients import ACCOUNTS, LATE, SMALL, Clients, opening, raising
from tests.ledger.simulation.disk import Disk, Fate, Killed, Operation
from tests.ledger.simulation.observing import Observer, check_chain
from tests.ledger.simulation.processes import InlineWriter, Process, Violation

PROCESSES = 3
LEAVES = ("visits/ana/app", "visits/ben", "wards/ana", "labs/eve")
"""Whoever charges these charges all accounts."""

_IN_MEMORY = Path("/dev/shm")  # where it exists
_LONGEST_LIFE = 6_000


@dataclass(frozen=True)
class Plan:
    """What is simulated, and with which code."""

    kills: int = 0
    cuts: int = 0
    store: type[SQLiteStore] = SQLiteStore
    writer: type[Writer] = InlineWriter
    clients: type[Clients] = Clients
    disk: type[Disk] = Disk


@dataclass
class Tally:
    """What happened."""

    kills: int = 0
    cuts: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    trace: list[tuple[str, str, int, int]] = field(default_factory=list)

    def __iadd__(self, other: Tally) -> Self:
        self.kills, self.cuts, self.seen = self.kills + other.kills, self.cuts + other.cuts, self.seen + other.seen
        return self


def live(seed: int, plan: Plan) -> Tally:
    """Lives through all kills and cuts, or Violation, which names the seed."""
    with small(), TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as directory:
        life = Life(random.Random(seed), Path(directory), plan)
        try:
            life.run()
        except Violation as violation:
            raise Violation(f"{violation} (seed {seed} of {plan})") from violation
        except Exception as fault:
            raise Violation(f"{type(fault).__name__}: {fault} (seed {seed} of {plan})") from fault
        finally:
            life.end()
        return life.tally


@lru_cache(maxsize=10_000)
def _filter(state: str, read: Callable[[Any], Filter] = Filter.from_state) -> Filter:
    return read(json.loads(state))


def _carries_over(operation: Operation) -> bool:
    return operation[0] == "truncate" or not operation[1].endswith(("-wal", "-journal"))


def _written_again(trace: Sequence[Operation]) -> int:
    """How often a log was begun that had not been cut off before."""
    times, is_cut = 0, True
    for what, name, place, _ in trace:
        if name.endswith("-wal") and place == 0 and what in {"write", "truncate"}:
            times += what == "write" and not is_cut
            is_cut = what == "truncate"
    return times


@contextmanager
def small() -> Iterator[None]:
    """Checkpoints and carrying over come often; a filter that was read before is not derived again."""
    with (
        patch.object(book, "CHECKPOINT_EVERY", 40),
        patch.object(logs, "LONG", 120_000),
        patch.object(Filter, "from_state", lambda state: _filter(json.dumps(state))),
    ):
        yield


class Life:
    """One ledger with everybody around it."""

    def __init__(self, rng: random.Random, directory: Path, plan: Plan) -> None:
        self.rng, self.plan, self.tally = rng, plan, Tally()
        self.disk = plan.disk(directory)
        self.path = directory / "ledger"
        self.observer = Observer()
        self._now = datetime(2030, 1, 1, tzinfo=UTC)
        everybody: list[Charge] = []
        self.processes = [self._process() for _ in range(PROCESSES)]
        self.clients = [plan.clients(rng, self.observer, everybody) for _ in self.processes]
        for process, clients in zip(self.processes, self.clients, strict=True):
            clients.charging = process.charging
        self.auditor = self._process()
        self._audit = ExitStack()

    def run(self) -> None:
        self._found()
        for process in (*self.processes, self.auditor):
            process.start()
            process.meanwhile = self._meanwhile
        early = ACCOUNTS.keys() - set(LATE)
        self._perform(self.processes[0], [opening(name) for name in sorted(early)])
        self.observer.accounts |= early
        for _ in range(_LONGEST_LIFE):
            if self.tally.kills >= self.plan.kills and self.tally.cuts >= self.plan.cuts:
                break
            self._step()
        else:
            raise Violation("nobody dies any more.")
        self._audit.close()
        for process in self.processes:
            process.machine.fate.after = 0
        self.observer.check(self.processes[0].opened)
        self._replay(self.processes[0], list(self.observer.shown.values()))
        self.tally.seen["answers shown"] += len(self.observer.shown)
        self.tally.seen.update(self._entries(self.processes[0], 0))
        self.tally.seen["carried over"] += sum(what == "truncate" for what, *_ in self.tally.trace)
        self.tally.seen["log written again"] += _written_again(self.tally.trace)

    def end(self) -> None:
        self._audit.close()
        for process in (*self.processes, self.auditor):
            process.fault = None
            if process.ledger is not None:
                process.kill()

    def _process(self) -> Process:
        return Process(self.disk, self.path, self._clock, store=self.plan.store, writer=self.plan.writer)

    def _clock(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now

    def _step(self) -> None:
        number = self.rng.randrange(PROCESSES)
        process, clients = self.processes[number], self.clients[number]
        process.late = timedelta(seconds=self.rng.choice([0, 0, 1, 100]))
        cut = self.tally.cuts < self.plan.cuts and self.rng.random() < (0.3 if self.plan.kills == 0 else 0.05)
        if process.machine.fate.after == 0 and (
            cut or (self.tally.kills < self.plan.kills and self.rng.random() < 0.7)
        ):
            process.machine.fate = self._fate()
        try:
            if self.rng.random() < 0.1:
                self._turn_of_auditor()
            for acts in clients.turns():
                process.turn(acts)
        except Killed:
            clients.forget()
            if cut:
                self._cut()
            else:
                self._restart(process)
        else:
            if cut:
                process.kill()
                clients.forget()
                self._cut()
        if clients.fault is not None:
            raise clients.fault

    def _fate(self) -> Fate:
        """Often soon; sometimes while the log is carried over, or at a sync."""
        rng = self.rng
        after = rng.choice([1, 2, 3, rng.randint(1, 25), rng.randint(1, 60)])
        reach = rng.choice([0, 0.5, rng.random(), 1])
        kind = rng.random()
        if kind < 0.15:
            return Fate(rng.randint(1, 12), reach, _carries_over)
        if kind < 0.25:
            return Fate(rng.randint(1, 3), reach, lambda operation: operation[0] != "write")
        return Fate(after, reach)

    def _found(self) -> None:
        """Creating the ledger may be cut short too."""
        first = self.processes[0]
        while self.rng.random() < 0.5:
            try:
                first.start(Fate(self.rng.randint(1, 14), self.rng.choice([0, 0.5, 1])))
            except Killed:
                self._note_death(first)
            else:
                first.kill()
            if self.plan.cuts:
                self.disk.cut(self.rng)

    def _restart(self, process: Process) -> None:
        """The others are alive; starting may be cut short too."""
        self._note_death(process)
        while self.rng.random() < 0.15:
            try:
                process.start(self._fate())
            except Killed:
                self._note_death(process)
            else:
                process.kill()
        process.start()
        self._examine(process)

    def _note_death(self, process: Process) -> None:
        self.tally.kills += 1
        what, name, *_ = process.machine.last or ("nothing", "")
        self.tally.seen[f"killed at {what} of {Path(name).name}"] += 1

    def _cut(self) -> None:
        self.tally.cuts += 1
        self._audit.close()
        for process, clients in zip(self.processes, self.clients, strict=True):
            if process.ledger is not None:
                process.kill()
            clients.forget()
        self.auditor.kill()
        self.disk.cut(self.rng)
        for process in (*self.processes, self.auditor):
            process.start()
        self._examine(self.rng.choice(self.processes))

    def _examine(self, process: Process) -> None:
        """Nothing that escaped is missing, nothing is over its cap, and everything goes on."""
        self.observer.check(process.opened)
        known = list(self.observer.shown.values())
        self._replay(process, [*known[-2:], *self.rng.sample(known, min(2, len(known)))])
        self._charge_everybody(process)

    def _replay(self, process: Process, shown: list[tuple[Charge, bytes]]) -> None:
        before = process.opened.head.number
        for (charge, answer), receipt in zip(
            shown, self._perform(process, [MakeCharge(charge=charge) for charge, _ in shown]), strict=True
        ):
            if not isinstance(receipt, Receipt) or receipt.answer != answer:
                raise Violation(f"key {charge.key} was answered once, and now gives {receipt!r}.")
        if any(what != "checkpoint" for what in self._entries(process, before)):
            raise Violation("an answer that was known was charged again.")

    def _charge_everybody(self, process: Process) -> None:
        """What fits is accepted, in every account; what does not fit fits once the owner allows more."""
        waiting = [self._small(name) for name in LEAVES]
        for units in range(1, 100):
            results = self._perform(process, [MakeCharge(charge=charge) for charge in waiting])
            self.observer.heads |= {result.head for result in results if isinstance(result, Receipt)}
            stuck = [result for result in results if not isinstance(result, (Receipt, BudgetExhausted))]
            if stuck:
                raise Violation(f"an account is stuck: {stuck}.")
            waiting = [
                charge for charge, result in zip(waiting, results, strict=True) if not isinstance(result, Receipt)
            ]
            if not waiting:
                return
            self.tally.seen["raised"] += 1
            self._perform(process, [raising(name, units + 1) for name in ACCOUNTS])
        raise Violation("accounts are stuck, whatever is allowed.")

    def _small(self, name: str) -> Charge:
        lineage, analyst, token = (*name.split("/"), None)[:3]
        key = f"{self.rng.getrandbits(64):016x}"
        return Charge(lineages=[lineage or ""], query=key, cost=SMALL, analyst=analyst or "", token=token, key=key)

    def _perform(self, process: Process, acts: list[Any]) -> list[Any]:
        futures: list[Future[Any]] = [Future() for _ in acts]
        process.turn(list(zip(acts, futures, strict=True)))
        return [future.exception() or future.result() for future in futures]

    def _entries(self, process: Process, after: int) -> list[str]:
        return [record.entry.what for record in process.opened.history(after=after)]

    def _turn_of_auditor(self) -> None:
        """Somebody reads for a long time, and sees one moment."""
        self._audit.close()
        if self.rng.random() < 0.5:
            return
        store = self.auditor.opened._store
        session = self._audit.enter_context(store.reading())
        head = session.head()

        def still() -> None:
            rows = list(session.rows(0))
            check_chain(rows)
            if session.head() != head or rows[-1].head != head:
                raise Violation("what is read changes while it is read.")

        self._audit.callback(still)

    def _meanwhile(self, operation: Operation) -> None:
        """In the middle of a turn, others look, or want to have theirs."""
        self.tally.trace.append((operation[0], Path(operation[1]).name, *operation[2:]))
        if self.rng.random() > 0.01:
            return
        other = self.rng.choice(self.processes)
        if other.ledger is None or other.busy:
            return
        try:
            other.ledger.budgets()
            (result,) = self._perform(other, [opening("visits")])
        except LedgerUnavailable:
            self.tally.seen["looked in vain"] += 1
        else:
            if not isinstance(result, LedgerUnavailable):
                other.fault = Violation("two wrote at once.")
            self.tally.seen["waited"] += 1
