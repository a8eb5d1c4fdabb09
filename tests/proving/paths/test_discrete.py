"""Trees of discrete noise."""

from fractions import Fraction
from itertools import product
from math import exp

import pytest
from flint import arb, ctx

from privately.proving.paths import densities
from privately.proving.paths.affine import Affine, Constraint, Relation, holds, symbol_form
from privately.proving.paths.discrete import probability
from privately.proving.paths.noise import Noise
from privately.proving.paths.systems import parts

Z = [symbol_form(number) for number in range(3)]


def mass(noise: Noise, k: int) -> float:
    if noise.law == "geometric":
        return float(noise.parameter * (1 - noise.parameter) ** k) if k >= 0 else 0.0
    ratio = exp(-1 / noise.parameter)
    return (1 - ratio) / (1 + ratio) * ratio ** abs(k)


@pytest.mark.parametrize("relation", [">", ">=", "=="])
@pytest.mark.parametrize("factor", [Fraction(1), Fraction(-1), Fraction(2), Fraction(1, 2)])
def test_trees_agree_with_summing_over_all_draws(relation: Relation, factor: Fraction) -> None:
    noises = [
        Noise("discrete_laplace", Fraction(1, 4)),
        Noise("geometric", Fraction(15, 16)),
        Noise("discrete_laplace", Fraction(1, 3)),
    ]
    constraints = [
        Constraint(Affine(1, {0: 1, 1: factor}), relation),
        Constraint(Z[1] - Z[2] + Fraction(1, 2), ">"),
        Constraint(3 - Z[1], ">="),
    ]
    with ctx.workprec(80):
        found = arb(1)
        for part in parts(constraints, noises):
            found *= probability(part)
    masses = [{k: mass(noise, k) for k in range(-9, 10)} for noise in noises]
    wanted = sum(
        masses[0][z[0]] * masses[1][z[1]] * masses[2][z[2]]
        for z in product(range(-9, 10), range(10), range(-9, 10))
        if all(
            holds(one.form.constant + sum(f * z[int(s)] for s, f in one.form.terms.items()), one.relation)
            for one in constraints
        )
    )
    assert float(found.mid()) == pytest.approx(wanted, rel=1e-8)


def test_precision_is_what_was_asked_for() -> None:
    with ctx.workprec(400):
        (part,) = parts([Constraint(Z[0] - Z[1] - 3, ">=")], [Noise("discrete_laplace", Fraction(1))] * 2)
        assert probability(part).rel_accuracy_bits() > 380


@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_exponential", "rounded_gaussian", "discrete_gaussian"])
def test_what_is_cut_off_is_inside_the_ball(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    constraints = [Constraint(Z[1] - Z[0] + 1, ">="), Constraint(2 - Z[0], ">=")]
    noises = [Noise("discrete_laplace", Fraction(1, 20)), Noise(law, Fraction(2))]
    with ctx.workprec(80):
        fine = probability(parts(constraints, noises)[0])
        monkeypatch.setattr(densities, "_reach", lambda _: 3)
        monkeypatch.setattr(densities, "_table", densities._table.__wrapped__)
        coarse = probability(parts(constraints, noises)[0])
    assert coarse.contains(fine.mid())
    assert coarse.rad() > 1e-3


def test_nothing_is_left_between_whole_numbers() -> None:
    between = [Constraint(Z[0] - Fraction(1, 3), ">"), Constraint(Fraction(2, 3) - Z[0], ">")]
    with ctx.workprec(60):
        assert probability(parts(between, [Noise("geometric", Fraction(1, 2))])[0]) < 1e-17
