"""Laws in floating point: their profiles are those of the checker."""

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.certifying.laws import Law
from privately.accounting.losses import DIRECTIONS, Direction
from privately.accounting.roads import NotApplicable
from privately.certificates.checker.accounting.profiles import profile
from privately.certificates.checker.elementary import exponential
from privately.certificates.checker.intervals import enclose
from tests.accounting.certifying.twins import checked, enclosing, high, law, rational

LAWS = [
    law("discrete normal", 4, 1),
    law("discrete laplace", 2, 3),
    law("sampled discrete normal", 2, 3, "1/10"),
    law("sampled discrete laplace", 1, 2, "1/10"),
    law("sampled range", 1, "1/3"),
    law("glued normal", 1, "1/10"),
    law("glued response", 1, 2, "1/9", "1/3"),
    law("glued discrete laplace", 1, 2, "1/10"),
]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("one", LAWS, ids=lambda one: one.name)
def test_profiles_are_those_of_the_checker(one: Law, direction: Direction) -> None:
    losses = np.array([-3.0, -0.25, -0.015625, 0.0078125, 0.5, 2.5])
    for loss, here in zip(losses.tolist(), one.profile(losses, direction).tolist(), strict=True):
        found = profile(
            checked(one), exponential(enclose(rational(Fraction(loss)), 256)), removes=direction == "remove"
        )
        assert math.isclose(here, high(found), rel_tol=1e-9, abs_tol=1e-15)


def test_what_a_sample_is_of() -> None:
    mix = enclosing("sampled mix", [(law("normal", 1), 2)], "1/2")
    assert mix.base() == ((law("normal", 1), 2),)
    assert law("sampled normal", 1, "1/2").base() == ((law("normal", 1), 1),)
    assert mix.is_directed
    assert not enclosing("worst", [(law("normal", 1), 2)]).is_directed


def test_what_has_no_profile() -> None:
    for one in (enclosing("sampled mix", [(law("normal", 1), 2)], "1/2"), law("normal", "1e-30"), law("laplace", 500)):
        with pytest.raises(NotApplicable):
            one.require_within_floats()
