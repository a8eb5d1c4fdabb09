"""One step from below."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privately.accounting.questions import DeltaAt
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.choices import Choice, Table, table
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.steps import start, with_tests
from privately.accounting.two_outcomes.supports import Limit

STEP, PLACES = 0.02, 100
STATEMENT = Concentrated(Fraction("0.05"))


def test_one_step_is_the_statement() -> None:
    """Tests are possible, and nearly as good as any."""
    curve = with_tests(start(STEP, PLACES), table(STATEMENT, STEP, PLACES))
    for place in (0, 15, 40, 75):
        truth = answer(STATEMENT, DeltaAt(Fraction(place * STEP), Fraction(1, 10**6)))
        assert curve.lower()[place] <= truth.upper
        assert curve.lower()[place] == pytest.approx(float(truth.lower), rel=0.05)


def test_several_steps_of_one_pair() -> None:
    """Every test is one of all outcomes together: none is above their profile, at its own place or at any other."""
    p, q, steps = 0.6, 0.4, 3
    loss = math.log(p / q)
    alone = Choice(p, q, round(loss / STEP), round(loss / STEP), Limit(Fraction(2), Fraction(1)))
    curve = start(STEP, PLACES)
    for _ in range(steps):
        curve = with_tests(curve, Table(STEP, PLACES, (alone,)))
    ways = [(math.comb(steps, k), p**k * q ** (steps - k), q**k * p ** (steps - k)) for k in range(steps + 1)]
    for place in range(PLACES):
        y = math.exp(place * STEP)
        truth = sum(number * max(first - y * second, 0.0) for number, first, second in ways)
        assert (curve.powers - y * curve.prices).max() <= truth + 1e-12
    assert curve.lower()[0] == pytest.approx(truth_at_one(ways), rel=1e-9)


def truth_at_one(ways: list[tuple[int, float, float]]) -> float:
    return sum(number * max(first - second, 0.0) for number, first, second in ways)


@pytest.mark.slow
def test_a_choice_that_is_not_allowed_is_noticed() -> None:
    """With a statement that is a little larger the tests would be above the truth: the test above can fail."""
    more = Concentrated(Fraction("0.055"))
    curve = with_tests(start(STEP, PLACES), table(more, STEP, PLACES))
    truth = answer(STATEMENT, DeltaAt(Fraction(40 * STEP), Fraction(1, 10**6)))
    assert curve.lower()[40] > truth.upper
