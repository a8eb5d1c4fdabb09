"""Noise on every partial sum: what seed 000's first version really costs."""

from fractions import Fraction

import numpy as np
import pytest

from privately.guarantees import PureDP, Sensitivity
from privately.mechanisms.dummy_sum_1 import DummySum1
from tests.mechanisms.stream_checks import chance_of_error, law, neighbours, worst_loss
from tests.mechanisms.tables import certified, real

ONE = Sensitivity(value=1)
SMALL = DummySum1(scale="1/3", length=2)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_it_costs_one_epsilon_for_each_item_and_no_less(length: int) -> None:
    """With Lap(1/epsilon) on every sum, as printed in the seed; here epsilon = 3."""
    sums = DummySum1(scale="1/3", length=length)
    assert certified(sums.derive(ONE)) == PureDP(epsilon=3 * length)
    first_item = iter([((0,) * length, (1,) + (0,) * (length - 1))])
    pairs = neighbours([0, 1], length, change=1) if length < 4 else first_item
    found = worst_loss(sums, pairs, window=4)
    assert abs(found - 3 * length) < 1e-9


def test_reading_it_as_epsilon_is_refuted() -> None:
    found = worst_loss(SMALL, neighbours([0, 1], 2, change=1), window=4)
    assert found > 3 + 1e-9


def test_the_worst_case_costs_everything() -> None:
    one, other = SMALL.worst_case(ONE)
    assert abs(law(SMALL, one, 4).loss(law(SMALL, other, 4), above=1e-5) - 6) < 1e-9


def test_intervals_cover_all_sums_and_are_the_least() -> None:
    found = law(SMALL, (1, 1), 14)
    truth = [1, 2]
    for confidence in ("0.5", "0.9", "0.99"):
        w, miss = SMALL.interval(confidence), real(1 - Fraction(confidence))
        assert chance_of_error(found, truth, float(w)) <= miss
        assert w == 0 or chance_of_error(found, truth, float(w - 1)) > miss
        for prefix in (1, 2):
            alone = SMALL.interval_at(prefix, confidence)
            assert chance_of_error(found, truth, float(alone), only=prefix - 1) <= miss
            assert alone == 0 or chance_of_error(found, truth, float(alone - 1), only=prefix - 1) > miss


def test_standard_errors_are_those_of_the_law() -> None:
    found = law(SMALL, (0, 0), 14)
    variance = sum(chance * answer[1] ** 2 for answer, chance in found.chances.items())  # type: ignore[index]
    assert SMALL.standard_errors() == pytest.approx([float(variance) ** 0.5] * 2, rel=1e-6)


def test_extreme_streams_saturate() -> None:
    sums = DummySum1(scale=2**60, length=2)
    for _ in range(20):
        assert sums.release([2**63 - 1, 2**63 - 1]).dtype == np.int64
