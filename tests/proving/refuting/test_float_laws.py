"""Laws in floats agree with balls."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from privately.proving.paths.affine import Affine, Constraint, Symbol
from privately.proving.paths.densities import Share
from privately.proving.paths.measuring import probability
from privately.proving.paths.noise import Noise
from privately.proving.refuting.float_laws import float_law

ONE = Fraction(1)
SUMS: list[tuple[Share, ...]] = [
    ((ONE, Noise("laplace", Fraction(2))),),
    ((ONE, Noise("exponential", Fraction(2))),),
    ((ONE, Noise("gaussian", Fraction(3))),),
    ((ONE, Noise("laplace", Fraction(2))), (-ONE, Noise("exponential", Fraction(1)))),
    ((ONE, Noise("discrete_laplace", Fraction(2))),),
    ((ONE, Noise("discrete_laplace", Fraction(1))), (Fraction(2), Noise("geometric", Fraction(1, 2)))),
]


@pytest.mark.parametrize("shares", SUMS, ids=str)
def test_laws_agree_with_balls(shares: tuple[Share, ...]) -> None:
    law = float_law(shares)
    terms: dict[Symbol, Fraction] = {number: factor for number, (factor, _) in enumerate(shares)}
    noises = [noise for _, noise in shares]
    places = np.array([-4.0, -1.0, 0.0, 2.0, 7.0])
    for place, above, below in zip(places, law.upper(places), law.lower(places), strict=True):
        exact = probability(noises, [Constraint(Affine(-Fraction(place), terms), ">")])
        assert above == pytest.approx(float(exact.mid()), rel=1e-6, abs=1e-12)
        assert above + below == pytest.approx(1)
    for (low, high), inside in zip(pairwise(places), law.between(places[:-1], places[1:]), strict=True):
        assert inside == pytest.approx(float(law.lower(np.array([high]))[0] - law.lower(np.array([low]))[0]), abs=1e-6)


@pytest.mark.parametrize("shares", SUMS, ids=str)
def test_grids_hold_nearly_all_of_it(shares: tuple[Share, ...]) -> None:
    law = float_law(shares)
    grid, masses = law.grid(np.array([-1e9, 0.0]), np.array([1e9, 5.0]))
    assert masses.sum(axis=1) == pytest.approx([1, float(law.between(np.array([0.0]), np.array([5.0]))[0])], abs=1e-6)
    assert (grid[1][masses[1] > 0] > 0).all()
