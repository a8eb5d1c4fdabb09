"""What is not private is refused, with two data sets to show it."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately.errors import InvalidParameter, NotPrivate
from privately.guarantees import FiniteMechanism, Neighbors, Sensitivity, rules
from privately.guarantees.distances import epsilon_distance_at_ratio, privacy_curve, statistical_distance
from privately.mechanisms.examples import NoiselessMean, RandomPoint, TellTale
from tests.mechanisms.enumeration import outcomes
from tests.mechanisms.stream_checks import law, neighbours, text_law

REPLACED = Sensitivity(value=1, neighbors=Neighbors.REPLACE)
EXAMPLES: list[RandomPoint | NoiselessMean] = [RandomPoint(rows=3), NoiselessMean(rows=3)]


def laws(example: Any) -> dict[tuple[int, ...], dict[Any, Fraction]]:
    return {rows: example.law(list(rows)) for rows in product([0, 1], repeat=example.rows)}


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_random_point_has_infinite_epsilon_and_delta_one_in_n(rows: int) -> None:
    """For all neighbours, and whatever epsilon is allowed."""
    found = laws(RandomPoint(rows=rows))
    for one, other in neighbours([0, 1], rows, change=1):
        assert statistical_distance(found[one], found[other]) == Fraction(1, rows)
        curve = privacy_curve(found[one], found[other])
        assert curve.ratio(0) == math.inf
        assert curve.delta_at_ratio(math.inf) == Fraction(1, rows)
        assert epsilon_distance_at_ratio(found[one], found[other], ratio=10**9) == Fraction(1, rows)


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_noiseless_mean_has_infinite_epsilon_and_delta_one(rows: int) -> None:
    found = laws(NoiselessMean(rows=rows))
    for one, other in neighbours([0, 1], rows, change=1):
        curve = privacy_curve(found[one], found[other])
        assert curve.ratio(0) == math.inf
        assert curve.delta_at_ratio(math.inf) == statistical_distance(found[one], found[other]) == 1


@pytest.mark.parametrize("example", EXAMPLES, ids=["random point", "noiseless mean"])
@pytest.mark.parametrize("sensitivity", [REPLACED, Sensitivity(value=1), Sensitivity(value="0.001")])
def test_no_guarantee_is_derived(example: RandomPoint | NoiselessMean, sensitivity: Sensitivity) -> None:
    for ask in (example.derive, example.guarantee):
        with pytest.raises(NotPrivate) as refused:
            ask(sensitivity)
        witness = refused.value.witness
        assert isinstance(witness, TellTale)
        with_it, without = example.law(list(witness.one)), example.law(list(witness.other))
        assert with_it[witness.answer] == witness.probability > 0
        assert witness.answer not in without
        assert sum(a != b for a, b in zip(witness.one, witness.other, strict=True)) == 1


def test_the_rule_for_tables_refuses_the_random_point_too_and_knows_its_delta() -> None:
    point = RandomPoint(rows=2)
    table = FiniteMechanism.tabulate(
        lambda rows: {str(answer): mass for answer, mass in point.law([int(row) for row in rows]).items()},
        records=["0", "1"],
        sizes=[2],
    )
    with pytest.raises(NotPrivate):
        rules.finite_table(table, neighbors=Neighbors.REPLACE)
    with pytest.raises(NotPrivate):
        rules.finite_table(table, neighbors=Neighbors.REPLACE, delta="0.499")
    assert rules.finite_table(table, neighbors=Neighbors.REPLACE, delta="1/2").conclusion.parameters["epsilon"] == 0


@pytest.mark.parametrize("example", EXAMPLES, ids=["random point", "noiseless mean"])
def test_text_and_mechanism_agree_with_the_law(example: RandomPoint | NoiselessMean) -> None:
    for rows in ([0, 0, 0], [3, 1, 5]):
        ran, read = law(example, rows, 0), text_law(example, rows, 0)
        assert ran.chances.keys() == read.chances.keys() == set(example.law(rows))
        assert all(abs(ran.chances[a] - read.chances[a]) < 1e-30 for a in ran.chances)


def test_the_truth_comes_out() -> None:
    assert NoiselessMean(rows=4).release([1, 2, 3, 5]) == Fraction(11, 4)
    assert NoiselessMean(rows=4).interval("0.95") == 0
    place, row = RandomPoint(rows=3).release([7, 8, 9])
    assert row == 7 + place
    assert "is at most 0" in str(RandomPoint(rows=3).accuracy(confidence="0.95"))
    assert outcomes(lambda r: RandomPoint(rows=1).run([4], r), window=0).chances == {(0, 4): 1}


@pytest.mark.parametrize("bad", [[], [1], [1.0, 2.0, 3.0], ["a", "b", "c"], [[1, 2, 3]], [2**63 - 1, 0, 0], None])
def test_bad_rows_are_refused(bad: Any) -> None:
    for example in EXAMPLES:
        with pytest.raises(InvalidParameter):
            example.release(bad)


@pytest.mark.parametrize("rows", [0, -1, 1.5])
def test_bad_sizes_are_refused(rows: Any) -> None:
    for kind in (RandomPoint, NoiselessMean):
        with pytest.raises(InvalidParameter):
            kind(rows=rows)
