"""Sensitivities: norms of all small vectors, conversions that are never too small, and what is refused."""

from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors, Sensitivity
from privately.guarantees.sensitivity import LARGEST_SENSITIVITY, Norm, bound_in

NORMS: list[Norm] = ["L1", "L2", "Linf"]
VALUES = st.fractions(min_value=0, max_value=1000, max_denominator=50)


def squared_norm(vector: tuple[int, ...], norm: Norm) -> Fraction:
    sizes = [abs(entry) for entry in vector]
    match norm:
        case "L1":
            return Fraction(sum(sizes) ** 2)
        case "L2":
            return Fraction(sum(size**2 for size in sizes))
    return Fraction(max(sizes) ** 2)


def exact_norms(vector: tuple[int, ...]) -> list[Sensitivity]:
    """The norms that are rational."""
    squares = [(squared_norm(vector, norm), norm) for norm in NORMS]
    return [
        Sensitivity(value=math.isqrt(int(square)), norm=norm)
        for square, norm in squares
        if math.isqrt(int(square)) ** 2 == square
    ]


def test_norms_of_all_small_vectors() -> None:
    """Whatever is known in one norm bounds the others; and some vector attains each bound."""
    for dimension in (1, 2, 3, 4):
        attained = set()
        for vector in product(range(-3, 4), repeat=dimension):
            for known in exact_norms(vector):
                for norm in NORMS:
                    bound = known.to(norm, dimension=dimension)
                    square = squared_norm(vector, norm)
                    assert bound.value**2 >= square
                    if bound.value**2 <= square * (1 + Fraction(1, 10**12)) and any(vector):
                        attained.add((known.norm, norm))
        assert attained >= {(a, b) for a in NORMS for b in NORMS if (a, b) != ("L2", "L1") or dimension in {1, 4}}


def test_a_conversion_that_forgets_the_dimension_would_be_false() -> None:
    ones = (1, 1, 1, 1)
    known = Sensitivity(value=1, norm="Linf")
    assert known.value**2 < squared_norm(ones, "L1") == known.to("L1", dimension=4).value ** 2
    assert known.value**2 < squared_norm(ones, "L2") == known.to("L2", dimension=4).value ** 2


@given(VALUES, st.integers(1, 10**9), st.sampled_from([("L2", "L1"), ("Linf", "L2")]))
def test_roots_are_rounded_up_and_short(value: Fraction, dimension: int, way: tuple[Norm, Norm]) -> None:
    found = Sensitivity(value=value, norm=way[0]).to(way[1], dimension=dimension).value
    assert found**2 >= dimension * value**2
    assert found**2 <= dimension * value**2 * (1 + Fraction(1, 10**13))
    assert found.denominator <= value.denominator * 10**15


@given(VALUES, st.integers(1, 100))
def test_towards_smaller_norms_the_value_stays(value: Fraction, dimension: int) -> None:
    known = Sensitivity(value=value, neighbors=Neighbors.REPLACE)
    for norm in NORMS:
        for same in (known.to(norm), known.to(norm, dimension=dimension)):
            assert same == Sensitivity(value=value, norm=norm, neighbors=Neighbors.REPLACE)
    assert known.to("Linf").to("L1", dimension=1) == known


@given(VALUES, VALUES, st.sampled_from(NORMS))
def test_scaling(value: Fraction, factor: Fraction, norm: Norm) -> None:
    known = Sensitivity(value=value, norm=norm, neighbors=Neighbors.REPLACE)
    assert known.scaled(factor) == replace(known, value=value * factor)
    assert pickle.loads(pickle.dumps(known)) == known


def test_long_values_stay_short_and_safe() -> None:
    exact = Fraction(2**2000 + 1, 3**1250)
    found = Sensitivity(value=exact).scaled(exact).value
    assert found >= exact**2
    assert max(found.numerator.bit_length(), found.denominator.bit_length()) <= 4096


@pytest.mark.parametrize(
    ("sensitivity", "text"),
    [
        (Sensitivity(value=3), "3 in L1, adding or removing one row"),
        (Sensitivity(value="0.5", norm="Linf", neighbors=Neighbors.REPLACE), "0.5 in Linf, replacing one row"),
        (
            Sensitivity(value="1/3", norm="L2", neighbors=Neighbors.ADD_REMOVE.of_unit("person")),
            "0.3333333334 in L2, adding or removing one person",
        ),
    ],
)
def test_reads_as_english(sensitivity: Sensitivity, text: str) -> None:
    assert str(sensitivity) == text


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, True, None, "one", LARGEST_SENSITIVITY + 1, 2**5000])
def test_bad_values(value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Sensitivity(value=value)
    assert caught.value.field == "value"


@pytest.mark.parametrize("norm", ["l1", "L3", "", None, 1, ["L1"], math.inf])
def test_bad_norms(norm: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Sensitivity(value=1, norm=norm)
    assert caught.value.field == "norm"
    with pytest.raises(InvalidParameter) as caught:
        Sensitivity(value=1).to(norm)
    assert caught.value.field == "norm"


@pytest.mark.parametrize("neighbors", [None, "replace", Neighbors])
def test_bad_neighbors(neighbors: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Sensitivity(value=1, neighbors=neighbors)
    assert caught.value.field == "neighbors"


@pytest.mark.parametrize("dimension", [0, -1, 1.0, "2", True, 10**10])
def test_bad_dimensions(dimension: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Sensitivity(value=1).to("L2", dimension=dimension)
    assert caught.value.field == "dimension"


@pytest.mark.parametrize(("known", "wanted"), [("L2", "L1"), ("Linf", "L1"), ("Linf", "L2")])
def test_towards_larger_norms_the_dimension_is_asked_for(known: Norm, wanted: Norm) -> None:
    with pytest.raises(InvalidParameter, match="how many entries") as caught:
        Sensitivity(value=1, norm=known).to(wanted)
    assert caught.value.field == "dimension"


def test_a_bound_may_not_outgrow_all_bounds() -> None:
    with pytest.raises(InvalidParameter):
        Sensitivity(value=LARGEST_SENSITIVITY, norm="Linf").to("L1", dimension=2)
    with pytest.raises(InvalidParameter):
        Sensitivity(value=1).scaled(-1)


@pytest.mark.parametrize("known", NORMS)
@pytest.mark.parametrize("wanted", NORMS)
def test_rules_take_larger_norms_and_refuse_smaller_ones(known: Norm, wanted: Norm) -> None:
    stated = Sensitivity(value=3, norm=known)
    if known <= wanted:
        assert bound_in(stated, wanted, wanted="noise") == 3
        return
    with pytest.raises(NoSuchRule) as caught:
        bound_in(stated, wanted, wanted="noise")
    assert caught.value.wanted == "noise"
    assert f'.to("{wanted}", dimension=...)' in caught.value.hint


def test_cannot_be_changed_or_given_by_position() -> None:
    with pytest.raises(FrozenInstanceError):
        Sensitivity(value=1).value = Fraction(2)  # type: ignore[misc]
    with pytest.raises(TypeError):
        Sensitivity(1)  # type: ignore[call-arg]
