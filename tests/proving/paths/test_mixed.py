"""Continuous and discrete noise in one guard."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from flint import arb

from privately.proving.paths import mixed
from privately.proving.paths.affine import Affine, Constraint, symbol_form
from privately.proving.paths.measuring import probability
from privately.proving.paths.noise import Noise
from privately.proving.paths.systems import Entangled

Z = [symbol_form(number) for number in range(4)]
LAPLACE = Noise("laplace", Fraction(2))
EXPONENTIAL = Noise("exponential", Fraction(1))
NORMAL = Noise("gaussian", Fraction(1))
WHOLE = Noise("discrete_laplace", Fraction(1))
COUNT = Noise("geometric", Fraction(1, 2))
FARTHEST = 45

TREES = [
    ([LAPLACE, WHOLE], [Z[0] - Z[1] - 1]),
    ([LAPLACE, WHOLE], [Z[1] - Z[0] + Fraction(1, 3), 2 - Z[0]]),
    ([LAPLACE, WHOLE, EXPONENTIAL], [Z[0] - Z[1], Z[2] - Z[0] - Fraction(1, 2), 3 - Z[2]]),
    ([WHOLE, LAPLACE, COUNT], [Z[0] - Z[1], Z[1] - Z[2] + 2]),
    ([COUNT, NORMAL], [Z[0] - Z[1] - 1, Z[1] + 2]),
    ([COUNT, NORMAL], [Z[0] - Z[1] - 1, Z[1] - Z[0] + 4]),
    ([LAPLACE, WHOLE], [2 * Z[0] - 3 * Z[1], 5 * Z[1] - Z[0] + 4]),
]


def _summed(noises: list[Noise], forms: list[Affine]) -> arb:
    """The same by hand: every value of the discrete draws, and the rest measured for it."""
    whole = [number for number, one in enumerate(noises) if not one.continuous]
    total = arb(0)
    for values in product(range(-FARTHEST, FARTHEST + 1), repeat=len(whole)):
        chance = arb(1)
        for number, value in zip(whole, values, strict=True):
            chance *= probability([noises[number]], [Constraint(symbol_form(0) - value, "==")])
        wanted: list[Constraint] = []
        for form in forms:
            rest = form.constant + sum(form.terms.get(n, 0) * v for n, v in zip(whole, values, strict=True))
            terms = {n: f for n, f in form.terms.items() if n not in whole}
            if terms:
                wanted.append(Constraint(Affine(rest, terms), ">"))
            elif rest <= 0:
                chance = arb(0)
        if not chance.is_zero():
            total += chance * probability(noises, wanted)
    return total


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("noises", "forms"), TREES[:3] + TREES[4:])
def test_mixed_trees_agree_with_sums_over_the_discrete_draws(noises: list[Noise], forms: list[Affine]) -> None:
    found = probability(noises, [Constraint(form, ">") for form in forms])
    assert found.rel_accuracy_bits() >= 48
    assert abs(float(found.mid()) - float(_summed(noises, forms).mid())) < 1e-12


def test_two_discrete_draws_around_a_continuous_one() -> None:
    noises, forms = TREES[3]
    tails = arb(0)
    for above, below in product(range(-30, 31), range(31)):
        both = [Constraint(above - Z[0], ">"), Constraint(Z[0] - below + 2, ">")]
        chance = arb(0.5) ** (below + 1) * (-arb(abs(above))).exp() * (1 - arb(-1).exp()) / (1 + arb(-1).exp())
        tails += chance * probability([LAPLACE], both)
    found = probability(noises, [Constraint(form, ">") for form in forms])
    assert abs(float(found.mid()) - float(tails.mid())) < 1e-8


def test_a_guard_and_its_opposite_are_all_there_is() -> None:
    one, other = (probability([LAPLACE, WHOLE], [Constraint(sign * (Z[0] - 2 * Z[1] + 1), ">")]) for sign in (1, -1))
    assert (one + other).overlaps(arb(1))


def test_what_lies_outside_the_tables_widens_the_ball(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tail in the ball the answer would be too low, and look certain."""
    from privately.proving.paths.systems import parts

    (part,) = parts([Constraint(Z[0] - Z[1], ">")], [LAPLACE, WHOLE])
    found = mixed.probability(part)
    assert found.contains(arb(0.5))
    assert found.rad() > 0


def test_normal_noise_along_a_chain_is_refused() -> None:
    noises = [WHOLE, NORMAL, LAPLACE]
    with pytest.raises(Entangled):
        probability(noises, [Constraint(Z[0] - Z[1], ">"), Constraint(Z[1] - Z[2], ">")])
