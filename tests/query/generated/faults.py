"""Planted faults: each breaks what an answer's privacy, or its meaning, rests on. The generator must find all of them.

Those of the engine change the text that it writes; those of the claims change how far one unit is said to move numbers.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import pytest

from privately.engines.duckdb import (
    binning,
    checking,
    choices,
    choosing,
    emission,
    functions,
    preparing,
    ranking,
    scanning,
    stored,
    tallies,
)
from privately.engines.duckdb.expressions import expression_text
from privately.engines.duckdb.first_rows import Rows
from privately.engines.duckdb.stored import Stored
from privately.guarantees import Sensitivity
from privately.plans import (
    Aggregation,
    BinCounts,
    Relation,
    RowCount,
    Scan,
    StepSum,
    Tally,
    Unit,
    UnitCount,
    stability,
)
from privately.query import uses
from privately.query.binding import aggregates

Patch: TypeAlias = pytest.MonkeyPatch
Fault: TypeAlias = Callable[[Patch], None]

FAULTS: dict[str, Fault] = {}


def _fault(name: str) -> Callable[[Fault], Fault]:
    def register(fault: Fault) -> Fault:
        FAULTS[name] = fault
        return fault

    return register


def _engine(patch: Patch, name: str, wrap: Callable[[Any], Any]) -> None:
    """Another writer of text, wherever the engine has taken the name."""
    original = next(getattr(module, name) for module in _MODULES if hasattr(module, name))
    for module in _MODULES:
        if hasattr(module, name):
            patch.setattr(module, name, wrap(original))


_MODULES = (ranking, scanning, tallies, functions, stored, checking, emission)


def _replaced(name: str, old: str, new: str) -> Fault:
    """The text that a function of the engine writes, with one part of it written otherwise."""

    def plant(patch: Patch) -> None:
        def wrap(original: Any) -> Any:
            return lambda *arguments, **named: original(*arguments, **named).replace(old, new)

        _engine(patch, name, wrap)

    return plant


# --- which rows count -----------------------------------------------------------------------------------------------


@_fault("rows of all units are ranked together")
def _together(patch: Patch) -> None:
    _engine(
        patch,
        "first_rows",
        lambda original: (
            lambda relation, key, owners, values, most: original(relation, key, owners, values, most).replace(
                f"PARTITION BY {', '.join(owners)} ", ""
            )
        ),
    )


@_fault("one row too many of a unit counts")
def _row_too_many(patch: Patch) -> None:
    _engine(patch, "first_rows", lambda original: lambda *given: original(*given[:-1], given[-1] + 1))


@_fault("one group too many of a unit counts")
def _group_too_many(patch: Patch) -> None:
    _engine(patch, "first_groups", lambda original: lambda *given: original(*given[:-1], given[-1] + 1))


@_fault("groups of a unit are not limited")
def _all_groups(patch: Patch) -> None:
    _engine(patch, "first_groups", lambda _: lambda relation, *_: relation)


@_fault("rows of a unit in a group are not limited")
def _all_rows_of_a_group(patch: Patch) -> None:
    _engine(
        patch,
        "first_rows",
        lambda original: lambda relation, *rest: original(relation, *rest) if len(rest[1]) == 1 else relation,
    )


@_fault("which rows count depends on how many others there are")
def _others_decide(patch: Patch) -> None:
    _engine(
        patch,
        "first_rows",
        lambda original: (
            lambda relation, key, owners, values, most: original(
                f"SELECT *, count(*) OVER () AS others FROM ({relation})", key, owners, ["others", *values], most
            ).replace("SELECT * FROM", "SELECT * EXCLUDE (others) FROM", 1)
        ),
    )


@_fault("rows without a unit are one unit's")
def _nobody(patch: Patch) -> None:
    _replaced("_scan", "WHERE u IS NOT NULL", "")(patch)


@_fault("people are told apart by what is left of their names after cutting")
def _merged(patch: Patch) -> None:
    def unit(self: Stored) -> str | None:
        column = self.table.unit.column
        return None if column is None else self.value([one.name for one in self.table.columns].index(column))

    patch.setattr(Stored, "unit", property(unit))


@_fault("rows are counted where units should be")
def _rows_as_units(patch: Patch) -> None:
    _replaced("total_text", "count(DISTINCT u)", "count(*)")(patch)


# --- what a row adds ------------------------------------------------------------------------------------------------


@_fault("real numbers are not brought within their bounds")
def _unclamped(patch: Patch) -> None:
    _engine(patch, "inward", lambda _: lambda _bounds: (-1e300, 1e300))
    _engine(patch, "_within", lambda _: lambda *_: True)


@_fault("whole numbers are not brought within their bounds")
def _unbounded(patch: Patch) -> None:
    patch.setattr(scanning, "_bounded_whole", lambda _bounds, _base, value: f"TRY_CAST({value} AS BIGINT)")


@_fault("NaN is brought to the upper bound")
def _nan(patch: Patch) -> None:
    original = scanning._bounded_real

    def bounded(bounds: Any, value: str) -> str:
        high = "0.0" if bounds is None else str(float(bounds.upper))
        return f"coalesce({original(bounds, value)}, CASE WHEN isnan({value}) THEN {high}::DOUBLE END)"

    patch.setattr(scanning, "_bounded_real", bounded)


@_fault("NULL counts as a value")
def _nulls_count(patch: Patch) -> None:
    original = emission.total_text

    def total(tally: Tally, *rest: Any) -> str:
        return "count(*)" if isinstance(tally, RowCount) else original(tally, *rest)

    patch.setattr(emission, "total_text", total)


@_fault("sums are made of doubles")
def _float_sums(patch: Patch) -> None:
    original = emission.total_text

    def total(tally: Tally, *rest: Any) -> str:
        text = original(tally, *rest)
        return text.replace("sum(a", "sum(1.0000000001::DOUBLE * a") if isinstance(tally, StepSum) else text

    patch.setattr(emission, "total_text", total)


@_fault("a row is in two bins")
def _two_bins(patch: Patch) -> None:
    _engine(
        patch,
        "_bins",
        lambda original: (
            lambda *given: replace(
                original(*given), grouped=original(*given).grouped.replace("count(*) AS n", "2 * count(*) AS n")
            )
        ),
    )


@_fault("a condition that is unknown is taken for true")
def _unknown(patch: Patch) -> None:
    original = emission.relation_text

    def text(relation: Relation, table: Any) -> str:
        written = original(relation, table)
        if isinstance(relation, Scan) or not hasattr(relation, "condition"):
            return written
        condition = expression_text(relation.condition)
        return written.replace(f"WHERE {condition}", f"WHERE ({condition}) IS NOT FALSE")

    patch.setattr(emission, "relation_text", text)


@_fault("a text that is no number is an error")
def _cast(patch: Patch) -> None:
    _engine(patch, "read", lambda original: lambda *given: original(*given).replace("TRY_CAST", "CAST"))


# --- other ways to count: rows chosen or counted in arrays, prepared copies ------------------------------------------


_total: Any = choosing._Totals._total
_steps: Any = preparing._steps


def _in_arrays(change: Callable[[Any], Any]) -> Fault:
    return lambda patch: patch.setattr(Rows, "first", change(Rows.first))


IN_ARRAYS: dict[str, Fault] = {
    "one row too many of a unit": _in_arrays(lambda old: lambda rows, most: old(rows, most + 1)),
    "one row too few": _in_arrays(lambda old: lambda rows, most: old(rows, max(most - 1, 1))),
    "rows of all units together": _in_arrays(
        lambda old: lambda rows, most: ((units[:most], places[:most]) for units, places in old(rows, most))
    ),
    "rows that a condition leaves out": lambda patch: patch.setattr(choices, "marks_of", lambda _: []),
    "sums without what is below 0": lambda patch: patch.setattr(
        choosing._Totals, "_total", lambda self, number, place: abs(_total(self, number, place))
    ),
}
IN_ONE_PASS: dict[str, Fault] = {
    "NULL is in the first bin": lambda patch: patch.setattr(binning, "_all_valid", lambda _: None),
}
OF_COPIES: dict[str, Fault] = {
    "all rows of a unit are kept": lambda patch: patch.setattr(preparing, "first_rows", lambda rows, *_: rows),
    "steps are one too many": lambda patch: patch.setattr(
        preparing, "_steps", lambda *given: f"({_steps(*given)} + 1)"
    ),
    "rows of nobody are kept": lambda patch: patch.setattr(
        preparing,
        "first_rows",
        lambda rows, *given: ranking.first_rows(rows.replace("WHERE u IS NOT NULL", ""), *given),
    ),
}


# --- what is claimed ------------------------------------------------------------------------------------------------


def _claimed(change: Callable[[Any, Aggregation, Tally, str], Sensitivity]) -> Fault:
    def plant(patch: Patch) -> None:
        original = stability.sensitivity
        patch.setattr(
            stability,
            "sensitivity",
            lambda aggregation, tally, norm: change(original, aggregation, tally, norm),
        )

    return plant


def _of_unit(aggregation: Aggregation, **given: Any) -> Aggregation:
    """The same question about a table with another unit."""

    def changed(relation: Relation) -> Relation:
        if not isinstance(relation, Scan):
            return replace(relation, source=changed(relation.source))
        old = relation.table.unit
        kept = {name: getattr(old, name) for name in ("column", "rows", "groups", "rows_per_group", "change")}
        alone = {"change": given.get("change", old.change)}
        unit = Unit(**alone) if old.column is None else Unit(**kept | given)
        return replace(relation, table=replace(relation.table, unit=unit))

    return replace(aggregation, source=changed(aggregation.source))


@_fault("a replaced unit is taken for one that comes or goes")
def _no_factor(patch: Patch) -> None:
    _claimed(lambda original, asked, tally, norm: original(_of_unit(asked, change="add_remove"), tally, norm))(patch)


@_fault("a unit is claimed to be in one group")
def _one_group(patch: Patch) -> None:
    _claimed(lambda original, asked, tally, norm: original(_of_unit(asked, groups=1), tally, norm))(patch)


@_fault("a unit is claimed to have one row in a group")
def _one_row(patch: Patch) -> None:
    _claimed(lambda original, asked, tally, norm: original(_of_unit(asked, rows_per_group=1), tally, norm))(patch)


@_fault("a sum is claimed to move by its upper bound")
def _upper_bound(patch: Patch) -> None:
    def change(original: Any, asked: Aggregation, tally: Tally, norm: str) -> Any:
        if isinstance(tally, StepSum) and tally.low < 0:
            tally = replace(tally, low=0, high=max(tally.high, 0))
        return original(asked, tally, norm)

    _claimed(change)(patch)


@_fault("a unit is counted once, in however many groups it is")
def _counted_once(patch: Patch) -> None:
    def change(original: Any, asked: Aggregation, tally: Tally, norm: str) -> Any:
        return original(_of_unit(asked, groups=1) if isinstance(tally, UnitCount) else asked, tally, norm)

    _claimed(change)(patch)


@_fault("rows are counted as if each were in another group, in L2")
def _spread(patch: Patch) -> None:
    def change(original: Any, asked: Aggregation, tally: Tally, norm: str) -> Any:
        return original(_of_unit(asked, rows_per_group=1) if norm == "L2" else asked, tally, norm)

    _claimed(change)(patch)


@_fault("counts in bins are claimed to be one number for each group")
def _bins_of_a_group(patch: Patch) -> None:
    def change(original: Any, asked: Aggregation, tally: Tally, norm: str) -> Any:
        return original(asked, RowCount() if isinstance(tally, BinCounts) else tally, norm)

    _claimed(change)(patch)


@_fault("a NULL that is counted with the rows is forgotten in two-sided sums")
def _pairs(patch: Patch) -> None:
    original = uses.uses

    def narrow(use: Any, sums: Any) -> Any:
        if not isinstance(use, uses.TwoSided):
            return use
        width = sums[use.total].high - sums[use.total].low
        one, two = (replace(move, value=move.value * width / (use.high - use.low)) for move in use.moves)
        return replace(use, low=sums[use.total].low, high=sums[use.total].high, moves=(one, two))

    def changed(question: Any) -> tuple[Any, ...]:
        return tuple(narrow(use, dict(question.aggregation.tallies)) for use in original(question))

    patch.setattr(aggregates, "_always", lambda argument: not argument.known.nullable)
    patch.setattr(uses, "uses", changed)


@_fault("half of a two-sided sum is claimed")
def _half(patch: Patch) -> None:
    original = uses.uses

    def halved(use: Any) -> Any:
        one, two = (replace(move, value=move.value / 2) for move in use.moves)
        return replace(use, moves=(one, two)) if isinstance(use, uses.TwoSided) else use

    patch.setattr(uses, "uses", lambda question: tuple(halved(use) for use in original(question)))


@_fault("the upper bound of a sum is halved, and nothing is brought to it")
def _halved(patch: Patch) -> None:
    original = aggregates._sum

    def bounded(argument: Any, step: Fraction, low: int, high: int) -> StepSum:
        return original(argument, step, low, max(low, high // 2))

    patch.setattr(aggregates, "_sum", bounded)
    patch.setattr(tallies, "_within", lambda *_: True)


@_fault("groups that nobody listed are counted")
def _unlisted(patch: Patch) -> None:
    patch.setattr(emission, "_public", lambda *_: "")
