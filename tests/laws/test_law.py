"""Every law keeps the protocol, is a frozen value, and says how it was computed."""

from dataclasses import FrozenInstanceError, fields
from fractions import Fraction

import pytest

from privately import laws
from privately.laws import (
    DiscreteExponential,
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteLaw,
    Geometric,
    Law,
    RoundedNormal,
)

LAWS: list[Law] = [
    DiscreteLaplace(scale="7/3"),
    DiscreteExponential(scale="7/3"),
    DiscreteGaussian(variance="7/3"),
    RoundedNormal(standard_deviation="7/3"),
    Geometric(success="3/7"),
    FiniteLaw(table={0: "3/7", 1: "4/7"}),
]


def test_all_laws_are_here() -> None:
    assert {type(law).__name__ for law in LAWS} | {"Law"} == set(laws.__all__)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_laws_are_frozen_values(law: Law) -> None:
    (only,) = fields(law)  # type: ignore[arg-type]
    again = type(law)(**{only.name: getattr(law, only.name)})
    assert again == law
    assert hash(again) == hash(law)
    with pytest.raises(FrozenInstanceError):
        setattr(law, only.name, Fraction(1))
    with pytest.raises(TypeError):
        type(law)(getattr(law, only.name))  # type: ignore[call-arg]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_answers_name_their_method(law: Law) -> None:
    assert all(question(1).method for question in (law.pmf, law.cdf, law.tail))
