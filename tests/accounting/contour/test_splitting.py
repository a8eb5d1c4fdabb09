"""Where laws are split, and how probable jumps are."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import acb, arb

from privately.accounting.contour.split import Law
from privately.accounting.contour.split_points import Split
from privately.accounting.contour.splitting import divided, is_split, jump_mass, may_jump, split_where
from privately.accounting.losses import SampledGaussianLoss
from tests.accounting.contour.exact_transforms import precision

LAWS = [
    Law(0.5, 1e-3, Split(5.0, 7.0)),
    Law(1.5, 1e-6, Split(8.0, 11.25)),
    Law(2.25, 0.1, Split(6.0, 2.0)),
    Law(0.125, 0.5, Split(3.0, 16.0)),
]


def true_mass(law: Law) -> arb:
    """The mean of 1 - g under the mixture, with many digits."""
    at, k, mu = arb(law.split.at), arb(law.split.steepness), arb(law.mu)

    def density(x: acb, _: bool) -> acb:
        both = (-x * x / 2).exp() * (1 - arb(law.rate)) + (-(x - mu) * (x - mu) / 2).exp() * arb(law.rate)
        return both / (2 * arb.pi()).sqrt() * (1 - (-(k * (x - at)).exp()).exp())

    return acb.integral(density, -30, law.split.at + 20).real


@pytest.mark.parametrize("law", LAWS)
def test_what_is_left_out(law: Law) -> None:
    with precision(200):
        truth = true_mass(law)
        found = arb(jump_mass(law))
        assert truth <= found <= 2 * truth


def test_the_split_is_where_it_should_be() -> None:
    law = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 100), direction="remove")
    split = split_where(law, 1e-12).split
    chance = (0.01 * math.erfc((split.at - 1) / math.sqrt(2)) + 0.99 * math.erfc(split.at / math.sqrt(2))) / 2
    assert 0.8e-12 < chance < 1.25e-12


def test_which_laws_are_split() -> None:
    often = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 100), direction="remove")
    rare = replace(often, rate=Fraction(1, 10**6))
    add = replace(rare, direction="add")
    assert [is_split(law, 5) for law in (often, rare, add)] == [False, True, False]
    assert [is_split(law, 500) for law in (often, rare, add)] == [True, True, False]
    assert [may_jump(law) for law in (often, rare, add)] == [True, True, False]


def test_seldom_sampled_steps_count_together() -> None:
    often = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 10), direction="remove")
    seldom = [replace(often, rate=Fraction(1, 1000 + place)) for place in range(70)]
    added = [replace(law, direction="add") for law in seldom]
    many, few = [(law, 1) for law in seldom], [(law, 1) for law in seldom[:60]]
    assert divided([(often, 5), *many]) == (many, [(often, 5)])
    assert divided([(often, 5), *few]) == ([], [(often, 5), *few])
    assert divided([(law, 1) for law in added])[0] == []
    assert divided([(often, 500), *few]) == ([(often, 500)], few)
