import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates.checker.accounting.trigonometry import angle_below, pi_below, pi_interval, turn
from privately.certificates.checker.elementary import OutOfReach
from privately.certificates.checker.intervals import Interval, enclose
from privately.certificates.checker.schema import Invalid
from tests.certificates.checker.building import assert_encloses, mpf, rational

PLACES = 192
angles = st.fractions(-(10**9), 10**9, max_denominator=10**12) | st.fractions(-7, 7) | st.just(0)


@pytest.mark.parametrize("places", [10, 100, 192, 240, 1000])
def test_pi(places: int) -> None:
    found = pi_below(places)
    assert found <= mpmath.ldexp(mpmath.pi, places) < found + 2
    assert_encloses(pi_interval(places), +mpmath.pi, places - 2)


@given(angles, st.integers(0, 2**80))
def test_turns_are_as_near_as_they_say(angle: int, vague: int) -> None:
    exact = enclose(rational(angle), 256)
    low, high = exact.fixed(250)
    for x in (exact, Interval(low - vague, high, -250, 400)):
        cosine, sine, error = turn(x, PLACES)
        found = mpmath.mpc(cosine, sine)
        assert abs(found - mpmath.expj(mpf(angle)) * 2**PLACES) <= error
    assert turn(exact, PLACES)[2] <= 6


def test_where_turns_are_hardest() -> None:
    for multiple in (1, 2, 3, 4, 10**6, 10**11):
        near = int(mpmath.ldexp(multiple * mpmath.pi / 2, 300))
        for shift in (-1, 0, 1, 2**100):
            x = Interval(near + shift, near + shift, -300, 400)
            cosine, sine, error = turn(x, PLACES)
            true = mpmath.expj(mpmath.ldexp(near + shift, -300))
            assert abs(mpmath.mpc(cosine, sine) - true * 2**PLACES) <= error


def test_angles_out_of_reach() -> None:
    with pytest.raises(OutOfReach, match="angles"):
        turn(enclose(rational(2**41), 256), PLACES)
    with pytest.raises(OutOfReach, match="places"):
        turn(enclose(rational("1/3"), 3000), 2000)


@given(st.integers(0, 2**PLACES) | st.integers(0, 2**300) | st.integers(0, 10))
def test_angles_are_below_and_near(tangent: int) -> None:
    found = angle_below(tangent, PLACES)
    true = mpmath.ldexp(mpmath.atan(mpmath.ldexp(tangent, -PLACES)), PLACES)
    assert found <= true
    assert true - found <= 2**20


def test_no_negative_angles() -> None:
    with pytest.raises(Invalid):
        angle_below(-1, PLACES)
