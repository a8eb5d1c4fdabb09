from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from privately.certificates.checker.elementary import OutOfReach
from privately.certificates.checker.intervals import enclose
from privately.certificates.checker.normal import central_mass, density, normal_tail
from tests.certificates.checker.building import assert_encloses, mpf, rational

BITS = st.sampled_from([64, 128, 256, 512])


def mp_tail(x: Fraction) -> mpmath.mpf:
    return mpmath.erfc(mpf(x) / mpmath.sqrt(2)) / 2


@given(st.fractions(-60, 60, max_denominator=10**30), BITS)
def test_tail(x: Fraction, bits: int) -> None:
    assert_encloses(normal_tail(rational(x), bits), mp_tail(x), bits - 2)


@pytest.mark.parametrize("x", ["0", "1/10", "5.656", "5.657", "11.3", "11.4", "37.5", "70"])
@pytest.mark.parametrize("bits", [128, 512, 1024])
def test_tail_on_both_sides_of_the_change_of_method(x: str, bits: int) -> None:
    assert_encloses(normal_tail(rational(x), bits), mp_tail(Fraction(x)), bits - 2)


def test_tail_at_the_edge_of_reach() -> None:
    x = Fraction(1414, 10)
    # mpmath's erfc does not come back from here; Mills' ratio is between x/(x^2+1) and 1/x.
    found = normal_tail(rational(x), 128)
    mill = mpmath.ldexp(found.low, found.exponent) / mpmath.npdf(mpf(x))
    assert mpf(x) / (mpf(x) ** 2 + 1) < mill < 1 / mpf(x)
    with pytest.raises(OutOfReach):
        normal_tail(rational("141.5"), 128)
    with pytest.raises(OutOfReach):
        normal_tail(rational(-(10**9)), 128)


tiny = st.builds(lambda a, k: a / Fraction(10) ** k, st.fractions(0, 1, max_denominator=10**20), st.integers(0, 300))


@given(st.fractions(0, 8, max_denominator=10**30) | tiny, BITS)
def test_central_mass(x: Fraction, bits: int) -> None:
    assume(x > 0)
    assert_encloses(central_mass(enclose(rational(x), bits + 16)), mpmath.erf(mpf(x) / mpmath.sqrt(2)) / 2, bits)


@given(st.fractions(-100, 100, max_denominator=10**30), BITS)
def test_density(x: Fraction, bits: int) -> None:
    assert_encloses(density(enclose(rational(x), bits + 24)), mpmath.npdf(mpf(x)), bits)
