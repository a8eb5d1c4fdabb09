import mpmath
import pytest

from privately.certificates.checker.accounting.laplace import Laplace
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from tests.certificates.checker.accounting.knowns import high, laplace
from tests.certificates.checker.building import Number, mpf, rational

CASES: list[tuple[Number, Number]] = [(1, 3), ("1/10", 12), (5, "1/7"), (3000, 2), ("1/1000", 100)]
each = pytest.mark.parametrize(("epsilon", "c"), CASES)


@each
def test_the_mass(epsilon: Number, c: Number) -> None:
    found = high(Laplace(rational(epsilon), rational(c)).log_mass())
    exact = mpmath.log(mpmath.re(laplace(epsilon, mpmath.mpc(mpf(c)))))
    assert exact <= found <= exact + mpmath.mpf(10) ** -60


@each
def test_turns_are_as_near_as_they_say(epsilon: Number, c: Number) -> None:
    found = Laplace(rational(epsilon), rational(c)).turns(rational("3/7"), 20, Work())
    whole = mpmath.re(laplace(epsilon, mpmath.mpc(mpf(c))))
    for n, (real, imaginary) in enumerate(found.values, 1):
        exact = laplace(epsilon, mpmath.mpc(mpf(c), n * mpf("3/7"))) / whole
        assert abs(mpmath.mpc(real, imaginary) - exact * 2**192) <= found.constant + n * found.slope
    assert found.constant + found.slope < 2**40


@each
def test_what_remains(epsilon: Number, c: Number) -> None:
    whole = mpmath.re(laplace(epsilon, mpmath.mpc(mpf(c))))
    for w in ("1/10", 2, 50):
        found = high(Laplace(rational(epsilon), rational(c)).remains(rational(w)))
        for factor in (1, 1.01, 1.3, 2, 10, 1000):
            assert abs(laplace(epsilon, mpmath.mpc(mpf(c), mpf(w) * factor))) / whole <= found


def test_too_vague() -> None:
    with pytest.raises(Invalid, match="vague"):
        Laplace(rational(1), rational(1)).turns(rational(1), 2**190, Work(2**300))
