"""Sums of randomized responses against enumeration of all answers in mpmath; the lattice never rounds down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import responses
from privately.rounding import Enclosure
from tests.rounding.truth import encloses, real, truth

UNITS = st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=50)
MULTIPLES = st.lists(st.integers(0, 5), min_size=1, max_size=3)
COUNTS = st.integers(1, 3)
DELTAS = st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(99, 100), max_denominator=10**9)
LOSSES = st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=3, max_denominator=10**6), min_size=1, max_size=4)
FEWER = settings(max_examples=settings().max_examples // 4)


@st.composite
def lattices(draw: st.DrawFn) -> tuple[Fraction, list[int], list[int]]:
    multiples = draw(MULTIPLES)
    return draw(UNITS), multiples, [draw(COUNTS) for _ in multiples]


def excess(losses: Sequence[Fraction], counts: Sequence[int], epsilon: Fraction) -> Fraction:
    """E[(1 - e^(epsilon - S))_+], by adding up over every vector of answers."""
    each = [loss for loss, count in zip(losses, counts, strict=True) for _ in range(count)]

    def formula() -> Any:
        total = mpmath.mpf(0)
        for signs in product((1, -1), repeat=len(each)):
            chance, loss = mpmath.mpf(1), mpmath.mpf(0)
            for sign, one in zip(signs, each, strict=True):
                chance /= 1 + mpmath.exp(-sign * real(one))
                loss += sign * real(one)
            total += chance * max(1 - mpmath.exp(real(epsilon) - loss), 0)
        return total

    return truth(formula, 80)


def solved(unit: Fraction, multiples: Sequence[int], counts: Sequence[int], delta: Fraction) -> Fraction:
    found = responses.solve(unit, multiples, counts, delta)
    assert found.lower == found.upper
    return Fraction(found.upper)


@FEWER
@given(lattices(), DELTAS)
@example((Fraction(1), [1], [9]), Fraction(1, 1000))
@example((Fraction(1, 10), [0, 0], [3, 1]), Fraction(1, 1000))
def test_solve_is_the_least_epsilon(lattice: tuple[Fraction, list[int], list[int]], delta: Fraction) -> None:
    unit, multiples, counts = lattice
    losses = [unit * multiple for multiple in multiples]
    epsilon = solved(unit, multiples, counts, delta)
    assert excess(losses, counts, epsilon) <= delta
    smaller = epsilon * (1 - Fraction(1, 10**20))
    assert epsilon == 0 or excess(losses, counts, smaller) > delta


@given(lattices(), DELTAS, DELTAS)
def test_solve_decreases(lattice: tuple[Fraction, list[int], list[int]], first: Fraction, second: Fraction) -> None:
    few, many = sorted((first, second))
    assert solved(*lattice, few) >= solved(*lattice, many)


@given(lattices())
def test_without_a_delta_all_losses_add(lattice: tuple[Fraction, list[int], list[int]]) -> None:
    unit, multiples, counts = lattice
    total = sum(unit * multiple * count for multiple, count in zip(multiples, counts, strict=True))
    found = responses.solve(unit, multiples, counts, Fraction(0))
    assert found.contains(total)
    assert Fraction(found.upper) - Fraction(found.lower) <= Fraction(1, 10**50)


@given(st.fractions(min_value=Fraction(1, 100), max_value=10, max_denominator=1000), DELTAS)
def test_one_response_has_a_closed_form(loss: Fraction, delta: Fraction) -> None:
    def formula() -> Any:
        inside = mpmath.exp(real(loss)) * (1 - real(delta)) - real(delta)
        return mpmath.log(inside) if inside > 1 else mpmath.mpf(0)

    epsilon, value = solved(loss, [1], [1], delta), truth(formula)
    assert value <= epsilon <= value + Fraction(1, 10**45)


@given(lattices())
def test_masses_add_up_to_one(lattice: tuple[Fraction, list[int], list[int]]) -> None:
    unit, multiples, counts = lattice
    masses = responses._masses(unit, multiples, counts)
    assert len(masses) == 1 + sum(multiple * count for multiple, count in zip(multiples, counts, strict=True))
    total = sum(masses, Enclosure.of(0))
    assert total.contains(1)
    assert Fraction(total.upper) - Fraction(total.lower) <= Fraction(1, 10**50)


@given(st.integers(1, 40), st.fractions(min_value=Fraction(1, 100), max_value=5, max_denominator=100))
def test_equal_responses_are_binomial(count: int, loss: Fraction) -> None:
    for place, mass in enumerate(responses._masses(loss, [1], [count])):

        def formula(place: int = place) -> Any:
            chance = 1 / (1 + mpmath.exp(-real(loss)))
            return math.comb(count, place) * chance**place * (1 - chance) ** (count - place)

        assert encloses(mass, truth(formula), width=1e-50)


@given(lattices())
def test_masses_are_mirrored_by_the_likelihood_ratio(lattice: tuple[Fraction, list[int], list[int]]) -> None:
    """P(S = s) = e^(s h) P(S = -s): what makes the subtracted part of the expectation an honest probability."""
    unit, multiples, counts = lattice
    masses = responses._masses(unit, multiples, counts)
    total = len(masses) - 1
    for place, mass in enumerate(masses):
        gap = mass - (Fraction(2 * place - total) * Enclosure.of(unit)).exp() * masses[total - place]
        assert gap.contains(0)


# The lattice


@given(LOSSES, st.data())
def test_the_lattice_never_rounds_down(losses: list[Fraction], data: st.DataObject) -> None:
    counts = [data.draw(st.integers(1, 100)) for _ in losses]
    unit, multiples = responses.lattice(losses, counts)
    assert all(multiple * unit >= loss for multiple, loss in zip(multiples, losses, strict=True))
    assert all((multiple - 1) * unit < loss for multiple, loss in zip(multiples, losses, strict=True))
    steps = sum(multiple * count for multiple, count in zip(multiples, counts, strict=True))
    assert steps <= responses.MAX_STEPS


@given(UNITS, st.lists(st.integers(0, 50), min_size=1, max_size=4))
def test_commensurable_losses_are_exact(unit: Fraction, multiples: list[int]) -> None:
    losses = [unit * multiple for multiple in multiples]
    found, exact = responses.lattice(losses, [1] * len(losses))
    assert [found * multiple for multiple in exact] == losses


@settings(max_examples=settings().max_examples // 10)
@given(LOSSES.filter(lambda losses: len(losses) > 1), DELTAS)
def test_rounding_to_the_lattice_is_on_the_safe_side(losses: list[Fraction], delta: Fraction) -> None:
    counts = [1] * len(losses)
    unit, multiples = responses.lattice(losses, counts)
    assert excess(losses, counts, solved(unit, multiples, counts, delta)) <= delta


def test_a_lattice_that_rounds_down_is_caught() -> None:
    """The planted twin: the same test refutes it."""
    losses, counts, unit, delta = [Fraction(99, 100), Fraction(7, 10)], [2, 3], Fraction(1, 10), Fraction(1, 100)
    down, up = ([rounded(loss / unit) for loss in losses] for rounded in (math.floor, math.ceil))
    assert excess(losses, counts, solved(unit, down, counts, delta)) > delta
    assert excess(losses, counts, solved(unit, up, counts, delta)) <= delta


def test_coarse_units_are_chosen_when_the_common_one_is_too_fine() -> None:
    losses = [Fraction(1, 10**9 + 7), Fraction(1, 10**9 + 9), Fraction(1, 3)]
    unit, multiples = responses.lattice(losses, [1, 1, 1])
    assert all(multiple * unit >= loss for multiple, loss in zip(multiples, losses, strict=True))
    assert unit <= Fraction(1, 5000)
    assert unit.denominator.bit_length() < 60


@pytest.mark.parametrize("exponent", [20, 320, 400, 1000])
def test_tiny_losses_have_a_lattice(exponent: int) -> None:
    losses = [Fraction(1, 10**exponent), Fraction(1, 10**exponent + 7)]
    unit, multiples = responses.lattice(losses, [1, 1])
    assert all(multiple * unit >= loss for multiple, loss in zip(multiples, losses, strict=True))


def test_losses_of_zero_need_no_steps() -> None:
    assert responses.lattice([Fraction(0), Fraction(0)], [3, 4]) == (Fraction(1), [0, 0])
    assert solved(Fraction(1), [0], [10**9], Fraction(1, 2)) == 0


def test_too_many_are_refused_with_a_way_out() -> None:
    losses = [Fraction(1, 10**9 + k) for k in range(1, 500)]
    with pytest.raises(InvalidParameter, match="advanced_composition") as caught:
        responses.lattice(losses, [1000] * len(losses))
    assert caught.value.field == "premises"


@pytest.mark.slow
def test_a_hundred_thousand_equal_responses() -> None:
    """Far from the edge: the central limit gives epsilon to a few digits."""
    loss, count, delta = Fraction(1, 1000), 100_000, Fraction(1, 10**5)
    unit, multiples = responses.lattice([loss], [count])
    assert (unit, multiples) == (loss, [1])
    epsilon = float(solved(unit, multiples, [count], delta))
    mu = 1e-3 * math.sqrt(count)
    tail = [math.erfc((epsilon / mu + sign * mu / 2) / math.sqrt(2)) / 2 for sign in (-1, 1)]
    assert tail[0] - math.exp(epsilon) * tail[1] == pytest.approx(1e-5, rel=1e-2)
