from fractions import Fraction

import mpmath
import pytest

from privately.certificates.checker.accounting.pieces import pieces
from privately.certificates.checker.accounting.sampled_normal import Grid
from privately.certificates.checker.accounting.terms import ordered
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from tests.certificates.checker.accounting.knowns import high, laplace, law, sampled_normal
from tests.certificates.checker.building import rational

GRID = Grid(rational("1/8"), -96, 128, rational(2), rational("1/8"))
TERMS = {
    law("sampled normal", 1, "1/10"): 3,
    law("laplace", "1/3"): 2,
    law("response", 1, 2, 0): 4,
    law("range", 1): 1,
    law("normal", 5): 1,
    law("sampled normal", "1/2", "1/5"): 1,
}


def test_the_order_of_witnesses() -> None:
    sampled = [found for found, _ in ordered(TERMS) if found.name == "sampled normal"]
    assert sampled == [law("sampled normal", "1/2", "1/5"), law("sampled normal", 1, "1/10")]


def test_each_law_is_its_own() -> None:
    made = pieces(TERMS, rational(2), rational(1), [GRID, GRID], removes=True, work=Work())
    masses = [(mpmath.exp(high(piece.log_mass())), times) for piece, times in made]
    response = (mpmath.exp(1) * mpmath.exp(2) + mpmath.exp(-2)) / (1 + mpmath.exp(1))
    expected = [
        (mpmath.re(laplace("1/3", mpmath.mpc(2))), 2),
        (response, 1),
        (response, 4),
        (mpmath.re(sampled_normal(Fraction(1, 2), Fraction(1, 5), mpmath.mpc(2), removes=True)), 1),
        (mpmath.re(sampled_normal(Fraction(1), Fraction(1, 10), mpmath.mpc(2), removes=True)), 3),
    ]
    for (mass, times), (true, count) in zip(masses, expected, strict=True):
        assert times == count
        assert abs(mass - true) < 1e-15
    for piece, _ in made:
        assert high(piece.remains(rational(1))) >= 0.5
        assert len(piece.turns(rational(1), 3, Work()).values) == 3


def test_grids_must_match() -> None:
    for grids in ([], [GRID], [GRID] * 3):
        with pytest.raises(Invalid, match="one for each"):
            pieces(TERMS, rational(2), rational(1), grids, removes=True, work=Work())


def test_laws_without_a_pair() -> None:
    for one in (law("concentrated", 1), law("renyi", 2, 1)):
        with pytest.raises(Invalid, match="no pair"):
            pieces({one: 1}, rational(2), rational(1), [], removes=True, work=Work())
