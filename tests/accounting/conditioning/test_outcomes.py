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


@pytest.mark.parametrize("sensitivity", [45, 50, 10**6])
def test_far_apart_only_what_one_side_gives_is_listed(sensitivity: int) -> None:
    """All outcomes of both sides would be too many; under P nothing more is missing than is said."""
    law = DiscreteGaussianLoss(variance=Fraction(10), sensitivity=sensitivity)
    listed, missing = outcomes(law, RARE)
    whole = total([mass for mass, _ in listed])
    assert len(listed) <= MOST < sensitivity + 20
    assert missing.upper <= RARE
    assert whole.lower <= 1 <= (whole + missing).upper
    losses = [loss.lower for _, loss in listed]
    assert losses == sorted(losses, reverse=True)
    assert abs(float(losses[len(losses) // 2]) - sensitivity**2 / 20) < 1e-9 * sensitivity**2


def test_more_outcomes_are_few_where_losses_are_large() -> None:
    """Other roads do not take them; where losses are small, they do."""
    far = SampledDiscreteGaussianLoss(variance=Fraction(10), sensitivity=50, rate=Fraction(1, 10), direction="remove")
    listed, missing = outcomes(far, RARE)
    assert MOST < len(listed) <= 160
    whole = total([mass for mass, _ in listed])
    assert whole.lower <= 1 <= (whole + missing).upper
    with pytest.raises(NotApplicable):
        outcomes(
            SampledDiscreteGaussianLoss(variance=Fraction(30), sensitivity=1, rate=far.rate, direction="add"), RARE
        )


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
