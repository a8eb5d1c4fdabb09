"""Real processes on a real ledger file. A nursery has everything imported and forks them; they can be killed.

Started as a script with the path of the ledger, it forks one worker for each line of JSON on its input, and answers
with the worker's number. Whatever leaves a worker goes to a file beside the ledger, in one write for each line.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from privately.errors import BudgetExhausted, Unanswered
from privately.guarantees import PureDP
from privately.ledger import Answer, Charge, Ledger, Receipt
from privately.ledger.asynchronous import AsyncLedger

ROOT = Path(__file__).parents[3]
THREADS = 4
COST = PureDP(epsilon="0.01")
_ESCAPED, _GO = ".escaped", ".go"
PATIENCE = 60.0


class Nursery:
    """Starts workers, kills them, and reads what escaped from them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.with_name(path.name + _ESCAPED).touch()
        command = [sys.executable, "-m", "tests.ledger.simulation.children", str(path)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, bufsize=1
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate("", timeout=PATIENCE)

    def start(self, **job: Any) -> int:
        """A worker on its way."""
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("the nursery has no pipes")
        self._process.stdin.write(json.dumps(job) + "\n")
        return int(self._process.stdout.readline())

    def go(self) -> None:
        """All who race begin."""
        self.path.with_name(self.path.name + _GO).touch()

    def escaped(self) -> list[list[Any]]:
        """All lines that were written so far, but for those within which a worker was killed."""
        found = []
        for line in self.path.with_name(self.path.name + _ESCAPED).read_text().splitlines():
            with suppress(ValueError):
                found.append(json.loads(line))
        return found

    def wait(self, lines: int) -> list[list[Any]]:
        """What escaped, once there is so much of it."""
        deadline = time.monotonic() + PATIENCE
        while len(found := self.escaped()) < lines:
            if time.monotonic() > deadline:
                raise AssertionError(f"{lines} outcomes are due, after {PATIENCE:g} s there are {len(found)}")
            time.sleep(0.02)
        return found


def kill(worker: int) -> None:
    os.kill(worker, signal.SIGKILL)


class Worker:
    """Several threads, or coroutines, with one ledger."""

    def __init__(self, path: Path, seed: int, escaped: int) -> None:
        self._nursery, self._escaped = os.getppid(), escaped
        self._path, self._seed = path, seed
        self.ledger = Ledger.open(path)

    def tell(self, *line: Any) -> None:
        """Lets something escape."""
        os.write(self._escaped, _line(*line))

    def ask_for_ever(self) -> None:
        """Until killed, or alone: questions, the same ones again, and keys that others used."""
        self.ledger.account("visits", cap=PureDP(epsilon=1))
        self.ledger.account("wards", cap=PureDP(epsilon=10**6))
        self.ledger.account("wards", analyst="ana", cap=PureDP(epsilon=10**5))
        if self._seed % 2:
            asyncio.run(self._ask_in_coroutines())
        else:
            self._together(self._ask)

    def race(self, threads: int, analysts: list[str], cost: str) -> None:
        """Each thread wants one charge, all at the same moment."""
        self.tell("ready")
        while not self._path.with_name(self._path.name + _GO).exists():
            if os.getppid() != self._nursery:
                return
            time.sleep(0.001)

        def run(number: int) -> None:
            analyst = analysts[number % len(analysts)]
            charge = Charge(
                lineages=["visits"], query=f"{self._seed}, {number}", cost=PureDP(epsilon=cost), analyst=analyst
            )
            try:
                receipt = self.ledger.charge(charge)
            except BudgetExhausted as refusal:
                self.tell("refused", analyst, str(refusal.left.parameters["epsilon"]))  # type: ignore[attr-defined]
            else:
                self.tell("charged", analyst, receipt.number)

        self._together(run, threads)

    def _ask(self, number: int) -> None:
        rng = random.Random(self._seed * THREADS + number)
        while os.getppid() == self._nursery:
            charge = self._charge(rng)
            with suppress(BudgetExhausted, Unanswered, ValueError):
                self._shown(charge, self.ledger.answer(charge, self._run, again=rng.random() < 0.1))

    async def _ask_in_coroutines(self) -> None:
        awaited = AsyncLedger(self.ledger)

        async def run(receipt: Receipt) -> bytes:
            return self._run(receipt)

        async def ask(number: int) -> None:
            rng = random.Random(self._seed * THREADS + number)
            while os.getppid() == self._nursery:
                charge = self._charge(rng)
                with suppress(BudgetExhausted, Unanswered, ValueError):
                    self._shown(charge, await awaited.answer(charge, run, again=rng.random() < 0.1))

        await asyncio.gather(*(ask(number) for number in range(THREADS)))

    def _charge(self, rng: random.Random) -> Charge:
        return Charge(
            lineages=rng.choice([["visits"], ["wards"], ["wards"], ["visits", "wards"]]),
            query=f"count {rng.randrange(10_000)}",
            cost=COST,
            analyst=rng.choice(["ana", "ben"]),
            key=f"{rng.randrange(self._seed + 20)} {rng.randrange(100)}",
        )

    def _shown(self, charge: Charge, answer: Answer) -> None:
        head = answer.receipt.head
        what = "shown again" if answer.free else "shown"
        self.tell(what, head.number, head.hash.hex(), answer.body.hex(), charge.analyst, charge.key)

    def _run(self, receipt: Receipt) -> bytes:
        self.tell("charged", receipt.number, receipt.head.hash.hex())
        return os.urandom(random.choice([16, 16, 2_000]))

    def _together(self, run: Callable[[int], None], threads: int = THREADS) -> None:
        started = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()


def _line(*parts: Any) -> bytes:
    """One that can be told from half a line before it."""
    return b"\n" + json.dumps(parts, separators=(",", ":")).encode() + b"\n"


def main(path: Path) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    escaped = os.open(path.with_name(path.name + _ESCAPED), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for line in sys.stdin:
        job = json.loads(line)
        worker = os.fork()
        if worker == 0:
            _work(path, escaped, job)
        print(worker, flush=True)  # noqa: T201 - its answer


def _work(path: Path, escaped: int, job: dict[str, Any]) -> None:
    status = 1
    try:
        worker = Worker(path, job.pop("seed"), escaped)
        if job:
            worker.race(**job)
            worker.ledger.close()
        else:
            worker.ask_for_ever()
        status = 0
    except BaseException as fault:
        os.write(escaped, _line("failed", repr(fault)))
        raise
    finally:
        os._exit(status)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
