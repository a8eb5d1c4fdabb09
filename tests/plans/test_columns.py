"""Columns as they are declared, and declarations that make no sense."""

from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.plans import Column, Known, Range, Type


def test_what_is_known_of_a_column() -> None:
    text = Column(name="ward", type="text", length=7, nullable=False)
    assert text.known == Known(type=Type.TEXT, nullable=False, length=7)
    age = Column(name="age", type="integer", bounds=(0, "120"))
    assert age.known == Known(type=Type.INTEGER, range=Range(Fraction(0), Fraction(120)))
    assert age.step == 1


def test_real_numbers_are_summed_in_steps_of_a_power_of_two() -> None:
    cost = Column(name="cost", type="real", bounds=(0, 1000))
    assert cost.step == Fraction(1, 2**15)
    assert Fraction(1000, 2**25) < cost.step <= Fraction(1000, 2**24)
    assert Column(name="cost", type="real", bounds=(0, 1000), step="0.01").step == Fraction(1, 100)
    assert Column(name="cost", type="real").step is None


def test_a_resolution_is_declared_or_not_at_all() -> None:
    assert Column(name="cost", type="real", bounds=(0, 1000)).resolution is None
    assert Column(name="cost", type="real", bounds=(0, 1000), resolution="2.5").resolution == Fraction(5, 2)
    assert Column(name="age", type="integer", bounds=(0, 110), resolution=5).resolution == 5


def test_categories_are_listed_once() -> None:
    assert Column(name="c", type="text", categories=["a", "b", "a"]).categories == ("a", "b")
    assert Column(name="c", type="date", categories=[date(2026, 1, 1)]).categories == (date(2026, 1, 1),)


@pytest.mark.parametrize(
    ("field", "declared"),
    [
        ("type", {"type": "number"}),
        ("type", {"type": None}),
        ("name", {"name": ""}),
        ("name", {"name": "a\nb"}),
        ("name", {"name": "x" * 201}),
        ("name", {"name": 7}),
        ("bounds", {"type": "text", "bounds": (0, 1)}),
        ("bounds", {"bounds": (1, 0)}),
        ("bounds", {"bounds": (1, 1)}),
        ("bounds", {"bounds": (0, float("inf"))}),
        ("bounds", {"bounds": (float("nan"), 1)}),
        ("bounds", {"bounds": (0, 2**63)}),
        ("bounds", {"bounds": (0, 1, 2)}),
        ("bounds", {"bounds": 5}),
        ("bounds", {"bounds": ("zero", "one")}),
        ("bounds", {"type": "integer", "bounds": (0, "1.5")}),
        ("step", {"type": "integer", "bounds": (0, 9), "step": 2}),
        ("step", {"bounds": (0, 9), "step": 0}),
        ("step", {"bounds": (0, 9), "step": 10}),
        ("resolution", {"type": "text", "resolution": 1}),
        ("resolution", {"resolution": 1}),
        ("resolution", {"bounds": (0, 9), "resolution": 0}),
        ("resolution", {"bounds": (0, 9), "resolution": -1}),
        ("resolution", {"bounds": (0, 9), "resolution": 10}),
        ("resolution", {"bounds": (0, 1), "resolution": Fraction(1, 2**20 + 1)}),
        ("resolution", {"bounds": (0, 9), "resolution": "fine"}),
        ("categories", {"type": "text", "categories": []}),
        ("categories", {"type": "text", "categories": "ab"}),
        ("categories", {"type": "text", "categories": 5}),
        ("categories", {"type": "text", "categories": ["a", 1]}),
        ("categories", {"type": "text", "categories": ["a", None]}),
        ("categories", {"type": "integer", "categories": [1, True]}),
        ("categories", {"type": "real", "categories": [float("nan")]}),
        ("length", {"type": "text", "length": 0}),
        ("length", {"type": "text", "length": 10**6}),
        ("nullable", {"nullable": "yes"}),
    ],
)
def test_bad_declarations(field: str, declared: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as refused:
        Column(**{"name": "x", "type": "real", **declared})
    assert refused.value.field == field
