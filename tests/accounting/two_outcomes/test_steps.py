"""One step from below."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately.accounting.questions import DeltaAt
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.choices import table
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.steps import start, with_tests

STEP, PLACES = 0.02, 100
STATEMENT = Concentrated(Fraction("0.05"))


def test_one_step_is_the_statement() -> None:
    """Tests are possible, and nearly as good as any."""
    curve = with_tests(start(STEP, PLACES), table(STATEMENT, STEP, PLACES))
    for place in (0, 15, 40, 75):
        truth = answer(STATEMENT, DeltaAt(Fraction(place * STEP), Fraction(1, 10**6)))
        assert curve.lower()[place] <= truth.upper
        assert curve.lower()[place] == pytest.approx(float(truth.lower), rel=0.05)


@pytest.mark.slow
def test_a_choice_that_is_not_allowed_is_noticed() -> None:
    """With a statement that is a little larger the tests would be above the truth: the test above can fail."""
    more = Concentrated(Fraction("0.055"))
    curve = with_tests(start(STEP, PLACES), table(more, STEP, PLACES))
    truth = answer(STATEMENT, DeltaAt(Fraction(40 * STEP), Fraction(1, 10**6)))
    assert curve.lower()[40] > truth.upper
