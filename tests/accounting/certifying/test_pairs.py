"""Discrete noise and responses as points: those of the checker."""

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.certifying.laws import Law
from privately.accounting.certifying.pairs import base_pair
from privately.accounting.roads import NotApplicable
from privately.certificates.checker.accounting.discrete import discrete_pair
from tests.accounting.certifying.twins import checked, high, law


@pytest.mark.parametrize("one", [law("discrete normal", 3, 2), law("discrete laplace", "1/2", 4)], ids=str)
def test_points_are_those_of_the_checker(one: Law) -> None:
    found, true = base_pair(one.name, one.numbers), discrete_pair(checked(one), 256)
    assert found.losses.size == len(true.outcomes)
    for loss, log_p, (p, q) in zip(found.losses, found.log_p, true.outcomes, strict=True):
        assert math.isclose(math.exp(log_p), high(p), rel_tol=1e-9)
        assert math.isclose(loss, math.log(high(p)) - math.log(high(q)), rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("numbers", [("1", "2", "0"), ("1/2", "5", "1/10"), ("3", "2", "1/7")])
def test_samples_keep_all_mass(numbers: tuple[str, str, str]) -> None:
    base = base_pair("response", tuple(map(Fraction, numbers)))
    for pair in (base, base.sampled(0.1, "remove"), base.sampled(0.1, "add"), base.glued(0.1)):
        assert math.isclose(float(np.exp(pair.log_p).sum()) + pair.infinite, 1, rel_tol=1e-12)
        assert math.isclose(float(np.exp(pair.log_p - pair.losses).sum()) + pair.hidden, 1, rel_tol=1e-12)
        assert (np.diff(pair.losses) <= 0).all()
        levels = np.array([-1.0, -0.1, 0.0, 0.1, 1.0])
        assert np.allclose(pair.profile(levels), pair.below(levels) + 1 - np.exp(levels))


def test_what_is_too_wide() -> None:
    for name, numbers in (("discrete normal", (Fraction(10**5), Fraction(1))), ("normal", (Fraction(1),))):
        with pytest.raises(NotApplicable):
            base_pair(name, numbers)
