"""What a plan can take at most, by what is declared: elementary steps for one row, passes over all rows, groups."""

from __future__ import annotations

from collections.abc import Iterable

from privately.plans.aggregates import Aggregation, BinCounts, RowCount, StepSum
from privately.plans.expressions import Expression
from privately.plans.relations import Filter, Project, Relation, Scan


def steps(aggregation: Aggregation) -> int:
    """The most elementary steps that one row takes in one pass.

    What is known of a field of a subquery holds the steps of what it stands for, so it does not matter whether an
    engine works that out once or wherever it is used.
    """
    tallied = [
        tally.argument
        for _, tally in aggregation.tallies
        if isinstance(tally, (RowCount, StepSum, BinCounts)) and tally.argument is not None
    ]
    found = [*(key.expression for key in aggregation.keys), *tallied]
    return _relation(aggregation.source) + len(aggregation.tallies) + _sum(found)


def passes(aggregation: Aggregation) -> int:
    """How often the rows are gone through: once, and once more for every tally in bins."""
    return 1 + sum(isinstance(tally, BinCounts) for _, tally in aggregation.tallies)


def numbers(aggregation: Aggregation) -> int | None:
    """How many whole numbers are counted at most; None where the groups are not public."""
    groups = aggregation.listed_groups
    if groups is None:
        return None
    return groups * sum(tally.bins if isinstance(tally, BinCounts) else 1 for _, tally in aggregation.tallies)


def bins_of_groups(aggregation: Aggregation, rows: int) -> int:
    """For how many groups and tallies together counts in bins are kept at most, of so many rows."""
    groups = aggregation.listed_groups
    binned = sum(isinstance(tally, BinCounts) for _, tally in aggregation.tallies)
    return binned * (rows if groups is None else min(rows, groups))


def _relation(relation: Relation) -> int:
    match relation:
        case Scan():
            return sum(1 + (column.known.length or 0) for column in relation.table.columns)
        case Filter():
            return _relation(relation.source) + relation.condition.known.cost
        case Project():
            return _relation(relation.source) + _sum(expression for _, expression in relation.outputs)


def _sum(expressions: Iterable[Expression]) -> int:
    return sum(expression.known.cost for expression in expressions)
