"""Honaker's estimates: their weights, their variance, and how fast they may grow."""

from fractions import Fraction

import numpy as np
import pytest

from privately.mechanisms.laplace_sums import growth_at_most
from privately.mechanisms.refinement import (
    block_growths,
    block_squares,
    refine,
    refined,
    sum_half_width,
    sums_half_width,
)
from privately.rounding import Enclosure


def weights(level: int) -> list[list[Fraction]]:
    """How much each noisy block of each level counts in the estimate of the first block of `level`."""
    found = []
    for below in range(level + 1):
        noisy = [np.zeros(1 << (level - one)) for one in range(level + 1)]
        row = []
        for place in range(noisy[below].size):
            noisy[below][:] = 0
            noisy[below][place] = 1
            row.append(Fraction(refined(noisy)[level][0]).limit_denominator(2 ** (level + 2)))
        found.append(row)
    return found


@pytest.mark.parametrize("level", [0, 1, 2, 5])
def test_weights_of_the_noise(level: int) -> None:
    expected = [[Fraction(2**j, 2 ** (level + 1) - 1)] * 2 ** (level - j) for j in range(level + 1)]
    assert weights(level) == expected


@pytest.mark.parametrize("level", [1, 2, 5])
def test_estimates_of_true_sums_are_true(level: int) -> None:
    """Each item is in one block of each level, so its weights add up to one."""
    assert sum(row[0] for row in weights(level)) == 1


@pytest.mark.parametrize("level", [1, 2, 5])
def test_no_other_weight_has_less_variance(level: int) -> None:
    below = Fraction(2 ** (level - 1), 2**level - 1)
    own = Fraction(2**level, 2 ** (level + 1) - 1)

    def variance(weight: Fraction) -> Fraction:
        return weight**2 + (1 - weight) ** 2 * 2 * below

    assert refine(1.0, 0.0, level) == pytest.approx(float(own))
    assert refine(0.0, 1.0, level) == pytest.approx(float(1 - own))
    assert variance(own) == own  # which is also the sum of the squares
    for other in (own - Fraction(1, 1000), own + Fraction(1, 1000), Fraction(1, 2), Fraction(1)):
        assert variance(own) < variance(other)
    assert block_squares(level + 1)[level] == pytest.approx(float(sum(w**2 for row in weights(level) for w in row)))


def test_growths_of_blocks_are_those_of_their_weights() -> None:
    y = Fraction(1, 2)
    for level, found in enumerate(block_growths(4, y)):
        terms = [growth_at_most(w * y) for row in weights(level) for w in row]
        expected = sum(terms, Enclosure.of(0))
        assert abs(float(found.upper) - float(expected.upper)) < 1e-12


def test_widths_in_scales() -> None:
    alone, together = sum_half_width(5, 3, Fraction(1, 20)), sums_half_width(8, 3, Fraction(1, 20))
    assert 1 < alone < together < 2 * alone
    assert sum_half_width(5, 3, Fraction(1, 20)) < sum_half_width(7, 3, Fraction(1, 20))
