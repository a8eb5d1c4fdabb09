"""Every loss law has moments."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, get_args

import mpmath as mp
import pytest

from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.renyi.laws import moments_of
from tests.accounting.renyi import exact_moments as exact
from tests.accounting.renyi.exact_moments import PLACES, gap

ONE, TENTH = Fraction(1), Fraction(1, 10)
SAMPLED: dict[str, Any] = {"rate": TENTH, "direction": "remove"}
LAWS: list[Loss] = [
    GaussianLoss(mu_squared=ONE),
    LaplaceLoss(epsilon=ONE),
    DiscreteGaussianLoss(variance=ONE, sensitivity=1),
    DiscreteLaplaceLoss(scale=ONE, sensitivity=2),
    response(ONE),
    SampledGaussianLoss(mu_squared=ONE, **SAMPLED),
    SampledLaplaceLoss(epsilon=ONE, **SAMPLED),
    SampledDiscreteGaussianLoss(variance=ONE, sensitivity=1, **SAMPLED),
    SampledDiscreteLaplaceLoss(scale=ONE, sensitivity=2, **SAMPLED),
    GluedLoss(base=GaussianLoss(mu_squared=ONE), rate=TENTH),
    GluedLoss(base=LaplaceLoss(epsilon=ONE), rate=TENTH),
    GluedLoss(base=DiscreteGaussianLoss(variance=ONE, sensitivity=1), rate=TENTH),
    GluedLoss(base=DiscreteLaplaceLoss(scale=ONE, sensitivity=2), rate=TENTH),
]


def test_all_kinds_are_listed() -> None:
    assert {type(law) for law in LAWS} == set(get_args(Loss))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_every_law_has_moments(law: Loss) -> None:
    """Divergences grow with the order and stay below the largest loss; rough values are near."""
    found = moments_of(law)
    divergences = [found.above(c) / c for c in PLACES]
    assert divergences == sorted(divergences)
    assert 0 < divergences[-1] <= found.largest
    assert [found.rough(float(c)) for c in PLACES] == pytest.approx([float(found.above(c)) for c in PLACES], rel=0.05)


@pytest.mark.parametrize("variance", [Fraction(1, 4), ONE, Fraction(10)])
def test_noise(variance: Fraction) -> None:
    """Normal noise exactly, discrete normal noise from above, and for wide noise nearly exactly."""
    normal = moments_of(GaussianLoss(mu_squared=1 / variance))
    discrete = moments_of(DiscreteGaussianLoss(variance=variance, sensitivity=1))
    weight, whole = exact.normal_weight(variance), Fraction(1)
    for c in PLACES:
        with mp.workdps(exact.DIGITS):
            truth = exact._real(c * (c + 1) / (2 * variance))
        assert abs(gap(normal.above(c), truth)) < 1e-30
        value = exact.discrete(weight, 1, int(40 * variance) + 60, whole, c, removes=True)
        assert -1e-30 < gap(discrete.above(c), value) < (1e-9 if variance == 10 else 10)
