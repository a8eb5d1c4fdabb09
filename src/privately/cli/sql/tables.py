"""From what was typed to an open table: its options, its budget, the values of its keys."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privately.cli.sql.options import Asked, Granted
from privately.errors import InvalidParameter, Refused
from privately.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP

if TYPE_CHECKING:
    from privately.engines.protocol import Counts, Limits, TableReport
    from privately.ledger import Budget
    from privately.plans import Aggregation, Table
    from privately.plans.types import Value
    from privately.query.batching import Options
    from privately.query.public_tables import Keys, PublicTable

LONGEST = 10**7
"""Bytes of a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A file, and what `open` is told of it; None stands for what was not said."""

    file: Path
    told: dict[str, Any] = field(default_factory=dict)
    needs_file: bool = True

    def __post_init__(self) -> None:
        if self.needs_file and not self.file.is_file():
            raise InvalidParameter("FILE", f"there is no file {str(self.file)!r}.")
        copy = self.told.get("prepare")
        if copy is not None and not copy.is_file():
            hint = f"Make it: privately prepare {self.file} {copy}."
            raise InvalidParameter("--prepared", f"there is no file {str(copy)!r}.", hint=hint)

    @property
    def settings(self) -> dict[str, Any]:
        """What was said."""
        return {name: value for name, value in self.told.items() if value is not None}

    @property
    def lineage(self) -> str:
        """Whose budget it is, as `open` finds it."""
        from privately.query.declaring import read_declaration

        declared: Any = {}
        path = self.told.get("declaration") or self.file.with_suffix(".toml")
        if path.is_file():
            declared, _ = read_declaration(path)
        found = [{**declared, **self.settings}.get(name) for name in ("lineage", "name")]
        return next((one for one in found if one), self.file.stem)


class NoData:
    """An engine that has nothing to count: what is only explained never asks it."""

    def ready(self) -> None:
        raise InvalidParameter("FILE", "is not read by this command.")

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts:  # noqa: ARG002 - as an engine has it
        raise InvalidParameter("FILE", "is not read by this command.")

    def check(self, table: str) -> TableReport:  # noqa: ARG002 - the same
        raise InvalidParameter("FILE", "is not read by this command.")

    def close(self) -> None:
        """There is nothing to let go of."""


def budget_of(granted: Granted) -> Guarantee | None:
    """The budget that was typed; None if there was none."""
    epsilon, delta = granted.budget_epsilon, granted.budget_delta
    rho, mu = granted.budget_rho, granted.budget_mu
    kinds = [name for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu)) if value is not None]
    if len(kinds) > 1:
        raise InvalidParameter(f"--budget-{kinds[1]}", f"give it or --budget-{kinds[0]}, not both.")
    if delta is not None and epsilon is None:
        raise InvalidParameter("--budget-delta", "belongs to --budget-epsilon.")
    try:
        if rho is not None:
            return ZCDP(rho=rho)
        if mu is not None:
            return GaussianDP(mu=mu)
        if epsilon is None:
            return None
        return PureDP(epsilon=epsilon) if delta is None else ApproxDP(epsilon=epsilon, delta=delta)
    except InvalidParameter as fault:
        name = f"--budget-{fault.field}"
        raise InvalidParameter(name, fault.message.removeprefix(f"{fault.field}: "), hint=fault.hint) from None


def budget_names(granted: Granted) -> dict[str, str]:
    """How complaints about the budget name it: as it was typed."""
    option = "--budget-epsilon"
    if granted.budget_rho is not None:
        option = "--budget-rho"
    elif granted.budget_mu is not None:
        option = "--budget-mu"
    return {"budget": option, "cap": option}


def needed_ledger(ledger: Path | None) -> Path:
    """The ledger that was typed; it is asked for after all else was found to be there."""
    if ledger is None:
        raise InvalidParameter("--ledger", "say which file remembers what was spent, such as visits.ledger.")
    return ledger


def kept(ledger: Path | None, lineage: str) -> Budget | None:
    """The account that a ledger has for these people; it is only looked at."""
    from privately.ledger import Ledger

    if ledger is None or not ledger.exists():
        return None
    with Ledger.inspect(ledger) as book:
        return next((one for one in book.budgets() if one.account == lineage), None)


def cap_of(given: Guarantee | None, known: Budget | None) -> dict[str, Any]:
    """What `open` is told of the budget: what was typed, or what the ledger has already."""
    if given is not None:
        return {"budget": given}
    if known is None:
        hint = "Later questions need it no more: the ledger knows it."
        raise InvalidParameter("--budget-epsilon", "say what all answers together may cost.", hint=hint)
    by = {"by": type(known.cap)} if isinstance(known.promise, ApproxDP) else {}
    return {"budget": known.promise, **by}


def questions_of(typed: Sequence[str]) -> tuple[str, ...]:
    """The questions that were typed, or that come from standard input; a semicolon ends one."""
    from privately.query.parsing import statements

    texts = [_question_of(text) for text in typed]
    return tuple(one for text in texts for one in _or_itself(statements, text))


def _or_itself(statements: Callable[[str], tuple[str, ...]], text: str) -> tuple[str, ...]:
    """What cannot be read is one question: it is refused later, with its place."""
    try:
        return statements(text)
    except Refused:
        return (text,)


def _question_of(text: str) -> str:
    if text != "-":
        return text
    content = sys.stdin.buffer.read(LONGEST + 1)
    if len(content) > LONGEST:
        raise InvalidParameter("SQL", f"is longer than {LONGEST // 10**6} MB.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidParameter("SQL", "is not a text in UTF-8.") from None


def options_of(asked: Asked, table: Table) -> Options:
    """What a session is told of questions about this table."""
    return {
        "epsilon": asked.epsilon, "rho": asked.rho, "mu": asked.mu, "delta": asked.delta,
        "accuracy": asked.accuracy, "assuming": asked.assuming, "keys": keys_of(asked.keys, asked.keys_file, table),
    }  # fmt: skip


def keys_of(typed: Sequence[str] | None, file: Path | None, table: Table) -> Keys | None:
    """The groups that were typed, as values of the columns' types; an empty name is that of nobody: NULL.

    Or those that are the rows of a public file.
    """
    types = {column.name.casefold(): column.type.value for column in table.columns}
    if file is not None:
        if typed:
            raise InvalidParameter("--keys-file", "give the groups in it, or with --keys, not both.")
        return _rows_of(file, types)
    if not typed:
        return None
    found: dict[str, list[Value]] = {}
    for one in typed:
        name, sign, listed = one.partition("=")
        if not sign or not name:
            raise InvalidParameter("--keys", f"{one!r} is not of the form ward=A,B,C.")
        texts = listed.split(",")
        kind = types.get(name.casefold()) or _kind(texts)
        found.setdefault(name, []).extend(_value(text, kind, name) for text in texts)
    return found


def _rows_of(file: Path, types: Mapping[str, str]) -> PublicTable:
    from privately.query.public_tables import PublicTable

    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            names, *rows = [row for row in csv.reader(opened) if row] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "it is no CSV file in UTF-8"
        raise InvalidParameter("--keys-file", f"cannot read {file}: {reason}.") from None
    if not rows or any(len(row) != len(names) for row in rows):
        raise InvalidParameter("--keys-file", f"{file.name} needs names of columns, and values of all of them below.")
    columns = [
        [_value(text, types.get(name.casefold()) or _kind(texts), name) for text in texts]
        for name, texts in zip(names, zip(*rows, strict=True), strict=True)
    ]
    if len({name.casefold() for name in names}) != len(names):
        raise InvalidParameter("--keys-file", f"{file.name} has two columns of the same name.")
    return PublicTable(columns=tuple(names), rows=tuple(zip(*columns, strict=True)))


def _kind(texts: Sequence[str]) -> str:
    return "integer" if all(map(_is_whole, texts)) else "text"


def _is_whole(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()


def _value(text: str, kind: str, name: str) -> Value:
    if text == "":
        return None
    try:
        match kind:
            case "integer":
                return int(text)
            case "real":
                return float(text)
            case "date":
                return date.fromisoformat(text)
            case "timestamp":
                return datetime.fromisoformat(text)
            case "boolean":
                return {"true": True, "false": False}[text.strip().lower()]
    except (ValueError, KeyError):
        raise InvalidParameter("--keys", f"{text!r} is no {kind}, which {name} is.") from None
    return text
