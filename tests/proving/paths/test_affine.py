"""Affine forms."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving.paths.affine import (
    Affine,
    Constraint,
    NotAffine,
    constant_of,
    form,
    holds,
    substituted,
    symbol_form,
    terms_of,
)

X, Z = symbol_form("x"), symbol_form(0)


def test_forms_add_and_scale_exactly() -> None:
    total = 2 * (X + Z) - X / 3 + 1
    assert total == Affine(1, {"x": Fraction(5, 3), 0: 2})
    assert Affine(1, {"x": -1}) == 1 - X
    assert X - X == 0
    assert str(X + 3) == "3 + x"


def test_what_is_not_affine_is_refused() -> None:
    wrongs: list[Callable[[], object]] = [
        lambda: X * Z,
        lambda: X / Z,
        lambda: 1 / X,
        lambda: X**2,
        X.__floor__,
    ]
    for wrong in wrongs:
        with pytest.raises(NotAffine):
            wrong()
    assert X**1 == X
    assert X**0 == 1


def test_a_form_without_symbols_is_a_number() -> None:
    assert form(Fraction(4, 2), {"x": 0}) == 2
    assert isinstance(form(2, {}), int)
    assert constant_of(3) == 3
    assert not terms_of(3)


def test_constraints_at_inputs_are_decided_or_speak_of_noise() -> None:
    guard = Constraint(X - Z, ">")
    assert substituted(guard, {"x": 2}) == Constraint(2 - Z, ">")
    assert substituted(Constraint(X - 2, ">="), {"x": Fraction(2)}) is True
    assert substituted(Constraint(X - 2, ">"), {"x": Fraction(2)}) is False


def test_the_opposite_of_an_equality_is_refused() -> None:
    assert Constraint(X, ">").negated() == Constraint(-X, ">=")
    with pytest.raises(NotSupported):
        Constraint(X, "==").negated()


def test_relations() -> None:
    assert [holds(0, one) for one in (">", ">=", "==")] == [False, True, True]
