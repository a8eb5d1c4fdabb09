"""Running the examples of a markdown page, block by block, as a reader would.

A `python` block is a doctest; all blocks of a page share their names. A `console` block is a shell session:
lines `$ privately ...` and `$ python ...` are run, other commands are left to the reader, and what follows a
command must be among the lines that it prints, in that order; a line `...` stands for anything.
`console exit=2` says that the commands of the block end with that status. `json file=name.json` is a file that the
reader has written, for the blocks that follow.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^ {0,3}```(.*)$")
_RUN = re.compile(r"(privately|python3?)( |$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    language: str
    options: tuple[str, ...]
    line: int
    lines: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        return int(self.option("exit") or 0)

    def option(self, name: str) -> str | None:
        return next((text.partition("=")[2] for text in self.options if text.startswith(f"{name}=")), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    text: str
    expected: tuple[str, ...]


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, with the number of their first line."""
    start: tuple[str, int] | None = None
    inside: list[str] = []
    for number, line in enumerate(page.splitlines(), 1):
        fence = _FENCE.match(line)
        if fence and start:
            language, *options = start[0].split() or [""]
            yield Block(language=language, options=tuple(options), line=start[1], lines=tuple(inside))
            start = None
        elif fence:
            start, inside = (fence[1], number + 1), []
        elif start:
            inside.append(line)


def commands(block: Block) -> list[Command]:
    """The commands of a console block; a command goes on after a backslash at the end of a line."""
    found: list[tuple[str, list[str]]] = []
    for line in block.lines:
        if found and found[-1][0].endswith("\\"):
            found[-1] = (f"{found[-1][0][:-1].rstrip()} {line.lstrip('> ')}", [])
        elif line.startswith("$ "):
            found.append((line[2:].strip(), []))
        elif found:
            found[-1][1].append(line.strip())
    return [Command(text=text, expected=tuple(filter(None, lines))) for text, lines in found]


def run_page(page: str, name: str, folder: Path) -> list[str]:
    """Run all examples of a page in a folder; what went wrong, each with its line."""
    names: dict[str, object] = {}
    faults = []
    for block in blocks(page):
        written = block.option("file")
        if written:
            (folder / written).write_text("\n".join(block.lines) + "\n", encoding="utf-8")
        if block.language in {"python", "pycon"}:
            faults += _run_python(block, name, names)
        elif block.language == "console":
            faults += [f"{name}:{block.line}: {fault}" for fault in _run_console(block, folder)]
    return faults


def _run_python(block: Block, name: str, names: dict[str, object]) -> list[str]:
    text = "\n".join(block.lines) + "\n"
    if ">>> " not in text:
        return [f"{name}:{block.line}: a python block without >>> is never run"]
    test = doctest.DocTestParser().get_doctest(text, names, name, name, block.line - 1)
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    return ["".join(told)] if told else []


def _run_console(block: Block, folder: Path) -> Iterator[str]:
    for command in commands(block):
        if not _RUN.match(command.text):
            continue
        done = subprocess.run(
            command.text,
            shell=True,
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        printed = done.stdout + done.stderr
        if done.returncode != block.exit_status:
            yield f"`{command.text}` ended with {done.returncode}, not {block.exit_status}:\n{printed}"
        absent = first_absent(command.expected, printed)
        if absent:
            yield f"`{command.text}` did not print {absent!r} where expected, but:\n{printed}"


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}


def first_absent(expected: tuple[str, ...], printed: str) -> str | None:
    """The first expected line that is not printed after the one before it."""
    lines = iter(printed.splitlines())
    for wanted in expected:
        if wanted != "..." and not any(line.strip() == wanted for line in lines):
            return wanted
    return None
