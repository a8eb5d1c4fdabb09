"""Compare commands by the CPU time of their processes.

Commands run in turn, round after round, so that a change of the machine's load falls on all of them alike;
the median over the rounds is what counts. Figures of one machine mean little: read the ratios.
Where starting would drown what is measured, a `Clock` is a process that stays and times one statement after another.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any, Self

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One command: median CPU seconds, and how many times the CPU of the base command that is."""

    name: str
    cpu_seconds: float
    ratio: float
    rounds: int


def cpu_seconds(command: Sequence[str]) -> float:
    """User and system time of the command's process and of those that it waited for."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def compare(commands: Mapping[str, Sequence[str]], *, base: str, rounds: int) -> list[Row]:
    """Measure each command `rounds` times, interleaved, after one round to warm the caches."""
    samples: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            seconds = cpu_seconds(command)
            if turn:
                samples[name].append(seconds)
    medians = {name: median(values) for name, values in samples.items()}
    return [
        Row(name=name, cpu_seconds=seconds, ratio=seconds / medians[base], rounds=rounds)
        for name, seconds in medians.items()
    ]


_SERVE = """
import json, sys, time
names = {}
for line in sys.stdin:
    code = compile(json.loads(line), "<statement>", "exec")
    start = time.process_time()
    exec(code, names)
    print(json.dumps([time.process_time() - start, names.pop("answer", None)]), flush=True)
"""


class Clock:
    """A process that stays and says what each statement costs it in CPU, so that its start is not counted."""

    def __init__(self, python: str | Path) -> None:
        command = [str(python), "-c", _SERVE]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def cpu_seconds(self, statement: str) -> float:
        """Run a statement, or several lines of them, among the names that earlier ones have left."""
        return self.measure(statement)[0]

    def measure(self, statement: str) -> tuple[float, Any]:
        """The same, and what the statement has called `answer`, if it is data for JSON."""
        assert self._process.stdin is not None  # noqa: S101  (for the type checker)
        assert self._process.stdout is not None  # noqa: S101
        self._process.stdin.write(json.dumps(statement) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise subprocess.SubprocessError(f"failed, see above: {statement}")
        seconds, value = json.loads(answer)
        return float(seconds), value

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def peer_python(name: str) -> Path | None:
    """The interpreter of a peer's environment, if `make peers` has made it."""
    path = FOLDER / "peers" / name / "bin" / "python"
    return path if path.exists() else None


def report(name: str, rows: Sequence[Row]) -> Path:
    """Print the rows and keep them as benchmarks/out/NAME.json."""
    for row in rows:
        print(f"{row.name:40} {row.cpu_seconds * 1000:10.1f} ms CPU {row.ratio:8.2f} x")
    return keep(name, [asdict(row) for row in rows])


def keep(name: str, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write the rows to benchmarks/out/NAME.json."""
    path = FOLDER / "out" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    record = {
        "benchmark": name,
        "python": platform.python_version(),
        "platform": sys.platform,
        "rows": rows,
    }
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path
