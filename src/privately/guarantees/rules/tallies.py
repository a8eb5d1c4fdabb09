"""Whole numbers for every group, made of its rows: how far one unit can move them, in all groups together."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from privately.errors import InvalidParameter
from privately.guarantees.costs import root_up
from privately.guarantees.derivations import Stability
from privately.guarantees.rules.relations import text
from privately.guarantees.rules.sealing import state, stated
from privately.guarantees.sensitivity import Norm, Sensitivity
from privately.guarantees.stability import Groups, ScoreSpread, UnitKeys
from privately.rounding import Number, rational, tidy, whole

Counted = Literal["values", "rows"]

MOST_STEPS = 2**62
MOST_BINS = 2**20


def count_rows(premise: Stability, *, norm: Norm, argument: str | None = None) -> Stability:
    """How many rows each group has; with an argument, those in which it is not NULL.

    Theorem: counts of one unit are at most m in each group, L1 min(r, gm), and L2 squared as Groups says. Under
        replacement a unit leaves and another one enters: |a - b| <= max(a, b) and (a - b)^2 <= a^2 + b^2 for counts,
        so that L1 and L2 squared at most double and Linf stays; and K numbers of which none moves by more than d
        move by at most K d, or K d^2.
    Reference: elementary
    Proof: docs/theory/stability.md#tallies
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables,
        tests/guarantees/rules/test_tallies.py::test_moves_of_all_small_units
    """
    groups = stated(premise, Groups, wanted="a count of rows")
    described = None if argument is None else text(argument, "argument")
    found = _rows(groups, reach=1).among(groups.listed)
    return state("count_rows", [premise], found.in_norm(norm, groups), parameters={"argument": described})


def count_units(premise: Stability, *, norm: Norm) -> Stability:
    """How many units have a row in each group.

    Theorem: a unit counts 1 in each group it is in, at most g of them; a replaced one leaves g and enters g, and no
        number moves by more than 1.
    Reference: elementary
    Proof: docs/theory/stability.md#tallies
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables,
        tests/guarantees/rules/test_tallies.py::test_moves_of_all_small_units
    """
    groups = stated(premise, Groups, wanted="a count of units")
    moved = _times(groups) * groups.groups
    found = _Moves(sum=moved, squares=moved, largest=1).among(groups.listed)
    return state("count_units", [premise], found.in_norm(norm, groups))


def count_units_by_key(premise: Stability) -> Stability:
    """How many units have a row in each group that anybody is in, of which nobody has said which they are.

    Theorem: a unit is in at most g groups, and counts 1 in each.
    Reference: the definition of the bounds
    Proof: docs/theory/stability.md#units
    Checked-by: tests/guarantees/rules/test_tallies.py::test_keys_of_all_small_units
    """
    groups = stated(premise, Groups, wanted="counts of units by key")
    return state("count_units_by_key", [premise], UnitKeys(keys=groups.groups, neighbors=groups.neighbors))


def sum_steps(premise: Stability, *, norm: Norm, argument: str, step: Number, low: int, high: int) -> Stability:
    """The sum of whole steps, each brought between `low` and `high` (NULL adds nothing), for each group.

    Theorem: a row adds at most a = max(|low|, |high|), so the moves are those of a count times a; under replacement
        that holds if all values have one sign. If not, (a - b)^2 <= 2 a^2 + 2 b^2, and a number moves by at most
        m (high - low).
    Reference: elementary
    Proof: docs/theory/stability.md#tallies
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables,
        tests/guarantees/rules/test_tallies.py::test_moves_of_all_small_units
    """
    groups = stated(premise, Groups, wanted="a sum")
    parameters = _steps(argument, step, low, high)
    reach = max(abs(low), abs(high), 1)
    found = _rows(groups, reach=reach)
    if low < 0 < high and groups.neighbors.change == "replace":
        largest = groups.rows_per_group * (high - low)
        found = _Moves(sum=found.sum, squares=2 * found.squares, largest=largest)
    return state("sum_steps", [premise], found.among(groups.listed).in_norm(norm, groups), parameters=parameters)


def sum_pairs(
    premise: Stability, *, norm: Norm, argument: str, step: Number, low: int, high: int, counted: Counted
) -> Stability:
    """For each group the sums of x - low and of high - x, from a sum in steps and a count: of values, or of rows.

    Theorem: a value adds two numbers that are not negative and are w = high - low together; so a unit moves both sums
        of a group by at most w times its rows, in L1, and in L2. Where a row without a value is counted, it adds what
        0 would, which must lie between low and high.
    Reference: elementary
    Proof: docs/theory/stability.md#two-sided-sums
    Checked-by: tests/query/test_uses.py::test_pairs_of_all_small_tables,
        tests/guarantees/rules/test_tallies.py::test_pairs_of_all_small_units
    """
    groups = stated(premise, Groups, wanted="two-sided sums")
    parameters = {**_steps(argument, step, low, high), "counted": counted}
    if counted not in {"values", "rows"}:
        raise InvalidParameter("counted", f"{counted!r} is neither 'values' nor 'rows'.")
    if counted == "rows" and not low <= 0 <= high:
        raise InvalidParameter("low", "and high must have 0 between them where rows without a value are counted.")
    found = _rows(groups, reach=high - low)
    return state("sum_pairs", [premise], found.in_norm(norm, groups), parameters=parameters)


def count_bins(premise: Stability, *, norm: Norm, argument: str, lower: Number, width: Number, bins: int) -> Stability:
    """How many rows of each group have a value in each bin.

    Theorem: these are counts of finer groups, of which a unit may be in as many as it has rows: L1 is that of counts of
        rows, splitting a count makes no sum of squares larger, and that there are K groups bounds nothing here.
    Reference: elementary
    Proof: docs/theory/stability.md#tallies
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables,
        tests/guarantees/rules/test_tallies.py::test_bins_of_all_small_units
    """
    groups = stated(premise, Groups, wanted="counts in bins")
    parameters = _bins(argument, lower, width, bins)
    return state("count_bins", [premise], _rows(groups, reach=1).in_norm(norm, groups), parameters=parameters)


def score_quantile(
    premise: Stability, *, argument: str, lower: Number, width: Number, bins: int, probability: Number
) -> Stability:
    """How badly each bin of each group misses a quantile a/b; a candidate is one bin for every group, scores add up.

    Theorem: exponential mechanisms that choose in each group apart are one on the product of the candidates with the
        sum of the scores. A row that comes or goes moves scores of its group at most 2 max(a, b - a) apart, and b for
        a = 0 and a = b; rows add up, also over groups: min(r, gm) of them if a unit comes or goes, twice as many if
        one is replaced.
    Reference: McSherry-Talwar 2007; Smith 2011
    Proof: docs/theory/stability.md#choices-in-groups
    Checked-by: tests/query/test_proving.py::test_choices_in_groups_cost_what_all_small_tables_say,
        tests/query/test_proving.py::test_a_replaced_row_may_move_to_another_group
    """
    groups = stated(premise, Groups, wanted="scores of a quantile")
    part = rational(probability, "probability", minimum=0, maximum=1)
    top, bottom = part.numerator, part.denominator
    apart = bottom if part in {0, 1} else 2 * max(top, bottom - top)
    found = ScoreSpread(value=Fraction(apart * _rows(groups, reach=1).sum), neighbors=groups.neighbors)
    parameters = {**_bins(argument, lower, width, bins), "probability": str(part)}
    return state("score_quantile", [premise], found, parameters=parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moves:
    """L1, L2 squared and Linf."""

    sum: int
    squares: int
    largest: int

    def among(self, numbers: int | None) -> _Moves:
        """The same if there are only so many numbers."""
        if numbers is None:
            return self
        squares = min(self.squares, numbers * self.largest**2)
        return _Moves(sum=min(self.sum, numbers * self.largest), squares=squares, largest=self.largest)

    def in_norm(self, norm: Norm, groups: Groups) -> Sensitivity:
        values = {"L1": Fraction(self.sum), "L2": tidy(root_up(Fraction(self.squares))), "Linf": Fraction(self.largest)}
        if norm not in values:
            raise InvalidParameter("norm", f"{norm!r} is not one of {', '.join(values)}.")
        return Sensitivity(value=values[norm], norm=norm, neighbors=groups.neighbors)


def _rows(groups: Groups, *, reach: int) -> _Moves:
    """Sums over rows of numbers that are not negative, at most `reach` each."""
    times = _times(groups)
    return _Moves(
        sum=times * groups.most_rows * reach,
        squares=times * groups.squares * reach**2,
        largest=groups.rows_per_group * reach,
    )


def _times(groups: Groups) -> int:
    return 1 if groups.neighbors.change == "add_remove" else 2


def _steps(argument: str, step: Number, low: int, high: int) -> dict[str, str]:
    least = whole(low, "low", minimum=-MOST_STEPS, maximum=MOST_STEPS)
    most = whole(high, "high", minimum=least, maximum=MOST_STEPS)
    size = rational(step, "step", above=0)
    return {"argument": text(argument, "argument"), "step": str(size), "low": str(least), "high": str(most)}


def _bins(argument: str, lower: Number, width: Number, bins: int) -> dict[str, str | int]:
    return {
        "argument": text(argument, "argument"),
        "lower": str(rational(lower, "lower")),
        "width": str(rational(width, "width", above=0)),
        "bins": whole(bins, "bins", maximum=MOST_BINS),
    }
