"""`privately explain FILE QUESTION...`: what questions would do and cost, before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privately.cli.grouping import with_fields_as_options
from privately.cli.sql import options as o
from privately.cli.sql import telling
from privately.cli.sql.faults import each_priced, placed, refusals
from privately.cli.sql.sharing import shared
from privately.cli.sql.tables import NoData, Opened, budget_names, budget_of, cap_of, kept, options_of, questions_of
from privately.guarantees import ApproxDP, ApproxZCDP, Guarantee, PureDP

if TYPE_CHECKING:
    from privately.plans import Table
    from privately.query.batching import BatchExplanation, Options
    from privately.query.explaining import Explanation
    from privately.query.sessions import Session


@with_fields_as_options
def explain(
    file: o.File,
    question: o.Texts,
    *,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", help="Tell what it has left; it is only read.", rich_help_panel=o.SPEND)
    ] = None,
    asked: o.Asked,
    granted: o.Granted,
    described: o.Described,
    lineage: o.Lineage = None,
    as_json: o.AsJson = False,
) -> None:
    """Show what questions would do: plan, noise, errors, cost. Free; of FILE only the names of columns are read.

    Without FILE it works too, for columns that are declared.

    Example: privately explain visits.parquet "SELECT AVG(cost) FROM visits" --epsilon 0.5
    """
    texts = questions_of(question)
    opened = Opened(file=file, told={**described.told, "lineage": lineage}, needs_file=False)
    given = budget_of(granted)
    with refusals(as_json=as_json), o.named(**budget_names(granted)):
        known = kept(ledger, opened.lineage)
        table = _table(opened)
        options = options_of(asked, table)
        is_told = given is not None or known is not None
        with _desk(table, **(cap_of(given, known) if is_told else _usual(asked))) as session:
            found = _explained(session, texts, asked.slack, options)
        remaining = known.remaining if known is not None else found.remaining
        found = replace(found, remaining=remaining) if is_told else found.apart()
    if as_json:
        print(telling.explanation_json(found))
    else:
        telling.say(str(found))


def _usual(asked: o.Asked) -> dict[str, Any]:
    """An account that can pay for what is asked, where nobody told of one."""
    if asked.slack is not None:
        return {"budget": ApproxDP(epsilon=1, delta="0.5"), "by": ApproxDP}
    if (asked.rho, asked.mu, asked.delta) == (None, None, None):
        return {"budget": PureDP(epsilon=1)}
    return {"budget": ApproxZCDP(rho=1, delta="0.5")}


def _table(opened: Opened) -> Table:
    from privately.query.opening import table_of

    told = opened.settings
    options: dict[str, str] = {name: told.pop(name) for name in ("delimiter", "table") if name in told}
    told.pop("lineage", None)
    return table_of(opened.file, options=options, **told)


def _explained(
    session: Session, texts: Sequence[str], slack: str | None, options: Options
) -> Explanation | BatchExplanation:
    if len(texts) == 1 and slack is None:
        with placed(texts[0]):
            return session.explain(texts[0], **options)
    questions = shared(texts, options, session.table)
    each_priced(session, questions)
    return session.explain_batch(questions, slack=slack)


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
