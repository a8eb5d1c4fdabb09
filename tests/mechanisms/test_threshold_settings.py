"""What all sparse vectors have in common: their parameters, and how epsilon is divided."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import Neighbors, Sensitivity
from privately.mechanisms.grids import FARTHEST, Grid
from privately.mechanisms.threshold_settings import (
    best_share,
    change_in_steps,
    noise_ratio,
    read,
    read_length,
    read_with_scales,
    split,
    worst_streams,
)


def variance_of_the_difference(share: Fraction, answers: int) -> Fraction:
    """Of continuous Laplace noises, where epsilon and the sensitivity are 1: 2 b^2 each."""
    threshold_scale, query_scale = 1 + share, answers * (1 + share) / share
    return 2 * (threshold_scale**2 + query_scale**2)


@given(st.integers(1, 10**6), st.booleans(), st.fractions(Fraction(1, 100), 100), st.integers(1, 50))
def test_the_split_costs_exactly_epsilon_and_is_the_best(
    count: int, monotone: bool, epsilon: Fraction, change: int
) -> None:
    threshold_scale, query_scale = split(epsilon, Sensitivity(value=change), count=count, monotone=monotone)
    answers = count * (1 if monotone else 2)
    assert Fraction(change) / threshold_scale + Fraction(answers * change) / query_scale == epsilon
    assert query_scale / threshold_scale == noise_ratio(count=count, monotone=monotone)
    best = best_share(answers)
    for other in (best * Fraction(99, 100), best * Fraction(101, 100)):
        assert variance_of_the_difference(best, answers) < variance_of_the_difference(other, answers)


@pytest.mark.parametrize(("answers", "share"), [(1, 1), (8, 4), (27, 9), (2, Fraction(1587401, 10**6))])
def test_the_share_is_the_power_of_two_thirds(answers: int, share: Fraction) -> None:
    assert best_share(answers) == share


def test_halves_for_everything_are_worse() -> None:
    assert variance_of_the_difference(best_share(20), 20) < Fraction(7, 10) * variance_of_the_difference(
        Fraction(1), 20
    )


@pytest.mark.parametrize(
    ("value", "grid", "steps"), [(1, None, 1), ("3/2", None, 1), (3, "1/4", 13), ("0.1", "1/4", 1), (0, "1/2", 1)]
)
def test_changes_are_whole_numbers_of_steps(value: Any, grid: Any, steps: int) -> None:
    found = change_in_steps(Sensitivity(value=value, neighbors=Neighbors.REPLACE), Grid(grid), monotone=False)
    assert found == Sensitivity(value=steps, norm="Linf", neighbors=Neighbors.REPLACE)


def test_settings_are_read_with_their_defaults() -> None:
    assert read() == {"count": 1, "threshold": 0, "monotone": False, "grid": Grid(None)}
    assert read(threshold="3/4", grid="1/4")["threshold"] == Fraction(3, 4)


@pytest.mark.parametrize("threshold", [-1, "1/3", float("nan"), "much", FARTHEST + 1])
def test_thresholds_lie_on_the_grid_and_not_below_zero(threshold: Any) -> None:
    with pytest.raises(InvalidParameter, match="threshold"):
        read(threshold=threshold)
    with pytest.raises(InvalidParameter, match="margin"):
        read_length(threshold, "margin", Grid(None))


def test_unknown_settings_are_not_ignored() -> None:
    with pytest.raises(TypeError, match=r"'monoton'.*count, threshold, monotone, grid"):
        read(monoton=True)  # type: ignore[call-arg]


def test_worst_streams_go_up_and_then_down() -> None:
    before, after = worst_streams(
        scales=(Fraction(2), Fraction(3)), threshold=Fraction(10), grid=Grid(None), change=2, down=1, count=3
    )
    assert before == [85] * 10 + [-65] * 3
    assert after == [87] * 10 + [-66] * 3


def test_scales_are_read_under_their_names() -> None:
    found = read_with_scales({"query_scale": "1/4", "value_scale": 3}, {"grid": "1/4", "count": 2})
    assert found == read(grid="1/4", count=2) | {"query_scale": Fraction(1, 4), "value_scale": 3}
    with pytest.raises(InvalidParameter) as caught:
        read_with_scales({"query_scale": 1, "value_scale": "1/2000"}, {})
    assert caught.value.field == "value_scale"
