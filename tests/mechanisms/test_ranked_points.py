"""Scores of points by their ranks: what a row changes in them, and how few pieces they are made of."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privately.mechanisms import ranked_points as module
from privately.mechanisms.permuted_quantile import PermutedQuantile
from privately.mechanisms.quantile import Quantile
from tests.mechanisms.tables import miss, one_row_more, one_row_replaced, tables

PROBABILITIES = [Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10), Fraction(1)]


def over(upper: int, probability: Any = "1/2", epsilon: Any = 1) -> Quantile:
    return Quantile(probability=probability, epsilon=epsilon, lower=0, upper=upper, step=1)


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_no_row_changes_a_score_by_more(probability: Fraction) -> None:
    """All tables of up to four rows, all points; the bound is attained, and so is twice as much between two points."""
    top, bottom = probability.numerator, probability.denominator
    changes, spreads = set(), set()
    for smaller, larger in one_row_more(tables(range(4), 4)):
        changed = [miss(probability, larger, x) - miss(probability, smaller, x) for x in range(4)]
        changes |= {abs(change) for change in changed}
        spreads.add(max(changed) - min(changed))
    assert max(changes) == max(top, bottom - top)
    one_sided = probability in {0, 1}
    assert max(spreads) <= max(changes) * (1 if one_sided else 2)
    if probability in {0, Fraction(1, 2), Fraction(2, 3), 1}:
        assert max(spreads) == max(changes) * (1 if one_sided else 2)


def test_scores_of_the_library_are_those_of_the_definition() -> None:
    for probability in PROBABILITIES:
        quantile = over(4, probability)
        for table in tables(range(5), 3):
            found = [quantile.miss(np.array(table, np.int64), x) for x in range(5)]
            assert found == [miss(probability, table, x) for x in range(5)]


def test_far_points_are_lumped_together() -> None:
    """Which the tests above do not see: the pieces are few, whatever the number of values."""
    values = np.arange(0, 10**6, 10)
    starts, misses = over(10**6).pieces(values, 0)
    assert len(starts) == len(misses) < 300
    assert misses.max() < 2 * (module._REACH + 2) * 2


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_no_replaced_row_spreads_the_scores_further(probability: Fraction) -> None:
    """All tables of up to four rows: 2b at most, b for the ends; both are attained, so half as much is refuted."""
    bottom, spreads = probability.denominator, set()
    for one, other in one_row_replaced(tables(range(4), 4)):
        changed = [miss(probability, other, x) - miss(probability, one, x) for x in range(4)]
        spreads.add(max(changed) - min(changed))
    assert max(spreads) <= bottom * (1 if probability in {0, 1} else 2)
    assert max(spreads) > bottom or probability in {0, 1}
    assert max(spreads) == bottom or probability not in {0, 1}


def test_some_point_misses_by_nothing() -> None:
    """So that what is lost against the best is the error of the rank itself."""
    for probability in PROBABILITIES:
        for table in tables(range(4), 4):
            assert min(miss(probability, table, x) for x in range(4)) == 0


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_both_ways_to_choose_have_the_same_scores(probability: Fraction) -> None:
    one = over(9, probability, "0.3")
    other = PermutedQuantile(probability=probability, epsilon="0.3", lower=0, upper=9, step=1)
    assert (one.scale, one.one_sided) == (other.scale, other.one_sided)
    assert one.choice(7).scale == other.choice(7).scale == one.scale
    assert one.program_inputs([3]) == other.program_inputs([3])
