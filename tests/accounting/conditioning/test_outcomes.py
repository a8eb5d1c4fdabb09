"""What one step can show, and what is missing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately.accounting.conditioning.outcomes import MOST, outcomes
from privately.accounting.losses import (
    DIRECTIONS,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    response,
)
from privately.accounting.roads import NotApplicable
from privately.laws.gaussian_sums import half_sum, whole_sum
from privately.rounding import Enclosure

RARE = Fraction(1, 10**20)
LAWS: list[Loss] = [
    response(Fraction(1)),
    DiscreteLaplaceLoss(scale=Fraction(1, 3), sensitivity=4),
    DiscreteGaussianLoss(variance=Fraction(1, 4), sensitivity=3),
    DiscreteGaussianLoss(variance=Fraction(3), sensitivity=1),
    *(
        SampledDiscreteGaussianLoss(variance=Fraction(1, 5), sensitivity=10, rate=Fraction(1, 50), direction=direction)
        for direction in DIRECTIONS
    ),
    *(
        SampledDiscreteLaplaceLoss(scale=Fraction(2), sensitivity=3, rate=Fraction(1, 50), direction=direction)
        for direction in DIRECTIONS
    ),
]


def total(masses: list[Enclosure]) -> Enclosure:
    return sum(masses, Enclosure.of(0))


@pytest.mark.parametrize("law", LAWS)
def test_outcomes_and_what_is_missing_are_all(law: Loss) -> None:
    """Under P and under Q: nothing is counted twice, and no more is missing than is said."""
    listed, missing = outcomes(law, RARE)
    assert missing.upper <= RARE
    for whole in (total([mass for mass, _ in listed]), total([mass * (-loss).exp() for mass, loss in listed])):
        assert whole.lower <= 1 <= (whole + missing).upper


def test_one_outcome_less_would_be_missed() -> None:
    """The claim is not empty: with the tails of k > reach + 1 in place of those of k > reach, too little is missing."""
    variance, rare = Fraction(1, 4), Fraction(1, 10**6)
    law = DiscreteGaussianLoss(variance=variance, sensitivity=1)
    listed, missing = outcomes(law, rare)
    reach = (len(listed) - 2) // 2
    wrong = 2 * half_sum(reach + 2, variance) / whole_sum(variance)
    assert (total([mass for mass, _ in listed]) + missing).upper >= 1
    assert (total([mass for mass, _ in listed]) + wrong).upper < 1


@pytest.mark.parametrize(
    "law",
    [
        LaplaceLoss(epsilon=Fraction(1)),
        DiscreteGaussianLoss(variance=Fraction(1000), sensitivity=1),
        DiscreteGaussianLoss(variance=Fraction(10**9), sensitivity=1),
        DiscreteLaplaceLoss(scale=Fraction(1), sensitivity=MOST),
    ],
)
def test_many_outcomes_are_refused(law: Loss) -> None:
    with pytest.raises(NotApplicable):
        outcomes(law, RARE)
