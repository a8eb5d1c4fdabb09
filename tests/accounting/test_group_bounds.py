"""Groups by what one change sees, against groups that are known."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privately import accounting as acc
from privately.accounting.events import Event, Gaussian, Group, Laplace, PoissonSample, Pure
from privately.accounting.group_bounds import group_bound
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
