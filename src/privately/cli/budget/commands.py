"""`privately budget FILE`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from privately.certificates.files import write_whole
from privately.cli.account.numbers import options
from privately.cli.budget import telling
from privately.errors import InvalidParameter, LedgerCorrupt

if TYPE_CHECKING:
    from privately.ledger import Ledger, Pin

_LONGEST_PIN = 1_000
_BEGINNING = "privately-ledger:"


def budget(
    file: Annotated[Path, typer.Argument(help="The file of a ledger. It is only read.")],
    *,
    history: Annotated[int, typer.Option("--history", min=0, help="Show so many of the last records.")] = 10,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every record again and check that it follows.")
    ] = False,
    pin: Annotated[
        str | None,
        typer.Option(
            "--pin", metavar="TEXT|FILE", help="Check that the ledger goes on from this head, kept elsewhere."
        ),
    ] = None,
    write_pin: Annotated[
        Path | None, typer.Option("--write-pin", help="Write the head to this file, once all checks have passed.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show what a ledger has spent and what is left, and check that nothing in it was changed.

    Exit code 0 when all is in order, 1 when the ledger or its pin does not verify, 2 when it cannot be looked at.

    Example: privately budget visits.ledger --verify
    """
    from privately.ledger import Ledger

    try:
        pins = [] if pin is None else [read_pin(pin)]
        if write_pin is not None:
            pins += replaced(write_pin, file)
        with Ledger.inspect(file) as ledger:
            seen = looked_at(ledger, history=history, verify=verify, pins=pins)
    except LedgerCorrupt as fault:
        if as_json:
            print(telling.failed(fault))
        print(f"error: {fault}", file=sys.stderr)
        raise typer.Exit(1) from None
    if write_pin is not None:
        with options({"path": "--write-pin"}):
            write_whole(write_pin, f"{seen.head}\n".encode())
    if as_json:
        print(telling.as_json(file, seen))
    else:
        telling.show(file, seen, Console(highlight=False))


def looked_at(ledger: Ledger, *, history: int, verify: bool, pins: list[Pin]) -> telling.Seen:
    """All that is told. What is checked is checked first, and the head is one that was checked."""
    head = ledger.head
    for pin in pins:
        ledger.check(pin)
    verification, seconds = None, 0.0
    if verify:
        start = time.perf_counter()
        with _progress() as progress:
            verification = ledger.verify(progress=progress)
        seconds = time.perf_counter() - start
    return telling.Seen(
        head=head,
        budgets=ledger.budgets(),
        tables=ledger.tables(),
        history=tuple(ledger.history(after=max(0, head.number - history), upto=head.number)),
        pins=tuple(pins),
        verification=verification,
        seconds=seconds,
    )


def read_pin(text: str) -> Pin:
    """The pin that was typed, or the one in the file of this name."""
    from privately.ledger import Pin

    with options({"pin": "--pin"}):
        if text.startswith(_BEGINNING):
            return Pin.parse(text)
        try:
            with Path(text).open("rb") as file:
                found = file.read(_LONGEST_PIN)
        except (OSError, ValueError) as fault:
            reason = fault.strerror if isinstance(fault, OSError) else fault
            raise InvalidParameter("pin", f"is neither a head nor a file that can be read: {reason}.") from None
        return Pin.parse(found.decode("ascii", "replace"))


def replaced(target: Path, file: Path) -> list[Pin]:
    """The pin that is about to be replaced: what does not go on from it would hide that it was rolled back."""
    theirs = os.path.realpath(file)
    if os.path.realpath(target) in {theirs, f"{theirs}-wal", f"{theirs}-shm", f"{theirs}.lock"}:
        raise InvalidParameter("--write-pin", "must not be a file of the ledger.")
    if not target.exists():
        return []
    try:
        return [read_pin(os.path.realpath(target))]
    except InvalidParameter:
        raise InvalidParameter("--write-pin", f"{target} holds something else than a head.") from None


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, where somebody sees it."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("verifying", total=None)
        yield lambda done, last: bar.update(task, completed=done, total=last)
