"""One warm worker: a question does not wait for a process to start, and a worker that failed is never used again."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import IO, Any, cast

from privately.engines.duckdb.connection import Setup
from privately.engines.duckdb.messages import TURN_BYTES, counts_of, packed, program_header, unpacked
from privately.engines.duckdb.programs import Program
from privately.engines.protocol import Counts, Limits, failed
from privately.errors import EngineFailed

_START_SECONDS = 60.0
_CHUNK = 2**20
_QUICK_SORTING = {"NPY_DISABLE_CPU_FEATURES": "X86_V4"}
"""NumPy's sorting for AVX-512 takes six times as long as that for AVX2 where storing selected lanes is slow (AMD)."""

_QUICK_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "134217728", "MALLOC_TRIM_THRESHOLD_": "268435456"}
_QUICK_MEMORY |= {"MALLOC_TOP_PAD_": "67108864"}
"""Blocks of rows come and go: the C library keeps up to 256 MB of them, instead of asking for empty pages each time."""


class Worker:
    """A child process with a locked connection."""

    def __init__(self, setup: Setup) -> None:
        # -P: a module that lies in the current directory is nobody's but its author's.
        command = [sys.executable, "-P", "-c", "from privately.engines.duckdb.worker import main; main()"]
        self.setup = setup
        self._process = subprocess.Popen(  # noqa: S603 - our own module in our own interpreter
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | _QUICK_SORTING | _QUICK_MEMORY,
        )
        self._buffer = bytearray()
        self._turn = 0
        answer, _ = self.ask({"act": "open", "setup": asdict(setup)}, _START_SECONDS)
        if "opened" not in answer:
            self.close()
            raise EngineFailed("the engine did not start.", hint=str(answer.get("failed", "")).partition("\n")[0])

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, message: dict[str, Any], seconds: float) -> tuple[dict[str, Any], list[Any]]:
        """The answer to a message; a worker that does not answer in time, or answers another message, is killed."""
        deadline = time.monotonic() + seconds
        self._turn += 1
        try:
            stream = cast("IO[bytes]", self._process.stdin)
            stream.write(packed(message | {"turn": self._turn}))
            stream.flush()
            self._check_turn(self._read(TURN_BYTES, deadline))
            return unpacked(lambda size: self._read(size, deadline))
        except (OSError, ValueError, EOFError, TimeoutError):
            self.close()
            return {"failed": ""}, []
        except BaseException:
            self.close()
            raise

    def _check_turn(self, answered: bytes) -> None:
        if int.from_bytes(answered, "big") != self._turn:
            raise EOFError

    def _read(self, size: int, deadline: float) -> bytes:
        descriptor = cast("IO[bytes]", self._process.stdout).fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while len(self._buffer) < size:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise TimeoutError
                chunk = os.read(descriptor, _CHUNK)
                if not chunk:
                    raise EOFError
                self._buffer += chunk
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        return found

    def close(self) -> None:
        """Ends the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                cast("IO[bytes]", stream).close()


class Pool:
    """Keeps one worker for what is registered; another one is started when the limits change or it has failed.

    Threads take turns. A process that was forked has a worker of its own: whoever reads an answer must have asked.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._worker: Worker | None = None
        self._turns, self._process = threading.RLock(), os.getpid()

    def count(self, program: Program, limits: Limits) -> Counts | None:
        """Runs a program; None if its way cannot be gone. For all that can go wrong there is one text, without data."""
        with self._alone():
            answer, arrays = self._of(limits).ask({"act": "count", "program": program_header(program)}, limits.seconds)
            if "groups" not in answer:
                self.close()
                raise failed()
        return counts_of(answer, arrays, program.types)

    def tell(self, statements: Sequence[str], limits: Limits) -> list[list[list[Any]]]:
        """Runs statements of ours for the owner, who may see what went wrong."""
        with self._alone():
            answer, _ = self._of(limits).ask({"act": "tell", "statements": list(statements)}, limits.seconds)
            if "rows" not in answer:
                self.close()
                reason = str(answer.get("failed", "")).partition("\n")[0]
                hint = reason or "It took too long, or too much memory."
                raise EngineFailed("the table could not be read.", hint=hint)
        rows: list[list[list[Any]]] = answer["rows"]
        return rows

    @property
    def process_id(self) -> int | None:
        return None if self._worker is None else self._worker.process_id

    def warm(self, limits: Limits) -> None:
        """Starts the worker, so that the first question need not wait."""
        with self._alone():
            self._of(limits)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if self._process != os.getpid():
            self._turns, self._process, self._worker = threading.RLock(), os.getpid(), None
        with self._turns:
            yield

    def _of(self, limits: Limits) -> Worker:
        wanted = Setup(**(asdict(self._setup) | {"memory": limits.memory, "threads": limits.threads}))
        if self._worker is not None and (self._worker.setup != wanted or not self._worker.alive):
            self.close()
        if self._worker is None:
            self._worker = Worker(wanted)
        return self._worker

    def close(self) -> None:
        with self._alone():
            if self._worker is not None:
                self._worker.close()
                self._worker = None
