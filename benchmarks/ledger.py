"""Claims about `privately.ledger`: durable charges per second, and how fast a long ledger is opened and verified.

Charges: 64 threads of one process, and 64 over four processes, beside the naive loop: eight processes, each with a
transaction of its own for every charge (look for the key, check and update two balances, append a row with the hash of
the last one), in WAL mode with `synchronous = FULL` too. Both in turn, on the same disk. What a sync costs decides the
comparison, so it is done on the disk as it is and again with disks that take longer (a pause at every sync, for both
sides alike, in a file system of SQLite's), as the disks of servers and laptops without a battery-backed cache do.

Opening and verifying: a ledger of a million records, CPU time; beside them the time to read the same rows and hash
them, below which no verification can go.

`python -m benchmarks.ledger charges` runs only this part; `--entries 100000` makes a shorter ledger.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
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
from privately.ledger import Charge, Ledger
from privately.ledger.acts import MakeCharge, StoreAnswer
from privately.ledger.book import now
from privately.ledger.stores import SQLiteStore
from privately.ledger.writer import Writer

SECONDS, ROUNDS = 3.0, 3
CLIENTS, NAIVE_PROCESSES, PROCESSES = 64, 8, 4
PAUSES = {"this disk": 0.0, "syncs of 2 ms": 0.002, "syncs of 5 ms": 0.005}
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


def naive(path: str, pause: float, done: "Queue[int]") -> None:
    """One process of the naive loop."""
    disk = SlowDisk(pause) if pause else None
    database = apsw.Connection(path, vfs="slow" if disk else None)
    database.set_busy_timeout(60_000)
    database.execute("PRAGMA synchronous = FULL").fetchall()
    keys, end = count(), time.monotonic() + SECONDS
    charges = 0
    while time.monotonic() < end:
        key = f"{os.getpid()}-{next(keys)}"
        database.execute("BEGIN IMMEDIATE")
        if not database.execute("SELECT 1 FROM entry WHERE key = ?", (key,)).fetchall():
            for account in (1, 2):
                database.execute("UPDATE account SET spent = spent + 1 WHERE id = ? AND spent < cap", (account,))
            last = database.execute("SELECT hash FROM entry ORDER BY number DESC LIMIT 1").fetchall()
            hashed = sha256(str(last).encode() + key.encode()).digest()
            database.execute("INSERT INTO entry (key, hash) VALUES (?, ?)", (key, hashed))
        database.execute("COMMIT")
        charges += 1
    done.put(charges)


def naive_rate(folder: Path, pause: float) -> float:
    """Charges per second of eight processes."""
    path = str(folder / f"naive-{time.monotonic_ns()}")
    database = apsw.Connection(path)
    database.execute("PRAGMA journal_mode = WAL").fetchall()
    database.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, spent INTEGER, cap INTEGER)")
    database.execute("INSERT INTO account VALUES (1, 0, 1000000000), (2, 0, 1000000000)")
    database.execute("CREATE TABLE entry (number INTEGER PRIMARY KEY, key TEXT UNIQUE, hash BLOB)")
    database.close()
    return _all(naive, (path, pause), NAIVE_PROCESSES) / SECONDS


def clients(path: str, pause: float, threads: int, done: "Queue[int]") -> None:
    """One process of ours, with several clients."""
    disk = SlowDisk(pause) if pause else None
    ledger = Ledger(SQLiteStore(path, vfs="slow" if disk else None))
    ledger.account("people", cap=CAP)
    for number in range(threads):
        ledger.account("people", cap=CAP, analyst=f"analyst {number}")
    counts, end = [0] * threads, time.monotonic() + SECONDS

    def ask(number: int) -> None:
        while time.monotonic() < end:
            query = f"{os.getpid()} {counts[number]}"
            ledger.charge(Charge(lineages=["people"], query=query, cost=COST, analyst=f"analyst {number}"))
            counts[number] += 1

    started = [threading.Thread(target=ask, args=(number,)) for number in range(threads)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    ledger.close()
    done.put(sum(counts))


def our_rate(folder: Path, pause: float, processes: int) -> float:
    """Charges per second of 64 clients in so many processes."""
    path = str(folder / f"ours-{time.monotonic_ns()}")
    return _all(clients, (path, pause, CLIENTS // processes), processes) / SECONDS


def _all(target: Callable[..., None], arguments: tuple[Any, ...], processes: int) -> int:
    context = multiprocessing.get_context("spawn")
    done: Queue[int] = context.Queue()
    started = [context.Process(target=target, args=(*arguments, done)) for _ in range(processes)]
    for one in started:
        one.start()
    total = sum(done.get() for _ in started)
    for one in started:
        one.join()
    return total


def charges(folder: Path, _entries: int) -> Iterator[Line]:
    """Ours over the naive loop, in turn."""
    for disk, pause in PAUSES.items():
        rates: dict[str, list[float]] = {"naive": [], "one": [], "four": []}
        for _ in range(ROUNDS):
            rates["naive"].append(naive_rate(folder, pause))
            rates["one"].append(our_rate(folder, pause, 1))
            rates["four"].append(our_rate(folder, pause, PROCESSES))
        found = {name: median(values) for name, values in rates.items()}
        for name, label in (("one", "64 threads"), ("four", "64 threads over 4 processes")):
            numbers = {"a second": found[name], "naive": found["naive"]}
            target = 10 if name == "one" else None
            yield Line(
                name=f"charges, {label}, {disk}",
                figure=found[name] / found["naive"],
                unit="x",
                at_least=target,
                numbers=numbers,
            )


def length(folder: Path, entries: int) -> Iterator[Line]:
    """A long ledger: opening, verifying, and what reading and hashing alone would take."""
    path = folder / "long"
    _fill(path, entries)
    start = time.process_time()
    ledger = Ledger.open(path)
    opened = time.process_time() - start
    records = ledger.head.number
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        ledger.verify()
        seconds.append(time.process_time() - start)
    ledger.close()
    verified, floor = median(seconds), _floor(path)
    yield Line(
        name=f"opening {records:,} records", figure=opened * 1e3, unit="ms", numbers={"verifying": verified * 1e3}
    )
    yield Line(
        name="opening over verifying",
        figure=opened / verified,
        unit="x",
        at_most=0.1,
    )
    rate = records / verified / 1e3
    numbers = {"reading and hashing alone": records / floor / 1e3}
    yield Line(name="verified records", figure=rate, unit="k/s", at_least=200, numbers=numbers)


def _fill(path: Path, entries: int) -> None:
    """Charges of 64 analysts on ten terms; half of the records are answers."""
    ledger = Ledger.open(path)
    ledger.account("people", cap=CAP)
    ledger.close()
    store = SQLiteStore(path)
    writer = Writer(store, now)
    for start in range(0, entries // 2, 1_000):
        acts: list[tuple[Any, Future[Any]]] = [
            (
                MakeCharge(
                    charge=Charge(
                        lineages=["people"],
                        query=f"query {number}",
                        cost=PureDP(epsilon=f"0.00{number % 10 + 1}"),
                        analyst=f"analyst {number % CLIENTS}",
                    )
                ),
                Future(),
            )
            for number in range(start, start + 1_000)
        ]
        writer.take_turn(acts)
        receipts = [future.result() for _, future in acts]
        answers: list[tuple[Any, Future[Any]]] = [
            (StoreAnswer(receipt=receipt, answer=b'{"count": 42}'), Future()) for receipt in receipts
        ]
        writer.take_turn(answers)
    store.close()


def _floor(path: Path) -> float:
    database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    start, last = time.process_time(), b""
    for text, answer in database.execute("SELECT text, bytes FROM record LEFT JOIN answer USING (number)"):
        last = sha256(last + text).digest()
        if answer is not None:
            sha256(answer)
    return time.process_time() - start


PARTS: dict[str, Callable[[Path, int], Iterator[Line]]] = {"charges": charges, "length": length}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--entries", type=int, default=1_000_000)
    chosen = parser.parse_args()
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as name:
        for part in chosen.parts or PARTS:
            for line in PARTS[part](Path(name), chosen.entries):
                print(line, flush=True)
                lines.append(line)
    keep("ledger", [line.record() for line in lines])
    missed = sum(not line.holds for line in lines)
    print(f"{missed} targets missed" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
