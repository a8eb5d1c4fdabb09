"""Pairs with finitely many outcomes: what sampling makes of them, by their profile."""

import mpmath
import pytest

from privately.certificates.checker.accounting.numbers import near
from privately.certificates.checker.accounting.pairs import Pair, Profile, either, is_below
from privately.certificates.checker.intervals import Interval
from tests.certificates.checker.accounting.knowns import high
from tests.certificates.checker.building import mpf, rational

OUTCOMES = [("4/10", "1/20"), ("3/10", "1/4"), ("1/10", "1/10"), ("3/20", "11/20")]
PAIR = Pair(
    tuple((near(rational(p)), near(rational(q))) for p, q in OUTCOMES), near(rational("1/20")), near(rational("1/20"))
)
LEVELS = ("1/100", "1/3", "9/10", "1", "11/10", "3/2", "5", "30")


def true(alpha: mpmath.mpf) -> mpmath.mpf:
    return mpf("1/20") + mpmath.fsum(max(mpf(p) - alpha * mpf(q), 0) for p, q in OUTCOMES)


def profile(pair: Pair, alpha: str) -> mpmath.mpf:
    return high(Profile(pair).at(near(rational(alpha))))


@pytest.mark.parametrize("alpha", LEVELS)
def test_profiles(alpha: str) -> None:
    assert abs(profile(PAIR, alpha) - true(mpf(alpha))) < 1e-60


@pytest.mark.parametrize("alpha", LEVELS)
def test_samples(alpha: str) -> None:
    """q D((alpha - 1 + q)/q), and w D(alpha q/w); a sample of fixed size has the first above 1, the other below."""
    q, a = mpf("1/5"), mpf(alpha)
    beta, weight = (a - 1 + q) / q, 1 - a * (1 - q)
    removed = q * (true(beta) if beta > 0 else 1 - beta)
    added = weight * true(a * q / weight) if weight > 0 else mpmath.mpf(0)
    rate = rational("1/5")
    assert abs(profile(PAIR.sampled(rate, removes=True), alpha) - removed) < 1e-60
    assert abs(profile(PAIR.sampled(rate, removes=False), alpha) - added) < 1e-60
    assert abs(profile(PAIR.glued(rate), alpha) - (removed if a >= 1 else added)) < 1e-60


def test_outcomes_that_may_be_impossible() -> None:
    """Their ratio is known all the same."""
    perhaps = PAIR._replace(hidden=Interval(0, 1, -300, 256))
    *_, (_, ratio) = perhaps.sampled(rational("1/5"), removes=True).ratios()
    assert abs(high(ratio) - mpf("4/5")) < 1e-60


def test_outcomes_whose_loss_may_be_on_either_side() -> None:
    """Whichever they are on, the profile is at most what is said; in a sample of fixed size they are in the middle."""
    vague = Interval(2, 4, -4, 256), Interval(1, 3, -4, 256)  # from 1/8 to 1/4, and from 1/16 to 3/16
    pair = Pair((vague,), near(rational("1/20")), near(rational("1/20")))
    assert profile(pair, "1") >= mpf("1/20") + mpf("1/4") - mpf("1/16")
    ((first, second),) = pair.glued(rational("1/5")).outcomes
    rest = mpf("1/20") * mpf("4/5")
    assert first is second
    assert high(first) >= rest + mpf("1/4")
    assert mpmath.ldexp(first.low, first.exponent) <= rest + mpf("1/16")


def test_intervals_that_hold_both() -> None:
    one, other = near(rational("1/3")), near(rational("1/2"))
    assert is_below(one, other)
    assert not is_below(one, one)
    hull = either(one, other)
    assert not is_below(one, hull)
    assert not is_below(hull, other)
    assert either(other, one).low <= hull.low
