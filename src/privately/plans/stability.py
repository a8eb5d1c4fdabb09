"""How far the whole numbers of an aggregation can move when a unit comes, goes or changes, proved step by step."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from privately.errors import NotSupported
from privately.guarantees import Sensitivity, Stability, rules
from privately.guarantees.neighbors import Change
from privately.guarantees.sensitivity import Norm
from privately.plans.aggregates import Aggregation, BinCounts, RowCount, StepSum, Tally, UnitCount
from privately.plans.describing import Names, shortened
from privately.plans.expressions import Expression, Field
from privately.plans.relations import Filter, Project, Relation, Scan


class Steps:
    """The steps from a table to its groups, each proved once, and what follows for the numbers of all groups.

    Theorem: filters and projections by functions of a row keep the number of rows that a unit moves; bounds on units
        are applied at the scan, and those on groups when the groups are known.
    Reference: McSherry 2009, section 3 (Where and Select are 1-stable)
    Proof: docs/theory/stability.md#row-by-row
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables
    """

    def __init__(self, aggregation: Aggregation, *, change: Change | None = None) -> None:
        """About the neighbours of the table's unit, or about another `change` of it."""
        rows = _rows(aggregation.source, change)
        self._names = Names(aggregation.source)
        keys = [
            (self._names.text(key.expression), None if key.values is None else len(key.values))
            for key in aggregation.keys
        ]
        self.groups = rules.group_rows(rows, keys=keys)

    def tally(self, tally: Tally, norm: Norm) -> Stability:
        """The Sensitivity of a tally's numbers."""
        match tally:
            case UnitCount():
                return rules.count_units(self.groups, norm=norm)
            case RowCount():
                return rules.count_rows(self.groups, norm=norm, argument=self._optional(tally.argument))
            case BinCounts():
                return rules.count_bins(
                    self.groups,
                    norm=norm,
                    argument=self._names.text(tally.argument),
                    lower=tally.lower,
                    width=tally.width,
                    bins=tally.bins,
                )
            case StepSum():
                return rules.sum_steps(
                    self.groups,
                    norm=norm,
                    argument=self._names.text(tally.argument),
                    step=tally.step,
                    low=tally.low,
                    high=tally.high,
                )

    def pair(self, total: StepSum, count: RowCount, *, low: int, high: int, norm: Norm) -> Stability:
        """The Sensitivity of two-sided sums, made of a sum and a count of the same values, or of all rows."""
        return rules.sum_pairs(
            self.groups,
            norm=norm,
            argument=self._names.text(total.argument),
            step=total.step,
            low=low,
            high=high,
            counted="values" if count.argument == total.argument else "rows",
        )

    def quantile(self, tally: BinCounts, probability: Fraction) -> Stability:
        """The ScoreSpread of one bin for every group, scored by how badly they miss a quantile."""
        return rules.score_quantile(
            self.groups,
            argument=self._names.text(tally.argument),
            lower=tally.lower,
            width=tally.width,
            bins=tally.bins,
            probability=probability,
        )

    def unit_keys(self) -> Stability:
        """The UnitKeys of counts of units, where groups are not listed."""
        return rules.count_units_by_key(self.groups)

    def _optional(self, expression: Expression | None) -> str | None:
        return None if expression is None else self._names.text(expression)


def sensitivity(aggregation: Aggregation, tally: Tally, norm: Norm) -> Sensitivity:
    """How far a tally's numbers, of all groups together, can move."""
    return _sensitivity(Steps(aggregation).tally(tally, norm))


def pair_sensitivity(aggregation: Aggregation, width: int, norm: Norm) -> Sensitivity:
    """How far two-sided sums, of all groups together, can move, where low and high are `width` steps apart."""
    groups = Steps(aggregation).groups
    return _sensitivity(rules.sum_pairs(groups, norm=norm, argument="", step=1, low=0, high=width, counted="rows"))


def _sensitivity(proof: Stability) -> Sensitivity:
    assert isinstance(proof.conclusion, Sensitivity)  # noqa: S101 - what tallies have
    return proof.conclusion


def _rows(relation: Relation, change: Change | None) -> Stability:
    """The steps down to the table, each of which looks at one row at a time."""
    waiting, whole = [], relation
    while not isinstance(relation, Scan):
        if not isinstance(relation, (Filter, Project)):
            raise NotSupported("rows that are made of several rows.")
        waiting.append(relation)
        relation = relation.source
    unit, names = relation.table.unit, Names(whole)
    proof = rules.scan_rows(
        table=shortened(relation.table.name),
        neighbors=unit.neighbors if change is None else replace(unit.neighbors, change=change),
        rows=unit.rows,
        groups=unit.groups,
        rows_per_group=unit.rows_per_group,
    )
    for step in reversed(waiting):
        if isinstance(step, Filter):
            proof = rules.filter_rows(proof, condition=names.text(step.condition))
        else:
            proof = rules.project_rows(proof, values=_values(step, names))
    return proof


def _values(step: Project, names: Names) -> list[str]:
    """Those that are new; as one hash, if they are long together."""
    said = [
        f"{names.name(identity)} = {names.text(one)}"
        for identity, one in step.outputs
        if not (isinstance(one, Field) and one.identity == identity)
    ]
    whole = shortened("; ".join(said))
    return said if not whole.startswith("sha256:") else [whole]
