"""Profiles of single laws: enclosed, narrowly, wherever they are asked for."""

from fractions import Fraction

import mpmath
import pytest

from privately.certificates.checker.accounting.profiles import profile
from privately.certificates.checker.accounting.terms import Law
from privately.certificates.checker.elementary import exponential
from privately.certificates.checker.intervals import Interval, enclose
from privately.certificates.checker.schema import Invalid
from tests.certificates.checker.accounting.knowns import law
from tests.certificates.checker.building import mpf, rational

BITS = 256


def base(of: Law, beta: mpmath.mpf) -> mpmath.mpf:
    """The integral of (P - beta Q)_+ without a sample, beta of any sign."""
    first = mpmath.mpf(of.numbers[0][0]) / of.numbers[0][1]
    match of.name.removeprefix("sampled ").removeprefix("glued "):
        case "range":
            return mpmath.mpf(max(1 - beta, 0)) if beta <= 0 else bounded_range(first, beta)
        case "discrete normal" | "discrete laplace" as name:
            return discrete(name, first, of.numbers[1][0], beta)
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
    categories, delta = of.numbers[1][0], mpf("/".join(map(str, of.numbers[2])))
    t = mpmath.exp(first)
    u = (1 - delta) / (t + categories - 1)
    pairs = [(delta, mpmath.mpf(0)), (t * u, u), *[(u, u)] * (categories - 2), (u, t * u), (mpmath.mpf(0), delta)]
    return mpmath.fsum(max(p - beta * q, 0) for p, q in pairs)


def bounded_range(width: mpmath.mpf, beta: mpmath.mpf) -> mpmath.mpf:
    """The largest over pairs of two outcomes, s and 1 - s under Q, of which one is e^width times as likely."""
    top = mpmath.exp(width)
    if beta >= top:
        return mpmath.mpf(0)
    if beta <= 1 / top:
        return 1 - beta
    share = (mpmath.sqrt(top / beta) - 1) / (top - 1)  # where s (e^width/r - beta), r = 1 - s + s e^width, is largest
    ratio = 1 - share + share * top
    return share * (top / ratio - beta)


def discrete(name: str, size: mpmath.mpf, sensitivity: int, beta: mpmath.mpf) -> mpmath.mpf:
    """The sum over integers."""
    if beta <= 0:
        return 1 - beta
    reach = int(60 * size + 30) if name == "discrete laplace" else int(30 * mpmath.sqrt(size) + 10)

    def weight(k: int) -> mpmath.mpf:
        return mpmath.exp(-abs(k) / size if name == "discrete laplace" else -k * k / (2 * size))

    total = mpmath.fsum(weight(k) for k in range(-reach, reach + 1))
    if name == "discrete laplace":
        total = (1 + mpmath.exp(-1 / size)) / (1 - mpmath.exp(-1 / size))
    ends = range(-reach, reach + sensitivity + 1)
    return mpmath.fsum(max(weight(k - sensitivity) - beta * weight(k), 0) for k in ends) / total


def true_profile(of: Law, alpha: mpmath.mpf, *, removes: bool) -> mpmath.mpf:
    """Straight from the two laws that are compared."""
    if of.name.startswith("glued"):
        removes = alpha >= 1
    elif not of.is_sampled:
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
    law("sampled range", 1, "1/3"),
    law("glued normal", 1, "1/10"),
    law("glued response", 1, 2, "1/9", "1/3"),
]
DISCRETE = [
    law("discrete normal", 2, 1),
    law("discrete normal", "1/3", 2),
    law("discrete laplace", 2, 3),
    law("sampled discrete normal", 2, 3, "1/10"),
    law("sampled discrete laplace", "1/2", 2, "1/10"),
    law("glued discrete laplace", 1, 2, "1/10"),
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


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("of", DISCRETE, ids=str)
def test_profiles_of_discrete_noise(of: Law, *, removes: bool) -> None:
    """From above, and to 1e-25; the sums over integers end where nothing is left."""
    with mpmath.workprec(200):
        for loss in ("-3", "-1/100", "0", "1/100", "1/4", "7/5", "3"):
            found = profile(of, exponential(enclose(rational(loss), BITS)), removes=removes)
            true = true_profile(of, mpmath.exp(mpf(loss)), removes=removes)
            low, high = (mpmath.ldexp(end, found.exponent) for end in (found.low, found.high))
            assert low - mpmath.mpf(10) ** -25 <= true <= high + mpmath.mpf(10) ** -25
            assert high - low < mpmath.mpf(10) ** -60


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


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("of", LAWS, ids=str)
def test_vague_ratios_have_profiles_that_hold_all_of_theirs(of: Law, *, removes: bool) -> None:
    stays = 1 - Fraction(*of.numbers[-1]) if of.name.startswith(("sampled", "glued")) else Fraction(1, 2)
    for place in (1, stays, 1 / stays):
        ratios = [int(place * 2**20) + off for off in (-64, 0, 64)]
        found = profile(of, Interval(ratios[0], ratios[-1], -20, BITS), removes=removes)
        low, high = (mpmath.ldexp(end, found.exponent) for end in (found.low, found.high))
        for ratio in ratios:
            assert low <= true_profile(of, mpmath.ldexp(ratio, -20), removes=removes) <= high


def test_other_laws_have_no_profile() -> None:
    for other in (law("concentrated", 1), law("sampled mix", "1/2"), law("renyi", 2, 1)):
        with pytest.raises(Invalid, match="profile"):
            profile(other, enclose(rational(1), BITS), removes=True)
