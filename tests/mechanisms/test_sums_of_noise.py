"""Noise of two kinds, its variance, and the widths of its sums."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from privately.errors import InvalidParameter
from privately.laws import DiscreteLaplace, RoundedNormal
from privately.mechanisms.laplace_sums import exact_half_width, tails
from privately.mechanisms.sums_of_noise import (
    NOISES,
    Noise,
    counted,
    draw_noise,
    law_of,
    most_noise,
    sum_half_width,
    sums_half_width,
    variance_of,
    widest_of,
)
from tests.mechanisms.enumeration import probability
from tests.mechanisms.stream_checks import Scripted
from tests.rounding.truth import real

MISS = Fraction(1, 20)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", ["1/5", "1/2", "1", "5/2"])
def test_variances(noise: Noise, scale: str) -> None:
    law = law_of(noise, scale)
    truth = sum(k**2 * probability(law, k) for k in range(-150, 151))
    found = real(variance_of(law))
    assert truth <= found * (1 + mpmath.mpf(10) ** -20)
    if noise == "discrete_laplace":
        assert abs(found / truth - 1) < mpmath.mpf(10) ** -12
    elif Fraction(scale) >= 1:
        assert found / truth - 1 < mpmath.mpf(10) ** -7


def test_laws_by_name() -> None:
    assert law_of("discrete_laplace", "0.5") == DiscreteLaplace(scale="1/2")
    assert law_of("rounded_gaussian", 3) == RoundedNormal(standard_deviation=3)


@pytest.mark.parametrize(
    ("noise", "scale"),
    [
        ("laplace", 1),
        ("discrete_laplace", 0),
        ("discrete_laplace", -1),
        ("discrete_laplace", float("nan")),
        ("discrete_laplace", float("inf")),
        ("discrete_laplace", 2**61),
        ("rounded_gaussian", 2**41),
        ("rounded_gaussian", "many"),
    ],
)
def test_bad_noise_is_refused(noise: Any, scale: Any) -> None:
    with pytest.raises(InvalidParameter):
        law_of(noise, scale)


def test_wide_noise_is_of_python_integers_so_that_sums_fit() -> None:
    narrow, wide = law_of("discrete_laplace", 2**40), law_of("discrete_laplace", 2**41)
    script = Scripted([2**62, 2**62, 2**62, 2**62])
    assert draw_noise(narrow, 2, script).dtype == np.int64  # type: ignore[arg-type]  # only drawing is needed
    assert np.cumsum(draw_noise(wide, 2, script))[-1] == 2**63  # type: ignore[arg-type]


def test_one_draw_and_few_draws_have_the_least_width() -> None:
    law = DiscreteLaplace(scale=3)
    assert sum_half_width(law, 1, MISS) == law.interval(1 - MISS)
    assert sum_half_width(RoundedNormal(standard_deviation=3), 1, MISS) == 6
    assert sum_half_width(law, 7, MISS) == exact_half_width(law, {7: 1}, MISS)


def test_many_draws_are_covered_if_not_as_closely() -> None:
    law = DiscreteLaplace(scale=3)
    width = sum_half_width(law, 200, MISS)
    (chance,) = tails(law, [200], width + 1)
    assert 2 * chance.upper <= MISS
    assert width < 1.45 * exact_half_width(law, {200: 1}, MISS)
    together = sums_half_width(law, {1: 5, 200: 3}, MISS)
    chances = [2 * count * float(tails(law, [k], together + 1)[0].upper) for k, count in {1: 5, 200: 3}.items()]
    assert sum(chances) <= MISS
    assert together > width


def test_normal_sums_are_covered_together() -> None:
    law = RoundedNormal(standard_deviation=3)
    assert sums_half_width(law, {2: 1}, MISS) < sums_half_width(law, {2: 3}, MISS) < sums_half_width(law, {5: 3}, MISS)


def test_counting() -> None:
    assert counted(np.array([3, 1, 3, 3])) == {1: 1, 3: 3}


@pytest.mark.parametrize("slope", [Fraction(3), Fraction(1, 7), Fraction(10**4)])
def test_the_most_noise_is_found(slope: Fraction) -> None:
    calls: list[Fraction] = []

    def interval(scale: Fraction) -> int:
        calls.append(scale)
        return int(slope * scale)

    found = most_noise(interval, 100, highest=widest_of("discrete_laplace"))
    assert interval(found) <= 100 < interval(found * Fraction(1001, 1000))
    assert len(calls) < 30


def test_the_most_noise_may_be_all_there_is_or_none() -> None:
    assert most_noise(lambda _: 1, 5, highest=Fraction(2048)) == 2048
    with pytest.raises(InvalidParameter, match="error"):
        most_noise(lambda _: 6, 5, highest=Fraction(2048))


def test_an_error_of_zero_allows_some_noise() -> None:
    found = most_noise(lambda scale: int(2 * scale), 0, highest=Fraction(2048))
    assert Fraction(499, 1000) < found < Fraction(1, 2)
