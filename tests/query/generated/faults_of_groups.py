"""Planted faults where groups are listed by a public table or by nobody, and in columns of odd types."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from privately.engines.duckdb import people, scanning, stored
from privately.mechanisms import thresholded_histogram
from privately.mechanisms.thresholded_histogram import least_threshold
from privately.plans import Aggregation, RowCount, Type
from privately.query import listing, uses
from privately.query.public_tables import PublicTable
from tests.query.generated.faults import Fault, Patch

OF_GROUPS: dict[str, Fault] = {}


def _fault(name: str) -> Callable[[Fault], Fault]:
    def register(fault: Fault) -> Fault:
        OF_GROUPS[name] = fault
        return fault

    return register


# --- public tables and unknown groups -------------------------------------------------------------------------------


@_fault("a group that a public table lists twice is answered twice")
def _twice(patch: Patch) -> None:
    def groups(table: PublicTable, names: Any) -> Any:
        places = [table.columns.index(name) for name in names]
        return tuple(tuple(row[at] for at in places) for row in table.rows)

    patch.setattr(PublicTable, "groups", groups)
    patch.setattr(Aggregation, "_check_combinations", lambda *_: None)


@_fault("groups are shown by their numbers of rows")
def _rows(patch: Patch) -> None:
    patch.setattr(listing, "UnitCount", RowCount)


@_fault("a unit is claimed to have one of the values that nobody listed")
def _one_key(patch: Patch) -> None:
    original = uses._listed
    patch.setattr(uses, "_listed", lambda *given: replace(original(*given), keys=1))


@_fault("the threshold is one too low")
def _low(patch: Patch) -> None:
    original = least_threshold
    patch.setattr(thresholded_histogram, "least_threshold", lambda *given: original(*given) - 1)


@_fault("each of a unit's groups may take the whole delta")
def _unshared(patch: Patch) -> None:
    original = least_threshold
    patch.setattr(
        thresholded_histogram, "least_threshold", lambda scale, delta, _, noise: original(scale, delta, 1, noise)
    )


@_fault("a replaced unit is claimed to have the values of one that comes or goes")
def _replaced(patch: Patch) -> None:
    original = uses._listed

    def halved(*given: Any) -> Any:
        found = original(*given)
        replaced = found.moves[0].neighbors.change == "replace"
        one, two = (replace(move, value=move.value / (1 + replaced)) for move in found.moves)
        return replace(found, moves=(one, two))

    patch.setattr(uses, "_listed", halved)


# --- odd types ------------------------------------------------------------------------------------------------------


@_fault("people whose numbers are alike when they are rounded are one")
def _rounded(patch: Patch) -> None:
    original = people.person

    def person(kind: Type, found: str, value: str) -> str:
        cut = found in ("UHUGEINT", "HUGEINT", "DECIMAL(20,0)")
        return f"TRY_CAST(CAST({value} AS DOUBLE) AS BIGINT)" if cut else original(kind, found, value)

    patch.setattr(stored, "person", person)


def _converted(kind: Type, found: str, text: str) -> Fault:
    """Another conversion of one type."""

    def plant(patch: Patch) -> None:
        original = scanning._CONVERSIONS[kind]

        def convert(base: str, value: str) -> str:
            return text.format(value) if base == found else original(base, value)

        patch.setitem(scanning._CONVERSIONS, kind, convert)

    return plant


OF_GROUPS["a number that is too large is an error"] = _converted(Type.INTEGER, "UHUGEINT", "CAST({} AS HUGEINT)")
