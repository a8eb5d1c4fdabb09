"""Compare commands by the CPU time of their processes.

Commands run in turn, round after round, so that a change of the machine's load falls on all of them alike;
the median over the rounds is what counts. Figures of one machine mean little: read the ratios.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

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


def peer_python(name: str) -> Path | None:
    """The interpreter of a peer's environment, if `make peers` has made it."""
    path = FOLDER / "peers" / name / "bin" / "python"
    return path if path.exists() else None


def report(name: str, rows: Sequence[Row]) -> Path:
    """Print the rows and keep them as benchmarks/out/NAME.json."""
    for row in rows:
        print(f"{row.name:40} {row.cpu_seconds * 1000:10.1f} ms CPU {row.ratio:8.2f} x")
    path = FOLDER / "out" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    record = {
        "benchmark": name,
        "python": platform.python_version(),
        "platform": sys.platform,
        "rows": [
            {"name": row.name, "cpu_seconds": row.cpu_seconds, "ratio": row.ratio, "rounds": row.rounds} for row in rows
        ],
    }
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path
