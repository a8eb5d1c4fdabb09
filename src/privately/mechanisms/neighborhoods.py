"""How many rows neighbours differ by, and from a guarantee about one row to one about whoever is protected."""

from __future__ import annotations

from fractions import Fraction

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Derivation, Neighbors, Sensitivity, rules


def rows_between(sensitivity: Sensitivity) -> Fraction:
    """How many rows come or go between neighbours, for mechanisms that know what a row can do.

    A replaced row goes and comes; a unit takes all its rows along. Who states fewer has not counted them.
    """
    if not isinstance(sensitivity, Sensitivity):
        raise InvalidParameter("sensitivity", "give a Sensitivity, the number of rows that come or go.")
    if sensitivity.norm == "L2":
        raise InvalidParameter(
            "sensitivity", "is in L2, but rows are counted.", hint='Give their number, with norm="L1".'
        )
    least = least_rows(sensitivity.neighbors)
    if sensitivity.value < least:
        raise InvalidParameter("sensitivity", f"is below {least}, the rows that come or go by {sensitivity.neighbors}.")
    return sensitivity.value


def one_direction(neighbors: Neighbors, *, what: str) -> None:
    """Refuses `monotone` unless one row, or one unit with all its rows, comes or goes: nothing else moves one way.

    A replaced row leaves some counts and enters others. So do two changes, if one row goes and another comes.
    """
    if neighbors.change == "replace" or neighbors.size > 1:
        raise NoSuchRule(
            premise=f"{what} that all move the same way",
            wanted=str(neighbors),
            hint="One row may leave where another enters: set monotone=False, or derive it for one change and use "
            "rules.group.",
        )


def some_change(change: Fraction) -> Fraction:
    """A change that noise can be made for; nothing needs none."""
    if change <= 0:
        raise InvalidParameter(
            "sensitivity",
            "says that nothing changes, and then no noise is the least.",
            hint="Whole numbers change by at least 1; where they have fractions, give a grid.",
        )
    return change


def extended(one_row: Derivation, sensitivity: Sensitivity) -> Derivation:
    """The same mechanism for these neighbours, from what was derived for adding or removing one row.

    Groups of rows, units of boundedly many rows, and replacement follow by rules; nothing else does.
    """
    neighbors = sensitivity.neighbors
    if rows_between(sensitivity) > least_rows(neighbors):
        raise NoSuchRule(
            premise=one_row.conclusion,
            wanted=f"{sensitivity.value} rows, {neighbors}",
            hint="Name neighbours that differ by as many rows, such as a unit of so many.",
        )
    if neighbors.unit is not None and neighbors.size > 1:
        raise NoSuchRule(premise=one_row.conclusion, wanted=neighbors, hint="Protect one unit at a time.")
    rows = neighbors.size * (neighbors.max_rows or 1)
    derivation = one_row if rows == 1 else rules.group(one_row, size=rows)
    if neighbors.unit is not None:
        derivation = rules.bounded_unit(derivation, unit=neighbors.unit)
    return derivation if neighbors.change == "add_remove" else rules.add_remove_to_replace(derivation)


def least_rows(neighbors: Neighbors) -> int:
    """As many rows come or go at most; a unit takes all its rows along, and who replaces it brings as many."""
    if neighbors.unit is not None and neighbors.max_rows is None:
        raise NoSuchRule(premise=neighbors, wanted="a number of rows", hint="Bound how many rows a unit has.")
    return neighbors.size * (neighbors.max_rows or 1) * (1 if neighbors.change == "add_remove" else 2)
