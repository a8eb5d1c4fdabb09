"""Jumps first where few take part and noise is little, later elsewhere; never twice."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.accounting.compositions import Composition, compositions
from privately.accounting.contour import RareJumps
from privately.accounting.roads import NotApplicable


def steps(noise: Any, rate: Any, times: int) -> Composition:
    sampled = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=rate)
    return compositions(acc.Repeat(event=sampled, times=times))[0]


@pytest.mark.parametrize(
    ("noise", "rate", "times", "is_rare"),
    [
        ("0.4", "1e-5", 10**4, True),
        ("2", "1e-5", 10**4, False),
        ("0.4", "1e-2", 10**4, False),
        ("0.4", "1e-4", 100, True),
        ("0.4", "1e-4", 32, False),
    ],
)
def test_one_of_both(noise: str, rate: str, times: int, is_rare: bool) -> None:
    with pytest.raises(NotApplicable, match="tried"):
        RareJumps(is_first=not is_rare).epsilon(steps(noise, rate, times), Fraction(1, 10**6), Fraction(1, 10**6))


def test_both_questions_agree() -> None:
    road, composition = RareJumps(is_first=True), steps("0.43", "1e-5", 10**4)
    epsilon = road.epsilon(composition, Fraction(1, 10**6), Fraction(1, 10**6))
    delta = road.delta(composition, Fraction(epsilon.upper), Fraction(1, 10**4))
    assert delta.lower <= Fraction(1, 10**6) <= delta.upper * Fraction(10001, 10000)
    assert delta.width < delta.upper / 1000
