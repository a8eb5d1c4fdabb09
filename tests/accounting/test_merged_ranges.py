"""How many losses are large: a pair that never costs more than the steps it was made of."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privately.accounting.losses import FiniteLoss
from privately.accounting.merged_ranges import merged, number_of_large

CLOSE = [Fraction(k, 10_000) for k in (2000, 2001, 2002, 2003, 2004, 2005)]
APART = [Fraction(1, 10), Fraction(3, 10), Fraction(1)]
PLACES = np.exp(np.linspace(-1.0, 1.0, 81))


def profile(law: FiniteLoss) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    atoms = [(float(mass.upper), float(loss.upper)) for mass, loss in law.atoms()]
    return np.array([sum(mass * max(0.0, 1 - y * math.exp(-loss)) for mass, loss in atoms) for y in PLACES.tolist()])


def by_pairs(sizes: list[Fraction], depth: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Of all outcomes of all pairs."""
    pairs = []
    for size in map(float, sizes):
        s = math.expm1(math.exp(-depth) * size) / math.expm1(size)
        r = 1 - s + s * math.exp(size)
        pairs.append(((s * math.exp(size) / r, s), ((1 - s) / r, 1 - s)))
    outcomes = [np.prod(np.array(some), axis=0) for some in product(*pairs)]
    return np.array([sum(max(0.0, p - y * q) for p, q in outcomes) for y in PLACES.tolist()])


@pytest.mark.parametrize("sizes", [CLOSE, APART])
@pytest.mark.parametrize("depth", [0.5, 0.728, 2.0])
def test_less_than_by_the_pairs(sizes: list[Fraction], depth: float) -> None:
    assert (profile(number_of_large(sizes, depth)) <= by_pairs(sizes, depth) + 1e-14).all()


def test_hardly_less_than_by_the_pairs() -> None:
    """Where ranges are close to each other; others are clearly less."""
    found, whole = profile(number_of_large(CLOSE, 0.728)), by_pairs(CLOSE, 0.728)
    assert found == pytest.approx(whole, abs=1e-5)
    assert profile(number_of_large(APART, 0.728)) != pytest.approx(by_pairs(APART, 0.728), abs=1e-3)


def test_one_pair_is_as_it_was() -> None:
    assert profile(number_of_large(APART[-1:], 0.9)) == pytest.approx(by_pairs(APART[-1:], 0.9), abs=1e-12)


def test_all_steps_are_in_some_class() -> None:
    """From the smallest to the largest, as many in each."""
    ranges = [(Fraction(k, 10_000), 2 + k % 2) for k in range(2000, 1500, -1)]
    steps = sorted(size for size, times in ranges for _ in range(times))
    classes = merged(ranges, 0.7)
    assert len(classes) == math.ceil(len(steps) / 13)
    assert classes[0] == number_of_large(steps[:13], 0.7)
    assert classes[-1] == number_of_large(steps[13 * (len(classes) - 1) :], 0.7)


def test_masses_that_are_next_to_no_float_are_not_told() -> None:
    law = number_of_large([Fraction(39, 100)] * 4000, 12.0)
    assert all(float(mass.lower) == 0 or abs(float(loss.upper)) < 640 for mass, loss in law.atoms())
