"""Which blocks make up which partial sums."""

from fractions import Fraction
from itertools import product
from math import prod

import mpmath
import numpy as np
import pytest

from privately.errors import InvalidParameter
from privately.mechanisms.tree_blocks import chain, closing_levels, growth_of_sums, number_of_blocks, read_levels
from privately.rounding import Enclosure

LENGTHS = range(1, 41)
SHAPES = [(length, levels) for length in LENGTHS for levels in range(1, length.bit_length() + 1)]


def used_blocks(length: int, levels: int) -> list[range]:
    """The largest block that ends with each item."""
    sizes = [1 << int(level) for level in closing_levels(length, levels)]
    return [range(end - size, end) for end, size in enumerate(sizes, start=1)]


def test_blocks_of_a_partial_sum_cover_it_once() -> None:
    """Blocks as sets of bits: sums of disjoint ones are their unions."""
    for length, levels in SHAPES:
        blocks = [sum(1 << item for item in block) for block in used_blocks(length, levels)]
        assert chain(np.array(blocks, object), levels).tolist() == [(1 << t) - 1 for t in range(1, length + 1)]


def test_no_item_is_in_more_blocks_than_there_are_levels() -> None:
    for length, levels in SHAPES:
        holding = [sum(item in block for block in used_blocks(length, levels)) for item in range(length)]
        assert max(holding) == holding[0] == levels


def test_the_usual_levels_are_those_with_two_blocks_or_more() -> None:
    for length in LENGTHS:
        levels = read_levels(None, length)
        assert length == 1 or length > 1 << (levels - 1) >= length / 2
    assert read_levels(None, 1024) == 10
    assert read_levels(None, 1025) == 11


def test_how_many_blocks_a_sum_needs() -> None:
    assert number_of_blocks(8, 3).tolist() == [1, 1, 2, 1, 2, 2, 3, 2]
    assert number_of_blocks(8, 4).tolist() == [1, 1, 2, 1, 2, 2, 3, 1]
    assert number_of_blocks(5, 1).tolist() == [1, 2, 3, 4, 5]
    for length, levels in SHAPES:
        counts = number_of_blocks(length, levels)
        top = 1 << (levels - 1)
        assert counts.tolist() == [t // top + (t % top).bit_count() for t in range(1, length + 1)]


@pytest.mark.parametrize(("length", "levels"), [(8, 0), (8, 5), (7, 4), (8, 1.5), (8, "2"), (1, 2)])
def test_bad_levels_are_refused(length: int, levels: int) -> None:
    with pytest.raises(InvalidParameter):
        read_levels(levels, length)


def test_floats_and_integers_are_chained_alike() -> None:
    for length, levels in product((9, 16), (1, 3)):
        numbers = np.arange(length)
        assert chain(numbers.astype(np.float64), levels).tolist() == chain(numbers, levels).tolist()


def test_growths_add_up_over_all_partial_sums() -> None:
    growths = [Enclosure.of(Fraction(i + 1, 7)) for i in range(4)]
    for levels in (1, 2, 4):
        factors = [mpmath.exp(mpmath.mpf(i + 1) / 7) for i in range(levels)]
        for length in (1, 2, 7, 8, 9, 30, 64):
            total = mpmath.mpf(0)
            for t in range(1, length + 1):
                digits = prod((factors[i] for i in range(levels - 1) if t >> i & 1), start=mpmath.mpf(1))
                total += digits * factors[-1] ** (t >> (levels - 1))
            found = growth_of_sums(growths[:levels], length)
            assert abs(mpmath.mpf(str(found.upper)) - mpmath.log(total)) < mpmath.mpf(10) ** -40
