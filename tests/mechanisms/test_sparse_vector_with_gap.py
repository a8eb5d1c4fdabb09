"""What the gap adds to sparse vector; the tests that both share are in test_sparse_vector.py."""

from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.guarantees import Sensitivity
from privately.mechanisms.sparse_vector import SparseVector
from privately.mechanisms.sparse_vector_with_gap import SparseVectorWithGap
from privately.mechanisms.threshold_sessions import Session, begin
from tests.mechanisms.enumeration import outcomes, probability
from tests.mechanisms.streams import Streams, losses

RIGHT = SparseVectorWithGap(threshold_scale="1/2", query_scale="1/2")
CLAIM = float(RIGHT.guarantee(Sensitivity(value=1)).parameters["epsilon"])


def with_two_gaps(randomness: Any) -> Session[Any]:
    """The second with noise of its own, and unpaid."""

    def compare(query: int, threshold: int, source: Any) -> tuple[tuple[Any, int] | None, Fraction]:
        gap, cost = RIGHT.compare(query, threshold, source)
        if gap is None:
            return None, cost
        again = query + int(source.draw(RIGHT.tests.query_law, size=1)[0]) - threshold
        return (gap, again), cost

    return begin(
        compare=compare, grid=RIGHT.grid, threshold=Fraction(0), scale=Fraction(1, 2), count=1, source=randomness
    )


def test_a_second_gap_is_refuted() -> None:
    before, after = (1, 1, 1, -1), (2, 2, 2, -2)
    assert losses(Streams(with_two_gaps, 12), before, after)[0] > CLAIM + 0.1
    assert losses(Streams(RIGHT.start, 18), before, after)[1] <= CLAIM + 1e-5


def test_the_gap_costs_nothing() -> None:
    tests = SparseVector(threshold_scale="1/2", query_scale="1/2")
    assert RIGHT.guarantee(Sensitivity(value=1)) == tests.guarantee(Sensitivity(value=1))


def test_gaps_are_in_units_of_the_queries() -> None:
    mechanism = SparseVectorWithGap(threshold_scale="1/8", query_scale="1/8", threshold="1/2", grid="1/4")
    gaps = outcomes(lambda branch: mechanism.run([0.76], branch), window=3).chances
    assert (None,) in gaps
    assert max(gaps, key=gaps.__getitem__) == (Fraction(1, 4),)


@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize("confidence", ["0.5", "0.9"])
def test_intervals_cover_all_gaps_and_no_narrower_ones_do(queries: int, confidence: str) -> None:
    """If everything is a yes: the error of each gap is the query's noise minus the threshold's."""
    mechanism = SparseVectorWithGap(threshold_scale=2, query_scale=3, count=queries)
    width = int(mechanism.interval(confidence, queries=queries))
    reach = range(-120, 121)
    query = {k: probability(mechanism.tests.query_law, k) for k in range(-200, 201)}
    threshold = {r: probability(SparseVector(threshold_scale=1, query_scale=2).query_law, r) for r in reach}

    def covered(w: int) -> Any:
        return sum(p * sum(query[r + k] for k in range(-w, w + 1)) ** queries for r, p in threshold.items())

    assert covered(width) >= Fraction(confidence) > covered(width - 1)


def test_intervals_include_the_rounding_to_the_grid() -> None:
    fine = SparseVectorWithGap(threshold_scale=2, query_scale=3, grid="1/4")
    steps = SparseVectorWithGap(threshold_scale=8, query_scale=12)
    assert fine.interval("0.9") == steps.interval("0.9") / 4 + Fraction(1, 8)


@pytest.mark.parametrize("confidence", [0, 1, "1.5", float("nan")])
def test_impossible_confidences_are_refused(confidence: Any) -> None:
    with pytest.raises(InvalidParameter):
        RIGHT.interval(confidence)
