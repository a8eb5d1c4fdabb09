"""Noise on every partial sum: what seed 000's first version really costs."""

from fractions import Fraction

import numpy as np
import pytest

from privately.errors import InvalidParameter
from privately.guarantees import GaussianDP, Neighbors, PureDP, Sensitivity
from privately.mechanisms.dummy_sum_1 import DummySum1
from privately.mechanisms.sums_of_noise import NOISES, Noise
from tests.mechanisms.stream_checks import chance_of_error, law, neighbours, same, text_law, worst_loss
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


@pytest.mark.parametrize("noise", NOISES)
def test_text_and_mechanism_agree(noise: Noise) -> None:
    sums = DummySum1(scale="1/2", length=3, noise=noise)
    for stream in ((1, 0, 2), (0, 0, 0)):
        assert same(law(sums, stream, 2), text_law(sums, stream, 2))


def test_the_worst_case_costs_everything() -> None:
    one, other = SMALL.worst_case(ONE)
    assert abs(law(SMALL, one, 4).loss(law(SMALL, other, 4), above=1e-5) - 6) < 1e-9


def test_scaled_to_a_total_it_keeps_to_it() -> None:
    replaced = Sensitivity(value=2, neighbors=Neighbors.REPLACE)
    sums = DummySum1.for_epsilon(1, replaced, length=100)
    assert sums.scale == 200
    assert certified(sums.derive(replaced)) == PureDP(epsilon=1, neighbors=Neighbors.REPLACE)
    normal = DummySum1.for_mu("1/4", replaced, length=100)
    assert normal.scale == 80
    assert certified(normal.derive(replaced)) == GaussianDP(mu="1/4", neighbors=Neighbors.REPLACE)


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


def test_the_most_noise_for_an_error() -> None:
    for noise in NOISES:
        sums = DummySum1.for_accuracy(error=50, confidence="0.95", length=100, noise=noise)
        assert sums.interval("0.95") <= 50
        assert DummySum1(scale=sums.scale * Fraction(101, 100), length=100, noise=noise).interval("0.95") > 50
        assert "at most 50" in str(sums.accuracy(confidence="0.95"))


def test_standard_errors_are_those_of_the_law() -> None:
    found = law(SMALL, (0, 0), 14)
    variance = sum(chance * answer[1] ** 2 for answer, chance in found.chances.items())  # type: ignore[index]
    assert SMALL.standard_errors() == pytest.approx([float(variance) ** 0.5] * 2, rel=1e-6)


def test_extreme_streams_saturate() -> None:
    sums = DummySum1(scale=2**60, length=2)
    for _ in range(20):
        assert sums.release([2**63 - 1, 2**63 - 1]).dtype == np.int64


@pytest.mark.parametrize(
    "parameters",
    [{"scale": 0}, {"scale": 1, "length": 0}, {"scale": 1, "noise": "normal"}, {"scale": "x"}, {"scale": 1e-9}],
)
def test_bad_parameters(parameters: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        DummySum1(**{"length": 2, **parameters})  # type: ignore[arg-type]
