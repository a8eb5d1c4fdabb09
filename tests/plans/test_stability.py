"""On small tables, no neighbours are further apart than is claimed; and the tests notice false claims."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from privately.errors import NotSupported
from privately.guarantees.neighbors import Change
from privately.guarantees.sensitivity import Norm
from privately.plans import (
    Aggregation,
    BinCounts,
    Filter,
    Identity,
    Key,
    Project,
    Relation,
    RowCount,
    StepSum,
    Tally,
    Unit,
    UnitCount,
    call,
    constant,
    scan_of,
    sensitivity,
)
from tests.plans.small import AMOUNT, GROUP, Pair, Row, distances, entries, exact, field, pairs, row_pairs, scan

KINDS = [("a", -9), ("a", 9), ("b", 9), ("b", None)]
OTHERS: list[Row] = [(2, "a", 9), (2, "b", -9), (2, "b", 9), (2, "b", 9)]
LIMITS = [(1, 1, 1), (2, 2, 2), (2, 1, 2), (2, 2, 1), (3, 2, 2), (3, 3, 1), (3, 1, 3), (3, 2, 3)]
CHANGES: tuple[Change, ...] = ("add_remove", "replace")
NORMS: tuple[Norm, ...] = ("L1", "L2", "Linf")
DOUBLED = Identity(number=9, name="doubled")


def sources(unit: Unit) -> Iterator[tuple[Relation, Identity]]:
    """The table itself; and rows of it with a new value instead of the amount."""
    whole = scan(unit)
    yield whole, AMOUNT
    x = field(whole, AMOUNT)
    some = Filter(source=whole, condition=call("or", call("is_null", x), call("greater", x, constant(0))))
    doubled = call("add", field(some, AMOUNT), field(some, AMOUNT))
    yield Project(source=some, outputs=((GROUP, field(some, GROUP)), (DOUBLED, doubled))), DOUBLED


def aggregations(unit: Unit) -> Iterator[Aggregation]:
    """Every kind of tally, for all rows, for groups that are listed (one, or both), and for any groups."""
    for source, amount in sources(unit):
        x = field(source, amount)
        tallies: list[Tally] = [
            RowCount(),
            RowCount(argument=x),
            UnitCount(),
            StepSum(argument=x, step=Fraction(1), low=-2, high=3),
            StepSum(argument=x, step=Fraction(1, 2), low=2, high=3),
            StepSum(argument=x, step=Fraction(2), low=-3, high=-1),
            BinCounts(argument=x, lower=Fraction(-9), width=Fraction(9), bins=3),
        ]
        named = tuple((Identity(number=20 + at, name=f"t{at}"), tally) for at, tally in enumerate(tallies))
        part = field(source, GROUP)
        for values in [("a", "b"), ("a",), None]:
            yield Aggregation(source=source, keys=(Key(identity=GROUP, expression=part, values=values),), tallies=named)
        yield Aggregation(source=source, keys=(), tallies=named)


def units() -> Iterator[Unit]:
    for change in CHANGES:
        yield Unit(change=change)
        for rows, groups, per_group in LIMITS:
            yield Unit(column="person", rows=rows, groups=groups, rows_per_group=per_group, change=change)


def all_neighbours(unit: Unit) -> Iterator[Pair]:
    if unit.column is None:
        return row_pairs(unit.change, KINDS, OTHERS)
    return pairs(unit.change, 4 if unit.change == "add_remove" else 3, KINDS, OTHERS)


@dataclass(frozen=True)
class Farthest:
    """How far the numbers of a tally really move: L1, L2 squared, Linf."""

    aggregation: Aggregation
    tally: Tally
    moved: tuple[int, int, int]

    @property
    def unit(self) -> Unit:
        return scan_of(self.aggregation.source).table.unit

    def allows(self, norm: Norm, claimed: Fraction) -> bool:
        """Whether no neighbours are further apart than claimed."""
        one, two, largest = self.moved
        return {"L1": one <= claimed, "L2": two <= claimed**2, "Linf": largest <= claimed}[norm]


@cache
def all_farthest() -> tuple[Farthest, ...]:
    found = []
    for unit in units():
        neighbours = list(all_neighbours(unit))
        for aggregation in aggregations(unit):
            known: dict[tuple[Any, ...], list[Counter[Any]]] = {}
            for table in (table for pair in neighbours for table in pair):
                if tuple(table) not in known:
                    known[tuple(table)] = [entries(one) for one in exact(aggregation, table)]
            for at, (_, tally) in enumerate(aggregation.tallies):
                apart = [distances(known[tuple(one)][at], known[tuple(other)][at]) for one, other in neighbours]
                one, two, largest = (max(norm) for norm in zip(*apart, strict=True))
                found.append(Farthest(aggregation, tally, (one, two, largest)))
    return tuple(found)


def test_all_neighbours_of_small_tables() -> None:
    for case in all_farthest():
        for norm in NORMS:
            claimed = sensitivity(case.aggregation, case.tally, norm)
            assert claimed.norm == norm
            assert claimed.neighbors == case.unit.neighbors
            assert case.allows(norm, claimed.value), (case, norm, claimed)


def test_what_is_claimed_is_reached() -> None:
    """By counts and sums of one sign, under add_remove, in every setting without a filter."""
    for case in all_farthest():
        if case.unit.change == "add_remove" and case.tally in {RowCount(), UnitCount()}:
            whole = not isinstance(case.aggregation.source, Project)
            listed = [key.values for key in case.aggregation.keys]
            if whole and listed != [("a",)] and case.unit.groups <= 2:
                one, two, largest = case.moved
                found = [sensitivity(case.aggregation, case.tally, norm).value for norm in NORMS]
                assert one == found[0]
                assert abs(found[1] - Fraction(two) ** Fraction(1, 2)) < 1e-9
                assert largest == found[2]


def _claim(one: Callable[[Farthest], float], norm: Norm, *kinds: type[Tally]) -> Any:
    return one, norm, kinds


def _times(case: Farthest) -> int:
    return 1 if case.unit.change == "add_remove" else 2


def _groups(case: Farthest) -> int:
    return case.aggregation.listed_groups or 99


def _reach(case: Farthest) -> int:
    return case.tally.reach


def _high_of(case: Farthest) -> int:
    return getattr(case.tally, "high", 1)


def _width(case: Farthest) -> int:
    return getattr(case.tally, "high", 1) - getattr(case.tally, "low", 0)


FALSE_CLAIMS: Mapping[str, Any] = {
    "rows per group forgotten": _claim(lambda c: _times(c) * c.unit.most_groups, "L1", RowCount),
    "groups forgotten": _claim(lambda c: _times(c) * c.unit.rows_per_group, "L1", RowCount),
    "rows as if they were groups, in L2": _claim(lambda c: (_times(c) * c.unit.most_rows) ** 0.5, "L2", RowCount),
    "squares of one group only": _claim(lambda c: _times(c) ** 0.5 * c.unit.rows_per_group, "L2", RowCount),
    "squares as if spread evenly": _claim(
        lambda c: (_times(c) * c.unit.most_rows**2 / c.unit.most_groups) ** 0.5, "L2", RowCount
    ),
    "squares with the wrong power": _claim(lambda c: (_times(c) * c.unit.squares * _reach(c)) ** 0.5, "L2", StepSum),
    "a unit is counted once": _claim(_times, "L1", UnitCount),
    "a unit is counted once, in L2": _claim(lambda c: _times(c) ** 0.5, "L2", UnitCount),
    "units under replacement as if added": _claim(lambda c: c.unit.most_groups, "L1", UnitCount),
    "replacement without the factor": _claim(lambda c: c.unit.most_rows, "L1", RowCount),
    "replacement without the factor, in L2": _claim(lambda c: c.unit.squares**0.5, "L2", RowCount),
    "replaced sums without the factor": _claim(lambda c: c.unit.most_rows * _reach(c), "L1", StepSum),
    "the upper bound alone": _claim(lambda c: _times(c) * c.unit.most_rows * abs(_high_of(c)), "L1", StepSum),
    "the upper bound alone, in L2": _claim(
        lambda c: (2 * _times(c) * c.unit.squares) ** 0.5 * abs(_high_of(c)), "L2", StepSum
    ),
    "the width for the reach": _claim(lambda c: _times(c) * c.unit.most_rows * _width(c), "L1", StepSum),
    "signs forgotten": _claim(lambda c: (_times(c) * c.unit.squares) ** 0.5 * _reach(c), "L2", StepSum),
    "signs forgotten, in Linf": _claim(lambda c: c.unit.most_in_a_group * _reach(c), "Linf", StepSum),
    "one row in a group": _claim(lambda c: 1, "Linf", RowCount),
    "as many as there are groups": _claim(lambda c: min(_times(c) * c.unit.most_rows, _groups(c)), "L1", RowCount),
    "one bin for all rows": _claim(_times, "L1", BinCounts),
    "bins no finer than groups": _claim(
        lambda c: min(_times(c) * c.unit.most_rows, _groups(c) * c.unit.most_in_a_group), "L1", BinCounts
    ),
    "bins under replacement as if added": _claim(lambda c: c.unit.squares**0.5, "L2", BinCounts),
}


@pytest.mark.parametrize("name", FALSE_CLAIMS)
def test_false_claims_are_refuted(name: str) -> None:
    claim, norm, kinds = FALSE_CLAIMS[name]
    cases = [case for case in all_farthest() if isinstance(case.tally, kinds)]
    assert not all(case.allows(norm, Fraction(claim(case))) for case in cases)


def test_a_choice_by_position_is_noticed() -> None:
    """If one rank went through the whole table, a unit that goes would let rows of others in."""

    def first_rows(table: list[Any]) -> Counter[Any]:
        return Counter(row[1] for row in table[-3:])

    unit = Unit(column="person", rows=1)
    apart = [distances(first_rows(one), first_rows(other)) for one, other in pairs("add_remove", 2, KINDS, OTHERS)]
    assert max(one for one, _, _ in apart) > unit.most_rows


@pytest.mark.parametrize("change", CHANGES)
def test_one_group_needs_no_noise_for_more(change: Any) -> None:
    unit = Unit(column="person", rows=6, rows_per_group=2, change=change)
    whole = Aggregation(source=scan(unit), keys=(), tallies=((AMOUNT, UnitCount()),))
    assert sensitivity(whole, UnitCount(), "L1").value == 1
    assert sensitivity(whole, RowCount(), "L2").value == 2


def test_rows_that_are_made_of_several_are_refused() -> None:
    class Join:
        """No relation that is known."""

        fields = ()
        source = None

    strange = Aggregation(source=Join(), keys=(), tallies=((AMOUNT, RowCount()),))  # type: ignore[arg-type]
    with pytest.raises(NotSupported):
        sensitivity(strange, RowCount(), "L1")
