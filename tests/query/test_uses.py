"""What is drawn for a question; pairs move no further than is claimed."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from privately.plans import Aggregation, Unit, sensitivity
from privately.plans.stability import pair_sensitivity
from privately.query.uses import Chosen, Noisy, TwoSided, uses
from tests.plans.small import distances, exact, pairs, row_pairs
from tests.query.small_questions import BINS, COUNT, HALF, ROWS, SQUARES, SUM, UNITS, aggregation, question

KINDS = [("a", -9), ("a", 9), ("b", 9), ("a", None)]
OTHERS: list[Any] = [(2, "a", 9), (2, "b", None)]
LIMITS = [(1, 1, 1), (2, 2, 1), (2, 1, 2), (3, 2, 2)]
BOUNDS = [(-4, 9), (2, 3), (-3, -2), (0, 5), (4, 4)]


def units() -> Iterator[Unit]:
    for change in ("add_remove", "replace"):
        yield Unit(change=change)
        for rows, groups, per_group in LIMITS:
            yield Unit(column="person", rows=rows, groups=groups, rows_per_group=per_group, change=change)


def pair_of(asked: Aggregation, use: TwoSided, table: Any) -> Counter[Any]:
    """Both sums of all groups, side by side."""
    places = [identity for identity, _ in asked.tallies]
    numbers = exact(asked, table)
    totals, counts = numbers[places.index(use.total)], numbers[places.index(use.count)]
    found: Counter[Any] = Counter()
    for group in totals:
        found[group, "above"] = totals[group] - use.low * counts[group]
        found[group, "below"] = use.high * counts[group] - totals[group]
    return found


@cache
def all_moves(*, loose: bool, as_claimed: bool = True) -> list[tuple[Aggregation, TwoSided, int, int]]:
    """For every setting how far a pair really moves, in L1 and L2 squared."""
    return list(_all_moves(loose=loose, as_claimed=as_claimed))


def _all_moves(*, loose: bool, as_claimed: bool) -> Iterator[tuple[Aggregation, TwoSided, int, int]]:
    for unit in units():
        neighbours = list(row_pairs(unit.change, KINDS, OTHERS) if unit.column is None else _pairs(unit))
        for (low, high), values in [(bounds, values) for bounds in BOUNDS for values in (("a", "b"), ("a",), None)]:
            asked = question("loose mean" if loose else "mean", unit=unit, values=values, low=low, high=high)
            (use,) = uses(asked)
            assert isinstance(use, TwoSided)
            if not as_claimed:
                use = TwoSided(total=SUM, count=ROWS, low=low, high=max(high, low + 1), moves=use.moves)
            apart = [
                distances(pair_of(asked.aggregation, use, one), pair_of(asked.aggregation, use, other))
                for one, other in neighbours
            ]
            yield asked.aggregation, use, max(one for one, _, _ in apart), max(two for _, two, _ in apart)


def _pairs(unit: Unit) -> Any:
    return pairs(unit.change, 3 if unit.change == "add_remove" else 2, KINDS, OTHERS)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("loose", [False, True])
def test_pairs_of_all_small_tables(loose: bool) -> None:
    for _, use, one, two in all_moves(loose=loose):
        assert one <= use.moves[0].value
        assert two <= use.moves[1].value ** 2
        assert (use.moves[0].norm, use.moves[1].norm) == ("L1", "L2")


def test_no_side_is_ever_negative() -> None:
    for loose in (False, True):
        for unit in units():
            asked = question("loose mean" if loose else "mean", unit=unit, low=2, high=3)
            (use,) = uses(asked)
            assert isinstance(use, TwoSided)
            for one, other in _pairs(unit):
                assert all(
                    number >= 0 for table in (one, other) for number in pair_of(asked.aggregation, use, table).values()
                )


def test_a_pair_from_the_count_is_refuted() -> None:
    """In one group a replaced row moves the count by 1, but both sums by the width."""
    assert any(
        one > sensitivity(asked, dict(asked.tallies)[COUNT], "L1").value * (use.high - use.low)
        for asked, use, one, _ in all_moves(loose=False)
    )


def test_a_pair_that_forgets_missing_values_is_refuted() -> None:
    assert any(one > pair_sensitivity(asked, use.high - use.low, "L1").value for asked, use, one, _ in _forgetful())


def _forgetful() -> Any:
    return all_moves(loose=True, as_claimed=False)


def test_half_the_width_is_refuted() -> None:
    assert any(two > (use.moves[1].value / 2) ** 2 for _, use, _, two in all_moves(loose=False))


def test_bounds_of_pairs_hold_0_where_all_rows_are_counted() -> None:
    (tight,) = uses(question("mean", low=2, high=3))
    (loose,) = uses(question("loose mean", low=2, high=3))
    assert isinstance(tight, TwoSided)
    assert isinstance(loose, TwoSided)
    assert (tight.low, tight.high, int(tight.moves[0].value)) == (2, 3, 1)
    assert (loose.low, loose.high, int(loose.moves[0].value)) == (0, 3, 3)


def test_an_average_of_a_constant_has_some_width() -> None:
    (use,) = uses(question("mean", low=5, high=5))
    assert isinstance(use, TwoSided)
    assert (use.low, use.high) == (5, 6)


def test_counts_and_sums_of_an_average_are_not_drawn_again() -> None:
    (use,) = uses(question("count", "sum", "mean"))
    assert isinstance(use, TwoSided)
    assert (use.total, use.count, use.weight) == (SUM, COUNT, 1)


def test_a_spread_shares_the_pair() -> None:
    pair, squares = uses(question("variance", "deviation", "mean"))
    assert isinstance(pair, TwoSided)
    assert isinstance(squares, Noisy)
    assert (pair.weight, squares.weight, squares.tally) == (3, 2, SQUARES)


def test_other_counts_are_drawn_apart() -> None:
    found = uses(question("rows", "mean", "units"))
    assert [type(one) for one in found] == [TwoSided, Noisy, Noisy]
    assert [one.tally for one in found if isinstance(one, Noisy)] == [ROWS, UNITS]
    whole = aggregation(Unit())
    assert found[1].moves[0] == sensitivity(whole, dict(whole.tallies)[ROWS], "L1")


def test_quantiles_of_one_column_are_chosen_together() -> None:
    (use,) = uses(question("median", "quarter"))
    assert isinstance(use, Chosen)
    assert (use.bins, use.probabilities, use.weight) == (BINS, (Fraction(1, 4), HALF), 8)
