"""Constraints taken apart."""

import random
from fractions import Fraction

import pytest

from privately.proving.paths.affine import Affine, Constraint, holds, symbol_form
from privately.proving.paths.noise import Noise
from privately.proving.paths.systems import Entangled, impossible, parts, plain_parts, without_implied

Z = [symbol_form(number) for number in range(5)]
LAPLACE, EXPONENTIAL, WHOLE = (
    Noise("laplace", Fraction(1)),
    Noise("exponential", Fraction(1)),
    Noise("discrete_laplace", Fraction(1)),
)


@pytest.mark.parametrize("seed", range(60))
def test_impossible_means_never_drawn(seed: int) -> None:
    chance = random.Random(seed)
    noises = [chance.choice([LAPLACE, EXPONENTIAL, WHOLE]) for _ in range(3)]
    constraints = [
        Constraint(
            Affine(chance.randint(-3, 3), {chance.randrange(3): chance.choice([-1, 1]), chance.randrange(3): 2}), ">"
        )
        for _ in range(4)
    ]
    never = impossible(constraints, noises)
    drawn = [
        [chance.randint(0 if one.one_sided else -12, 12) + (0 if one is WHOLE else 0.37) for one in noises]
        for _ in range(400)
    ]
    met = any(
        all(
            holds(Fraction(one.form.constant + sum(f * Fraction(z[int(s)]) for s, f in one.form.terms.items())), ">")
            for one in constraints
        )
        for z in drawn
    )
    assert not (never and met)


def test_single_points_of_continuous_noise_are_impossible() -> None:
    assert impossible([Constraint(Z[0] - 1, "==")], [LAPLACE])
    assert not impossible([Constraint(Z[0] - 1, "==")], [WHOLE])
    assert impossible([Constraint(Z[0] - 1, ">="), Constraint(1 - Z[0], ">=")], [LAPLACE])
    assert impossible([Constraint(-Z[0], ">=")], [EXPONENTIAL])


def test_draws_that_occur_as_a_sum_are_one_variable() -> None:
    constraints = [Constraint(Z[0] + Z[1] + Z[2] - Z[3], ">"), Constraint(Z[3] - 1, ">")]
    (part,) = parts(constraints, [LAPLACE] * 4)
    assert sorted(len(shares) for shares in part.shares.values()) == [1, 3]


def test_parts_share_nothing() -> None:
    found = parts([Constraint(Z[0] - Z[1], ">"), Constraint(Z[2] - 1, ">")], [LAPLACE] * 3)
    assert sorted(sum(map(len, part.shares.values())) for part in found) == [1, 2]


def test_circles_are_opened_if_a_side_follows_from_the_others() -> None:
    chain = [Constraint(Z[0] - Z[1], ">"), Constraint(Z[1] - Z[2], ">"), Constraint(Z[0] - Z[2], ">")]
    assert len(without_implied(chain)) == 2
    assert len(parts(chain, [LAPLACE] * 3)) == 1
    circle = [Constraint(Z[0] - Z[1] + 1, ">"), Constraint(Z[1] - Z[2] + 1, ">"), Constraint(Z[2] - Z[0] + 1, ">")]
    with pytest.raises(Entangled):
        parts(circle, [LAPLACE] * 3)
    with pytest.raises(Entangled):
        plain_parts(chain, [LAPLACE] * 3)


def test_trees_hang_from_any_variable() -> None:
    (part,) = parts([Constraint(Z[0] - Z[1], ">"), Constraint(Z[1] - Z[2] + 3, ">")], [LAPLACE] * 3)
    for root in part.shares:
        assert len(list(part.rooted(root).nodes())) == 3
    assert part.rooted(1).continuous
    assert part.rooted(1).laws == {"laplace"}
