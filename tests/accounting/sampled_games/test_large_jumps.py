"""How seldom ratios are large."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.large_jumps import last_jump, seldom
from privately.accounting.two_outcomes.allowed import Concentrated
from tests.accounting.sampled_games.examples import HALF
from tests.accounting.sampled_games.test_before_normal import gaussian

ONE = Fraction(1)


def test_large_ratios_are_seldom() -> None:
    ratios, weights = gaussian()
    alpha = np.array([1.5, 4.0, 30.0])
    means = [float((weights * np.maximum(ratios - at, 0.0)).sum()) for at in alpha.tolist()]
    bounds = seldom(HALF, alpha)
    assert (bounds >= means).all()
    assert (bounds <= 6 * np.array(means)).all()
    assert seldom(ONE, np.array([2.8, 2.6])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("rate", ["0.1", "1e-4", "1e-9"])
def test_the_last_jump_of_a_sample(rate: str) -> None:
    """Is about as rare as asked, however small the rate is; and none is the last where all are large."""
    exact = Fraction(rate)
    rare = float(exact) * 1e-5
    alpha = 1 + math.expm1(last_jump(HALF, exact, rare)) / float(exact)
    assert 0.3 * rare < float(exact) * seldom(HALF, np.array([alpha]))[0] <= rare
    assert last_jump(ONE, exact, rare) < 1.2 * math.log1p(float(exact) * math.expm1(1))
    with pytest.raises(NotApplicable):
        last_jump(Concentrated(Fraction(10**6)), exact, rare)
