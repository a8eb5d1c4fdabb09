from fractions import Fraction
from itertools import product
from math import comb

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates.checker.intervals import Undecided
from privately.certificates.checker.rules.lattice import (
    _record,
    binomial_weights,
    convolve,
    decay,
    excess,
    lattice_work,
    responses,
    weights_from,
)
from privately.certificates.checker.work import Work
from tests.certificates.checker.building import mpf, rational

PLACES = 200


@given(st.fractions(0, 10**6, max_denominator=10**9), st.integers(50, 400))
def test_decay(x: Fraction, places: int) -> None:
    low, high = decay(rational(x), places)
    value = mpmath.ldexp(mpmath.exp(-mpf(x)), places)
    assert low <= value <= high
    assert high - low <= 3
    assert high <= 1 << places


@given(st.integers(1, 300), st.fractions(0, 300, max_denominator=1000))
def test_binomial_weights(count: int, loss: Fraction) -> None:
    weights = binomial_weights(count, decay(rational(loss), PLACES), PLACES)
    p = 1 / (1 + mpmath.exp(-mpf(loss)))
    for j in range(count + 1):
        true = mpmath.ldexp(comb(count, j) * p**j * (1 - p) ** (count - j), PLACES)
        assert weights.get(j, 0) <= true <= weights.get(j, 0) + 2**30
    lacking = 2**PLACES - sum(weights.values())
    assert 0 <= lacking < 2**40


def test_weights_that_do_not_fall_are_undecided() -> None:
    with pytest.raises(Undecided):
        _record({}, 1, 0, 16, rest=3, one=16)


def test_responses() -> None:
    work = Work()
    assert responses(3, 5, rational("1/3"), PLACES, work) == binomial_weights(5, decay(rational(1), PLACES), PLACES)
    assert work.left < Work().left


@given(st.integers(-5, 40), st.integers(1, 7))
def test_sums_from_a_place_on(least: int, multiple: int) -> None:
    one = {t: t + 1 for t in range(0, 10, 2)}
    other = {j: 2 * j + 1 for j in range(5)}
    expected: dict[int, int] = {}
    for t, j in product(one, other):
        if t + j * multiple >= least:
            expected[t + j * multiple] = expected.get(t + j * multiple, 0) + one[t] * other[j]
    assert weights_from(least, one, other, multiple) == expected


def test_convolution() -> None:
    one, half = 1 << 10, 1 << 9
    assert convolve({0: one}, {0: half, 1: half}, 3, 10) == {0: half, 3: half}
    assert convolve({0: half, 3: half}, {0: half, 1: half}, 3, 10) == {0: one // 4, 3: half, 6: one // 4}
    assert convolve({0: 1}, {0: 1}, 3, 10) == {}


@given(st.integers(1, 30), st.fractions(Fraction(1, 50), 2, max_denominator=50), st.fractions(0, 1, max_denominator=20))
def test_excess(count: int, unit: Fraction, share: Fraction) -> None:
    epsilon = share * count * unit
    found = excess({1: count}, rational(unit), rational(epsilon), PLACES, Work())
    p = 1 / (1 + mpmath.exp(-mpf(unit)))
    true = mpmath.fsum(
        comb(count, j) * p**j * (1 - p) ** (count - j) * -mpmath.expm1(mpf(epsilon - unit * (2 * j - count)))
        for j in range(count + 1)
        if unit * (2 * j - count) > epsilon
    )
    scale = mpmath.ldexp(1, found.exponent)
    assert found.low * scale <= true <= found.high * scale
    assert (found.high - found.low) * scale < mpmath.ldexp(1, 40 - PLACES)


@given(st.dictionaries(st.integers(1, 6), st.integers(1, 5), min_size=1, max_size=4))
def test_lattice_work_counts_the_values(counts: dict[int, int]) -> None:
    reached, expected = {0}, 0
    for multiple, count in sorted(counts.items()):
        expected += (count + 1) * len(reached)
        reached = {t + j * multiple for t in reached for j in range(count + 1)}
    assert lattice_work(counts) == expected
