"""Sums of rounded normal noise: the laws of small sums, exactly, beside what is said of them."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import pytest

from privately.laws import RoundedNormal
from privately.mechanisms import normal_sums
from privately.mechanisms.normal_sums import normal_half_width, rounding_half_width
from tests.mechanisms.enumeration import probability
from tests.rounding.truth import real


@lru_cache(maxsize=16)
def law_of_sum(deviation: Fraction, weights: tuple[int, ...]) -> dict[int, Any]:
    """The law of a sum of rounded normal variables with whole weights."""
    law, reach = RoundedNormal(standard_deviation=deviation), math.ceil(7 * deviation) + 1
    total: dict[int, Any] = {0: mpmath.mpf(1)}
    for weight in weights:
        then: dict[int, Any] = {}
        for n, chance in total.items():
            for k in range(-reach, reach + 1):
                then[n + weight * k] = then.get(n + weight * k, 0) + chance * probability(law, k)
        total = then
    return total


def chance_beyond(law: dict[int, Any], width: Fraction) -> Any:
    return 1 - sum(chance for n, chance in law.items() if abs(n) <= width)


@pytest.mark.parametrize("deviation", ["1/4", "1", "7/2"])
@pytest.mark.parametrize("weights", [(1,), (1, 1), (1, 1, 2), (3, 1)])
@pytest.mark.parametrize("miss", ["1/5", "1/20", "1/1000"])
def test_sums_are_covered(deviation: str, weights: tuple[int, ...], miss: str) -> None:
    exact, allowed = Fraction(deviation), Fraction(miss)
    square = float(sum(weight**2 for weight in weights))
    width = normal_half_width(exact, np.array([square]), allowed, draws=len(weights))
    assert chance_beyond(law_of_sum(exact, weights), width) <= real(allowed)


def test_the_width_is_little_more_than_that_of_a_normal_variable() -> None:
    for deviation, excess in ((4, 1.2), (64, 1.02), (2**20, 1.002)):
        width = normal_half_width(Fraction(deviation), np.array([9.0]), Fraction(1, 20), draws=9)
        assert 1 < float(width) / (3 * deviation * 1.959964) < excess


def test_several_sums_are_covered_together() -> None:
    """The chances of two sums add up to what is allowed, and would be more with one percent less."""
    deviation, allowed = Fraction(2**20), Fraction(1, 20)
    width = float(normal_half_width(deviation, np.array([1.0, 1.0, 4.0]), allowed, draws=4))
    chances = [
        sum(math.erfc(part * width / (spread * 2**20 * math.sqrt(2))) for spread in (1, 1, 2)) for part in (1, 0.99)
    ]
    assert chances[0] < 0.05 < chances[1]


def test_many_different_sums_are_grouped_upwards() -> None:
    squares = np.linspace(1, 1.9, 1000)
    width = float(normal_half_width(Fraction(2**20), squares, Fraction(1, 20), draws=4)) / 2**20
    chance = sum(math.erfc(width / math.sqrt(2 * square)) for square in squares)
    assert 0.04 < chance < 0.05


@pytest.mark.parametrize("deviation", ["1/10", "1/4", "1/2", "1", "3"])
def test_rounding_errors_are_covered(deviation: str) -> None:
    """Both bounds on the growth of one error hold, from which the rest follows: for a variable with density f(x)."""
    s, steps = float(Fraction(deviation)), 4000
    x = np.linspace(-0.5, 0.5, steps + 1)
    whole = np.arange(-math.ceil(9 * s) - 1, math.ceil(9 * s) + 2)[:, None]
    density = np.exp(-(((whole + x) / s) ** 2) / 2).sum(axis=0) / (s * math.sqrt(2 * math.pi))
    simpson = np.ones(steps + 1)
    simpson[1:-1:2], simpson[2:-1:2] = 4, 2
    small = math.exp(-2 * (math.pi * s) ** 2)
    for rate in (0.3, 2, 9):
        growth = float(np.sum(simpson * np.exp(rate * x) * density)) / (3 * steps)
        assert growth <= math.exp(rate**2 / 8) * (1 + 1e-9)
        assert growth <= (1 + 2 * small / (1 - small)) * math.exp(rate**2 / 24) * (1 + 1e-9)


def test_rounding_errors_of_wide_noise_are_like_uniform_ones() -> None:
    found = float(rounding_half_width(Fraction(10), Fraction(12), Fraction(1, 1000), draws=12))
    assert found == pytest.approx(math.sqrt(2 * math.log(2000)), rel=1e-9)
    narrow = float(rounding_half_width(Fraction(1, 1000), Fraction(12), Fraction(1, 1000), draws=12))
    assert narrow == pytest.approx(math.sqrt(6 * math.log(2000)), rel=1e-9)


def test_a_guess_that_is_too_narrow_is_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search in floating point only proposes a width; what counts is the rigorous chance, rounding included."""
    squares, miss = np.array([2.0]), Fraction(1, 20)
    honest = normal_half_width(Fraction(1), squares, miss, draws=2)
    monkeypatch.setattr(normal_sums, "_search", lambda spreads, miss: honest / 2)
    assert Fraction(999, 1000) * honest < normal_half_width(Fraction(1), squares, miss, draws=2) < 2 * honest
