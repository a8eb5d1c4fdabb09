"""Sums over the noise of a threshold: lower bounds, and exact but for their last digits while noise is narrow."""

from fractions import Fraction
from itertools import accumulate

import mpmath
import pytest

from privately.laws import DiscreteLaplace
from privately.mechanisms.threshold_sums import MOST_BLOCKS, Blocks
from tests.mechanisms.enumeration import probability

DOUBT = Fraction(1, 20)


def whole(chance: Fraction) -> mpmath.mpf:
    return mpmath.mpf(chance.numerator) / chance.denominator


@pytest.mark.parametrize("scale", ["1/1000", "1/2", 3, 31])
def test_narrow_noise_is_summed_term_by_term(scale: str) -> None:
    law = DiscreteLaplace(scale=scale)
    blocks = Blocks.cover(law.scale, [law.scale], doubt=DOUBT)
    assert blocks.size == 1
    assert 0 <= 1 - whole(blocks.mean(law.scale, [blocks.one] * (2 * blocks.count))) < 1e-11
    for centre in (-5, 0, 7):
        for rising in (True, False):
            found = blocks.up_to(law.scale, centre, rising=rising)
            for j in (0, blocks.count - 1, blocks.count, blocks.count + 1, 2 * blocks.count - 1):
                r = (j - blocks.count) if rising else (blocks.count - j)
                truth = mpmath.mpf(float(law.cdf(centre + r).lower))
                assert abs(whole(Fraction(found[j], blocks.one)) - truth) <= 1e-15 * truth


@pytest.mark.parametrize(("scale", "size"), [("1/2", 1), (3, 1), pytest.param(70, 7, marks=pytest.mark.slow)])
def test_sums_are_lower_bounds_and_close(scale: str, size: int) -> None:
    """The chance that two more of the same noise are at most 5 + r, and one at most 4 - r."""
    law = DiscreteLaplace(scale=scale)
    blocks = Blocks(size=size, count=-(-int(45 * law.scale) // size) + 1, bits=128)
    reach = int(60 * law.scale) + 10
    mass = {k: probability(law, k) for k in range(-2 * reach, 2 * reach)}
    up_to = dict(zip(mass, accumulate(mass.values()), strict=True))
    truth = sum(mass[r] * up_to[5 + r] ** 2 * up_to[4 - r] for r in range(-reach, reach))
    rising, falling = blocks.up_to(law.scale, 5, rising=True), blocks.up_to(law.scale, 4, rising=False)
    chances = [blocks.times([blocks.power(low, 2), high]) for low, high in zip(rising, falling, strict=True)]
    found = whole(blocks.mean(law.scale, chances))
    slack = 1e-15 if size == 1 else 3 * size / law.scale
    assert truth * (1 - mpmath.mpf(float(slack))) <= found <= truth


@pytest.mark.parametrize("rising", [True, False])
def test_a_block_counts_with_the_least_it_holds(rising: bool) -> None:
    law, blocks = DiscreteLaplace(scale=20), Blocks(size=3, count=8, bits=128)
    for block, found in enumerate(blocks.up_to(law.scale, 4, rising=rising), start=-blocks.count):
        held = range(3 * block, 3 * block + 3)
        least = min(law.cdf(4 + r if rising else 4 - r).lower for r in held)
        assert Fraction(found, blocks.one) <= least <= Fraction(found + 1000, blocks.one)


def test_that_some_happen_is_rounded_down() -> None:
    blocks = Blocks(size=1, count=1, bits=8)
    assert blocks.some([128, 128]) == 192
    assert blocks.some([1, 1]) == 1
    assert blocks.some([0, 0]) == 0
    assert blocks.some([256, 3]) == 256
    assert blocks.times([255, 255]) == 254
    assert blocks.power(255, 2) == 254
    assert blocks.power(17, 0) == 256


@pytest.mark.parametrize("scale", [Fraction(2) ** 60, Fraction(10**6)])
def test_wide_noise_takes_few_blocks(scale: Fraction) -> None:
    for other in (scale, scale / 1000, Fraction(1)):
        blocks = Blocks.cover(scale, [other], doubt=Fraction(1, 10**9))
        assert 2 * blocks.count <= MOST_BLOCKS + 2
        assert blocks.count * blocks.size >= 50 * scale
