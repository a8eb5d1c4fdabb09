"""Partial sums by the square root of their matrix."""

from fractions import Fraction
from itertools import product
from operator import ne
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import GaussianDP, Neighbors, Sensitivity
from privately.mechanisms.binary_tree import BinaryTree
from privately.mechanisms.factorization import SquareRootFactorization, column_norm
from privately.mechanisms.toeplitz import multiply_exactly, rounded_root
from tests.mechanisms.stream_checks import (
    Scripted,
    chance_of_error,
    excess_over,
    law,
    same,
    text_law,
)
from tests.mechanisms.tables import certified, real

ONE = Sensitivity(value=1)
SMALL = SquareRootFactorization(standard_deviation="1/2", length=2, bits=1)


@given(st.integers(1, 30), st.integers(0, 20), st.data())
def test_no_stream_moves_further_than_the_column_norm(length: int, bits: int, data: st.DataObject) -> None:
    change = data.draw(st.lists(st.integers(-9, 9), min_size=length, max_size=length))
    root = rounded_root(length, bits)
    moved = multiply_exactly(root, np.array(change) + 9) - 9 * np.cumsum(root)
    assert int(moved @ moved) <= (column_norm(length, bits) * 2**bits * sum(map(abs, change))) ** 2


def test_the_first_column_is_the_largest_and_is_reached() -> None:
    root = rounded_root(50, 12)
    norms = [int(root[:rows] @ root[:rows]) for rows in range(1, 51)]
    assert norms == sorted(norms)
    assert 0 <= column_norm(50, 12) ** 2 * 4**12 - norms[-1] < Fraction(1, 10**4)


def test_exact_privacy_of_small_streams() -> None:
    """Two items, with so few bits that all noisy products can be listed."""
    claim = certified(SMALL.derive(ONE))
    assert isinstance(claim, GaussianDP)
    found = {stream: law(SMALL, stream, 8) for stream in product((0, 1), repeat=2)}
    pairs = [(one, other) for one in found for other in found if sum(map(ne, one, other)) == 1]
    assert max(excess_over(claim, found[one], found[other]) for one, other in pairs) < 1e-9
    forgotten = GaussianDP(mu=2)  # as if R were the identity
    assert max(excess_over(forgotten, found[one], found[other]) for one, other in pairs) > 1e-3


def test_the_worst_case_is_one() -> None:
    one, other = SquareRootFactorization(standard_deviation=1, length=3).worst_case(Sensitivity(value=2))
    assert (one, other) == ([0, 0, 0], [2, 0, 0])


@pytest.mark.parametrize(("length", "bits"), [(1, 0), (1, 3), (2, 1), (3, 2)])
def test_text_and_mechanism_agree(length: int, bits: int) -> None:
    sums = SquareRootFactorization(standard_deviation="1/2", length=length, bits=bits)
    stream = [3, -1, 7][:length]
    assert same(law(sums, stream, 2), text_law(sums, stream, 2), digits=8)


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=80), st.data())
def test_answers_are_partial_sums_plus_the_rows_times_the_noise(stream: list[int], data: st.DataObject) -> None:
    length = len(stream)
    noise = data.draw(st.lists(st.integers(-(2**20), 2**20), min_size=length, max_size=length))
    sums = SquareRootFactorization(standard_deviation=1, length=length)
    answers = sums.run(stream, Scripted(noise))  # type: ignore[arg-type]  # nothing else is drawn
    error = sums.sums_of(np.array(noise, np.float64))
    assert answers == pytest.approx(np.cumsum(stream) + error, abs=1e-6)


def test_calibration_meets_its_target() -> None:
    replaced = Sensitivity(value=3, neighbors=Neighbors.REPLACE)
    sums = SquareRootFactorization.for_mu("1/4", replaced, length=500)
    assert certified(sums.derive(replaced)) == GaussianDP(mu="1/4", neighbors=Neighbors.REPLACE)
    rho = SquareRootFactorization.for_rho("1/32", replaced, length=500)
    assert certified(rho.derive(replaced)) == GaussianDP(mu="1/4", neighbors=Neighbors.REPLACE)
    assert rho.standard_deviation == pytest.approx(float(sums.standard_deviation))


def test_intervals_cover_and_are_close() -> None:
    sums = SquareRootFactorization(standard_deviation=1, length=2, bits=2)
    found, truth = law(sums, (1, 1), 24), [1.0, 2.0]
    for confidence in ("0.5", "0.9", "0.99"):
        miss = real(1 - Fraction(confidence))
        assert chance_of_error(found, truth, float(sums.interval(confidence))) <= miss
        for prefix in (1, 2):
            alone = float(sums.interval_at(prefix, confidence))
            assert chance_of_error(found, truth, alone, only=prefix - 1) <= miss
    fine = SquareRootFactorization(standard_deviation=1, length=100)
    for prefix, error in ((1, fine.standard_errors()[0]), (100, fine.standard_errors()[-1])):
        assert 1 < float(fine.interval_at(prefix, "0.95")) / (1.959964 * error) < 1.003


def test_standard_errors_are_those_of_the_law() -> None:
    sums = SquareRootFactorization(standard_deviation=1, length=2, bits=2)
    found = law(sums, (0, 0), 24)
    for place, error in enumerate(sums.standard_errors()):
        variance = sum(chance * answer[place] ** 2 for answer, chance in found.chances.items())  # type: ignore[index]
        assert error == pytest.approx(float(variance) ** 0.5, rel=1e-6)


def test_it_errs_less_than_the_tree() -> None:
    tree = BinaryTree.for_mu("1/4", ONE, length=1024)
    sums = SquareRootFactorization.for_mu("1/4", ONE, length=1024)
    rms = [float(np.sqrt(np.mean(one.standard_errors() ** 2))) for one in (tree, sums)]
    assert rms[1] < rms[0] / 2
    assert sums.interval("0.95") < tree.interval("0.95") / 2


def test_the_most_noise_for_an_error() -> None:
    sums = SquareRootFactorization.for_accuracy(error=20, confidence="0.95", length=20)
    more = SquareRootFactorization(standard_deviation=sums.standard_deviation * Fraction(101, 100), length=20)
    assert sums.interval("0.95") <= 20 < more.interval("0.95")
    assert "the largest error" in str(sums.accuracy(confidence="0.95"))


def test_a_long_stream_is_added_up_within_its_error_bars() -> None:
    length = 2**14
    stream = np.random.default_rng(2).integers(-3, 4, length)
    sums = SquareRootFactorization.for_mu("1/4", ONE, length=length)
    error = np.abs(sums.release(stream) - np.cumsum(stream)).max()
    assert error <= sums.interval(1 - Fraction(1, 10**8))


def test_far_items_are_moved_near_enough_to_be_multiplied() -> None:
    sums = SquareRootFactorization(standard_deviation=1, length=3)
    answers = sums.run([2**62, -(2**62), 5], Scripted([0, 0, 0]))  # type: ignore[arg-type]
    assert answers == pytest.approx([sums.farthest, 0, 5], abs=sums.farthest * 1e-12)
    assert sums.farthest > 2**40


@pytest.mark.parametrize(
    "parameters",
    [
        {"standard_deviation": 0},
        {"standard_deviation": float("inf")},
        {"standard_deviation": 2**40},
        {"length": 0},
        {"bits": -1},
        {"bits": 27},
        {"bits": 1.5},
    ],
)
def test_bad_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        SquareRootFactorization(**{"standard_deviation": 1, "length": 4, **parameters})


def test_bad_questions() -> None:
    with pytest.raises(InvalidParameter, match="prefix"):
        SMALL.interval_at(3, "0.5")
    for bad in ([1], [0.5, 1.0], [float("nan"), 1.0], [], ["a", "b"]):
        with pytest.raises(InvalidParameter):
            SMALL.release(bad)
