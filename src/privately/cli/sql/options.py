"""The words that `sql`, `explain` and `prepare` share: whose table it is, what is asked, what may be spent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from privately.errors import InvalidParameter


def _option(*names: str, about: str, panel: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=about, rich_help_panel=panel, metavar=metavar)


TABLE, ASK, SPEND, OUTPUT = "The table", "The question", "The budget", "Output"
_NUMBER, _COUNT = "NUMBER", "COUNT"

File = Annotated[Path, typer.Argument(metavar="FILE", help="A Parquet, CSV or DuckDB file.")]
Texts = Annotated[
    list[str],
    typer.Argument(
        metavar="SQL...", help="The question, or several that are paid for at once; - reads standard input."
    ),
]

Unit = Annotated[
    str | None, _option(about="The column that tells people apart; a row unless told.", panel=TABLE, metavar="COLUMN")
]
MaxRows = Annotated[
    int | None,
    _option("--max-rows-per-unit", about="So many rows of one person count.", panel=TABLE, metavar=_COUNT),
]
MaxGroups = Annotated[
    int | None,
    _option("--max-groups-per-unit", about="In so many groups one person counts.", panel=TABLE, metavar=_COUNT),
]
MaxRowsInGroup = Annotated[
    int | None,
    _option(
        "--max-rows-per-unit-and-group",
        about="So many rows of one person count in a group.",
        panel=TABLE,
        metavar=_COUNT,
    ),
]
Change = Annotated[
    str | None, _option(about="Which change of the data is hidden.", panel=TABLE, metavar="add_remove|replace")
]
Declaration = Annotated[
    Path | None,
    _option(about="What columns can hold; FILE with .toml at its end unless told.", panel=TABLE, metavar="TOML"),
]
Name = Annotated[str | None, _option(about="How questions call the table; the name of FILE unless told.", panel=TABLE)]
Lineage = Annotated[str | None, _option(about="Whose budget it is; that of the table's name unless told.", panel=TABLE)]
Delimiter = Annotated[str | None, _option(about="What separates values in a CSV file.", panel=TABLE)]
Inner = Annotated[str | None, _option("--table", about="The table in a DuckDB file.", panel=TABLE)]
Prepared = Annotated[
    Path | None, _option(about="A copy that `privately prepare` made of FILE; it is quicker.", panel=TABLE)
]

Epsilon = Annotated[str | None, _option(about="What the answer may cost, each of several.", panel=ASK, metavar=_NUMBER)]
Rho = Annotated[str | None, _option(about="The same in zCDP, with Gaussian noise.", panel=ASK, metavar=_NUMBER)]
Mu = Annotated[str | None, _option(about="The same in Gaussian DP, with Gaussian noise.", panel=ASK, metavar=_NUMBER)]
Delta = Annotated[
    str | None,
    _option(
        about="Groups that nobody listed are shown if many are in them; a group of one so seldom.",
        panel=ASK,
        metavar=_NUMBER,
    ),
]
Slack = Annotated[
    str | None,
    _option(about="For several: a delta by which they cost less epsilon.", panel=ASK, metavar=_NUMBER),
]
Accuracy = Annotated[
    str | None,
    _option(about='Pay what this takes, such as "50 at 95%" or "5% at 95%".', panel=ASK, metavar="TEXT"),
]
Assuming = Annotated[
    int | None,
    _option(about="For --accuracy: a public guess of the rows of a group.", panel=ASK, metavar=_COUNT),
]
Keys = Annotated[
    list[str] | None,
    _option(
        "--keys",
        about="The groups of a key, for the questions that have it; may be repeated.",
        panel=ASK,
        metavar="COLUMN=A,B,C",
    ),
]
KeysFile = Annotated[
    Path | None,
    _option("--keys-file", about="A public CSV file whose rows are the groups.", panel=ASK, metavar="CSV"),
]

BudgetEpsilon = Annotated[
    str | None,
    _option("--budget-epsilon", about="All answers together may cost this.", panel=SPEND, metavar=_NUMBER),
]
BudgetDelta = Annotated[
    str | None, _option("--budget-delta", about="And this delta; 0 unless told.", panel=SPEND, metavar=_NUMBER)
]
BudgetRho = Annotated[
    str | None, _option("--budget-rho", about="Instead of them, a budget in zCDP.", panel=SPEND, metavar=_NUMBER)
]
BudgetMu = Annotated[
    str | None, _option("--budget-mu", about="Instead of them, one in Gaussian DP.", panel=SPEND, metavar=_NUMBER)
]
Analyst = Annotated[str, _option(about="Who asks.", panel=SPEND)]
Key = Annotated[
    str | None, _option(about="A name for this request: asked again with it, it is free.", panel=SPEND, metavar="TEXT")
]
Again = Annotated[bool, _option("--again", about="Pay again for a question whose answer was lost.", panel=SPEND)]

AsJson = Annotated[bool, _option("--json", about="Print everything as JSON.", panel=OUTPUT)]
AsCsv = Annotated[bool, _option("--csv", about="Print the table as CSV, with the ends of its intervals.", panel=OUTPUT)]
Plot = Annotated[Path | None, _option(about="Draw bars with error bars into this file (.svg or .png).", panel=OUTPUT)]
Certificate = Annotated[Path | None, _option(about="Keep the certificate in this file.", panel=OUTPUT)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What was typed about a table."""

    unit: Unit = None
    max_rows_per_unit: MaxRows = None
    max_groups_per_unit: MaxGroups = None
    max_rows_per_unit_and_group: MaxRowsInGroup = None
    change: Change = None
    declaration: Declaration = None
    name: Name = None
    delimiter: Delimiter = None
    table: Inner = None

    @property
    def told(self) -> dict[str, Any]:
        """As `open` calls it."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was typed about questions."""

    epsilon: Epsilon = None
    rho: Rho = None
    mu: Mu = None
    delta: Delta = None
    slack: Slack = None
    accuracy: Accuracy = None
    assuming: Assuming = None
    keys: Keys = None
    keys_file: KeysFile = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """What was typed about the budget."""

    budget_epsilon: BudgetEpsilon = None
    budget_delta: BudgetDelta = None
    budget_rho: BudgetRho = None
    budget_mu: BudgetMu = None


_NAMES = {
    "source": "FILE",
    "columns": "--declaration",
    "declaration": "--declaration",
    "budget": "--budget-epsilon",
    "prepare": "--prepared",
    "cap": "--budget-epsilon",
    "questions": "SQL",
}
_OPTIONS = (
    "unit", "max_rows_per_unit", "max_groups_per_unit", "max_rows_per_unit_and_group", "change", "name", "lineage",
    "delimiter", "table", "epsilon", "rho", "mu", "delta", "accuracy", "assuming", "keys", "analyst", "key", "slack",
)  # fmt: skip


@contextmanager
def named(**more: str) -> Iterator[None]:
    """Complaints about what was typed name the option that it was typed with."""
    names = {one: f"--{one.replace('_', '-')}" for one in _OPTIONS} | _NAMES | more
    try:
        yield
    except InvalidParameter as fault:
        if fault.field not in names:
            raise
        text = fault.message.removeprefix(f"{fault.field}: ")
        raise InvalidParameter(names[fault.field], text, hint=fault.hint) from None
