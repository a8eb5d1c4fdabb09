"""Claims about `privately.ledger`: durable charges per second, and how fast a long ledger is opened and verified.

Charges: 64 clients as coroutines of one process (whose turns the thread of their loop takes, unless the disk is slow),
over two and four, as objects that are told the outcome and ask again (`submit_charge`), and as threads of one process
and of four, beside the naive loop: eight processes, each with a transaction of its own for every charge, in WAL mode
with `synchronous = FULL` too. It does the same job in the way that comes to mind
first: look whether the key was used and the question answered, take the cost from two balances unless that passes a
cap, append a record with the same fields and the hash of the last one. Both in turn, on the same disk. What syncs cost
decides the comparison, so it is done on the disk as it is and again with disks that take longer (a pause at every sync,
for both sides alike, in a file system of SQLite's), as the disks of servers and laptops without a battery-backed cache
do. Beside the rates: the CPU time of a charge, which other work on the machine changes less.

Answers: what storing one takes, in turns of 64, beside a charge.

Opening and verifying: a ledger of a million records, CPU time of all processes and wall clock, divided among processes
and in one go; beside them the CPU time to read the same rows and hash them, below which no verification can go. Charges
on ten different terms, and each at a cost of its own.

`python -m benchmarks.ledger charges` runs only this part; `here` of it only this disk, coroutines and callbacks
(half a minute); `--entries 100000` makes a shorter ledger.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from hashlib import sha256
from itertools import count
from multiprocessing.queues import Queue
from pathlib import Path
from statistics import median
from typing import Any

import apsw

from benchmarks.harness import keep
from benchmarks.noise import Line
from privately.guarantees import PureDP
from privately.ledger import Charge, Ledger, dividing
from privately.ledger.acts import MakeCharge, Receipt, StoreAnswer
from privately.ledger.asynchronous import AsyncLedger
from privately.ledger.book import now
from privately.ledger.stores import SQLiteStore
from privately.ledger.writer import Writer

SECONDS, ROUNDS = 3.0, 3
CLIENTS, NAIVE_PROCESSES, PROCESSES = 64, 8, 4
PAUSES = {"this disk": 0.0, **{f"syncs {ms} ms longer": ms / 1000 for ms in (0.5, 1, 2, 5)}}
WAYS = {
    "64 coroutines": ("coroutines", 1),
    "64 callbacks": ("callbacks", 1),
    "64 threads": ("threads", 1),
    "64 coroutines over 2 processes": ("coroutines", 2),
    "64 coroutines over 4 processes": ("coroutines", PROCESSES),
    "64 threads over 4 processes": ("threads", PROCESSES),
}
Found = tuple[int, float]
"""Charges, and the CPU time that they took."""

PROCESS = os.getpid()  # each has its own questions, and asks the system once
COST = PureDP(epsilon="0.001")
CAP = PureDP(epsilon=10**9)


class SlowFile(apsw.VFSFile):
    """A file whose syncs take longer."""

    def __init__(self, name: Any, flags: list[int], pause: float) -> None:
        self._pause = pause
        super().__init__("", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802 - a name of apsw
        super().xSync(flags)
        time.sleep(self._pause)


class SlowDisk(apsw.VFS):
    """The usual file system with a pause at every sync."""

    def __init__(self, pause: float) -> None:
        self._pause = pause
        super().__init__("slow", base="")

    def xOpen(self, name: Any, flags: list[int]) -> SlowFile:  # noqa: N802 - a name of apsw
        return SlowFile(name, flags, self._pause)


_TABLES = """
CREATE TABLE account (name TEXT PRIMARY KEY, spent INTEGER, cap INTEGER);
CREATE TABLE entry (number INTEGER PRIMARY KEY, hash BLOB, text TEXT, analyst TEXT, key TEXT, UNIQUE (key, analyst));
CREATE TABLE answer (question TEXT PRIMARY KEY, bytes BLOB);
"""


def naive(path: str, pause: float, ready: Any, done: "Queue[Found]") -> None:
    """One process of the naive loop. Costs are counted in thousandths, as integers."""
    disk = SlowDisk(pause) if pause else None
    database = apsw.Connection(path, vfs="slow" if disk else None)
    database.set_busy_timeout(60_000)
    database.execute("PRAGMA synchronous = FULL").fetchall()
    keys, charges = count(), 0
    ready.wait()
    start, end = time.process_time(), time.monotonic() + SECONDS
    while time.monotonic() < end:
        number = next(keys)
        analyst = f"analyst {number % CLIENTS}"
        _charge_naively(database, f"{PROCESS} {number}", analyst, f"{PROCESS}-{number}")
        charges += 1
    done.put((charges, time.process_time() - start))


def _charge_naively(database: apsw.Connection, query: str, analyst: str, key: str) -> None:
    """One charge of one thousandth."""
    question = sha256(query.encode()).hexdigest()
    fields: dict[str, Any] = {
        "analyst": analyst,
        "key": key,
        "question": question,
        "cost": {"PureDP": "0.001"},
        "token": None,
    }
    fields |= {"time": now().isoformat(), "accounts": ["people", f"people/{analyst}"], "snapshot": "", "label": ""}
    database.execute("BEGIN IMMEDIATE")
    used = database.execute("SELECT 1 FROM entry WHERE key = ? AND analyst = ?", (key, analyst)).fetchall()
    answered = database.execute("SELECT bytes FROM answer WHERE question = ?", (question,)).fetchall()
    if used or answered:
        raise AssertionError("every question is new")
    for name in ("people", f"people/{analyst}"):
        database.execute("UPDATE account SET spent = spent + 1 WHERE name = ? AND spent + 1 <= cap", (name,))
        if database.changes() != 1:
            raise AssertionError("the cap is large")
    last: Any = database.execute("SELECT hash FROM entry ORDER BY number DESC LIMIT 1").fetchall()
    text = json.dumps(fields)
    hashed = sha256((last[0][0] if last else b"") + text.encode()).digest()
    values = (hashed, text, analyst, key)
    database.execute("INSERT INTO entry (hash, text, analyst, key) VALUES (?, ?, ?, ?)", values)
    database.execute("COMMIT")


def naive_rate(folder: Path, pause: float) -> Found:
    """What eight processes do."""
    path = str(folder / f"naive-{time.monotonic_ns()}")
    database = apsw.Connection(path)
    database.execute("PRAGMA journal_mode = WAL").fetchall()
    database.execute(_TABLES)
    names = ["people", *(f"people/analyst {number}" for number in range(CLIENTS))]
    database.executemany("INSERT INTO account VALUES (?, 0, 1000000000)", [(name,) for name in names])
    database.close()
    return _all(naive, (path, pause), NAIVE_PROCESSES)


def clients(path: str, pause: float, asking: tuple[str, int], ready: Any, done: "Queue[Found]") -> None:
    """One process of ours, with several clients: coroutines or threads."""
    kind, number = asking
    disk = SlowDisk(pause) if pause else None
    ledger = Ledger(SQLiteStore(path, vfs="slow" if disk else None))
    ledger.account("people", cap=CAP)
    for one in range(number):
        ledger.account("people", cap=CAP, analyst=f"analyst {one}")
    counts = [0] * number
    ready.wait()
    start, end = time.process_time(), time.monotonic() + SECONDS
    if kind == "coroutines":
        asyncio.run(_coroutines(AsyncLedger(ledger), counts, end))
    elif kind == "callbacks":
        _callbacks(ledger, counts, end)
    else:
        _threads(ledger, counts, end)
    used = time.process_time() - start
    ledger.close()
    done.put((sum(counts), used))


def _charge(client: int, count: int) -> Charge:
    """A question that nobody has asked before."""
    return Charge(lineages=["people"], query=f"{PROCESS} {client} {count}", cost=COST, analyst=f"analyst {client}")


async def _coroutines(ledger: AsyncLedger, counts: list[int], end: float) -> None:
    async def ask(client: int) -> None:
        while time.monotonic() < end:
            await ledger.charge(_charge(client, counts[client]))
            counts[client] += 1

    await asyncio.gather(*(ask(client) for client in range(len(counts))))


class Caller:
    """A client that is told that its charge is durable, and only then makes the next one, until the end."""

    def __init__(self, ledger: Ledger, client: int, end: float) -> None:
        self._ledger, self._client, self._end = ledger, client, end
        self.count, self._ended = 0, threading.Event()
        self._fault: BaseException | None = None

    def ask(self) -> None:
        self._ledger.submit_charge(_charge(self._client, self.count), self)

    def set_result(self, _receipt: Receipt) -> None:
        self.count += 1
        if time.monotonic() < self._end:
            self.ask()
        else:
            self._ended.set()

    def set_exception(self, fault: BaseException) -> None:
        self._fault = fault
        self._ended.set()

    def done(self) -> bool:
        return self._ended.is_set()

    def finish(self) -> int:
        """How many charges were made, at the end."""
        self._ended.wait()
        if self._fault is not None:
            raise self._fault
        return self.count


def _callbacks(ledger: Ledger, counts: list[int], end: float) -> None:
    callers = [Caller(ledger, client, end) for client in range(len(counts))]
    for caller in callers:
        caller.ask()
    counts[:] = [caller.finish() for caller in callers]


def _threads(ledger: Ledger, counts: list[int], end: float) -> None:
    def ask(client: int) -> None:
        while time.monotonic() < end:
            ledger.charge(_charge(client, counts[client]))
            counts[client] += 1

    started = [threading.Thread(target=ask, args=(client,)) for client in range(len(counts))]
    for one in started:
        one.start()
    for one in started:
        one.join()


def our_rate(folder: Path, pause: float, kind: str, processes: int) -> Found:
    """What 64 clients in so many processes do."""
    path = str(folder / f"ours-{time.monotonic_ns()}")
    return _all(clients, (path, pause, (kind, CLIENTS // processes)), processes)


def _all(target: Callable[..., None], arguments: tuple[Any, ...], processes: int) -> Found:
    """Charges, and seconds of CPU time, of all processes, which begin together."""
    context = multiprocessing.get_context("spawn")
    done: Queue[Found] = context.Queue()
    ready = context.Barrier(processes)
    started = [context.Process(target=target, args=(*arguments, ready, done)) for _ in range(processes)]
    for one in started:
        one.start()
    found = [done.get() for _ in started]
    for one in started:
        one.join()
    return sum(charges for charges, _ in found), sum(used for _, used in found)


def charges(folder: Path, _entries: int) -> Iterator[Line]:
    """Ours over the naive loop, in turn, on all disks."""
    yield from _charges(folder, PAUSES, WAYS)


def here(folder: Path, _entries: int) -> Iterator[Line]:
    """The same on this disk, as coroutines and callbacks of one process."""
    yield from _charges(folder, {"this disk": 0.0}, {label: WAYS[label] for label in ("64 coroutines", "64 callbacks")})


def _charges(folder: Path, pauses: Mapping[str, float], ways: Mapping[str, tuple[str, int]]) -> Iterator[Line]:
    for disk, pause in pauses.items():
        found: dict[str, list[Found]] = {"naive": [], **{label: [] for label in ways}}
        for _ in range(ROUNDS):
            found["naive"].append(naive_rate(folder, pause))
            for label, (kind, processes) in ways.items():
                found[label].append(our_rate(folder, pause, kind, processes))
        rates = {name: median(charged / SECONDS for charged, _ in rounds) for name, rounds in found.items()}
        costs = {name: median(used / charged for charged, used in rounds) * 1e6 for name, rounds in found.items()}
        for label in ways:
            numbers = {"a second": rates[label], "naive": rates["naive"], "us of CPU": costs[label]}
            yield Line(
                name=f"charges, {label}, {disk}",
                figure=rates[label] / rates["naive"],
                unit="x",
                at_least=10 if label in ("64 coroutines", "64 callbacks") else None,
                numbers=numbers | {"naive, us of CPU": costs["naive"]},
            )
        least = min(used / charged for charged, used in found["64 coroutines"]) * 1e6
        yield Line(name=f"CPU of a charge, {disk}", figure=least, unit="us", at_most=None if pause else 40)


def length(folder: Path, entries: int) -> Iterator[Line]:
    """A long ledger: opening, verifying, and what reading and hashing alone would take."""
    path = folder / "long"
    _fill(path, entries, lambda number: f"0.00{number % 10 + 1}")
    records, opened, alone, wall_alone = _opened_and_verified(path, divided=False)
    _, _, cpu, wall = _opened_and_verified(path, divided=True)
    floor = _floor(path)
    yield from _verified(records, cpu=alone, wall=wall_alone, floor=floor, what=", in one go")
    yield Line(name=f"opening {records:,} records", figure=opened * 1e3, unit="ms", numbers={"verifying": cpu * 1e3})
    yield Line(name="opening over verifying", figure=opened / cpu, unit="x", at_most=0.1)
    yield from _verified(records, cpu=cpu, wall=wall, floor=floor, at_least=200)
    path = folder / "distinct"
    _fill(path, entries // 5, lambda number: f"{number + 1}e-9")
    records, _, cpu, wall = _opened_and_verified(path, divided=True)
    what = ", each charge at a cost of its own"
    yield from _verified(records, cpu=cpu, wall=wall, floor=_floor(path), what=what)


def _verified(
    records: int, *, cpu: float, wall: float, floor: float, what: str = "", at_least: float | None = None
) -> Iterator[Line]:
    """Records a second of CPU time of all processes, and of wall clock: several read, and one checks the database."""
    numbers = {"reading and hashing alone": records / floor / 1e3, "times as long": cpu / floor}
    yield Line(
        name=f"verified records{what}", figure=records / cpu / 1e3, unit="k/s", at_least=at_least, numbers=numbers
    )
    yield Line(name=f"verified records{what}, wall clock", figure=records / wall / 1e3, unit="k/s", at_least=at_least)


def _opened_and_verified(path: Path, *, divided: bool) -> tuple[int, float, float, float]:
    """How many records, the CPU time of both, and the wall clock of verifying: among processes if long, or in one."""
    start = time.process_time()
    ledger = Ledger.open(path)
    opened = time.process_time() - start
    records = ledger.head.number
    cpu, wall = [], []
    shortest, dividing.SHORTEST = dividing.SHORTEST, dividing.SHORTEST if divided else 2**62
    for _ in range(ROUNDS):
        start, begun = _used(), time.perf_counter()
        ledger.verify()
        cpu.append(_used() - start)
        wall.append(time.perf_counter() - begun)
    dividing.SHORTEST = shortest
    ledger.close()
    return records, opened, median(cpu), median(wall)


def _used() -> float:
    """The CPU time of this process and of those that it started and that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def _fill(path: Path, entries: int, epsilon: Callable[[int], str]) -> None:
    """Charges of 64 analysts; half of the records are answers."""
    ledger = Ledger.open(path)
    ledger.account("people", cap=CAP)
    ledger.close()
    store = SQLiteStore(path)
    writer = Writer(store, now)
    for start in range(0, entries // 2, 1_000):
        charges = [
            Charge(
                lineages=["people"],
                query=f"query {number}",
                cost=PureDP(epsilon=epsilon(number)),
                analyst=f"analyst {number % CLIENTS}",
            )
            for number in range(start, start + 1_000)
        ]
        receipts = _turn(writer, [MakeCharge(charge=charge) for charge in charges])
        _turn(writer, [StoreAnswer(receipt=receipt, answer=b'{"count": 42}') for receipt in receipts])
    store.close()


def _turn(writer: Writer, acts: list[Any]) -> list[Any]:
    asked: list[tuple[Any, Future[Any]]] = [(act, Future()) for act in acts]
    writer.take_turn(asked)
    return [future.result() for _, future in asked]


def _floor(path: Path) -> float:
    database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    start, last = time.process_time(), b""
    for text, answer in database.execute("SELECT text, bytes FROM record LEFT JOIN answer USING (number)"):
        last = sha256(last + text).digest()
        if answer is not None:
            sha256(answer)
    return time.process_time() - start


def answers(folder: Path, _entries: int) -> Iterator[Line]:
    """The CPU time of a charge and of its answer in turns of 64, without threads and clients; the least of all."""
    path = folder / "answers"
    with Ledger.open(path) as ledger:
        ledger.account("people", cap=CAP)
    store = SQLiteStore(path)
    writer = Writer(store, now)
    charged, stored = [], []
    for turn in range(200):
        asked = [MakeCharge(charge=_charge(client, turn)) for client in range(CLIENTS)]
        start = time.process_time()
        receipts = _turn(writer, asked)
        between = time.process_time()
        _turn(writer, [StoreAnswer(receipt=receipt, answer=b'{"count": 42}') for receipt in receipts])
        charged.append(between - start)
        stored.append(time.process_time() - between)
    store.close()
    numbers = {"a charge, us": min(charged) / CLIENTS * 1e6}
    yield Line(name="CPU of storing an answer", figure=min(stored) / CLIENTS * 1e6, unit="us", numbers=numbers)


PARTS: dict[str, Callable[[Path, int], Iterator[Line]]] = {"charges": charges, "answers": answers, "length": length}
ALONE: dict[str, Callable[[Path, int], Iterator[Line]]] = {"here": here}
"""Parts of these, which run only when they are asked for."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[*PARTS, *ALONE, []])
    parser.add_argument("--entries", type=int, default=1_000_000)
    chosen = parser.parse_args()
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as name:
        for part in chosen.parts or PARTS:
            for line in (PARTS | ALONE)[part](Path(name), chosen.entries):
                print(line, flush=True)
                lines.append(line)
    keep("ledger", [line.record() for line in lines])
    missed = sum(not line.holds for line in lines)
    print(f"{missed} targets missed" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
