"""Roads to what the checker shows: each gives an epsilon with a witness, or nothing."""

from fractions import Fraction

import pytest

from privately.accounting.certifying.roads import by_binomial, by_points, by_renyi, by_steps, loss_of, short
from privately.accounting.losses import GaussianLoss
from privately.accounting.roads import NotApplicable
from tests.accounting.certifying.twins import enclosing, law

DELTA = Fraction(1, 10**6)


def test_roads_that_apply() -> None:
    response, sampled = law("response", "1/10", 2, 0), law("sampled normal", 1, "1/100")
    binomial = by_binomial(response, 100, DELTA)
    (points,) = by_points([(response, 100)], "remove", DELTA)
    (renyi,) = by_renyi([(response, 100)], "remove", DELTA)
    (steps,) = by_steps([(sampled, 3)], "remove", DELTA)
    assert binomial is not None
    assert binomial.epsilon < points.epsilon < binomial.epsilon * Fraction(1001, 1000) < renyi.epsilon
    assert steps.is_improvable


def test_roads_that_do_not() -> None:
    assert by_binomial(law("response", 1, 3, 0), 2, DELTA) is None
    assert by_steps([(law("normal", 1), 1)], "remove", DELTA) == []
    assert (
        by_renyi([(law("renyi", 2, 10**9), 1), (enclosing("group", [(law("normal", 1), 1)], 400), 1)], "remove", DELTA)
        == []
    )
    assert loss_of(law("normal", 4), "add") == GaussianLoss(mu_squared=Fraction(4))
    with pytest.raises(NotApplicable):
        loss_of(law("concentrated", 4), "add")


def test_numbers_are_rounded_up() -> None:
    assert short(Fraction(1, 3)) > Fraction(1, 3)
