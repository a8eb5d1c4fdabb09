"""Parallel composition: each mechanism sees its own part of the data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees.costs import (
    Coordinate,
    Costs,
    common_kind,
    common_neighbors,
    costs,
    from_costs,
    shared_coordinates,
)
from privately.guarantees.derivations import Derivation
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.rules.sealing import conclude, conclusions_of_any_rows


def parallel_by_position(*premises: Derivation) -> Derivation:
    """Parts fixed by position, such as rows 0-99 and 100-199: a replaced row stays in its part.

    Theorem: when the data set is split by position and each part is answered by its own mechanism, the whole has under
        replacement of up to s rows the s largest costs; for s = 1 the largest.
    Reference: McSherry 2009, Theorem 4
    Proof: docs/theory/parallel.md#by-position
    Checked-by: tests/guarantees/rules/test_parallel.py::test_by_position_dominates_enumeration
    """
    statements = conclusions_of_any_rows(premises, wanted="the cost of parts")
    neighbors, kind = common_neighbors(statements), common_kind(statements)
    if neighbors.change != "replace" or neighbors.unit is not None:
        raise NoSuchRule(
            premise=f"parts by position, {neighbors}",
            wanted="the cost of one part",
            hint="Adding or removing shifts every later position, and a unit's rows may lie anywhere; split by value.",
        )
    listed = [costs(statement, kind) for statement in statements]
    total = _largest(listed, neighbors.size)
    return conclude("parallel_by_position", premises, from_costs(kind, total, neighbors))


def parallel_by_value(*premises: Derivation) -> Derivation:
    """Parts fixed by a row's own value, as in GROUP BY: an added or removed row touches one part.

    Theorem: when each row goes to a part by a function of its value, the whole has under addition and removal of up to
        s rows the s largest costs; with units of at most L rows each, the s L largest.
    Reference: McSherry 2009, Theorem 4
    Proof: docs/theory/parallel.md#by-value
    Checked-by: tests/guarantees/rules/test_parallel.py::test_by_value_dominates_enumeration
    """
    statements = conclusions_of_any_rows(premises, wanted="the cost of parts")
    neighbors, kind = common_neighbors(statements), common_kind(statements)
    if neighbors.change != "add_remove":
        raise NoSuchRule(
            premise=f"parts by value, {neighbors}",
            wanted="the cost of one part",
            hint="A replaced row can leave one part and enter another, changing the size of both:"
            " use parallel_by_value_replace, or parts by position.",
        )
    if neighbors.unit is not None and neighbors.max_rows is None:
        raise NoSuchRule(
            premise=f"parts by value, {neighbors}",
            wanted="the cost of a few parts",
            hint="A unit with any number of rows can be in every part: bound its rows, or compose sequentially.",
        )
    listed = [costs(statement, kind) for statement in statements]
    total = _largest(listed, neighbors.size * (neighbors.max_rows or 1))
    return conclude("parallel_by_value", premises, from_costs(kind, total, neighbors))


def parallel_by_value_replace(*, moved: Sequence[Derivation], stayed: Sequence[Derivation]) -> Derivation:
    """Parts by value under replacement: a row can leave one part and enter another, which costs two parts.

    Some rows may belong to no part, as under a filter; so even a single part has its `moved` cost.

    `moved[i]` is what part i's mechanism satisfies when a row is added or removed, `stayed[i]` when one is replaced.

    Theorem: under replacement of one row the whole costs at most the larger of the largest `stayed` cost and the sum of
        the two largest `moved` costs.
    Reference: Kifer-Machanavajjhala 2011, on the two notions of neighbours
    Proof: docs/theory/parallel.md#by-value-under-replacement
    Checked-by: tests/guarantees/rules/test_parallel.py::test_by_value_replace_dominates_enumeration
    """
    for name, part in (("moved", moved), ("stayed", stayed)):
        if not isinstance(part, (list, tuple)):
            raise InvalidParameter(name, "give a list with one derivation for each part.")
    premises = [*moved, *stayed]
    statements = conclusions_of_any_rows(premises, wanted="the cost of parts")
    if len(moved) != len(stayed):
        raise InvalidParameter("stayed", "give one derivation for each part, as many as in moved.")
    _require_neighbors("moved", statements[: len(moved)], Neighbors.ADD_REMOVE)
    _require_neighbors("stayed", statements[len(moved) :], Neighbors.REPLACE)
    kind = common_kind(statements)
    listed = [costs(statement, kind) for statement in statements]
    apart, within = _largest(listed[: len(moved)], 2), _largest(listed[len(moved) :], 1)
    total = {name: max(apart[name], within[name]) for name in shared_coordinates([apart, within])}
    return conclude("parallel_by_value_replace", premises, from_costs(kind, total, Neighbors.REPLACE))


def _require_neighbors(name: str, statements: Sequence[Guarantee], wanted: Neighbors) -> None:
    if (found := common_neighbors(statements)) != wanted:
        raise NoSuchRule(
            premise=f"{name} parts, {found}",
            wanted="parts by value under replacement",
            hint=f"Each of {name} must be about {wanted}.",
        )


def _largest(listed: Sequence[Costs], number: int) -> dict[Coordinate, Fraction]:
    """Per coordinate, the sum of the `number` largest."""
    return {
        name: sum(sorted((one[name] for one in listed), reverse=True)[:number], Fraction(0))
        for name in shared_coordinates(listed)
    }
