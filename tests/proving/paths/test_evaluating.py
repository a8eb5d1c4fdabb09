"""Expressions with draws and inputs left open."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving.language.syntax import Apply, Constant, Variable
from privately.proving.paths.affine import Affine, NotAffine, symbol_form
from privately.proving.paths.evaluating import Impossible, Reading, State
from privately.proving.paths.noise import Noise

NOISE = Noise("laplace", Fraction(1))
ABOVE = Apply(">", (Variable("z"), Constant(2)))


def _reading(decided: tuple[int, ...] = ()) -> Reading:
    return Reading(State(0, {"z": symbol_form(0), "x": symbol_form("x")}, {}, noises=(NOISE,)), (), decided)


def test_guards_fall_one_way_and_note_the_other() -> None:
    first = _reading()
    assert first.value(ABOVE) is True
    assert first.others == [(1,)]
    second = _reading((1,))
    assert second.value(ABOVE) is False
    assert second.state.witness.get(0, 0) < 2
    contradiction = Apply("and", (ABOVE, Apply("<", (Variable("z"), Constant(1)))))
    with pytest.raises(Impossible):
        _reading((0, 0)).value(contradiction)


def test_rounding_noise_adds_a_symbol_and_what_is_certain_of_it() -> None:
    reading = _reading()
    found = reading.value(Apply("//", (Variable("z"), Constant(2))))
    assert found == symbol_form(1)
    assert len(reading.state.noises) == 2
    assert [one.relation for one in reading.state.constraints] == [">=", ">"]
    for operands in ((Variable("x"), Constant(2)), (Constant(2), Variable("z"))):
        with pytest.raises(NotAffine):
            _reading().value(Apply("//", operands))
    with pytest.raises(NotSupported, match="zero"):
        _reading().value(Apply("//", (Variable("z"), Constant(0))))
    with pytest.raises(NotAffine):
        _reading().value(Apply("%", (Variable("z"), Constant(2))))


def test_forms_and_unset_names() -> None:
    assert _reading().value(Apply("+", (Variable("z"), Variable("x")))) == Affine(0, {0: 1, "x": 1})
    assert _reading().value(Apply("!=", (Variable("z"), Constant(1)))) is True
    with pytest.raises(NotSupported, match="no value"):
        _reading().value(Variable("w"))
