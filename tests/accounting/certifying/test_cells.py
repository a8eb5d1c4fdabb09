"""Choices for the checker's lattice: right profiles, and an epsilon that it will show."""

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.certifying.cells import Lattice, by_cells
from privately.accounting.certifying.laws import Law
from privately.accounting.losses import DIRECTIONS, Direction
from privately.accounting.roads import NotApplicable
from privately.certificates.checker.accounting import terms
from privately.certificates.checker.accounting.methods import Question, answer, read_witness
from privately.certificates.checker.accounting.profiles import profile
from privately.certificates.checker.elementary import exponential
from privately.certificates.checker.intervals import enclose
from privately.certificates.checker.rationals import Rational
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work

LAWS = [
    Law("normal", (Fraction(1, 4),)),
    Law("laplace", (Fraction(3, 2),)),
    Law("range", (Fraction(1, 2),)),
    Law("response", (Fraction(1), Fraction(3), Fraction(1, 100))),
    Law("sampled normal", (Fraction(1), Fraction(1, 100))),
    Law("sampled laplace", (Fraction(2), Fraction(1, 5))),
    Law("sampled response", (Fraction(1), Fraction(2), Fraction(0), Fraction(1, 3))),
]
every_law = pytest.mark.parametrize("law", LAWS, ids=str)
both = pytest.mark.parametrize("direction", DIRECTIONS)


def rational(value: Fraction) -> Rational:
    return Rational(value.numerator, value.denominator)


def checked(law: Law) -> terms.Law:
    return terms.make_law(law.name, *map(rational, law.numbers))


@every_law
@both
def test_profiles_are_those_of_the_checker(law: Law, direction: Direction) -> None:
    losses = np.array([-3.0, -0.25, -0.015625, 0.0, 0.0078125, 0.5, 2.5])
    found = law.profile(losses, direction)
    below = law.below(losses, direction)
    for loss, here, rest in zip(losses.tolist(), found.tolist(), below.tolist(), strict=True):
        true = profile(checked(law), exponential(enclose(rational(Fraction(loss)), 256)), removes=direction == "remove")
        value = float(Fraction(true.high) * Fraction(2) ** true.exponent)
        assert math.isclose(here, value, rel_tol=1e-9, abs_tol=1e-15)
        if loss <= 0:
            assert math.isclose(rest, value + math.expm1(loss), rel_tol=1e-6, abs_tol=1e-14)


@every_law
@both
def test_lines_keep_both_masses(law: Law, direction: Direction) -> None:
    losses = np.arange(-400, 401) / 20
    masses, left, beyond = law.masses(losses, direction)
    assert math.isclose(float(masses.sum()) + float(left[-1]), 1, rel_tol=1e-9)
    assert float((masses * np.exp(-losses[:-1])).sum()) + float(beyond[-1]) <= 1 + 1e-9
    assert (masses > -1e-12).all()


@pytest.mark.thinned(2)
@every_law
@both
def test_an_epsilon_that_is_shown(law: Law, direction: Direction) -> None:
    """It is accepted, and a slightly smaller one is not: nothing is given away beside the width of the cells."""
    delta = Fraction(1, 10) if law.name == "response" else Fraction(1, 10**4 if direction == "add" else 10**6)
    found = by_cells([(law, 3)], direction, delta, 50.0)
    witness = read_witness(found.witness(), "witness")

    def ask(epsilon: float) -> None:
        claim = rational(Fraction(epsilon)), rational(delta)
        answer(Question({checked(law): 3}, *claim, removes=direction == "remove", work=Work()), witness)

    ask(found.epsilon)
    with pytest.raises(Invalid):
        ask(found.epsilon * 0.999)


def test_several_laws() -> None:
    laws = sorted([(LAWS[1], 2), (LAWS[4], 3), (LAWS[0], 1)])
    found = by_cells(laws, "remove", Fraction(1, 10**6), 100.0)
    listed = {checked(law): times for law, times in laws}
    claim = rational(Fraction(found.epsilon)), rational(Fraction(1, 10**6))
    answer(Question(listed, *claim, removes=True, work=Work()), read_witness(found.witness(), "witness"))
    assert found.epsilon < 8


def test_enough_is_enough() -> None:
    fine = by_cells([(LAWS[4], 20)], "add", Fraction(1, 10**6), 1.0)
    coarse = by_cells([(LAWS[4], 20)], "add", Fraction(1, 10**6), 1.0, enough=2 * fine.epsilon)
    assert fine.epsilon <= coarse.epsilon <= 2 * fine.epsilon
    assert coarse.longest < fine.longest


def test_out_of_reach() -> None:
    law = LAWS[4]
    for times, delta, highest in ((10**5, "1e-6", 1.0), (2, "1e-80", 1.0), (2, "1e-6", 0.0), (2, "0", 1.0)):
        with pytest.raises(NotApplicable):
            by_cells([(law, times)], "remove", Fraction(delta), highest)
    with pytest.raises(NotApplicable):
        Lattice(1e-9, 1.0, 1e-6, 1, "remove").laid(LAWS[0], -1, -1)


def test_the_bottom_has_little_below() -> None:
    for law in LAWS:
        for direction in DIRECTIONS:
            if law.name == "response":
                continue
            bottom = law.bottom(1e-12, direction)
            assert float(law.below(np.array([bottom]), direction)[0]) <= 1e-12
