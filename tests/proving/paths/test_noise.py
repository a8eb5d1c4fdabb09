"""Draws whose values stay open."""

from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving.paths.affine import NotAffine, symbol_form
from privately.proving.paths.noise import Noise, law_of, noise


def test_a_law_knows_its_support_and_width() -> None:
    assert noise("laplace", (2,)) == Noise("laplace", Fraction(2))
    assert (Noise("exponential", Fraction(1)).one_sided, Noise("laplace", Fraction(1)).one_sided) == (True, False)
    assert (Noise("geometric", Fraction(1, 4)).scale, Noise("discrete_gaussian", Fraction(9)).scale) == (4.0, 3.0)
    assert Noise("gaussian", Fraction(1)).continuous
    assert str(Noise("laplace", Fraction(1, 2))) == "laplace(1/2)"


def test_parameters_out_of_range_are_refused() -> None:
    for law, value in (("laplace", 0), ("gaussian", -1), ("geometric", 2)):
        with pytest.raises(NotSupported):
            noise(law, (value,))
    with pytest.raises(NotSupported):
        noise("laplace", ((1, 2),))
    with pytest.raises(NotAffine):
        noise("laplace", (symbol_form(0),))


def test_draws_are_known_by_their_number() -> None:
    laws = [Noise("laplace", Fraction(1)), Noise("geometric", Fraction(1, 2))]
    assert law_of(1, laws) is laws[1]
    with pytest.raises(ValueError, match="q"):
        law_of("q[0]", laws)
