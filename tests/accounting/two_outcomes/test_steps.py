"""One step from below."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from privately import accounting as acc
from privately.accounting.questions import DeltaAt
from privately.accounting.two_outcomes import games
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.choices import Choice, Table, table
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.steps import after_noise, start, with_tests
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


@pytest.mark.parametrize("square", ["0.01", "1", "30"])
def test_normal_noise_after_all(square: str) -> None:
    """Its profile, from below."""
    curve = after_noise(0.05, 200, Fraction(square))
    values = curve.lower()
    with mpmath.workdps(40):
        mu = mpmath.sqrt(mpmath.mpf(square))
        for place in (0, 1, 20, 100, 199):
            epsilon = mpmath.mpf(place * 0.05)
            exact = mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
            assert values[place] <= exact
            assert values[place] >= exact * (1 - 1e-6) or exact < 1e-100


def test_noise_that_is_seen_late_tells_no_choice() -> None:
    """Two steps with noise in both reveal less than all of it before both, and more than none of it."""
    parts, noise = ((Concentrated(Fraction("0.1")), 2),), Fraction("0.04")
    none, late = games.below(parts, 1e-4), games.below(parts, 1e-4, noise)
    place = round(1.5 / late.step)
    summed = acc.delta(acc.ZCDP(rho="0.22"), epsilon=Fraction(place * late.step))
    assert none.lower()[place] * 1.05 < late.lower()[place] < summed.upper
