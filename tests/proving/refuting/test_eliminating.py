"""Fourier-Motzkin elimination."""

import random
from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving.paths.affine import Affine, Constraint, holds, substituted, symbol_form
from privately.proving.paths.linear import point
from privately.proving.refuting import eliminating
from privately.proving.refuting.eliminating import Contradiction, eliminated

X, Z = symbol_form("x"), symbol_form(0)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_left_is_the_shadow(seed: int) -> None:
    chance = random.Random(seed)
    constraints = []
    for _ in range(5):
        terms = {symbol: chance.randint(-2, 2) for symbol in ("x", "y", 0, 1)}
        kept = {symbol: factor for symbol, factor in terms.items() if factor} or {"x": 1}
        relation = chance.choice([">", ">=", ">", "=="])
        constraints.append(Constraint(Affine(chance.randint(-3, 3), kept), relation))  # type: ignore[arg-type]
    try:
        shadow = eliminated(constraints, [0, 1])
    except Contradiction:
        shadow = None
    for _ in range(25):
        place = {"x": Fraction(chance.randint(-6, 6), 2), "y": Fraction(chance.randint(-6, 6), 2)}
        here = [substituted(one, place) for one in constraints]
        possible = False not in here and point([one for one in here if isinstance(one, Constraint)]) is not None
        inside = shadow is not None and all(
            holds(one.form.constant + sum(f * place[str(s)] for s, f in one.form.terms.items()), one.relation)
            for one in shadow
        )
        assert possible == inside


def test_contradictions_are_told() -> None:
    with pytest.raises(Contradiction):
        eliminated([Constraint(Z - 1, ">"), Constraint(-Z, ">")], [0])
    assert eliminated([Constraint(Z - X, ">")], [0]) == []


def test_explosions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eliminating, "MOST_CONSTRAINTS", 3)
    ups = [Constraint(Z - k * X + symbol_form(f"y{k}"), ">") for k in range(1, 4)]
    with pytest.raises(NotSupported):
        eliminated([*ups, *(Constraint(k * X - Z + symbol_form(f"w{k}"), ">") for k in range(1, 4))], [0])
