"""What the mechanisms for streams share: reading, sensitivities, calibration."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import GaussianDP, Neighbors, PureDP, Sensitivity
from privately.laws import DiscreteLaplace, RoundedNormal
from privately.mechanisms.partial_sums import (
    derive_sums,
    deviation_for_mu,
    mu_for_rho,
    read_length,
    read_stream,
    root_up,
    saturated,
    scale_for_epsilon,
    standard_errors,
    written_with,
)
from tests.mechanisms.tables import certified


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=8), st.data())
def test_sums_of_copies_change_by_no_more_than_stated(rows: list[list[bool]], data: st.DataObject) -> None:
    """Whatever sums are formed, and however a change is spread over the items."""
    change = data.draw(st.lists(st.integers(-5, 5), min_size=4, max_size=4))
    matrix = np.array(rows, np.int64)
    copies = int(matrix.sum(axis=0).max())
    moved = matrix @ np.array(change)
    size = sum(map(abs, change))
    assert np.abs(moved).sum() <= copies * size
    assert (moved**2).sum() <= root_up(copies) ** 2 * size**2


def test_what_is_derived_from_copies() -> None:
    laplace = derive_sums(DiscreteLaplace(scale=6), Sensitivity(value=2), length=9, copies=3)
    assert certified(laplace) == PureDP(epsilon=1)
    normal = derive_sums(RoundedNormal(standard_deviation=6), Sensitivity(value=2), length=9, copies=9)
    assert certified(normal) == GaussianDP(mu=1)


def test_neighbours_are_kept_and_other_norms_grow_with_the_length() -> None:
    law = DiscreteLaplace(scale=6)
    replaced = Sensitivity(value=1, neighbors=Neighbors.REPLACE)
    assert certified(derive_sums(law, replaced, length=9, copies=3)) == PureDP(
        epsilon="1/2", neighbors=Neighbors.REPLACE
    )
    everywhere = Sensitivity(value=1, norm="Linf")
    assert certified(derive_sums(law, everywhere, length=9, copies=3)) == PureDP(epsilon="9/2")


def test_calibration_meets_its_target_exactly() -> None:
    scale = scale_for_epsilon("0.7", Sensitivity(value=3), length=9, copies=5)
    assert derive_sums(DiscreteLaplace(scale=scale), Sensitivity(value=3), length=9, copies=5).conclusion == PureDP(
        epsilon="0.7"
    )
    deviation = deviation_for_mu("0.7", Sensitivity(value=3), length=9, copies=5)
    found = derive_sums(RoundedNormal(standard_deviation=deviation), Sensitivity(value=3), length=9, copies=5)
    assert found.conclusion == GaussianDP(mu="0.7")
    assert deviation**2 == pytest.approx(5 * 9 / 0.49)
    assert 0 <= Fraction(1, 2) - mu_for_rho("1/8") < Fraction(1, 10**14)
    assert 0 < 1 - mu_for_rho("1/3") ** 2 * Fraction(3, 2) < Fraction(1, 10**13)


@pytest.mark.parametrize(("number", "root"), [(0, 0), (1, 1), (16, 4)])
def test_roots_of_squares_are_exact(number: int, root: int) -> None:
    assert root_up(number) == root


def test_other_roots_are_rounded_up() -> None:
    assert 2 < root_up(2) ** 2 < 2 + Fraction(1, 10**13)


def test_streams_are_read_as_integers_whose_sums_fit() -> None:
    assert read_stream([1, -2, 3], 3).tolist() == [1, -2, 3]
    assert read_stream([2**63 - 1, -(2**63)], 2).tolist() == [2**61, -(2**61)]
    assert np.abs(np.cumsum(read_stream([2**63 - 1] * 1000, 1000))).max() <= 2**62


@pytest.mark.parametrize(
    "bad", [[], [1], [1, 2, 3], [0.5, 1], [float("nan"), 0], ["a", "b"], [None, 1], [[1, 2]], 7, [True, False]]
)
def test_bad_streams_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidParameter):
        read_stream(bad, 2)


@pytest.mark.parametrize("bad", [0, -1, 2**24 + 1, 1.5, "7", True, None])
def test_bad_lengths_are_refused(bad: Any) -> None:
    with pytest.raises(InvalidParameter):
        read_length(bad)


def test_sums_that_do_not_fit_are_moved_to_the_ends() -> None:
    assert saturated(np.array([2**70, -(2**70), 5], object)).tolist() == [2**63 - 1, -(2**63), 5]
    assert saturated(np.array([7])).dtype == np.int64


def test_standard_errors_grow_as_roots() -> None:
    found = standard_errors(RoundedNormal(standard_deviation=1000), np.array([1, 4]))
    assert found == pytest.approx([1000, 2000], rel=1e-6)


def test_one_text_for_each_noise() -> None:
    texts = written_with("def f(x: private, scale):\n    return x + NOISE(scale)\n")
    assert "discrete_laplace(scale)" in texts["discrete_laplace"].source
    assert "rounded_gaussian(scale)" in texts["rounded_gaussian"].source
