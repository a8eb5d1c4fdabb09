"""The words of a program, when it runs as it stands."""

from fractions import Fraction

import pytest

from privately.errors import InvalidParameter
from privately.proving import primitives


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("discrete_laplace", ("1/2",), int),
        ("discrete_exponential", (2,), int),
        ("geometric", ("1/2",), int),
        ("rounded_gaussian", (1,), int),
        ("discrete_gaussian", (1,), int),
        ("flip", (), int),
        ("flip", (Fraction(1, 3),), int),
        ("flip_exp", (1,), int),
        ("uniform", (3,), int),
        ("uniform", (Fraction(3),), int),
        ("uniform", (True,), int),
        ("flip", (True,), int),
        ("uniform_bits", (3,), list),
        ("uniform_bits", (Fraction(3),), list),
        ("uniform_bits", (0,), list),
        ("laplace", (1,), float),
        ("laplace", (1, 5), float),
        ("gaussian", (1, 5), float),
        ("exponential", (2,), float),
    ],
)
def test_each_draws_once(name: str, arguments: tuple[object, ...], kind: type) -> None:
    assert type(primitives.SAMPLERS[name](*arguments)) is kind


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("discrete_laplace", 0),
        ("laplace", -1),
        ("gaussian", 0),
        ("flip", 2),
        ("flip_exp", -1),
        ("uniform", 0),
        ("flip", "x"),
    ],
)
def test_bad_parameters_are_refused(name: str, argument: object) -> None:
    with pytest.raises(InvalidParameter):
        primitives.SAMPLERS[name](argument)


def test_what_is_said_to_provers() -> None:
    primitives.invariant(1)
    primitives.align(1)
    primitives.assume(1, 1)
    with pytest.raises(InvalidParameter):
        primitives.assume(1, 0)
