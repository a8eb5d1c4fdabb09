"""Choices of more than two outcomes, from below."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from privately.accounting.questions import DeltaAt
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.choices import Choice, Table, table
from privately.accounting.two_outcomes.listed_games import above_steps
from privately.accounting.two_outcomes.mixtures import Mixture, larger, mixtures, with_mixtures
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.steps import start, with_tests
from privately.accounting.two_outcomes.supports import Limit

from .listed import FOUR

STEP, PLACES = 0.04, 60
SEVERAL = AtOrders(((Fraction(2), Fraction(1, 10)), (Fraction(8), Fraction(2, 5)), (Fraction(32), Fraction(2))))


@lru_cache
def known() -> tuple[Table, tuple[Mixture, ...]]:
    return table(FOUR, STEP, PLACES), mixtures(FOUR, STEP, PLACES)


@pytest.mark.parametrize("statement", [FOUR, SEVERAL])
@pytest.mark.parametrize(("part", "share"), [(0, "0.5"), ("0.5", "0.25"), (0, "0.9")])
def test_the_mean_of_moments_is_held(statement: AtOrders, part: int | str, share: str) -> None:
    """At every order, and with nothing to spare: a thousandth more of a bound would be too much."""
    less, often = Fraction(part), Fraction(share)
    for (order, bound), (same, more) in zip(statement.bounds, larger(statement, less, often).bounds, strict=True):
        assert order == same
        excess = float(order - 1)

        def mean(most: float, excess: float = excess, bound: Fraction = bound) -> float:
            return float(often) * math.exp(excess * most) + float(1 - often) * math.exp(excess * float(less * bound))

        assert mean(float(more)) <= math.exp(excess * float(bound))
        assert mean(float(more) * 1.001) > math.exp(excess * float(bound))


def test_one_step_is_the_statement() -> None:
    """What is mixed is allowed: no test is above what one step of the statement reveals."""
    chances, mixed = known()
    assert len(mixed) > 3
    curve = with_mixtures(start(STEP, PLACES), chances, mixed)
    for place in (0, 8, 20, 38):
        truth = answer(FOUR, DeltaAt(Fraction(place * STEP), Fraction(1, 10**6)))
        assert curve.lower()[place] <= truth.upper
        assert curve.lower()[place] == pytest.approx(float(truth.lower), rel=0.05)


def test_a_share_that_is_too_large_would_be_noticed() -> None:
    """Larger choices at all times are above what the statement allows."""
    chances, mixed = known()
    wrong = [Mixture(1.0, None, one.large) for one in mixed]
    curve = with_mixtures(start(STEP, PLACES), chances, wrong)
    truth = answer(FOUR, DeltaAt(Fraction(20 * STEP), Fraction(1, 10**6)))
    assert curve.lower()[20] > truth.upper


def test_a_mixture_of_one_pair_and_nothing() -> None:
    """Twice: every test is one of all outcomes together."""
    p, q, share = 0.6, 0.4, 0.25
    loss = math.log(p / q)
    alone = Choice(p, q, round(loss / STEP), round(loss / STEP), Limit(Fraction(2), Fraction(1)))
    tables = Table(STEP, PLACES, (alone,))
    curve = start(STEP, PLACES)
    for _ in range(2):
        curve = with_mixtures(curve, tables, [Mixture(share, None, tables)])
    even = with_tests(with_tests(start(STEP, PLACES), tables), tables)
    assert np.allclose(curve.lower(), even.lower(), atol=1e-12)  # a pair at all times is better
    small = Table(STEP, PLACES, (Choice(0.501, 0.499, 0, 0, alone.limit),))
    curve = with_mixtures(start(STEP, PLACES), small, [Mixture(share, None, tables)])
    assert curve.lower()[0] == pytest.approx(share * (p - q), rel=1e-9)


@pytest.mark.slow
def test_more_than_two_outcomes_are_better() -> None:
    """Between kinks; and no more than what is known from above."""
    above = above_steps(FOUR, 3, 1e-4)
    step, places = 0.01, 400
    chances, mixed = table(FOUR, step, places), mixtures(FOUR, step, places)
    two, more = start(step, places), start(step, places)
    for _ in range(3):
        two, more = with_tests(two, chances), with_mixtures(more, chances, mixed)
    assert (more.lower() > two.lower() * 1.002).any()
    y = np.exp(np.arange(places) * step)
    kept = more.lower() > 1e-4
    assert (more.lower()[kept] <= np.interp(y, np.exp(above.losses), above.upper)[kept] * (1 + 1e-9)).all()


def test_moments_beyond_all_range() -> None:
    with pytest.raises(NotApplicable, match="too large"):
        larger(AtOrders(((Fraction(32), Fraction(100)),)), Fraction(0), Fraction(1, 2))
    assert mixtures(AtOrders(((Fraction(32), Fraction(100)),)), STEP, PLACES) == ()
