"""Groups by what one change sees, against groups that are known."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from privately import accounting as acc
from privately.accounting.events import Event, Gaussian, Group, Laplace, PoissonSample, Pure, Repeat, Sequence
from privately.accounting.group_bounds import at_least, group_bound, group_lower
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval

WIDTH = Fraction(1, 10**6)
KNOWN: list[Event] = [Gaussian(noise_multiplier=2), Laplace(scale=3), Pure(epsilon="0.2")]


def asked(event: Event, question: Question) -> Interval:
    if isinstance(question, EpsilonAt):
        return acc.epsilon(event, question.delta)
    return acc.delta(event, question.epsilon)


@pytest.mark.parametrize("event", KNOWN)
@pytest.mark.parametrize("size", [2, 5])
def test_groups_are_within_their_bounds(event: Event, size: int) -> None:
    group = Group(event=event, size=size)
    for delta in ("1e-2", "1e-6"):
        found = group_bound(group, EpsilonAt(Fraction(delta), WIDTH), asked)
        assert acc.epsilon(group, delta).lower <= found.upper
    for epsilon in (Fraction(1, 10), Fraction(1)):
        found = group_bound(group, DeltaAt(epsilon, WIDTH), asked)
        assert acc.delta(group, epsilon).lower <= found.upper <= 1


def test_the_factor_of_delta_is_needed() -> None:
    """k times the epsilon of one change, at the same delta, would be too little."""
    one = Gaussian(noise_multiplier=2)
    exact = acc.epsilon(Group(event=one, size=2), "1e-6")
    assert 2 * Fraction(acc.epsilon(one, "1e-6").upper) < exact.lower
    assert exact.lower <= group_bound(Group(event=one, size=2), EpsilonAt(Fraction(1, 10**6), WIDTH), asked).upper


def test_no_delta_is_asked_for_that_is_out_of_all_range() -> None:
    """Where epsilon grows faster than delta can follow."""
    seen: list[Fraction] = []

    def ever_larger(event: Event, question: Question) -> Interval:
        del event
        assert isinstance(question, EpsilonAt)
        seen.append(question.delta)
        return Interval(0, 600 * len(seen))

    with pytest.raises(NotApplicable):
        group_bound(Group(event=KNOWN[0], size=10), EpsilonAt(Fraction(1, 10**6), WIDTH), ever_larger)
    assert 1 < len(seen) < 5


def test_rarely_sampled_groups() -> None:
    step = PoissonSample(event=Gaussian(noise_multiplier="0.8"), rate="1e-5")
    found = acc.epsilon(Group(event=step, size=2), "1e-5")
    assert found.upper < Fraction(1, 10**5)
    assert acc.delta(Group(event=step, size=2), "1e-5").upper < Fraction(3, 10**5)


def test_what_has_no_bound() -> None:
    def endless(event: Event, question: Question) -> Interval:
        return Interval(0, math.inf, method=f"{event} {question}")

    with pytest.raises(NotApplicable):
        group_bound(Group(event=KNOWN[0], size=2), EpsilonAt(Fraction(1, 10), WIDTH), endless)
    with pytest.raises(NotApplicable):
        group_bound(Group(event=KNOWN[0], size=2), DeltaAt(Fraction(10**6), WIDTH), asked)


def mixed_profile(noise: str, rate: str, size: int, epsilon: mpmath.mpf, *, removes: bool) -> mpmath.mpf:
    """delta of one step: the number of rows in the sample is binomial, against none; the best test is a half-line."""
    with mpmath.workdps(40):
        mu, q, alpha = 1 / mpmath.mpf(noise), mpmath.mpf(rate), mpmath.exp(epsilon)
        shares = [mpmath.binomial(size, j) * q**j * (1 - q) ** (size - j) for j in range(size + 1)]

        def ratio(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.fsum(b * mpmath.exp(j * mu * x - (j * mu) ** 2 / 2) for j, b in enumerate(shares))

        low, high = mpmath.mpf(-200), mpmath.mpf(200)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if ratio(middle) < (alpha if removes else 1 / alpha) else (low, middle)
        sign = 1 if removes else -1
        beyond = [mpmath.ncdf(sign * (j * mu - low)) for j in range(size + 1)]
        mixed = mpmath.fsum(b * mass for b, mass in zip(shares, beyond, strict=True))
        return mixed - alpha * beyond[0] if removes else beyond[0] - alpha * mixed


@pytest.mark.parametrize(("noise", "rate", "size"), [("1", "0.1", 2), ("2", "0.3", 4), ("0.7", "0.01", 3)])
def test_groups_of_samples_from_below(noise: str, rate: str, size: int) -> None:
    """Never above the mixture itself, and above what one row alone costs."""
    step = PoissonSample(event=Gaussian(noise_multiplier=noise), rate=rate)
    for level in ("0.01", "0.3", "1"):
        true = max(mixed_profile(noise, rate, size, mpmath.mpf(level), removes=removes) for removes in (True, False))
        lower = group_lower(Group(event=step, size=size), DeltaAt(Fraction(level), WIDTH), asked)
        found = acc.delta(Group(event=step, size=size), level)
        assert acc.delta(step, level).lower < lower <= true + mpmath.mpf(10) ** -15
        assert lower <= found.lower <= true + mpmath.mpf(10) ** -15
        assert found.upper >= true - mpmath.mpf(10) ** -15


def test_a_rate_that_is_too_high_would_be_above_the_truth() -> None:
    """m rows at the rate of one of them: a false twin."""
    true = max(mixed_profile("1", "0.1", 2, mpmath.mpf(1), removes=removes) for removes in (True, False))
    twin = acc.delta(PoissonSample(event=Gaussian(noise_multiplier="0.5"), rate="0.1"), 1)
    assert twin.lower > true
    right = acc.delta(PoissonSample(event=Gaussian(noise_multiplier="0.5"), rate="0.01"), 1)
    assert right.upper < true


def test_groups_of_many_samples() -> None:
    steps = Repeat(event=PoissonSample(event=Gaussian(noise_multiplier=2), rate="0.2"), times=50)
    with_batch = Sequence(events=[steps, Gaussian(noise_multiplier=20)])
    for event in (steps, with_batch):
        one, group = acc.epsilon(event, "1e-5"), acc.epsilon(Group(event=event, size=3), "1e-5")
        assert 1.3 * float(one.upper) < group.lower <= group.upper


def test_what_is_not_known_from_below() -> None:
    question = EpsilonAt(Fraction(1, 10**6), WIDTH)
    for inner in (Pure(epsilon=1), PoissonSample(event=Pure(epsilon=1), rate="0.1")):
        assert group_lower(Group(event=inner, size=3), question, asked) == 0


@pytest.mark.parametrize("size", [1, 3, 16, 100, 1000])
@pytest.mark.parametrize("rate", ["0.5", "0.001", "1e-9"])
def test_how_likely_so_many_are_sampled_together(size: int, rate: str) -> None:
    chance = Fraction(rate)
    for together in (one for one in (1, 2, 16, size) if one <= size):
        short = at_least(together, size, chance)
        few = (math.comb(size, j) * chance**j * (1 - chance) ** (size - j) for j in range(together))
        exact = 1 - sum(few, Fraction(0))
        assert short <= exact
        assert short >= exact / (2 if together <= 16 else 1000) or exact < Fraction(1, 10**50)


def test_large_groups_of_samples() -> None:
    step = PoissonSample(event=Gaussian(noise_multiplier=100), rate=0.001)
    for size in (1000, 10**6, 10**9):
        found = acc.delta(Group(event=step, size=size), 1)
        assert found.upper == 1 or size == 1000
        assert (found.lower > 0) == (size > 1000)


def test_what_reveals_everything_has_no_epsilon() -> None:
    """Where one change after the other leads nowhere, a single row already tells that no epsilon is enough."""
    told = acc.PoissonSample(event=acc.Approx(epsilon="0.4", delta="1e-9"), rate="0.01")
    event = acc.Group(event=acc.Sequence(events=[told, acc.DiscreteGaussian(variance=500)]), size=7)
    assert acc.epsilon(event, "1e-15").lower == math.inf
