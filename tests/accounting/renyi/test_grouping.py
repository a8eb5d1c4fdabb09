"""Groups by single changes, on laws along a path."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting.renyi.closed_forms import laplace
from privately.accounting.renyi.grouping import Grouped
from privately.accounting.renyi.moments import Listed, Quadratic
from tests.accounting.renyi.exact_moments import PLACES, OfPairs
from tests.guarantees.enumeration import Law, normalised

SLACK = Fraction(1, 10**22)
SIZES = [2, 3, 5]
weights = st.lists(st.integers(1, 20), min_size=3, max_size=3)


def path_moments(path: list[Law]) -> OfPairs:
    """All single changes along a path, both ways."""
    steps = list(pairwise(path))
    return OfPairs.of([*steps, *((q, p) for p, q in steps)])


@settings(max_examples=40)
@given(st.lists(weights, min_size=3, max_size=5))
def test_groups_dominate_enumeration(listed: list[list[int]]) -> None:
    path: list[Law] = [normalised(one) for one in listed]
    bound = Grouped(path_moments(path), len(path) - 1)
    for pair in ((path[0], path[-1]), (path[-1], path[0])):
        for c in PLACES[1:6]:
            assert OfPairs.of([pair]).above(c) <= bound.above(c) + SLACK
        assert OfPairs.of([pair]).largest <= bound.largest + SLACK


@pytest.mark.parametrize("size", SIZES)
def test_of_concentrated_privacy_the_square_is_exact(size: int) -> None:
    rho = Fraction(1, 7)
    for c in PLACES:
        found = Grouped(Quadratic(rho), size).above(c)
        assert found == pytest.approx(float(size**2 * rho * c * (c + 1)), rel=1e-14)
        assert found >= size**2 * rho * c * (c + 1)
        assert Grouped(Quadratic(rho), size).rough(float(c)) == pytest.approx(float(found))


@pytest.mark.parametrize("false", ["size", "orders"])
def test_false_groups_are_refuted(false: str) -> None:
    """k rho for k^2 rho; or all steps at the order of the whole."""
    shifted = [normalised([2 ** (8 - abs(place - k)) for k in range(9)]) for place in range(2, 7)]
    base, c = path_moments([*shifted]), Fraction(3)
    wrong = 4 * base.above(c) if false == "orders" else Grouped(base, 2).above(c)
    assert OfPairs.of([(shifted[0], shifted[-1])]).above(c) > wrong


def test_listed_orders_that_end() -> None:
    """The highest order of the base allows a lower one of the group."""
    found = Grouped(Listed(((Fraction(2), Fraction(1)), (Fraction(12), Fraction(3)))), 3)
    assert found.above(Fraction(3)) < math.inf
    assert found.above(Fraction(4)) == math.inf
    assert found.largest == math.inf


def test_groups_of_bounded_losses() -> None:
    found = Grouped(laplace(Fraction(1)), 3)
    assert found.largest == 3
    assert found.above(Fraction(1000)) <= 3000
    assert found.above(Fraction(2)) >= laplace(Fraction(3)).above(Fraction(2))
