"""Sums, maxima and chords of moments."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting.renyi.moments import Largest, Least, Listed, Quadratic, Sum
from privately.guarantees.curves import bound_at
from tests.accounting.exact_profiles import additions, removals
from tests.accounting.renyi.exact_moments import PLACES, OfPairs, moment
from tests.guarantees.enumeration import Table, adaptive, tables

small = tables(("a",), (0, 1), outcomes=3)
BOUNDS = ((Fraction(3, 2), Fraction(1, 10)), (Fraction(2), Fraction(1, 2)), (Fraction(8), Fraction(3)))


@settings(max_examples=40)
@given(small, small, small)
def test_adaptive_sums_dominate_enumeration(first: Table, second: Table, third: Table) -> None:
    """The first answer decides which of two mechanisms is run next."""
    whole = adaptive(first, lambda answer: second if answer == "o0" else third)
    for pairs in (removals, additions):
        parts = [OfPairs.of(pairs(table)) for table in (first, second, third)]
        bound = Sum(((parts[0], 1), (Largest(parts[1:]), 1)))
        for c in PLACES:
            assert _covers(bound.above(c), whole, c, pairs)
            assert Sum(((parts[0], 1), (parts[1], 1))).above(c) <= bound.above(c)


def _covers(bound: Fraction | float, table: Table, c: Fraction, pairs: object) -> bool:
    assert callable(pairs)
    return all(bound >= Fraction(mp.nstr(moment(p, q, c), 30)) - Fraction(1, 10**22) for p, q in pairs(table))


def test_the_least_instead_of_the_largest_is_refuted() -> None:
    def table(*masses: int) -> dict[str, Fraction]:
        return {f"o{place}": Fraction(mass, sum(masses)) for place, mass in enumerate(masses)}

    first: Table = {(): table(1, 1), ("a",): table(2, 1)}
    second: Table = {(): table(1, 1), ("a",): table(9, 1)}
    third: Table = {(): table(1, 1), ("a",): table(1, 1)}
    whole = adaptive(first, lambda answer: second if answer == "o0" else third)
    parts = [OfPairs.of(removals(one)) for one in (first, second, third)]
    assert not _covers(Sum(((parts[0], 1), (Least(parts[1:]), 1))).above(Fraction(1)), whole, Fraction(1), removals)


def test_sums_and_maxima() -> None:
    one, other = Quadratic(Fraction(1, 2)), Listed(BOUNDS)
    c = Fraction(3, 2)
    both = one.above(c), other.above(c)
    assert Sum(((one, 3), (other, 2))).above(c) == 3 * both[0] + 2 * both[1]
    assert Largest([one, other]).above(c) == max(both)
    assert Least([one, other]).above(c) == min(both)
    assert Sum(((one, 3),)).rough(1.5) == pytest.approx(3 * 1.875)
    assert (Sum().above(c), Sum().rough(1.5), Sum().largest) == (0, 0, 0)
    assert Sum(((one, 1),)).largest == Largest([one, Sum()]).largest == math.inf
    assert Least([one, Sum()]).largest == 0


def test_zero_concentration() -> None:
    assert Quadratic(Fraction(1, 3)).above(Fraction(2)) == 2
    assert (Quadratic(Fraction(0)).largest, Quadratic(Fraction(1)).largest) == (0, math.inf)


@given(st.fractions(min_value=Fraction(1, 100), max_value=7))
def test_listed_orders_are_joined_by_chords(c: Fraction) -> None:
    found, truth = Listed(BOUNDS).above(c), c * bound_at(BOUNDS, 1 + c)
    assert truth <= found <= truth * (1 + Fraction(1, 10**30))
    assert Listed(BOUNDS).rough(float(c)) == pytest.approx(float(found), rel=1e-9)


def test_above_the_last_order_nothing_is_known() -> None:
    assert Listed(BOUNDS).above(Fraction(7)) == 21
    assert Listed(BOUNDS).above(Fraction(71, 10)) == math.inf
    assert Listed(BOUNDS).rough(7.1) == math.inf
