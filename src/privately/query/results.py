"""What an analyst holds in hand: a table with error bars, its guarantee, its certificate."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from privately.certificates import Certificate
from privately.certificates.files import write_whole
from privately.engines.protocol import Group
from privately.errors import InvalidParameter
from privately.guarantees import Guarantee
from privately.mechanisms.error_bars import read_confidence
from privately.plans import BinCounts, Field, Quantile, Question
from privately.plans.expressions import fields_of
from privately.plans.types import Value
from privately.query.drawing import ChosenPoints, Noise
from privately.query.estimates import Estimated, estimated
from privately.query.showing import Shown, shown
from privately.query.widths import half_bin, to_within
from privately.releases import Release
from privately.rounding import Interval, Number, decimal_text
from privately.views.tables import table

if TYPE_CHECKING:
    from privately.views.bars import Bar

USUAL = Fraction(95, 100)
_LARGEST_BAR = 10**300
"""Beyond it, doubles might not hold where a bar ends."""


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

    def ranks(self, confidence: Number = USUAL) -> dict[str, Fraction]:
        """For every column that is a quantile, by how many ranks it is off at most in a group, with this confidence.

        The ranks are of the bin that was chosen, and its middle is shown: that many ranks off is a value that is
        `to_within()` of it. How far that is in the values themselves depends on how dense they are there, which is
        not known.
        """
        wanted = read_confidence(confidence)
        chosen = {(one.bins, one.mechanism.probability): one for one in self.noise if isinstance(one, ChosenPoints)}
        return {
            name: chosen[quantile.bins, quantile.probability].mechanism.interval(wanted)
            for name, quantile in self._quantiles.items()
        }

    def to_within(self) -> dict[str, Fraction]:
        """For every column that is a quantile, half the width of its bins; 0 where they are a 2^16th of the range."""
        tallies = dict(self.question.aggregation.tallies)
        bins = {name: tallies[quantile.bins] for name, quantile in self._quantiles.items()}
        return {name: half_bin(tally) for name, tally in bins.items() if isinstance(tally, BinCounts)}

    @property
    def ranks_in_words(self) -> list[str]:
        """How far off the quantiles are, a sentence for each."""
        within = self.to_within()
        return [
            f"{name}: off by at most {decimal_text(off, 4, 'ROUND_CEILING')} ranks{to_within(within[name])} (95 %)."
            for name, off in self.ranks().items()
        ]

    def to_dicts(self) -> list[dict[str, Value]]:
        """A mapping from columns to values for every row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_arrow(self) -> Any:
        """A pyarrow table; a column with a whole number that 64 bits do not hold is one of reals."""
        from privately.engines.frames import arrow_table

        columns = [_of_64_bits(column) for column in zip(*self.rows, strict=True)]
        return arrow_table(self.columns, list(zip(*columns, strict=True)))

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A polars data frame."""
        return import_module("polars").from_arrow(self.to_arrow())

    def plot(self, path: str | os.PathLike[str] | None = None, *, column: str | None = None) -> str:
        """A bar for every row with its error bar at 95 %, as SVG; written to the file, if there is one (.svg or .png).

        The column is the first that has error bars, or the first number, unless told.
        """
        from privately.views.bars import MOST, BarChart
        from privately.views.pictures import picture, suffix_of

        if path is not None:
            if not isinstance(path, (str, os.PathLike)):
                raise InvalidParameter("path", "must be the name of a file.")
            suffix_of(path)
        at = self._plotted(column)
        name, keys = self.columns[at], [place for place, made in enumerate(self._is_estimate) if not made]
        by = ", ".join(self.columns[place] for place in keys)
        more = f"; the first {MOST} of {len(self.rows):,} rows" if len(self.rows) > MOST else ""
        chart = BarChart(
            title=f"{name} by {by}" if by else name,
            subtitle=f"{self.guarantee}{self._about_bars(at)}{more}",
            label=name,
            bars=tuple(self._bar(at, keys, row) for row in range(min(len(self.rows), MOST))),
        )
        drawn = chart.svg()
        if path is not None:
            write_whole(path, picture(path, drawn))
        return drawn

    def __str__(self) -> str:
        return "\n".join([table(self._header(), self._cells()), "", *self._words])

    def _repr_html_(self) -> str:
        import html

        head = "".join(f"<th>{html.escape(name)}</th>" for name in self._header())
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._cells()
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self._words)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    @property
    def _words(self) -> list[str]:
        """What is said below the table."""
        return [str(self.guarantee), *self.ranks_in_words, *self.unbounded_in_words, *self.notes]

    @property
    def unbounded_in_words(self) -> list[str]:
        """The columns of numbers of which nobody can say how far off they are: quotients by what may be 0, mostly."""
        return [
            f"{name}: nothing can be said of how far off it is{'' if not bars else ' where no ± is'}."
            for at, (name, bars) in enumerate(zip(self.columns, self._has_bars, strict=True))
            if self._is_estimate[at] and name not in self._quantiles and self._is_unbounded(at)
        ]

    def _is_unbounded(self, at: int) -> bool:
        """Whether a number in a column has no interval."""
        pairs = zip(self.rows, self.shown.intervals, strict=True)
        return any(_is_number(row[at]) and intervals[at] is None for row, intervals in pairs)

    @property
    def _quantiles(self) -> dict[str, Quantile]:
        """The quantiles by the names of the columns that show them."""
        asked = {one.identity: one for one in self.question.estimates if isinstance(one, Quantile)}
        shown = [(one.name, one.expression) for one in self.question.outputs]
        return {name: asked[one.identity] for name, one in shown if isinstance(one, Field) and one.identity in asked}

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

    @cached_property
    def _is_estimate(self) -> list[bool]:
        """Of every column whether it has noise; the others are keys."""
        noisy = {one.identity for one in self.question.estimates}
        return [bool(fields_of(output.expression) & noisy) for output in self.question.outputs]

    def _plotted(self, column: str | None) -> int:
        """The place of the column to draw."""
        numbers = [
            at
            for at, made in enumerate(self._is_estimate)
            if made and all(row[at] is None or _is_number(row[at]) for row in self.rows)
        ]
        if not self.rows or not numbers:
            raise InvalidParameter("column", "there is nothing to draw: no rows, or no column of numbers.")
        listed = [self.columns[at] for at in numbers]
        if column is not None and column not in listed:
            raise InvalidParameter("column", f"{column!r} cannot be drawn; there are {', '.join(listed)}.")
        if column is not None:
            return numbers[listed.index(column)]
        return next((at for at in numbers if self._has_bars[at]), numbers[0])

    def _bar(self, at: int, keys: Sequence[int], row: int) -> Bar:
        from privately.views.bars import Bar

        value, interval = self.rows[row][at], self.shown.intervals[row][at]
        name = ", ".join(_text(self.rows[row][key]) for key in keys)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            return Bar(name=name, value=None, text=_text(None))
        if interval is None:
            return Bar(name=name, value=float(value), text=_text(value))
        text = f"{_text(value)} ± {_half(value, interval)}"
        if any(abs(Fraction(end)) > _LARGEST_BAR for end in interval):
            return Bar(name=name, value=None, text=text)
        return Bar(name=name, value=float(value), lower=float(interval.lower), upper=float(interval.upper), text=text)

    def _about_bars(self, at: int) -> str:
        if self._has_bars[at]:
            return "; error bars of the noise at 95 %"
        return "" if self.columns[at] in self._quantiles else "; how far off it is cannot be said"

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


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _of_64_bits(column: tuple[Value, ...]) -> tuple[Value, ...]:
    wide = any(isinstance(one, int) and abs(one) >= 2**63 for one in column)
    return tuple(float(one) if isinstance(one, int) else one for one in column) if wide else column


def _text(value: Value) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e18 else f"{value:,.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in str(value))


def _half(value: Value, interval: Interval) -> str:
    """The larger side of the interval around the value, in three digits that are not below it."""
    if not isinstance(value, (int, float)):
        return ""
    wide = max(Fraction(interval.upper) - Fraction(value), Fraction(value) - Fraction(interval.lower))
    return _text(float(decimal_text(wide, 3, "ROUND_CEILING")))
