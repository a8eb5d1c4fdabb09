"""Finite laws."""

from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving.exact.places import Between
from privately.proving.exact.sampling import Finer, NotFinite, outcomes, power_of_e
from privately.proving.exact.weights import ONE, UNKNOWN, Quotient, weight


def test_outcomes() -> None:
    assert outcomes("flip", (Fraction(1, 3),), 1) == [(True, weight(Fraction(1, 3))), (False, weight(Fraction(2, 3)))]
    assert outcomes("flip", (0,), 1) == [(False, ONE)]
    assert [value for value, _ in outcomes("uniform", (3,), 1)] == [0, 1, 2]
    assert [value for value, _ in outcomes("uniform_bits", (1,), 1)] == [(0,), (1,)]
    assert outcomes("flip_exp", (Fraction(1, 2),), 2)[0][1] == Quotient.power(1)
    assert outcomes("flip_exp", (0,), 1) == [(True, ONE)]


def test_a_finer_unit_is_asked_for() -> None:
    with pytest.raises(Finer) as caught:
        power_of_e(Fraction(1, 3), 2)
    assert caught.value.denominator == 6


def test_open_probabilities_must_stay_probabilities() -> None:
    place = Between(Fraction(0), Fraction(1))
    assert len(outcomes("flip", (UNKNOWN,), 1, place)) == 2
    with pytest.raises(NotSupported, match="leaves"):
        outcomes("flip", (UNKNOWN * 2,), 1, place)
    assert outcomes("flip", (UNKNOWN * 2,), 1, Between(Fraction(0), Fraction(1, 2)))
    with pytest.raises(NotSupported, match="open parameter"):
        outcomes("flip_exp", (1,), 1, place)


@pytest.mark.parametrize(
    ("law", "argument"), [("flip", 2), ("flip", -1), ("flip_exp", -1), ("uniform", 0), ("uniform", 10**9)]
)
def test_bad_parameters_are_refused(law: str, argument: int) -> None:
    with pytest.raises(NotSupported):
        outcomes(law, (argument,), 1)


def test_laws_without_end() -> None:
    with pytest.raises(NotFinite):
        outcomes("laplace", (1,), 1)
