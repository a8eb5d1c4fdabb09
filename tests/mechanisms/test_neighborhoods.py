"""How many rows come or go, and guarantees about whoever takes them along."""

from fractions import Fraction
from typing import Any

import pytest

from privately import mechanisms as m
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors, PureDP, Sensitivity, rules
from privately.mechanisms.neighborhoods import extended, one_direction, rows_between, some_change
from tests.mechanisms.tables import certified

PATIENT = Neighbors.ADD_REMOVE.of_unit("patient", max_rows=3)
COUNTED = [
    (Neighbors.ADD_REMOVE, 1),
    (Neighbors.REPLACE, 2),
    (Neighbors.ADD_REMOVE.times(4), 4),
    (Neighbors.REPLACE.times(4), 8),
    (PATIENT, 3),
    (Neighbors.REPLACE.of_unit("patient", max_rows=3), 6),
    (PATIENT.times(2), 6),
]
ONE_ROW = rules.discrete_laplace(scale=2, sensitivity=Sensitivity(value=1))


def of_rows(value: Any, neighbors: Neighbors) -> Sensitivity:
    return Sensitivity(value=value, norm="Linf", neighbors=neighbors)


@pytest.mark.parametrize(("neighbors", "rows"), COUNTED)
def test_fewer_rows_than_come_or_go_are_refused(neighbors: Neighbors, rows: int) -> None:
    assert rows_between(of_rows(rows, neighbors)) == rows
    assert rows_between(of_rows(Fraction(2 * rows + 1, 2), neighbors)) == Fraction(2 * rows + 1, 2)
    for fewer in (rows - 1, Fraction(10**9 * rows - 1, 10**9)):
        with pytest.raises(InvalidParameter, match="rows that come or go"):
            rows_between(of_rows(fewer, neighbors))


def test_a_unit_of_any_number_of_rows_has_no_number_of_rows() -> None:
    anybody = of_rows(10, Neighbors.ADD_REMOVE.of_unit("patient"))
    with pytest.raises(NoSuchRule, match="Bound how many"):
        rows_between(anybody)
    with pytest.raises(NoSuchRule, match="Bound how many"):
        extended(ONE_ROW, anybody)


@pytest.mark.parametrize("sensitivity", [1, None, "1", Neighbors.ADD_REMOVE])
def test_what_is_no_sensitivity_is_refused(sensitivity: Any) -> None:
    with pytest.raises(InvalidParameter, match="Sensitivity"):
        rows_between(sensitivity)


@pytest.mark.parametrize(("neighbors", "rows"), COUNTED[:-1])
def test_each_row_costs_as_much_as_one(neighbors: Neighbors, rows: int) -> None:
    derivation = extended(ONE_ROW, of_rows(rows, neighbors))
    assert certified(derivation) == PureDP(epsilon=Fraction(rows, 2), neighbors=neighbors)


@pytest.mark.parametrize(("neighbors", "rows"), COUNTED)
def test_more_rows_than_the_neighbours_have_are_not_charged_as_fewer(neighbors: Neighbors, rows: int) -> None:
    """Such as the rows that one row turned into: a guarantee about the neighbours named would be too strong."""
    with pytest.raises(NoSuchRule, match="as many rows"):
        extended(ONE_ROW, of_rows(rows + 1, neighbors))


def test_several_units_have_no_rule() -> None:
    with pytest.raises(NoSuchRule, match="one unit at a time"):
        extended(ONE_ROW, of_rows(6, PATIENT.times(2)))


@pytest.mark.parametrize(
    "neighbors",
    [Neighbors.ADD_REMOVE.times(2), PATIENT.times(3), Neighbors.REPLACE, Neighbors.REPLACE.of_unit("patient")],
)
def test_several_changes_do_not_all_move_the_same_way(neighbors: Neighbors) -> None:
    with pytest.raises(NoSuchRule, match=r"monotone=False.*rules\.group"):
        one_direction(neighbors, what="scores")


@pytest.mark.parametrize("neighbors", [Neighbors.ADD_REMOVE, PATIENT, Neighbors.ADD_REMOVE.of_unit("patient")])
def test_one_row_or_unit_does(neighbors: Neighbors) -> None:
    one_direction(neighbors, what="scores")


CHOICES: list[Any] = [m.Exponential, m.PermuteAndFlip, m.NoisyMax, m.NoisyMaxWithGap]
TESTS: list[Any] = [m.SparseVector, m.SparseVectorWithGap, m.NumericSparseVector, m.AdaptiveSparseVector]


@pytest.mark.parametrize("kind", CHOICES + TESTS)
def test_monotone_mechanisms_refuse_groups(kind: Any) -> None:
    """With two changes one candidate may gain what the others lose, which costs nearly twice the claim for one."""
    one = Sensitivity(value=1, norm="Linf")
    settings = {"candidates": 101} if kind in CHOICES else {}
    mechanism = kind.for_epsilon(1, one, monotone=True, **settings)
    group = of_rows(1, Neighbors.ADD_REMOVE.times(2))
    for refused in (
        mechanism.derive,
        mechanism.worst_case,
        lambda group: kind.for_epsilon(1, group, monotone=True, **settings),
    ):
        with pytest.raises(NoSuchRule, match=r"rules\.group"):
            refused(group)
    together = rules.group(mechanism.derive(one), size=2)
    assert together.conclusion == PureDP(epsilon=2, neighbors=Neighbors.ADD_REMOVE.times(2))
    assert kind.for_epsilon(1, group, **settings).guarantee(group) == PureDP(epsilon=1, neighbors=group.neighbors)


def test_no_change_is_no_calibration() -> None:
    assert some_change(Fraction(1, 9)) == Fraction(1, 9)
    with pytest.raises(InvalidParameter) as caught:
        some_change(Fraction(0))
    assert caught.value.field == "sensitivity"


def test_rows_are_not_counted_in_l2() -> None:
    """Where two rows would be the square root of two."""
    with pytest.raises(InvalidParameter, match="L2"):
        rows_between(Sensitivity(value=2, norm="L2"))
    for kind in (m.Quantile(probability="1/2", **RANGE), m.Quantiles(probabilities=["1/2"], **RANGE)):
        with pytest.raises(InvalidParameter, match="L2"):
            kind.guarantee(Sensitivity(value=1, norm="L2"))


RANGE: dict[str, Any] = {"epsilon": 1, "lower": 0, "upper": 9, "step": 1}
