"""Noise on every item: seed 000's second version."""

from fractions import Fraction

import numpy as np
import pytest

from privately.guarantees import PureDP, Sensitivity
from privately.mechanisms.dummy_sum_2 import DummySum2
from privately.mechanisms.sums_of_noise import NOISES
from tests.mechanisms.stream_checks import chance_of_error, law, neighbours, worst_loss
from tests.mechanisms.tables import certified, real

ONE = Sensitivity(value=1)
SMALL = DummySum2(scale="1/3", length=2)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_it_costs_one_epsilon_in_all_and_no_less(length: int) -> None:
    """With Lap(1/epsilon) on every item; here epsilon = 3."""
    sums = DummySum2(scale="1/3", length=length)
    assert certified(sums.derive(ONE)) == PureDP(epsilon=3)
    first_item = iter([((0,) * length, (1,) + (0,) * (length - 1))])
    pairs = neighbours([0, 1], length, change=1) if length < 4 else first_item
    found = worst_loss(sums, pairs, window=4)
    assert abs(found - 3) < 1e-9


def test_half_the_noise_is_refuted() -> None:
    careless = DummySum2(scale="1/6", length=2)
    assert worst_loss(careless, neighbours([0, 1], 2, change=1), window=2) > 3 + 1e-9


def test_the_worst_case_costs_everything() -> None:
    one, other = SMALL.worst_case(ONE)
    assert abs(law(SMALL, one, 4).loss(law(SMALL, other, 4), above=1e-5) - 3) < 1e-9


def test_all_sums_are_within_the_interval() -> None:
    found, truth = law(SMALL, (1, 1), 14), [1, 2]
    for confidence in ("0.5", "0.9", "0.99"):
        miss = real(1 - Fraction(confidence))
        assert chance_of_error(found, truth, float(SMALL.interval(confidence))) <= miss
        for prefix in (1, 2):
            alone = SMALL.interval_at(prefix, confidence)
            assert chance_of_error(found, truth, float(alone), only=prefix - 1) <= miss
            assert alone == 0 or chance_of_error(found, truth, float(alone - 1), only=prefix - 1) > miss


def test_a_sum_alone_is_no_evidence_for_all_sums() -> None:
    """Where the last sum stays within w, an earlier one may not have: that is what Levy's factor pays for."""
    wide = DummySum2(scale=1, length=2)
    found, w, miss = law(wide, (0, 0), 30), wide.interval_at(2, "0.63"), real(Fraction(37, 100))
    assert chance_of_error(found, [0, 0], float(w)) > miss
    assert chance_of_error(found, [0, 0], float(wide.interval("0.63"))) <= miss


def test_one_item_has_the_least_interval() -> None:
    assert DummySum2(scale=3, length=1).interval("0.95") == DummySum2(scale=3, length=9).interval_at(1, "0.95")


def test_long_streams_are_covered_too() -> None:
    """Of a thousand items, by Chernoff's bound: wider than the normal approximation, not much."""
    for noise in NOISES:
        sums = DummySum2(scale=10, length=1000, noise=noise)
        rough = 1.96 * float(sums.standard_errors()[-1])
        assert rough < sums.interval_at(1000, "0.95") < 1.45 * rough


def test_standard_errors_are_those_of_the_law() -> None:
    found = law(SMALL, (0, 0), 14)
    for place, error in enumerate(SMALL.standard_errors()):
        variance = sum(chance * answer[place] ** 2 for answer, chance in found.chances.items())  # type: ignore[index]
        assert error == pytest.approx(float(variance) ** 0.5, rel=1e-6)


def test_extreme_streams_saturate() -> None:
    sums = DummySum2(scale=2**60, length=2)
    for _ in range(20):
        assert sums.release([2**63 - 1, 2**63 - 1]).dtype == np.int64
