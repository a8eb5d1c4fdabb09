"""Where a number holds for certain, beginning at a guess."""

from fractions import Fraction

import pytest

from privately.accounting.lattice.places import Guess, Place, checked


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("doubt", [0.0, 1e-6, 0.5])
def test_what_is_checked_holds_and_is_near(doubt: float, sign: int) -> None:
    truth = Fraction(2)
    place = Place(epsilon=float(truth) - sign * doubt / 100, fall=1.0, doubt=doubt)
    found = checked(lambda epsilon: sign * (epsilon - truth) >= 0, place, 1e-9, sign)
    assert found is not None
    assert 0 <= sign * (found - truth) <= 2 * doubt + 1e-8


def test_no_place_is_below_zero_and_none_is_made_up() -> None:
    near = Place(epsilon=1e-12, fall=1.0, doubt=0.1)
    assert checked(lambda _: True, near, 1e-9, 1) == checked(lambda _: False, near, 1e-9, -1) == 0
    assert checked(lambda _: False, near, 1e-9, 1) is None


def test_a_contour_serves_guesses_near_its_own() -> None:
    guess = Guess(epsilon=1.0, log_delta=-10.0)
    assert not Guess(1.01, -10.2).is_far_from(guess)
    assert Guess(1.1, -10.0).is_far_from(guess)
    assert Guess(1.0, -11.0).is_far_from(guess)
