"""Sums of geometric variables, beside the sums themselves."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately.proving.exact import spreads
from privately.proving.exact.rays import mass_at
from privately.proving.exact.spreads import (
    Falls,
    Spread,
    falls_of,
    first_and_rest,
    law_of_sum,
    one_sided,
    scaled,
    with_law,
)
from privately.proving.exact.tails import Geometric, Tail
from privately.proving.exact.weights import ONE, UNKNOWN, Weight, fraction, weight

HALF, THIRD, QUARTER = (weight(Fraction(1, k)) for k in (2, 3, 4))
SUMS = [
    [HALF],
    [HALF, HALF],
    [HALF, THIRD],
    [HALF, THIRD, HALF],
    [THIRD, THIRD, THIRD, HALF, HALF],
    [HALF, THIRD, QUARTER],
]
MOST = 8

Summing = Callable[[Sequence[Weight]], Falls]


def convolved(ratios: Sequence[Weight]) -> list[Weight]:
    """The first masses of the sum, one variable after the other."""
    found = [ONE] + [ONE * 0] * (MOST - 1)
    for one in ratios:
        found = [sum((found[k - j] * (1 - one) * one**j for j in range(k + 1)), ONE * 0) for k in range(MOST)]
    return found


def agrees(summing: Summing) -> bool:
    return all([mass_at(summing(ratios), k) for k in range(MOST)] == convolved(ratios) for ratios in SUMS)


def test_sums_have_the_laws_of_sums() -> None:
    assert agrees(law_of_sum)
    open_sum = [UNKNOWN, UNKNOWN**2, UNKNOWN]
    assert [mass_at(law_of_sum(open_sum), k) for k in range(MOST)] == convolved(open_sum)
    assert all(sum(law_of_sum(ratios).values()) == 1 for ratios in SUMS)


def _one_order_less(ratios: Sequence[Weight]) -> Falls:
    return {(ratio, max(1, order - 1)): share for (ratio, order), share in law_of_sum(ratios).items()}


def _shares_change_places(ratios: Sequence[Weight]) -> Falls:
    falls = law_of_sum(ratios)
    return dict(zip(falls, reversed(list(falls.values())), strict=True))


def _a_forgotten_term(ratios: Sequence[Weight]) -> Falls:
    falls = law_of_sum(ratios)
    return dict(list(falls.items())[:-1]) if len(falls) > 1 else falls


@pytest.mark.parametrize("planted", [_one_order_less, _shares_change_places, _a_forgotten_term])
def test_wrong_sums_are_found(planted: Summing) -> None:
    assert not agrees(planted)


def rests(rest: Callable[[Falls], tuple[Weight, Falls]]) -> bool:
    for ratios in SUMS:
        falls, masses = law_of_sum(ratios), convolved(ratios)
        for k in range(4):
            first, falls = rest(falls)
            if first != masses[k] or mass_at(falls, 0) != masses[k + 1]:
                return False
    return True


def test_the_rest_has_the_masses_that_are_left() -> None:
    assert rests(first_and_rest)


def _start_too_early(falls: Falls) -> tuple[Weight, Falls]:
    return mass_at(falls, 0), falls


def _lower_orders_are_lost(falls: Falls) -> tuple[Weight, Falls]:
    return first_and_rest(falls)[0], {(ratio, m): share * ratio for (ratio, m), share in falls.items()}


@pytest.mark.parametrize("planted", [_start_too_early, _lower_orders_are_lost])
def test_wrong_rests_are_found(planted: Callable[[Falls], tuple[Weight, Falls]]) -> None:
    assert not rests(planted)


def drawn(tail: Any, share: Weight, most: int) -> dict[Any, Fraction]:
    """The masses of a sum of variables for draws below `most`."""
    if not isinstance(tail, Tail):
        return {tail: fraction(share)}
    found: dict[Any, Fraction] = {}
    for values in product(range(most), repeat=len(tail.factors)):
        mass, value = fraction(share), tail.constant
        for k, (one, factor) in zip(values, tail.factors, strict=True):
            mass, value = mass * fraction(mass_at(falls_of(one), k)), value + k * factor
        found[value] = found.get(value, Fraction(0)) + mass
    return found


G, H = Geometric(0, THIRD), Geometric(1, QUARTER)
BOTH: Any = Spread(0, law_of_sum([THIRD, QUARTER]))


@pytest.mark.parametrize(
    ("tail", "step"),
    [
        (Tail(1, ((G, 1), (H, -1))), 1),
        (Tail(0, ((G, 2), (H, -3))), 6),
        (Tail(0, ((G, 1),)), 2),
        (Tail(Fraction(1, 2), ((BOTH, 1), (H, 1))), 1),
    ],
)
def test_parts_of_a_sum_are_even(tail: Tail, step: int) -> None:
    parts = list(one_sided(tail, step))
    steps = {factor for leaf, _ in parts if isinstance(leaf, Tail) for _, factor in leaf.factors}
    assert steps <= {step, -step}
    assert all(len({factor for _, factor in leaf.factors}) == 1 for leaf, _ in parts if isinstance(leaf, Tail))
    assert sum(fraction(share) for _, share in parts) == 1
    whole = drawn(tail, ONE, 20)
    found: dict[Any, Fraction] = {}
    for leaf, share in parts:
        for value, mass in drawn(leaf, share, 12).items():
            found[value] = found.get(value, Fraction(0)) + mass
    for value in range(-4, 5):
        key = tail.constant + value
        assert abs(whole.get(key, Fraction(0)) - found.get(key, Fraction(0))) < Fraction(1, 10**5)


def test_variables_by_their_laws() -> None:
    assert with_law(3, {(HALF, 1): ONE}) == Geometric(3, HALF)
    assert with_law(3, {(HALF, 2): ONE}) == Spread(3, {(HALF, 2): ONE})
    assert falls_of(with_law(0, law_of_sum([HALF, THIRD]))) == law_of_sum([THIRD, HALF])
    assert scaled({(HALF, 1): ONE}, HALF) == {(HALF, 1): HALF}
    assert spreads.Spread(0, {(HALF, 2): ONE}) != Spread(0, {(HALF, 3): ONE})
