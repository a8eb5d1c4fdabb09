"""Moments in floating point: those of the checker, hardly off."""

import math
from fractions import Fraction

import pytest

from privately.accounting.certifying.laws import Law
from privately.accounting.certifying.moments import Moments, infinite_mass, largest
from privately.accounting.losses import DIRECTIONS, Direction
from privately.accounting.roads import NotApplicable
from privately.certificates.checker.accounting import finite
from privately.certificates.checker.accounting import moments as checker
from privately.certificates.checker.work import Work
from tests.accounting.certifying.twins import checked, enclosing, high, law, rational

SEVERAL = [(law("concentrated", "1/50"), 2), (law("laplace", "1/2"), 1), (law("response", 1, 3, 0), 1)]
FAILING = [(law("response", 1, 2, "1/1000"), 2)]
LAWS = [
    *(one for one, _ in SEVERAL),
    law("range", "1/2"),
    law("renyi", 2, 1, 8, 3),
    law("discrete normal", 3, 2),
    law("discrete laplace", 2, 3),
    law("sampled response", 1, 2, "1/9", "1/5"),
    enclosing("sampled mix", SEVERAL, "1/20"),
    enclosing("sampled mix", FAILING, "1/20"),
    enclosing("glued mix", SEVERAL, "1/20"),
    enclosing("glued mix", FAILING, "1/20"),
    enclosing("group", [(law("sampled normal", "1/4", "1/10"), 1)], 3),
    Law("worst", (), (tuple(SEVERAL), ((law("normal", "1/3"), 1),))),
]
every = pytest.mark.parametrize("one", LAWS, ids=lambda one: one.name)
both = pytest.mark.parametrize("direction", DIRECTIONS)


@every
@both
@pytest.mark.parametrize("c", ["1/2", "3", "9/2"])
def test_moments_are_those_of_the_checker(one: Law, direction: Direction, c: str) -> None:
    found = Moments().of(one, float(Fraction(c)), direction)
    true = checker.Moments(Work()).of(checked(one), rational(Fraction(c)), removes=direction == "remove")
    assert math.isclose(found, high(true), rel_tol=1e-11, abs_tol=1e-15)


@every
@both
def test_infinite_and_largest_losses_are_those_of_the_checker(one: Law, direction: Direction) -> None:
    removes = direction == "remove"
    mass = finite.infinite_mass(checked(one), removes=removes)
    assert infinite_mass(one, direction) == Fraction(mass.numerator, mass.denominator)
    most = largest(one, direction)
    if most is not None:
        assert math.isclose(float(most.upper), high(finite.largest_loss(checked(one), removes=removes)), rel_tol=1e-12)


def test_where_nothing_is_known() -> None:
    assert Moments().of(law("renyi", 2, 1), 2.0, "remove") == math.inf
    assert Moments().of(enclosing("sampled mix", SEVERAL, "1/2"), 400.0, "remove") == math.inf
    with pytest.raises(NotApplicable):
        infinite_mass(enclosing("group", FAILING, 2), "remove")
    assert largest(law("normal", 1), "remove") is None
