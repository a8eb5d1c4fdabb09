"""Binomial tails and profiles of two losses, against integrals by mpmath that share nothing with them."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp

from privately.accounting.closed_forms import binomials
from privately.accounting.closed_forms.binomials import TwoLosses, in_the_middle, tail
from privately.accounting.losses import response
from privately.rounding import Enclosure
from tests.accounting.closed_forms.true_profiles import exact, real

DELTAS = [Fraction(d) for d in ("0.9", "0.3", "1e-5", "1e-100")]


def true_tail(times: int, k: int, p: Any) -> Any:
    """The incomplete beta integral: over s in units of its own spread around the top, at most up to p."""
    if k <= 0 or k > times:
        return mp.mpf(k <= 0)
    a, b = mp.mpf(k), mp.mpf(times - k + 1)
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    centre, spread = a / (a + b), mp.sqrt(a * b / (a + b) ** 3)
    top = min(p, centre)
    step = spread / (1 + max(centre - p, 0) / spread)
    ends = [max(top - n * n * step / 4, mp.mpf(0)) for n in range(26, 0, -1)] + [top]
    if p > centre:
        ends += [min(centre + n * n * spread / 4, p) for n in range(1, 15)]
    if ends[-1] != p:
        ends.append(p)
    ends = [end for end, _ in itertools.groupby(ends)]

    def log_density(t: Any) -> Any:
        return (a - 1) * mp.log(t) + (b - 1) * mp.log1p(-t) - log_beta

    peak = log_density(top)  # quad stops at an absolute error
    return mp.exp(peak) * mp.quad(lambda t: mp.exp(log_density(t) - peak) if t else 0, ends)


def summed_tail(times: int, k: int, p: Any) -> Any:
    term = mp.binomial(times, k) * p**k * (1 - p) ** (times - k)
    total = term
    for j in range(k, times):
        term *= (times - j) * p / ((j + 1) * (1 - p))
        total += term
    return total


def true_delta(epsilon: Fraction, times: int, at: Fraction) -> Any:
    """Of binary randomized response: the best half-line, from both tails."""
    k = math.floor((at / epsilon + times) / 2) + 1
    p = 1 / (1 + mp.exp(-real(epsilon)))
    return true_tail(times, k, p) - mp.exp(real(at)) * true_tail(times, k, 1 - p)


def two(epsilon: Fraction, times: int) -> TwoLosses:
    (p, large), (q, small) = response(epsilon).atoms()
    return TwoLosses(p, q, large, small, times)


def between(value: Any, lower: Decimal | Fraction, upper: Decimal | Fraction, digits: int = 25) -> bool:
    room = abs(exact(value)) / 10**digits
    return bool(Fraction(lower) <= exact(value) + room and exact(value) - room <= Fraction(upper))


TAILS = [
    (times, p, share)
    for times in (1, 2, 7, 100, 10**4, 10**8, 10**12)
    for p in (Fraction(1, 2), Fraction(1, 10), Fraction(999, 1000))
    for share in (-20, -3, -1, 0, 1, 3, 20)
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("times", "p", "deviations"), TAILS)
def test_tails_contain_the_truth(times: int, p: Fraction, deviations: int) -> None:
    spread = math.sqrt(times * p * (1 - p))
    k = min(max(round(times * p + deviations * spread), 1), times)
    found = tail(times, k, Enclosure.of(p), Enclosure.of(1 - p))
    with mp.workdps(50):
        truth = summed_tail(times, k, real(p)) if times <= 10**4 else true_tail(times, k, real(p))
        assert between(truth, found.lower, found.upper)
    if abs(deviations) >= 1 or times <= 1000:
        assert found.upper - found.lower <= Decimal("1e-12") * found.upper


@pytest.mark.parametrize("terms", [0, 1, 2, 3, 4, 5, 10])
def test_every_number_of_terms_encloses(terms: int) -> None:
    times, k, p = 30, 19, Fraction(1, 2)
    truth = Fraction(math.comb(times, k), sum(math.comb(times, j) for j in range(k, times + 1)))
    found = binomials._continued(times, k, Enclosure.of(p / (1 - p)), terms)
    assert found.lower <= truth <= found.upper
    assert binomials._continued(times, k, Enclosure.of(1), times - k).upper - found.lower < Decimal(1)


LONG = [
    ("20", 10**12),
    *(
        pytest.param(*case, marks=pytest.mark.slow)
        for case in [("0.001", 10**9), ("0.001", 10**12), ("1e-6", 10**12), ("1", 10**12), ("0.3", 10**15)]
    ),
]


@pytest.mark.parametrize(("size", "times"), LONG)
def test_profiles_contain_the_truth(size: str, times: int) -> None:
    epsilon = Fraction(size)
    law = two(epsilon, times)
    for delta in DELTAS:
        lower, upper = law.inverse(delta)
        assert upper - lower <= Fraction(1, 10**6) * max(upper, Fraction(1, 1000))
        with mp.workdps(40):
            assert between(true_delta(epsilon, times, upper), Fraction(0), delta, 20)
            assert lower == 0 or between(true_delta(epsilon, times, lower), delta, Fraction(1), 20)
        at = upper + epsilon * math.isqrt(times)
        found = law.profile(at)
        with mp.workdps(40):
            assert between(true_delta(epsilon, times, at), found.lower, found.upper, 20)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(3), Fraction(800)])
@pytest.mark.parametrize("times", [1, 2, 3, 10])
def test_few_runs_by_enumeration(epsilon: Fraction, times: int) -> None:
    law = two(epsilon, times)
    with mp.workdps(900):
        p = 1 / (1 + mp.exp(-real(epsilon)))
        masses = [(j, mp.binomial(times, j) * p**j * (1 - p) ** (times - j)) for j in range(times + 1)]

        def truth(at: Fraction) -> Any:
            gained = ((m, real((2 * j - times) * epsilon - at)) for j, m in masses)
            return mp.fsum(m * (1 - mp.exp(-x)) for m, x in gained if x > 0)

        for at in (Fraction(0), epsilon / 3, epsilon, epsilon * times * Fraction(9, 10), epsilon * times):
            found = law.profile(at)
            assert between(truth(at), found.lower, found.upper, 50)
        for delta in (Fraction("0.4"), Fraction("1e-3"), Fraction("1e-50")):
            lower, upper = law.inverse(delta)
            assert between(truth(upper), Fraction(0), delta, 50)
            assert lower == 0 or between(truth(lower), delta, Fraction(1), 50)


@pytest.mark.parametrize("fault", ["factor", "numerator", "sign"])
def test_a_wrong_continued_fraction_is_seen(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    sound = binomials._scaled

    def wrong(odds: Enclosure, above: int, below: int) -> tuple[Decimal, Decimal]:
        match fault:
            case "factor":
                return sound(odds, above, below + 1)
            case "numerator":
                return sound(odds, above + 1, below)
        return sound(1 / odds, above, below)

    monkeypatch.setattr(binomials, "_scaled", wrong)
    truth = Fraction(sum(math.comb(30, j) * 2 ** (30 - j) for j in range(19, 31)), 3**30)
    found = tail(30, 19, Enclosure.of(Fraction(1, 3)), Enclosure.of(Fraction(2, 3)))
    assert not found.lower <= truth <= found.upper


def test_the_step_of_a_loss_is_not_missed() -> None:
    """Exactly at a sum of losses the next count must not be taken for certain."""
    law = two(Fraction(1, 10), 100)
    at = Fraction(4)
    found = law.profile(at)
    nearby = [law.profile(at + sign * Fraction(1, 10**30)) for sign in (-1, 1)]
    assert found.upper >= nearby[1].lower
    assert found.lower <= nearby[0].upper
    assert found.upper - found.lower <= Decimal("1e-12")


def is_enclosed_in_the_middle(times: int, p: Fraction) -> bool:
    """At all k near the mean, by exact sums."""
    total, seen = Fraction(0), 0
    for k in reversed(range(times + 1)):
        total += math.comb(times, k) * p**k * (1 - p) ** (times - k)
        found = in_the_middle(times, k, Enclosure.of(p), Enclosure.of(1 - p))
        seen += found is not None
        if found is not None and not found.lower <= Decimal(float(total)) <= found.upper:
            return False
    return seen > times / 100


@pytest.mark.parametrize(("times", "p"), [(9, Fraction(1, 2)), (100, Fraction(1, 2)), (300, Fraction(1, 10))])
def test_tails_in_the_middle(times: int, p: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound holds, and four fifths of it would not where both are as likely."""
    assert is_enclosed_in_the_middle(times, p)
    monkeypatch.setattr(binomials, "_BERRY_ESSEEN", Fraction(4, 10) if p == Fraction(1, 2) else 0)
    assert is_enclosed_in_the_middle(times, p) is (p == Fraction(1, 2))
    monkeypatch.setattr(binomials, "_BERRY_ESSEEN", Fraction(38, 100))
    assert not (p == Fraction(1, 2) and is_enclosed_in_the_middle(times, p))


def test_very_long_runs_are_known_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some sums to either side of the truth, in few steps of the search."""
    asked, honest = list[int](), TwoLosses.at

    def counted(self: TwoLosses, k: int) -> Enclosure:
        asked.append(k)
        return honest(self, k)

    monkeypatch.setattr(TwoLosses, "at", counted)
    lower, upper = two(Fraction(1), 10**14).inverse(Fraction(1, 2))
    assert upper - lower <= 30
    assert len(asked) < 60
    with mp.workdps(50):
        assert true_delta(Fraction(1), 10**14, lower) >= 0.5 >= true_delta(Fraction(1), 10**14, upper)
