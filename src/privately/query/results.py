"""What an analyst holds in hand: a table with error bars, its guarantee, its certificate."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from typing import Any

from privately.certificates import Certificate
from privately.engines.protocol import Group
from privately.guarantees import Guarantee
from privately.mechanisms.error_bars import read_confidence
from privately.plans import Question
from privately.plans.types import Value
from privately.query.drawing import Noise
from privately.query.estimates import Estimated, estimated
from privately.query.showing import Shown, shown
from privately.releases import Release
from privately.rounding import Interval, Number
from privately.views.tables import table

USUAL = Fraction(95, 100)


@dataclass(frozen=True, kw_only=True)
class Result:
    """The answer to a question. Everything in it is private already; nothing that is done with it costs more."""

    question: Question = field(repr=False)
    groups: tuple[Group, ...] = field(repr=False)
    noise: tuple[Noise, ...] = field(repr=False)
    release: Release
    notes: tuple[str, ...] = ()
    free: bool = False

    @property
    def guarantee(self) -> Guarantee:
        """What holds for this answer."""
        return self.release.guarantee

    @property
    def certificate(self) -> Certificate:
        """The proof of it, to be saved and checked by anybody."""
        return self.release.certificate

    @cached_property
    def shown(self) -> Shown:
        """The table, with intervals at 95 %."""
        return self._at(USUAL)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.shown.columns

    @property
    def rows(self) -> tuple[tuple[Value, ...], ...]:
        return self.shown.rows

    def intervals(self, confidence: Number = USUAL) -> dict[str, tuple[Interval | None, ...]]:
        """For every column, where the exact value of each row is with this confidence; over the noise alone.

        Each interval holds with the confidence by itself; of rows that HAVING or LIMIT chose, all of them together.
        None: a key, or a value that no interval can be given for.
        """
        found = self._at(read_confidence(confidence))
        return {name: tuple(row[at] for row in found.intervals) for at, name in enumerate(found.columns)}

    def to_dicts(self) -> list[dict[str, Value]]:
        """A mapping from columns to values for every row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_arrow(self) -> Any:
        """A pyarrow table."""
        from privately.engines.frames import arrow_table

        return arrow_table(self.columns, self.rows)

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A polars data frame."""
        return import_module("polars").from_arrow(self.to_arrow())

    def __str__(self) -> str:
        lines = [table(self._header(), self._cells()), "", f"{self.guarantee}", *self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self._header())
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._cells()
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in (str(self.guarantee), *self.notes))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    @staticmethod
    def table_of(
        question: Question, groups: tuple[Group, ...], noise: tuple[Noise, ...], confidence: Fraction = USUAL
    ) -> Shown:
        """What is shown of such noise."""

        def at(each: Fraction) -> Estimated:
            return estimated(question, noise, len(groups), each)

        return shown(question, groups, at, confidence)

    def _at(self, confidence: Fraction) -> Shown:
        return self.table_of(self.question, self.groups, self.noise, confidence)

    @cached_property
    def _has_bars(self) -> list[bool]:
        return [any(row[at] is not None for row in self.shown.intervals) for at in range(len(self.columns))]

    def _header(self) -> list[str]:
        header = []
        for name, bars in zip(self.columns, self._has_bars, strict=True):
            header += [name, "± (95 %)"] if bars else [name]
        return header

    def _cells(self) -> list[list[str]]:
        return [self._line(row, intervals) for row, intervals in zip(self.rows, self.shown.intervals, strict=True)]

    def _line(self, row: Sequence[Value], intervals: Sequence[Interval | None]) -> list[str]:
        line = []
        for value, interval, bars in zip(row, intervals, self._has_bars, strict=True):
            line.append(_text(value))
            if bars:
                line.append("" if interval is None else _half(value, interval))
        return line


def _text(value: Value) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def _half(value: Value, interval: Interval) -> str:
    """The larger side of the interval around the value."""
    if not isinstance(value, (int, float)):
        return ""
    return _text(float(max(Fraction(interval.upper) - Fraction(value), Fraction(value) - Fraction(interval.lower))))
