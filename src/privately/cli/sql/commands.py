"""`privately sql FILE QUESTION`, `privately explain FILE QUESTION`, `privately prepare FILE COPY`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from privately.cli.sql import options as o
from privately.cli.sql import telling
from privately.cli.sql.tables import Opened, budget_of, cap_of, kept, keys_of, question_of
from privately.errors import InvalidParameter, PrivatelyError, Refused
from privately.guarantees import PureDP
from privately.views.pictures import suffix_of

_LEDGER = "The file that remembers what was spent; it is created."


def sql(
    file: o.File,
    question: o.Text,
    *,
    ledger: Annotated[Path, typer.Option("--ledger", help=_LEDGER, rich_help_panel=o.SPEND)],
    epsilon: o.Epsilon = None,
    rho: o.Rho = None,
    mu: o.Mu = None,
    delta: o.Delta = None,
    accuracy: o.Accuracy = None,
    assuming: o.Assuming = None,
    keys: o.Keys = None,
    keys_file: o.KeysFile = None,
    budget_epsilon: o.BudgetEpsilon = None,
    budget_delta: o.BudgetDelta = None,
    budget_rho: o.BudgetRho = None,
    budget_mu: o.BudgetMu = None,
    analyst: o.Analyst = "owner",
    key: o.Key = None,
    again: o.Again = False,
    unit: o.Unit = None,
    max_rows_per_unit: o.MaxRows = None,
    max_groups_per_unit: o.MaxGroups = None,
    max_rows_per_unit_and_group: o.MaxRowsInGroup = None,
    change: o.Change = None,
    declaration: o.Declaration = None,
    name: o.Name = None,
    lineage: o.Lineage = None,
    delimiter: o.Delimiter = None,
    table: o.Inner = None,
    prepared: o.Prepared = None,
    as_json: o.AsJson = False,
    as_csv: o.AsCsv = False,
    plot: o.Plot = None,
    certificate: o.Certificate = None,
) -> None:
    """Answer a question in SQL privately, with error bars, and charge the budget for it.

    What the columns can hold is declared in a TOML file beside the data. Asked again, the same question is free.

    Example: privately sql visits.parquet "SELECT ward, COUNT(*) FROM visits GROUP BY ward" --epsilon 0.5
    --budget-epsilon 3 --ledger visits.ledger --unit patient --max-rows-per-unit 3
    """
    if as_json and as_csv:
        raise InvalidParameter("--csv", "give it or --json, not both.")
    if plot is not None:
        suffix_of(plot, "--plot")
    for option, target in (("--plot", plot), ("--certificate", certificate)):
        if target is not None and not target.absolute().parent.is_dir():
            raise InvalidParameter(option, f"there is no folder {str(target.parent)!r}.")
    text = question_of(question)
    opened = Opened(
        file=file,
        told={
            "unit": unit, "max_rows_per_unit": max_rows_per_unit, "max_groups_per_unit": max_groups_per_unit,
            "max_rows_per_unit_and_group": max_rows_per_unit_and_group,
            "change": change, "declaration": declaration, "name": name, "lineage": lineage, "delimiter": delimiter,
            "table": table, "prepare": prepared,
        },
    )  # fmt: skip
    given = budget_of(epsilon=budget_epsilon, delta=budget_delta, rho=budget_rho, mu=budget_mu)
    with _refusals(text, as_json=as_json), o.named(), telling.working("counting"):
        from privately.query.opening import open as open_table

        cap = cap_of(given, kept(ledger, opened.lineage))
        with open_table(file, **cap, ledger=ledger, analyst=analyst, **opened.settings) as session:
            result = session.sql(
                text, epsilon=epsilon, rho=rho, mu=mu, delta=delta, accuracy=accuracy, assuming=assuming,
                keys=keys_of(keys, keys_file, session.table), key=key, again=again,
            )  # fmt: skip
            remaining = session.budget.remaining
    if certificate is not None:
        with o.named(path="--certificate"):
            result.certificate.save(certificate)
    if plot is not None:
        with o.named(path="--plot", column="--plot"):
            result.plot(plot)
    if as_csv:
        print(telling.as_csv(result))
    elif as_json:
        print(telling.as_json(result, remaining))
    else:
        telling.say(telling.text(result, remaining))


def explain(
    file: o.File,
    question: o.Text,
    *,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="Tell what it has left; it is only read.", rich_help_panel=o.SPEND)
    ] = None,
    epsilon: o.Epsilon = None,
    rho: o.Rho = None,
    mu: o.Mu = None,
    delta: o.Delta = None,
    accuracy: o.Accuracy = None,
    assuming: o.Assuming = None,
    keys: o.Keys = None,
    keys_file: o.KeysFile = None,
    budget_epsilon: o.BudgetEpsilon = None,
    budget_delta: o.BudgetDelta = None,
    budget_rho: o.BudgetRho = None,
    budget_mu: o.BudgetMu = None,
    unit: o.Unit = None,
    max_rows_per_unit: o.MaxRows = None,
    max_groups_per_unit: o.MaxGroups = None,
    max_rows_per_unit_and_group: o.MaxRowsInGroup = None,
    change: o.Change = None,
    declaration: o.Declaration = None,
    name: o.Name = None,
    lineage: o.Lineage = None,
    delimiter: o.Delimiter = None,
    table: o.Inner = None,
    as_json: o.AsJson = False,
) -> None:
    """Show what a question would do: plan, noise, errors, cost. Free; of FILE only the names of columns are read.

    Example: privately explain visits.parquet "SELECT AVG(cost) FROM visits" --epsilon 0.5
    """
    text = question_of(question)
    opened = Opened(
        file=file,
        told={
            "unit": unit, "max_rows_per_unit": max_rows_per_unit, "max_groups_per_unit": max_groups_per_unit,
            "max_rows_per_unit_and_group": max_rows_per_unit_and_group,
            "change": change, "declaration": declaration, "name": name, "lineage": lineage, "delimiter": delimiter,
            "table": table,
        },
    )  # fmt: skip
    remaining = budget_of(epsilon=budget_epsilon, delta=budget_delta, rho=budget_rho, mu=budget_mu)
    with _refusals(text, as_json=as_json), o.named():
        from privately.query.opening import open as open_table

        known = kept(ledger, opened.lineage)
        # Nothing is charged here, so any budget will do.
        with open_table(file, budget=PureDP(epsilon=1), ledger=":memory:", **opened.settings) as session:
            explanation = session.explain(
                text, epsilon=epsilon, rho=rho, mu=mu, delta=delta, accuracy=accuracy, assuming=assuming,
                keys=keys_of(keys, keys_file, session.table),
            )  # fmt: skip
    explanation = replace(explanation, remaining=remaining if known is None else known.remaining)
    if as_json:
        print(telling.explanation_json(explanation))
    else:
        telling.say(str(explanation))


def prepare(
    file: o.File,
    copy: Annotated[Path, typer.Argument(help="The copy to write.")],
    *,
    ledger: Annotated[
        Path, typer.Option("--ledger", help="The ledger of the data; the key beside it chooses whose rows count.")
    ],
    unit: o.Unit = None,
    max_rows_per_unit: o.MaxRows = None,
    max_groups_per_unit: o.MaxGroups = None,
    max_rows_per_unit_and_group: o.MaxRowsInGroup = None,
    change: o.Change = None,
    declaration: o.Declaration = None,
    name: o.Name = None,
    delimiter: o.Delimiter = None,
    table: o.Inner = None,
    as_json: o.AsJson = False,
) -> None:
    """Write a copy of a table that is quicker to ask, and tell the owner what became of its values.

    What this prints is exact and not private: it is for the owner of the data alone.

    Example: privately prepare visits.parquet visits.prepared --ledger visits.ledger
    """
    opened = Opened(
        file=file,
        told={
            "unit": unit, "max_rows_per_unit": max_rows_per_unit, "max_groups_per_unit": max_groups_per_unit,
            "max_rows_per_unit_and_group": max_rows_per_unit_and_group,
            "change": change, "declaration": declaration, "name": name, "delimiter": delimiter, "table": table,
        },
    )  # fmt: skip
    with o.named(path="COPY"), telling.working("preparing"):
        from privately.query.opening import prepare as prepare_table

        found = prepare_table(file, copy, ledger=ledger, **opened.settings)
    if as_json:
        print(telling.report_json(found))
    else:
        telling.say(telling.report(found))


@contextmanager
def _refusals(question: str, *, as_json: bool) -> Iterator[None]:
    """A refusal shows its place in the question; for programs every error is JSON too."""
    try:
        yield
    except PrivatelyError as found:
        fault = _typed(found)
        if as_json:
            print(telling.failed(fault))
        if isinstance(fault, Refused) and fault.span is not None:
            print(telling.refusal(fault, question), file=sys.stderr)
            raise typer.Exit(2) from None
        raise fault from None


def _typed(fault: PrivatelyError) -> PrivatelyError:
    """Hints speak of options, as they are typed here."""
    if isinstance(fault, Refused):
        return type(fault)(fault.message, hint=_options(fault.hint), span=fault.span)
    if isinstance(fault, InvalidParameter):
        return InvalidParameter(fault.field, fault.message.removeprefix(f"{fault.field}: "), hint=_options(fault.hint))
    return fault


def _options(hint: str) -> str:
    """The hint with options in place of arguments.

    >>> _options('List them, keys={"town": [...]}, or ask with delta=1e-6.')
    'List them, --keys town=A,B,C, or ask with --delta 1e-6.'
    """
    named = hint.replace("ApproxDP(epsilon=..., delta=...)", "--budget-epsilon with --budget-delta")
    listed = re.sub(r'keys=\{"([^"]*)": \[\.\.\.\]\}', r"--keys \1=A,B,C", named)
    return re.sub(r"\b(epsilon|rho|mu|delta|keys|assuming)=(\.\.\.)?", r"--\1 ", listed).replace("  ", " ")
