"""How wrong answers can be: against adversaries who know the noise of the threshold, by exact sums."""

from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.laws import DiscreteLaplace
from privately.mechanisms.adaptive_sparse_vector import AdaptiveSparseVector
from privately.mechanisms.grids import Grid
from privately.mechanisms.sparse_vector import SparseVector
from privately.mechanisms.threshold_accuracy import Comparisons, most_noise, statement
from tests.mechanisms.enumeration import probability
from tests.mechanisms.streams import State, Streams

CONFIDENCE = Fraction(9, 10)


def adversary(mechanism: SparseVector | AdaptiveSparseVector, error: int, queries: int, window: int) -> float:
    """How likely all answers are right up to `error`, if each query is chosen to make that least likely.

    Whoever chooses knows the noisy threshold and all answers; queries lie `error` + 1 below or above the threshold,
    where answers are most often wrong.
    """
    streams = Streams(mechanism.start, window)
    threshold = int(mechanism.threshold)

    def right(state: State, left: int) -> float:
        if left == 0 or state[1] < 1:
            return 1.0
        return min(
            sum(
                chance * right(after, left - 1)
                for (answer, after), chance in streams.ask(state, threshold + away).items()
                if bool(answer) == (away > 0)
            )
            for away in (-error - 1, error + 1)
        )

    return sum(chance * right(state, queries) for state, chance in streams.starts.items())


@pytest.mark.parametrize(("queries", "count"), [(1, 1), (3, 1), (3, 2), (5, 2)])
@pytest.mark.parametrize("error", [0, 2, 5])
def test_the_strongest_adversary_attains_the_bound(queries: int, count: int, error: int) -> None:
    mechanism = SparseVector(threshold_scale="2/3", query_scale="3/4", count=count, threshold=2)
    bound = mechanism.comparisons.all_right(error, CONFIDENCE, queries, count)
    assert adversary(mechanism, error, queries, 26) == pytest.approx(float(bound), rel=1e-11)


@pytest.mark.parametrize("error", [1, 3])
def test_two_tests_are_right_at_least_as_often(error: int) -> None:
    mechanism = AdaptiveSparseVector(
        threshold_scale="1/2", coarse_scale="3/4", fine_scale="1/2", margin=1, count=2, threshold=2
    )
    found = adversary(mechanism, error, 3, 14)
    bound = mechanism.comparisons.all_right(error, CONFIDENCE, 3, mechanism.most_answers)
    assert 0.99 * found < bound <= found + 1e-7


@pytest.mark.parametrize(("queries", "answers"), [(1, 1), (10, 1), (10, 3), (10**6, 5)])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999999"])
def test_errors_are_the_least(queries: int, answers: int, confidence: str) -> None:
    comparisons = Comparisons(threshold_scale=Fraction(3), tests=((Fraction(5), 0),))
    error, wanted = comparisons.error(confidence, queries=queries, answers=answers), Fraction(confidence)
    assert comparisons.all_right(error, wanted, queries, answers) >= wanted
    assert comparisons.all_right(error - 1, wanted, queries, answers) < wanted


def test_the_textbook_needs_more_than_twice_the_error() -> None:
    """8 (ln k + ln(2/b))/epsilon is 66.3 for 100 queries; Dwork-Roth 2014, Theorem 3.24."""
    mechanism = SparseVector(threshold_scale=2, query_scale=4)
    assert mechanism.accuracy(confidence="0.95", queries=100).error < 33


@pytest.mark.parametrize("width", [0, 3, 8])
def test_gaps_lie_within_their_width(width: int) -> None:
    comparisons = Comparisons(threshold_scale=Fraction(2), tests=((Fraction(3, 2), 0),))
    query, threshold = DiscreteLaplace(scale="3/2"), DiscreteLaplace(scale=2)
    truth = sum(
        probability(threshold, r) * sum(probability(query, r + k) for k in range(-width, width + 1)) ** 4
        for r in range(-130, 131)
    )
    assert float(comparisons.all_within(width, CONFIDENCE, 4)) == pytest.approx(float(truth), rel=1e-10)


@pytest.mark.parametrize("scale", [10**4, 2**58])
def test_wide_noise_has_errors_in_proportion(scale: int) -> None:
    def of(size: Fraction) -> Fraction:
        comparisons = Comparisons(threshold_scale=size, tests=((2 * size, 0),))
        return comparisons.error("0.95", queries=50, answers=2) / size

    assert of(Fraction(30)) * Fraction(99, 100) < of(Fraction(scale)) < of(Fraction(30)) * Fraction(101, 100)


def test_statements_speak_of_queries_before_they_were_rounded() -> None:
    comparisons = Comparisons(threshold_scale=Fraction(3), tests=((Fraction(5), 0),))
    plain = statement(comparisons, "0.9", queries=2, answers=1, grid=Grid(None))
    fine = statement(comparisons, "0.9", queries=2, answers=1, grid=Grid("1/4"))
    assert plain.error == comparisons.error("0.9", queries=2, answers=1)
    assert fine.error == plain.error / 4 + Fraction(1, 8)
    assert "any of 2 queries" in str(fine)


def test_the_most_noise_is_less_for_more_queries() -> None:
    def scale(queries: int) -> Fraction:
        return most_noise(
            lambda size: Comparisons(threshold_scale=size, tests=((size, 0),)),
            error=20,
            confidence="0.9",
            queries=queries,
            answers=1,
            grid=Grid(None),
        )

    assert scale(100) < scale(10) < 20


@pytest.mark.parametrize(("error", "grid"), [(-1, None), ("1/16", "1/4"), (float("nan"), None)])
def test_errors_below_a_step_cannot_be_met(error: Any, grid: Any) -> None:
    with pytest.raises(InvalidParameter, match="error"):
        SparseVector.for_accuracy(error=error, confidence="0.9", queries=1, grid=grid)


@pytest.mark.parametrize("confidence", [0, 1, 2, -1, "high", float("nan")])
def test_impossible_confidences_are_refused(confidence: Any) -> None:
    with pytest.raises(InvalidParameter, match="confidence"):
        SparseVector(threshold_scale=1, query_scale=1).accuracy(confidence=confidence)


@pytest.mark.parametrize("queries", [0, -1, 1.5])
def test_there_is_at_least_one_query(queries: Any) -> None:
    with pytest.raises(InvalidParameter, match="queries"):
        SparseVector(threshold_scale=1, query_scale=1).accuracy(confidence="0.9", queries=queries)


@pytest.mark.parametrize("error", [40, 333, 10**6 + 1])
def test_the_most_noise_is_met_by_the_error_that_is_stated(error: int) -> None:
    """Also where noise is so wide that errors are multiples of a block."""

    def shape(scale: Fraction) -> Comparisons:
        return Comparisons(threshold_scale=scale, tests=((scale, 0),))

    scale = most_noise(shape, error=error, confidence="0.9", queries=6, answers=0, grid=Grid(None))
    found = shape(scale).error("0.9", queries=6, answers=0)
    assert error * 0.95 - 1 < found <= error
    assert (shape(scale).block(Fraction(9, 10)) == 1) == (error == 40)
