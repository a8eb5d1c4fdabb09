"""Sparse vector with values: the values' noise is fresh, or the claim is refuted."""

import math
from fractions import Fraction
from typing import Any

import pytest

import privately
from privately.errors import InvalidParameter
from privately.guarantees import PureDP, Sensitivity
from privately.laws import DiscreteLaplace
from privately.mechanisms.numeric_sparse_vector import NumericSparseVector
from privately.mechanisms.threshold_sessions import Session, begin
from tests.mechanisms.enumeration import outcomes, probability
from tests.mechanisms.streams import Streams, Untouched, losses, neighbours, worst_loss

ONE = Sensitivity(value=1, norm="Linf")
THIRD = Fraction(1, 3)


def numeric(**settings: Any) -> NumericSparseVector:
    return NumericSparseVector(**{"threshold_scale": THIRD, "query_scale": THIRD, "value_scale": THIRD, **settings})


def claimed(mechanism: NumericSparseVector) -> float:
    return float(mechanism.guarantee(ONE).parameters["epsilon"])


@pytest.mark.parametrize("monotone", [False, True])
def test_no_loss_exceeds_the_claim(monotone: bool) -> None:
    mechanism = numeric(threshold=1, monotone=monotone)
    found = worst_loss(Streams(mechanism.start, 11), neighbours([0, 1], 2, monotone=monotone))
    assert claimed(mechanism) / 3 < found <= claimed(mechanism) + 1e-4


@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_worst_case_attains_the_claim(count: int) -> None:
    """Which refutes the claim of the tests alone: values have to be paid for."""
    mechanism = numeric(threshold_scale="1/4", query_scale="1/4", value_scale="1/8", count=count)
    before, after = mechanism.worst_case(ONE)
    streams = Streams(mechanism.start, 22)
    answers = (*[None] * (len(before) - count), *[before[-1] + 1] * count)
    found = math.log(streams.chance(before, answers) / streams.chance(after, answers))
    assert abs(found - claimed(mechanism)) < 1e-6
    assert found > float(mechanism.tests.guarantee(ONE).parameters["epsilon"]) + 7


@pytest.mark.slow
@pytest.mark.parametrize("value_scale", ["1/8", "1/2"])
def test_the_worst_monotone_case_is_a_loss_of_tests_or_of_values(value_scale: str) -> None:
    mechanism = numeric(threshold_scale="1/4", query_scale="1/4", value_scale=value_scale, monotone=True)
    before, after = mechanism.worst_case(ONE)
    assert all(one <= other for one, other in zip(before, after, strict=True))
    streams = Streams(mechanism.start, 22)
    answers = (*[None] * (len(before) - 1), before[-1] - 1)
    found = math.log(streams.chance(before, answers) / streams.chance(after, answers))
    assert abs(found - float(max(Fraction(8), 4 + 1 / Fraction(value_scale)))) < 1e-6


@pytest.mark.parametrize("values", [[0, 1], [2, 0]])
def test_the_program_does_the_same(values: list[int]) -> None:
    mechanism = numeric(threshold=1, query_scale="1/4", value_scale="1/5")
    run = outcomes(lambda branch: mechanism.run(values, branch), window=4)
    text = outcomes(
        lambda branch: [
            answer[0] if answer else None for answer in mechanism.program.run(mechanism.program_inputs(values), branch)
        ],
        window=4,
    )
    assert run.farthest(text) < 1e-40
    assert run.missing == text.missing


def with_the_noise_compared(randomness: Any) -> Session[Any]:
    """The noisy query that reached the threshold, as the value."""
    right = numeric()

    def compare(query: int, threshold: int, source: Any) -> tuple[int | None, Fraction]:
        noisy = query + int(source.draw(DiscreteLaplace(scale=THIRD), size=1)[0])
        return (noisy, Fraction(1)) if noisy >= threshold else (None, Fraction(0))

    return begin(compare=compare, grid=right.grid, threshold=Fraction(0), scale=THIRD, count=1, source=randomness)


def test_a_value_with_the_noise_that_was_compared_is_refuted() -> None:
    """A low value shows that the threshold was low, and every no before it tells again."""
    before, after = (1, 1, 1, 1, 0), (2, 2, 2, 2, -1)
    assert losses(Streams(with_the_noise_compared, 18), before, after)[0] > claimed(numeric()) + 0.1
    assert losses(Streams(numeric().start, 14), before, after)[1] <= claimed(numeric()) + 1e-4


@pytest.mark.parametrize("settings", [{}, {"count": 3, "monotone": True}, {"values": "1/5", "grid": "1/8"}])
def test_an_epsilon_is_met_exactly_and_certified(settings: dict[str, Any]) -> None:
    mechanism = NumericSparseVector.for_epsilon("0.7", ONE, threshold=2, **settings)
    derivation = mechanism.derive(ONE)
    assert derivation.conclusion == PureDP(epsilon="0.7")
    report = privately.check(privately.certify(derivation))
    assert report.rules == ("discrete_laplace", "sequential", "sparse_vector")


@pytest.mark.parametrize("count", [1, 3])
def test_intervals_cover_all_values_and_no_narrower_ones_do(count: int) -> None:
    mechanism = numeric(value_scale=4, count=count)
    width = int(mechanism.interval("0.9"))

    def covered(w: int) -> Any:
        return sum(probability(mechanism.value_law, k) for k in range(-w, w + 1)) ** count

    assert covered(width) >= 0.9 > covered(width - 1)


def test_an_accuracy_is_met_for_answers_and_for_values() -> None:
    mechanism = NumericSparseVector.for_accuracy(error=40, value_error=15, confidence="0.9", queries=10, count=2)
    assert mechanism.accuracy(confidence="0.9", queries=10).error == 40
    assert mechanism.interval("0.9") == 15
    more = Fraction(101, 100)
    noisier = numeric(
        threshold_scale=more * mechanism.threshold_scale,
        query_scale=more * mechanism.query_scale,
        value_scale=more * mechanism.value_scale,
        count=2,
    )
    assert noisier.accuracy(confidence="0.9", queries=10).error > 40
    assert noisier.interval("0.9") > 15


def test_values_are_in_units_of_the_queries() -> None:
    mechanism = numeric(threshold_scale="1/1000", query_scale="1/1000", value_scale="1/1000", grid="1/4")
    assert mechanism.release([-3.0, 5.3]) == [None, Fraction(21, 4)]


@pytest.mark.parametrize("values", [[], [1.5], [float("nan")], ["5"], None])
def test_bad_streams_are_refused_before_any_noise(values: Any) -> None:
    with pytest.raises(InvalidParameter):
        numeric().run(values, Untouched())


@pytest.mark.parametrize("part", [0, 1, "3/2", -1, "all"])
def test_values_take_a_part_of_epsilon(part: Any) -> None:
    with pytest.raises(InvalidParameter):
        NumericSparseVector.for_epsilon(1, ONE, values=part)


@pytest.mark.parametrize("parameters", [{"value_scale": 0}, {"value_scale": "x"}, {"threshold": -1}, {"count": 0}])
def test_bad_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        numeric(**parameters)
