"""`privately explain FILE QUESTION...`: what questions would do and cost, before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privately.cli.sql import options as o
from privately.cli.sql import telling
from privately.cli.sql.faults import each_priced, placed, refusals
from privately.cli.sql.tables import NoData, Opened, budget_names, budget_of, cap_of, kept, keys_of, questions_of
from privately.guarantees import ApproxZCDP, Guarantee, PureDP

if TYPE_CHECKING:
    from privately.plans import Table
    from privately.query.batching import BatchExplanation, Options
    from privately.query.explaining import Explanation
    from privately.query.sessions import Session


def explain(
    file: o.File,
    question: o.Texts,
    *,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="Tell what it has left; it is only read.", rich_help_panel=o.SPEND)
    ] = None,
    epsilon: o.Epsilon = None,
    rho: o.Rho = None,
    mu: o.Mu = None,
    delta: o.Delta = None,
    slack: o.Slack = None,
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
    """Show what questions would do: plan, noise, errors, cost. Free; of FILE only the names of columns are read.

    Without FILE it works too, for columns that are declared.

    Example: privately explain visits.parquet "SELECT AVG(cost) FROM visits" --epsilon 0.5
    """
    texts = questions_of(question)
    opened = Opened(
        file=file,
        told={
            "unit": unit, "max_rows_per_unit": max_rows_per_unit, "max_groups_per_unit": max_groups_per_unit,
            "max_rows_per_unit_and_group": max_rows_per_unit_and_group,
            "change": change, "declaration": declaration, "name": name, "lineage": lineage, "delimiter": delimiter,
            "table": table,
        },
        needs_file=False,
    )  # fmt: skip
    given = budget_of(epsilon=budget_epsilon, delta=budget_delta, rho=budget_rho, mu=budget_mu)
    with refusals(as_json=as_json), o.named(**budget_names(rho=budget_rho, mu=budget_mu)):
        known = kept(ledger, opened.lineage)
        described = _table(opened)
        asked: Options = {
            "epsilon": epsilon, "rho": rho, "mu": mu, "delta": delta, "accuracy": accuracy, "assuming": assuming,
            "keys": keys_of(keys, keys_file, described),
        }  # fmt: skip
        usual = PureDP(epsilon=1) if (rho, mu, delta) == (None, None, None) else ApproxZCDP(rho=1, delta="0.5")
        is_told = given is not None or known is not None
        with _desk(described, **(cap_of(given, known) if is_told else {"budget": usual})) as session:
            found = _explained(session, texts, slack, asked)
        remaining = given if known is None else known.remaining
        found = replace(found, remaining=remaining) if is_told else found.apart()
    if as_json:
        print(telling.explanation_json(found))
    else:
        telling.say(str(found))


def _table(opened: Opened) -> Table:
    from privately.query.opening import table_of

    told = opened.settings
    options: dict[str, str] = {name: told.pop(name) for name in ("delimiter", "table") if name in told}
    told.pop("lineage", None)
    return table_of(opened.file, options=options, **told)


def _explained(
    session: Session, texts: Sequence[str], slack: str | None, asked: Options
) -> Explanation | BatchExplanation:
    if len(texts) == 1 and slack is None:
        with placed(texts[0]):
            return session.explain(texts[0], **asked)
    each_priced(session, texts, asked)
    return session.explain_batch(texts, slack=slack, **asked)


@contextmanager
def _desk(table: Table, *, budget: Guarantee, by: type[Guarantee] | None = None) -> Iterator[Session]:
    """A session without data, whose account is forgotten: nothing is charged here, and nothing can be asked."""
    from privately.ledger import Ledger
    from privately.query.opening import about
    from privately.query.sessions import Session

    book = Ledger.open(":memory:")
    with Session(table, NoData(), book, lineage=table.name, snapshot="") as session:
        book.account(table.name, cap=about(budget, table.unit.neighbors), by=by)
        yield session
