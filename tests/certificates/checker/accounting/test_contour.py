"""The sum along the line is above the profile, and near it when well laid."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates.checker.accounting.contour import Line, _normal_turns, _product, _sum, power, profile
from privately.certificates.checker.accounting.numbers import near
from privately.certificates.checker.accounting.pieces import pieces
from privately.certificates.checker.accounting.points import Turns
from privately.certificates.checker.accounting.terms import Terms
from privately.certificates.checker.intervals import Interval, whole
from privately.certificates.checker.rationals import Rational
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from tests.certificates.checker.accounting.knowns import binomial_profile, high, law, normal_profile
from tests.certificates.checker.building import Number, mpf, rational

UNIT = 2**192


def bound(  # noqa: PLR0917 - where the line is laid, as in a witness
    terms: Terms, normal: Number, at: Number, c: Number, step: Number, count: int
) -> mpmath.mpf:
    line = Line(rational(c), rational(step), count)
    work = Work()
    found = pieces(terms, line.c, line.reach, [], removes=True, work=work)
    return high(profile(line, found, rational(normal), rational(at), work))


@pytest.mark.parametrize("step", ["1/4", "1/2", "1", "3/2", "4"])
@pytest.mark.parametrize("count", [5, 20, 60])
@pytest.mark.parametrize("c", ["1/2", "43/10", "20"])
def test_normal_losses(c: str, step: str, count: int) -> None:
    exact = normal_profile(1, "4377/1000")
    found = bound({}, 1, "4377/1000", c, step, count)
    assert found >= exact
    if c == "43/10" and step in {"1/4", "1/2"} and count == 60:
        assert found <= exact * (1 + mpmath.mpf(10) ** -15)


@pytest.mark.parametrize("step", ["1/2", "1", "4"])
@pytest.mark.parametrize("times", [1, 7, 60])
def test_responses_with_some_blur(step: str, times: int) -> None:
    """Below the exact profile it never is, whatever the blur and the step."""
    for at in (0, "1/2", 2):
        exact = binomial_profile("1/3", times, at)
        for blur in ("1/10000", "1/100", 1):
            assert bound({law("response", "1/3", 2, 0): times}, blur, at, 5, step, 200) >= exact


def test_little_blur_is_near() -> None:
    exact = binomial_profile("1/3", 60, 3)
    found = bound({law("response", "1/3", 2, 0): 60}, "1/100", 3, 1, "1/4", 600)
    assert exact <= found <= exact * mpf("101/100")


def test_two_ways_to_say_the_same() -> None:
    """Normal losses as one law, and Laplace losses twice by their own transform or as a product."""
    twice = bound({law("laplace", 1): 2}, "1/100", 1, 3, "1/4", 400)
    apart = bound({law("laplace", 1): 1, law("laplace", "1000000001/1000000000"): 1}, "1/100", 1, 3, "1/4", 400)
    assert twice <= apart <= twice * (1 + mpmath.mpf(10) ** -7)


def test_what_is_beyond_is_added() -> None:
    short, long = (bound({}, 1, 1, 2, "1/4", count) for count in (1, 60))
    assert short > 2 * long


class Known:
    """A law without losses, of which no more is said than this."""

    def __init__(self, constant: int = 0, slope: int = 0, rest: str = "1") -> None:
        self.constant, self.slope, self.rest = constant, slope, rest

    def log_mass(self) -> Interval:
        return whole(0, 256)

    def turns(self, step: Rational, count: int, work: Work) -> Turns:
        return Turns([(UNIT, 0)] * count, self.constant, self.slope)

    def remains(self, frequency: Rational) -> Interval:
        return near(rational(self.rest))

    def bound(self, times: int) -> mpmath.mpf:
        """With a little normal loss, at 1, along the line through 1."""
        line = Line(rational(1), rational("1/4"), 40)
        return high(profile(line, [(self, times)], rational("1/100"), rational(1), Work())) / mpmath.exp(mpf("-99/100"))


@pytest.mark.parametrize(("constant", "slope"), [(2**170, 0), (0, 2**166), (2**170, 2**166)])
@pytest.mark.parametrize("times", [1, 3])
def test_whatever_may_be_off_is_added(constant: int, slope: int, times: int) -> None:
    more = Known(constant, slope).bound(times) - Known().bound(times)
    places = [1 + 1j * n * mpf("1/4") for n in range(1, 41)]
    off = [mpf(constant + n * slope) / UNIT / abs(z * (z + 1)) for n, z in enumerate(places, 1)]
    expected = times * mpf("1/4") / mpmath.pi * mpmath.fsum(off)
    assert expected * (1 - mpf("1e-5")) <= more <= expected * (1 + mpf("1e-2"))


def test_normal_turns_are_as_near_as_they_say() -> None:
    values, errors = _normal_turns(Line(rational(1), rational("1/7"), 60), rational("1/3"))
    with mpmath.workprec(300):
        for n, ((value, _), error) in enumerate(zip(values, errors, strict=True), 1):
            assert abs(value - mpmath.exp(-mpf(n * n) / 294) * UNIT) <= error


def test_vague_angles_are_counted() -> None:
    """The sum is above that of every angle that may be meant; where turns would say nothing, it is refused."""
    line = Line(rational(1), rational("1/4"), 40)
    places, low = [1 + 1j * n * mpf("1/4") for n in range(1, 41)], 3 * 2**79
    for sign in (1, -1):
        found = high(_sum(line, [(sign * UNIT, 0)] * 40, [0] * 40, Interval(low, low + 2**20, -80, 256)))
        for angle in (mpmath.ldexp(low, -80), mpmath.ldexp(low + 2**20, -80)):
            terms = [mpmath.expj(n * angle) / (z * (z + 1)) for n, z in enumerate(places, 1)]
            true = mpf("1/2") + 2 * sign * mpmath.re(mpmath.fsum(terms))
            assert true <= found <= true + 1e-14
    with pytest.raises(Invalid, match="vague"):
        _sum(line, [(UNIT, 0)] * 40, [0] * 40, Interval(3, 4, -4, 256))


def test_what_remains_is_counted_as_often_as_the_law() -> None:
    for times in (1, 3):
        less = Known().bound(times) - Known(rest="1/2").bound(times)
        beyond = mpmath.exp(mpf("-1/2")) / (10 * mpmath.pi)  # normal losses fall to this, at frequency 10
        assert abs(less - beyond * (1 - mpf("1/2") ** times)) < 1e-20
    assert Known(rest="2").bound(3) == Known().bound(3)


complexes = st.tuples(st.floats(0, 1), st.floats(0, 7))


@given(complexes, st.integers(0, 2**100), st.integers(1, 10**6))
def test_powers_are_as_near_as_they_say(polar: tuple[float, float], off: int, times: int) -> None:
    exact = polar[0] * mpmath.expj(polar[1])
    value = int(mpmath.re(exact) * UNIT) + off, int(mpmath.im(exact) * UNIT)
    (real, imaginary), error = power(value, off + 2, times)
    assert abs(mpmath.mpc(real, imaginary) - exact**times * UNIT) <= error
    assert error <= 4 * times * (off + 10)


def test_products_are_as_near_as_they_say() -> None:
    """Of two numbers that are 1 and were taken for 5/4; and of what is not known at all."""
    (value, _), error = _product((5 * UNIT // 4, 0), UNIT // 4, (5 * UNIT // 4, 0), UNIT // 4)
    assert abs(value - UNIT) <= error < UNIT
    assert _product((UNIT, 0), UNIT // 2, (UNIT, 0), UNIT // 2) == ((0, 0), UNIT)


def test_powers_of_what_is_not_known() -> None:
    assert power((UNIT, 0), UNIT, 3) == ((0, 0), UNIT)
    assert power((UNIT, 0), UNIT // 2, 10**6)[1] == UNIT


def test_too_vague() -> None:
    with pytest.raises(Invalid, match="work"):
        bound({law("laplace", 1): 1}, 1, 1, 2, Fraction(1, 4), 10**8)
