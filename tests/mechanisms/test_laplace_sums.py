"""Sums of discrete Laplace noise against convolutions in 50 digits."""

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any

import mpmath
import pytest

from privately.laws import DiscreteLaplace
from privately.mechanisms.laplace_sums import (
    chernoff_half_width,
    exact_half_width,
    growth_at_most,
    growth_of,
    lowest_point,
    tails,
)
from privately.rounding import Enclosure
from tests.rounding.truth import real

SCALES = ["1/5", "2/3", "3/2"]
TERMS = [1, 2, 3, 4]
BITS = 300
DIGITS = mpmath.mpf(10) ** -45


def laplace(scale: str) -> DiscreteLaplace:
    return DiscreteLaplace(scale=scale)


@lru_cache(maxsize=64)
def masses(scale: str, terms: int) -> list[int]:
    """2^300 P(S_k = n) for n = -reach, ..., reach by adding one draw after the other, all rounded down."""
    with mpmath.workprec(BITS + 50):
        q = mpmath.exp(-1 / real(Fraction(scale)))
        reach = ceil(BITS * Fraction(scale))
        one = [int(mpmath.ldexp((1 - q) / (1 + q) * q ** abs(k), BITS)) for k in range(-reach, reach + 1)]
    if terms == 1:
        return one
    before = masses(scale, terms - 1)
    total = [0] * (len(before) + len(one) - 1)
    for n, chance in enumerate(before):
        for k, part in enumerate(one):
            total[n + k] += chance * part
    return [chance >> BITS for chance in total]


def tail(scale: str, terms: int, n: int) -> Any:
    """P(S_k >= n)."""
    listed = masses(scale, terms)
    with mpmath.workprec(BITS):
        return mpmath.ldexp(sum(listed[len(listed) // 2 + n :]), -BITS)


def middle(found: Enclosure) -> Any:
    return mpmath.mpf(str(found.upper))


@pytest.mark.parametrize("scale", SCALES)
def test_tails_of_sums_are_those_of_convolutions(scale: str) -> None:
    for n in (1, 2, 7):
        for k, found in zip(TERMS, tails(laplace(scale), TERMS, n), strict=True):
            with mpmath.workdps(60):
                assert abs(middle(found) / tail(scale, k, n) - 1) < DIGITS
            assert (found.upper - found.lower) * 10**50 <= found.upper


def test_a_false_formula_is_seen() -> None:
    """Four draws are not two draws of twice the scale."""
    (found,) = tails(laplace("3"), [2], 20)
    assert abs(middle(found) / tail("3/2", 4, 20) - 1) > 0.01


def test_far_out_and_at_all_scales_the_tails_keep_their_digits() -> None:
    for scale in (Fraction(1, 1000), Fraction(2**60)):
        law = DiscreteLaplace(scale=scale)
        for found in tails(law, [1, 24, 128], int(1000 * scale) + 1):
            assert 0 < found.lower <= found.upper
            assert (found.upper - found.lower) * 10**45 < found.upper
    one, (found,) = DiscreteLaplace(scale=7).tail(99), tails(laplace("7"), [1], 100)
    assert one.lower <= found.upper
    assert found.lower <= one.upper


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("miss", ["1/20", "1/1000"])
def test_exact_half_widths_cover_and_are_the_least(scale: str, miss: str) -> None:
    allowed = real(Fraction(miss))
    for k in TERMS:
        w = exact_half_width(laplace(scale), {k: 1}, Fraction(miss))
        assert 2 * tail(scale, k, w + 1) <= allowed
        assert w == 0 or 2 * tail(scale, k, w) > allowed
    sums = {1: 4, 3: 2}
    w = exact_half_width(laplace(scale), sums, Fraction(miss))
    chances = [sum(2 * count * tail(scale, k, n) for k, count in sums.items()) for n in (w, w + 1)]
    assert chances[1] <= allowed
    assert w == 0 or chances[0] > allowed


@pytest.mark.parametrize("scale", SCALES)
def test_growth_is_that_of_the_law_and_at_most_the_bound(scale: str) -> None:
    for part in (Fraction(1, 10), Fraction(1, 2), Fraction(2, 3)):
        found, bound = growth_of(laplace(scale), part), growth_at_most(part)
        with mpmath.workdps(50):
            rate = real(part / Fraction(scale))
            listed = masses(scale, 1)
            reach = len(listed) // 2
            total = mpmath.fsum(mpmath.exp(rate * (k - reach)) * mass for k, mass in enumerate(listed))
            truth = mpmath.log(mpmath.ldexp(total, -BITS))
            assert abs(middle(found) - truth) < mpmath.mpf(10) ** -20
        assert found.upper <= bound.lower


def test_growth_of_a_wide_law_is_close_to_the_bound() -> None:
    found, bound = growth_of(laplace("1000"), Fraction(1, 2)), growth_at_most(Fraction(1, 2))
    assert 0 < float(bound.lower) - float(found.upper) < 1e-6


@pytest.mark.parametrize("terms", [2, 4])
@pytest.mark.parametrize("miss", ["1/20", "1/1000"])
def test_chernoff_covers(terms: int, miss: str) -> None:
    law = laplace("3/2")
    width = law.scale * chernoff_half_width(lambda y: terms * growth_of(law, y), Fraction(miss))
    assert 2 * tail("3/2", terms, int(width) + 1) <= real(Fraction(miss))
    assert width <= 2 * exact_half_width(law, {terms: 1}, Fraction(miss)) + 1


def test_the_lowest_point_is_found() -> None:
    for lowest in (0.5, 0.999, 1e-4, 1e-9):
        found = lowest_point(lambda y, lowest=lowest: float(y) / lowest + lowest / float(y))  # type: ignore[misc]
        assert abs(float(found) / lowest - 1) < 0.01
