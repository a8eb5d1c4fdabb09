"""Triangular Toeplitz matrices: exact products, roots and their inverses."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.mechanisms.toeplitz import multiply, multiply_exactly, rounded_root, sums_after_inverse

ENTRIES = st.integers(0, 2**28)


def slowly(left: list[int], right: list[int]) -> list[int]:
    return [sum(left[t - i] * right[i] for i in range(t + 1)) for t in range(len(left))]


@given(st.lists(st.tuples(ENTRIES, ENTRIES), min_size=1, max_size=60))
def test_exact_products(pairs: list[tuple[int, int]]) -> None:
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    assert multiply_exactly(np.array(left), np.array(right)).tolist() == slowly(left, right)


def test_the_largest_results_fit() -> None:
    left, right = [2**31 - 1] * 2, [2**31, 2**31]
    assert multiply_exactly(np.array(left), np.array(right)).tolist() == slowly(left, right)
    assert multiply_exactly(np.array([2**62]), np.array([1])).tolist() == [2**62]
    assert multiply_exactly(np.array([2**63 - 1]), np.array([1])).tolist() == [2**63 - 1]
    assert multiply_exactly(np.array([0, 0, 0]), np.array([7, 7, 7])).tolist() == [0, 0, 0]


def test_long_products_are_exact() -> None:
    """Beyond the lengths where long decimals are multiplied by transforms."""
    generator = np.random.default_rng(1)
    left, right = generator.integers(0, 2**22, 5000), generator.integers(0, 2**22, 5000)
    found = multiply_exactly(left, right)
    assert (found == np.convolve(left, right)[:5000]).all()


def test_floats_do_not_carry_so_far() -> None:
    """Why the exact product is not made by floating point."""
    left, right = np.full(5000, 2**24 + 1), np.full(5000, 2**24 - 1)
    rough = np.rint(multiply(left.astype(float), right.astype(float), 5000)).astype(np.int64)
    assert (rough != multiply_exactly(left, right)).any()


@pytest.mark.parametrize("length", [1, 2, 3, 100])
def test_the_root_is_made_of_central_binomials(length: int) -> None:
    exact = [Fraction(comb(2 * j, j), 4**j) for j in range(length)]
    found = rounded_root(length, 20)
    assert all(
        abs(entry - int(one)) <= Fraction(1, 2) for entry, one in zip([2**20 * e for e in exact], found, strict=True)
    )


def test_the_root_squared_gives_partial_sums() -> None:
    root = rounded_root(200, 26)
    square = multiply_exactly(root, root) / 4.0**26
    assert square == pytest.approx(np.ones(200), abs=1e-5)


@pytest.mark.parametrize(("length", "bits"), [(1, 0), (2, 3), (7, 4), (64, 10), (1000, 18)])
def test_the_inverse_turns_the_rounded_root_into_partial_sums(length: int, bits: int) -> None:
    """As exactly as floats allow, however coarsely the root was rounded."""
    root = rounded_root(length, bits).astype(np.float64) / 2**bits
    found = multiply(sums_after_inverse(length, bits), root, length)
    assert found == pytest.approx(np.ones(length), abs=1e-11)
    exact: list[Fraction] = []
    for t in range(min(length, 20)):
        rest = 1 - sum((exact[i] * Fraction(root[t - i]) for i in range(t)), Fraction(0))
        exact.append(rest / Fraction(root[0]))
    assert sums_after_inverse(length, bits)[:20] == pytest.approx([float(e) for e in exact], abs=1e-12)


def test_kept_columns_cannot_be_changed() -> None:
    for column in (rounded_root(5, 3), sums_after_inverse(5, 3)):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 7
