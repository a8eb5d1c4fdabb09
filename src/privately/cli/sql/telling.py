"""Answers, explanations and refusals, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.console import Console

from privately.cli.account.numbers import plain
from privately.cli.budget.telling import printable, short
from privately.errors import PrivatelyError, Refused
from privately.rounding import decimal_text

if TYPE_CHECKING:
    from privately.engines.protocol import TableReport
    from privately.guarantees import Guarantee
    from privately.plans.types import Value
    from privately.query.batching import BatchExplanation
    from privately.query.explaining import Explanation
    from privately.query.results import Result

_ROOM = 100
"""Characters of a question that are shown around what is wrong with it."""


@contextmanager
def working(word: str) -> Iterator[None]:
    """A sign of life on standard error, where somebody sees it; how far it is would tell how much data there is."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"{word} ..."):
        yield


@contextmanager
def noticing(*, to_owner: bool) -> Iterator[None]:
    """What is noticed of a table goes to standard error, and what is exact to nobody but its owner."""
    from privately.query.opening import OwnerWarning

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    for one in found:
        if to_owner or not issubclass(one.category, OwnerWarning):
            print(f"note: {printable(str(one.message))}", file=sys.stderr)


def say(text: str) -> None:
    """Prints lines that cannot steer the terminal, on one without these letters too."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    for line in text.split("\n"):
        print(printable(line))


def text(results: Sequence[Result], remaining: Guarantee) -> str:
    """Answers for people; several were paid for at once."""
    first = results[0]
    paid = "nothing: it was answered before" if first.free else short(first.guarantee)
    shown = [str(one) if len(results) == 1 else f"({number})\n{one}\n" for number, one in enumerate(results, 1)]
    together = "" if len(results) == 1 else " for all together"
    return "\n".join([*shown, f"paid{together}: {paid}; remaining: {short(remaining)}"])


def as_json(results: Sequence[Result], remaining: Guarantee) -> str:
    """Answers for programs: one as it is, several as a list of `answers`. Ends of intervals are rounded outward."""
    paid = {
        "guarantee": _guarantee(results[0].guarantee),
        "remaining": _guarantee(remaining),
        "free": results[0].free,
        "certificate": results[0].certificate.hash,
    }
    answers = [_answer(one) for one in results]
    return json.dumps({**answers[0], **paid} if len(answers) == 1 else {"answers": answers, **paid})


def _answer(result: Result) -> dict[str, Any]:
    intervals = {
        name: [None if one is None else plain(one) for one in listed]
        for name, listed in result.intervals().items()
        if any(one is not None for one in listed)
    }
    return {
        "columns": list(result.columns),
        "rows": [[_plain(value) for value in row] for row in result.rows],
        "confidence": 0.95,
        "intervals": intervals,
        "ranks": _ranks(result),
        "notes": list(result.notes),
    }


def _ranks(result: Result) -> dict[str, dict[str, float]]:
    """Of every quantile by how many ranks it is off at most, of a value that is so near; rounded up."""
    within = result.to_within()
    return {
        name: {"off": _above(off), "to_within": _above(within.get(name, Fraction(0)))}
        for name, off in result.ranks().items()
    }


def _above(value: Fraction) -> float:
    return float(decimal_text(value, 7, "ROUND_CEILING"))


def as_csv(result: Result) -> str:
    """The table alone; beside every column with error bars the ends of its intervals. Quantiles have none."""
    intervals = result.intervals()
    barred = {name for name, listed in intervals.items() if any(one is not None for one in listed)}
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    header = [[name, f"{name}_lower", f"{name}_upper"] if name in barred else [name] for name in result.columns]
    writer.writerow(cell for cells in header for cell in cells)
    for place, row in enumerate(result.rows):
        line: list[Any] = []
        for name, value in zip(result.columns, row, strict=True):
            line.append(_plain(value))
            if name in barred:
                found = intervals[name][place]
                line += ["", ""] if found is None else plain(found).values()
        writer.writerow(line)
    return stream.getvalue().removesuffix("\n")


def explanation_json(explanation: Explanation | BatchExplanation) -> str:
    """What questions would do, for programs: one as it is, several as a list of `questions`."""
    from privately.query.batching import BatchExplanation

    left = explanation.remaining
    data = {"cost": _guarantee(explanation.cost), "remaining": None if left is None else _guarantee(left)}
    if isinstance(explanation, BatchExplanation):
        listed = [{**_explained(one), "cost": _guarantee(one.cost)} for one in explanation.parts]
        return json.dumps({"questions": listed, **data})
    return json.dumps({**_explained(explanation), **data})


def _explained(explanation: Explanation) -> dict[str, Any]:
    steps = [
        {"what": one.what, "sensitivity": one.sensitivity, "mechanism": one.mechanism, "error": one.error}
        for one in explanation.steps
    ]
    charged = explanation.charged
    return {
        "plan": list(explanation.plan),
        "groups": explanation.groups,
        "steps": steps,
        "charged": None if charged is None else _guarantee(charged),
        "notes": list(explanation.notes),
    }


def report(found: TableReport) -> str:
    """What the owner, and nobody else, should know of the data."""
    lines = [f"{found.rows:,} rows, of which {found.counted:,} count, of {found.units:,} units"]
    return "\n".join([*lines, *(f"- {note}" for note in found.notes())])


def report_json(found: TableReport) -> str:
    columns = [
        {"name": one.name, "null": one.null, "unfit": one.unfit, "clamped": one.clamped} for one in found.columns
    ]
    data = {"rows": found.rows, "counted": found.counted, "units": found.units, "without_unit": found.without_unit}
    return json.dumps({**data, "left_out": found.left_out, "columns": columns, "notes": list(found.notes())})


def refusal(fault: Refused, question: str) -> str:
    """The error, and under it the place in the question that it is about.

    >>> print(refusal(Refused("no column agee.", span=(7, 11)), "SELECT agee FROM visits"))
    error: no column agee.
      SELECT agee FROM visits
             ^^^^
    """
    lines = [f"error: {printable(str(fault))}"]
    if fault.span is not None:
        start, end = fault.span
        before = question.rfind("\n", 0, start) + 1
        behind = question.find("\n", start)
        line = question[before:] if behind < 0 else question[before:behind]
        first = max(0, start - before - _ROOM // 2)
        shown = printable(line[first : first + _ROOM])
        place = start - before - first
        width = max(1, min(end - start, len(shown) - place))
        lines += [f"  {shown}", f"  {' ' * place}{'^' * width}"]
    return "\n".join(lines)


def failed(fault: PrivatelyError) -> str:
    """The same for programs."""
    span = getattr(fault, "span", None)
    return json.dumps({"error": type(fault).__name__, "message": fault.message, "hint": fault.hint, "span": span})


def _guarantee(guarantee: Guarantee) -> dict[str, Any]:
    from privately.accounting.filters.states import encoded

    return encoded(guarantee)


def _plain(value: Value) -> Any:
    return value.isoformat() if isinstance(value, date) else value
