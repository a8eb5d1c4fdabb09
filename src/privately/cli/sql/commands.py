"""`privately sql FILE QUESTION...`, `privately prepare FILE COPY`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privately.cli.grouping import with_fields_as_options
from privately.cli.sql import options as o
from privately.cli.sql import telling
from privately.cli.sql.faults import each_priced, placed, refusals
from privately.cli.sql.sharing import shared
from privately.cli.sql.tables import (
    Opened,
    budget_names,
    budget_of,
    cap_of,
    kept,
    needed_ledger,
    options_of,
    questions_of,
)
from privately.errors import InvalidParameter
from privately.views.pictures import suffix_of

if TYPE_CHECKING:
    from privately.query.batching import Options
    from privately.query.results import Result
    from privately.query.sessions import Session

_LEDGER = "The file that remembers what was spent; it is created. Needed."


@with_fields_as_options
def sql(
    file: o.File,
    question: o.Texts,
    *,
    ledger: Annotated[Path | None, typer.Option("--ledger", help=_LEDGER, rich_help_panel=o.SPEND)] = None,
    asked: o.Asked,
    granted: o.Granted,
    analyst: o.Analyst = "owner",
    key: o.Key = None,
    again: o.Again = False,
    described: o.Described,
    lineage: o.Lineage = None,
    prepared: o.Prepared = None,
    as_json: o.AsJson = False,
    as_csv: o.AsCsv = False,
    plot: o.Plot = None,
    certificate: o.Certificate = None,
) -> None:
    """Answer a question in SQL privately, with error bars, and charge the budget for it.

    What the columns can hold is declared in a TOML file beside the data. Asked again, the same question is free.
    Several questions are charged at once, composed as tightly as the budget can count: all are answered, or none.

    Example: privately sql visits.parquet "SELECT ward, COUNT(*) FROM visits GROUP BY ward" --epsilon 0.5
    --budget-epsilon 3 --ledger visits.ledger --unit patient --max-rows-per-unit 3
    """
    if as_json and as_csv:
        raise InvalidParameter("--csv", "give it or --json, not both.")
    texts = questions_of(question)
    _check_files(plot, certificate, len(texts))
    opened = Opened(file=file, told={**described.told, "lineage": lineage, "prepare": prepared})
    given = budget_of(granted)
    with refusals(as_json=as_json), o.named(**budget_names(granted)), telling.working("counting"):
        from privately.query.opening import open as open_table

        remembered = needed_ledger(ledger)
        known = kept(remembered, opened.lineage)
        cap = cap_of(given, known)
        with telling.noticing(to_owner=known is None):  # whoever opens the budget owns the data
            opening = open_table(file, **cap, ledger=remembered, analyst=analyst, **opened.settings)
        with opening as session:
            options = options_of(asked, session.table)
            results = _answered(session, texts, options, slack=asked.slack, key=key, again=again)
            remaining = session.budget.remaining
    if certificate is not None:
        with o.named(path="--certificate"):
            results[0].certificate.save(certificate)
    if plot is not None:
        with o.named(path="--plot", column="--plot"):
            results[0].plot(plot)
    if as_csv:
        print("\n\n".join(telling.as_csv(result) for result in results))
    elif as_json:
        print(telling.as_json(results, remaining))
    else:
        telling.say(telling.text(results, remaining))


def _check_files(plot: Path | None, certificate: Path | None, questions: int) -> None:
    """Passes if what is asked for can be written; nothing is paid before."""
    if plot is not None:
        suffix_of(plot, "--plot")
        if questions > 1:
            raise InvalidParameter("--plot", "draws the answer to one question; ask one.")
    for option, target in (("--plot", plot), ("--certificate", certificate)):
        if target is not None and not target.absolute().parent.is_dir():
            raise InvalidParameter(option, f"there is no folder {str(target.parent)!r}.")


def _answered(
    session: Session, texts: Sequence[str], options: Options, *, slack: str | None, key: str | None, again: bool
) -> tuple[Result, ...]:
    """The answers, for one charge."""
    if len(texts) == 1 and slack is None:
        with placed(texts[0]):
            return (session.sql(texts[0], **options, key=key, again=again),)
    questions = shared(texts, options, session.table)
    each_priced(session, questions)
    return session.batch(questions, slack=slack, key=key, again=again)


@with_fields_as_options
def prepare(
    file: o.File,
    copy: Annotated[Path, typer.Argument(help="The copy to write.")],
    *,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="The ledger of the data; the key beside it chooses whose rows count. Needed."),
    ] = None,
    described: o.Described,
    as_json: o.AsJson = False,
) -> None:
    """Write a copy of a table that is quicker to ask, and tell the owner what became of its values.

    What this prints is exact and not private: it is for the owner of the data alone.

    Example: privately prepare visits.parquet visits.prepared --ledger visits.ledger
    """
    opened = Opened(file=file, told=described.told)
    with o.named(path="COPY", prepare="COPY"), telling.working("preparing"):
        from privately.query.opening import prepare as prepare_table

        found = prepare_table(file, copy, ledger=needed_ledger(ledger), **opened.settings)
    if as_json:
        print(telling.report_json(found))
    else:
        telling.say(telling.report(found))
