"""What a ledger holds, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Column, Table
from rich.text import Text

from privately.errors import LedgerCorrupt, PrivatelyError

if TYPE_CHECKING:
    from rich.console import Console

    from privately.guarantees import Guarantee
    from privately.ledger import Budget, Pin, Record, Verification

_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A ledger at one moment, and what was checked."""

    head: Pin
    budgets: tuple[Budget, ...]
    tables: Mapping[str, tuple[str, ...]]
    history: tuple[Record, ...]
    pins: tuple[Pin, ...]
    verification: Verification | None
    seconds: float


def show(file: Path, seen: Seen, console: Console) -> None:
    """For people."""
    console.print(Text(f"{printable(str(file))}: {seen.head.number:,} records"), soft_wrap=True)
    if seen.budgets:
        console.print(_accounts(seen))
    for budget in seen.budgets:
        console.print(Text(_sentences(budget)), soft_wrap=True)
    if seen.history:
        console.print(_history(seen))
    if seen.verification is not None:
        found = seen.verification
        speed = f"{found.records / seen.seconds:,.0f} records a second" if seen.seconds else "at once"
        told = f": {found.records:,} records, {found.charges:,} charges, {found.answers:,} answers, {speed}"
        console.print(Text.assemble(("verified", "bold green"), told), soft_wrap=True)
    for pin in seen.pins:
        told = f": the ledger goes on from record {pin.number:,}"
        console.print(Text.assemble(("pinned", "bold green"), told), soft_wrap=True)
    console.print(Text(f"head {seen.head}", style="dim"), soft_wrap=True)


def as_json(file: Path, seen: Seen) -> str:
    """For programs. Numbers of guarantees are exact, as texts."""
    data = {
        "valid": None if seen.verification is None else True,
        "file": str(file),
        "ledger": seen.head.ledger,
        "records": seen.head.number,
        "head": str(seen.head),
        "accounts": [_account(budget) for budget in seen.budgets],
        "tables": {name: list(lineages) for name, lineages in seen.tables.items()},
        "history": [
            {"number": record.number, "time": record.time, "hash": record.hash.hex(), "what": record.entry.what}
            | asdict(record.entry)
            for record in seen.history
        ],
        "pins": [str(pin) for pin in seen.pins],
        "verification": None if seen.verification is None else {**asdict(seen.verification), "seconds": seen.seconds},
    }
    return json.dumps(data)


def failed(fault: LedgerCorrupt) -> str:
    """For programs: it does not verify."""
    return json.dumps({"valid": False, "reason": fault.message, "hint": fault.hint})


def printable(text: str) -> str:
    """A text of the file, which may hold anything, so that it cannot steer the terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def short(guarantee: Guarantee) -> str:
    """Its numbers alone, which stand beside their kind.

    >>> from privately.guarantees import ApproxDP
    >>> short(ApproxDP(epsilon="0.1", delta="1e-6"))
    'epsilon 0.1, delta 1e-6'
    """
    numbers = str(guarantee).removeprefix(f"{type(guarantee).__name__} with ").removesuffix(f", {guarantee.neighbors}")
    return _cut(numbers)


def about(more: int | None) -> str:
    """How many more queries like the last one fit.

    >>> about(1), about(None)
    ('about 1 more query like your last', 'nothing asked yet')
    """
    if more is None:
        return "nothing asked yet"
    return f"about {more:,} more {'query' if more == 1 else 'queries'} like your last"


def _table(*columns: str) -> Table:
    """On a narrow screen cells become longer; a number that is cut off would be another number."""
    return Table(*(Column(name, overflow="fold") for name in columns))


def _accounts(seen: Seen) -> Table:
    table = _table("account", "spent", "of", "remaining", "entries")
    for budget in seen.budgets:
        cap = f"{short(budget.cap)} ({type(budget.cap).__name__})"
        cells = [budget.account, short(budget.spent), cap, short(budget.remaining), f"{budget.entries:,}"]
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _sentences(budget: Budget) -> str:
    paid = "; for what it pays for, not for answers that others paid for" if budget.served else ""
    promise = f"  promise: {budget.promise}{paid}"
    lines = [f"{budget.account}: {about(budget.more_like_last)}", promise, f"  {budget.words}"]
    return "\n".join(printable(line) for line in lines if line.strip())


def _history(seen: Seen) -> Table:
    table = _table("record", "time", "what", "who", "of", "cost or reason")
    for record in seen.history:
        cells = [str(record.number), record.time[:19], record.entry.what, *_told(record.entry)]
        table.add_row(*(Text(_cut(printable(cell))) for cell in cells))
    return table


def _told(entry: Any) -> tuple[str, str, str]:
    """Who did it, with which accounts, and why or for what."""
    what: str = entry.what
    if what == "charged":
        label = f" {entry.label}" if entry.label else ""
        return entry.analyst, ", ".join(entry.accounts), f"{_cost(entry.cost)}{label}"
    if what == "released":
        return "", f"record {entry.charge}", f"{entry.size:,} bytes"
    if what == "served":
        return entry.analyst, f"record {entry.charge}", "free"
    if what in {"opened", "adjusted"}:
        return getattr(entry, "by", ""), entry.account, getattr(entry, "reason", "")
    if what == "registered":
        return entry.by, ", ".join(entry.lineages), f"table {entry.table}"
    if what == "clock set":
        return entry.by, "", entry.reason
    return "", "", ""


def _cost(cost: Mapping[str, Any]) -> str:
    """What was priced, as it was described."""
    from privately.accounting import decode
    from privately.accounting.filters.states import decoded

    try:
        return short(decoded(cost["guarantee"], "cost")) if "guarantee" in cost else repr(decode(cost["event"]))
    except (PrivatelyError, KeyError):
        return "written by another version"


def _account(budget: Budget) -> dict[str, Any]:
    from privately.accounting.filters.states import encoded

    statements = {name: encoded(getattr(budget, name)) for name in ("promise", "cap", "spent", "remaining")}
    return {
        "account": budget.account,
        **statements,
        "last": None if budget.last is None else encoded(budget.last),
        "entries": budget.entries,
        "more_like_last": budget.more_like_last,
        "served": budget.served,
        "words": budget.words,
    }


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."
