"""Neighbouring entries to try."""

from fractions import Fraction
from itertools import islice

import pytest

from privately.proving.language.declarations import (
    Neighborhood,
    added,
    anything,
    between,
    each,
    inside,
    monotone,
    one,
    one_of,
    replaced,
    whole,
)
from privately.proving.refuting.changes import are_neighbors, moved, moves, starts, worth_trying

NEIGHBORHOODS = [each(1), one(2), monotone(1), replaced(between(0, 1)), anything(whole(0, 9)), added(one_of(0, 1, 5))]


@pytest.mark.parametrize("near", NEIGHBORHOODS, ids=str)
def test_whatever_is_tried_is_a_pair_of_neighbours(near: Neighborhood) -> None:
    tried = list(starts(near, 3))
    assert tried
    for pair in tried[:: max(1, len(tried) // 6)]:
        assert are_neighbors(near, *pair)
        for other in islice(moves(near, pair, [Fraction(1, 2), Fraction(4)]), 60):
            assert are_neighbors(near, *other)
            assert near.domain is None or all(value in near.domain for side in other for value in side)


def test_pairs_that_are_no_neighbours_are_known() -> None:
    zero, a, b = (Fraction(0),) * 2, (Fraction(1), Fraction(-1)), (Fraction(0), Fraction(2))
    assert are_neighbors(each(1), zero, a)
    assert not are_neighbors(monotone(1), zero, a)
    assert not are_neighbors(one(1), zero, a)
    assert not are_neighbors(replaced(between(-1, 1)), zero, a)
    assert not are_neighbors(each(1), zero, b)
    assert not are_neighbors(each(1), zero, zero[1:])
    assert are_neighbors(added(0, 2), b, b[1:])
    assert not are_neighbors(added(0, 2), b, (Fraction(1),))


def test_values_of_domains() -> None:
    assert worth_trying(between(0, 1))[:2] == [0, 1]
    assert all(0 < value < 1 for value in worth_trying(inside(0, 1)))
    assert all(value.denominator == 1 for value in worth_trying(whole(3)))
    assert len(worth_trying(one_of(*range(50)))) == 7
    assert 0 in worth_trying(replaced().domain or whole(5))
    assert moved((Fraction(1),), (Fraction(2),), -1) == (Fraction(-1),)


@pytest.mark.parametrize("near", [each(1, whole(5, 9)), one(1, between(5, 9)), monotone(2, whole(-9, -5))], ids=str)
def test_domains_without_zero_have_starts_too(near: Neighborhood) -> None:
    assert near.domain is not None
    inside_it = [pair for pair in starts(near, 2) if all(value in near.domain for side in pair for value in side)]
    assert any(pair[0] != pair[1] for pair in inside_it)


def test_numbers_that_a_program_speaks_of_are_tried() -> None:
    assert {pair[0][0] for pair in starts(each(1), 1, [Fraction(40)])} == {0, 39, 40, 41}
    assert Fraction(40) in {pair[1][0] for pair in starts(replaced(), 1, [Fraction(40)])}


def test_half_the_distance_is_tried_where_steps_are_as_fine() -> None:
    pair = (Fraction(0),), (Fraction(1),)
    halves = (Fraction(0),), (Fraction(1, 2),)
    assert halves in list(moves(each(1), pair, [Fraction(1, 2), Fraction(1)]))
    assert halves not in list(moves(each(1), pair, [Fraction(1), Fraction(2)]))


@pytest.mark.parametrize("near", [replaced(2), anything(2), anything(one_of(5))], ids=str)
def test_what_has_one_value_only_stays_as_it_is(near: Neighborhood) -> None:
    assert near.domain is not None
    same = near.domain.members() * 3
    assert (same, same) in list(starts(near, 3))
