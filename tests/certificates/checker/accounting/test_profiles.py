"""Profiles of single laws: enclosed, narrowly, wherever they are asked for."""

import mpmath
import pytest

from privately.certificates.checker.accounting.profiles import profile
from privately.certificates.checker.accounting.terms import Law
from privately.certificates.checker.elementary import exponential
from privately.certificates.checker.intervals import enclose
from privately.certificates.checker.schema import Invalid
from tests.certificates.checker.accounting.knowns import law
from tests.certificates.checker.building import mpf, rational

BITS = 256


def base(of: Law, beta: mpmath.mpf) -> mpmath.mpf:
    """The integral of (P - beta Q)_+ without a sample, beta of any sign."""
    first = mpmath.mpf(of.numbers[0][0]) / of.numbers[0][1]
    match of.name.removeprefix("sampled "):
        case "normal":
            if beta <= 0:
                return 1 - beta
            mu = mpmath.sqrt(first)
            x = mpmath.log(beta) / mu
            near, far = (mpmath.erfc((x + shift) / mpmath.sqrt(2)) / 2 for shift in (-mu / 2, mu / 2))
            return near - beta * far
        case "laplace":
            if beta <= mpmath.exp(-first):
                return 1 - beta
            return max(1 - mpmath.sqrt(beta * mpmath.exp(-first)), mpmath.mpf(0))
    categories, delta = (of.numbers[1][0], mpf("/".join(map(str, of.numbers[2])))) if "response" in of.name else (2, 0)
    t = mpmath.exp(first)
    u = (1 - delta) / (t + categories - 1)
    pairs = [(delta, mpmath.mpf(0)), (t * u, u), *[(u, u)] * (categories - 2), (u, t * u), (mpmath.mpf(0), delta)]
    return mpmath.fsum(max(p - beta * q, 0) for p, q in pairs)


def true_profile(of: Law, alpha: mpmath.mpf, *, removes: bool) -> mpmath.mpf:
    """Straight from the two laws that are compared."""
    if not of.is_sampled:
        return base(of, alpha)
    rate = mpmath.mpf(of.numbers[-1][0]) / of.numbers[-1][1]
    if removes:  # (1 - q) Q + q P - alpha Q
        return rate * base(of, (alpha - 1 + rate) / rate)
    weight = 1 - alpha * (1 - rate)  # P - alpha (1 - q) P - alpha q Q
    return weight * base(of, alpha * rate / weight) if weight > 0 else mpmath.mpf(0)


LAWS = [
    law("normal", "1/4"),
    law("laplace", "3/2"),
    law("range", 1),
    law("response", 1, 4, "1/9"),
    law("sampled normal", 1, "1/100"),
    law("sampled normal", "1/10000", "99/100"),
    law("sampled laplace", 2, "1/5"),
    law("sampled response", 1, 2, 0, "1/3"),
    law("sampled response", 1, 3, "1/9", "1/3"),
]


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("of", LAWS, ids=str)
def test_profiles_are_enclosed(of: Law, *, removes: bool) -> None:
    with mpmath.workprec(400):
        for loss in ("-20", "-3", "-1/2", "-1/100", "0", "1/1000", "1/100", "1/5", "7/5", "3", "30", "300"):
            found = profile(of, exponential(enclose(rational(loss), BITS)), removes=removes)
            low, high = (mpmath.ldexp(end, found.exponent) for end in (found.low, found.high))
            true = true_profile(of, mpmath.exp(mpf(loss)), removes=removes)
            assert low <= true <= high
            assert high - low < mpmath.mpf(2) ** (24 - BITS) * max(true, mpmath.exp(mpf(loss)), 1)


def test_near_the_kinks() -> None:
    """Where an interval cannot be placed on one side of a kink, it is still enclosed."""
    sampled = law("sampled normal", 1, "1/2")
    for loss in (mpmath.log(mpf("1/2")), mpmath.log(2)):
        for bits in (32, 64):
            near = enclose(rational(str(mpmath.nstr(mpmath.exp(loss), 8))), bits)
            for removes in (True, False):
                found = profile(sampled, near, removes=removes)
                true = true_profile(sampled, mpf(mpmath.nstr(mpmath.exp(loss), 8)), removes=removes)
                slack = mpmath.mpf(2) ** -60
                assert mpmath.ldexp(found.low, found.exponent) - slack <= true
                assert true <= mpmath.ldexp(found.high, found.exponent) + slack


def test_other_laws_have_no_profile() -> None:
    for other in (law("concentrated", 1), law("glued response", 1, 2, 0, "1/2"), law("renyi", 2, 1)):
        with pytest.raises(Invalid, match="profile"):
            profile(other, enclose(rational(1), BITS), removes=True)
