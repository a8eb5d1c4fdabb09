"""Rates so near 1 that few roads take them: between a rate a little lower and no sampling at all."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from privately.accounting.compositions import Composition, relaid
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
)
from privately.accounting.roads import NEAR_ONE

HIGHEST_RATE = NEAR_ONE - Fraction(1, 1 << 30)
"""All roads go so far."""
_NEVER, _HALF = Fraction(0), Fraction(1, 2)


def between_rates(composition: Composition) -> tuple[Composition, Composition] | None:
    """One that costs at least as much, without such samples, and one that costs at most as much; None if it has none.

    Theorem: in each direction, and for samples of fixed size, the profile of a sampled pair rises with the rate; that
        of a composition with those of its parts.
    Reference: Balle-Barthe-Gaboardi 2018; Zhu-Dong-Wang 2022, Theorem 10
    Proof: docs/theory/accounting/events.md#rates-near-1
    Checked-by: tests/accounting/test_nearby_rates.py::test_profiles_rise_with_the_rate,
        tests/accounting/test_nearby_rates.py::test_near_answers_enclose_the_exact_one
    """
    if all(getattr(law, "rate", _NEVER) <= HIGHEST_RATE for law, _ in composition.parts):
        return None
    return relaid(composition, _unsampled), relaid(composition, _lowered)


def share_of_all(composition: Composition) -> Fraction | None:
    """At most the probability that all such samples hold the row, where they are all for its removal; else None.

    Theorem: with s that probability, the profile is at least s times that without sampling at epsilon + ln(1/s).
    Reference: (1-q)Q + qP >= qP
    Proof: docs/theory/accounting/events.md#rates-near-1
    Checked-by: tests/accounting/test_nearby_rates.py::test_all_samples_hold_the_row
    """
    seldom = Fraction(0)
    for law, times in composition.parts:
        rate = getattr(law, "rate", Fraction(0))
        if rate > HIGHEST_RATE:
            if getattr(law, "direction", None) != "remove":
                return None
            seldom += times * (1 - rate)
    return 1 - seldom if seldom < _HALF else None


def _unsampled(law: Loss) -> Loss:
    if getattr(law, "rate", _NEVER) <= HIGHEST_RATE:
        return law
    match law:
        case SampledGaussianLoss(mu_squared=mu_squared):
            return GaussianLoss(mu_squared=mu_squared)
        case SampledLaplaceLoss(epsilon=epsilon):
            return LaplaceLoss(epsilon=epsilon)
        case SampledDiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
            return DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity)
        case SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            return DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity)
        case GluedLoss(base=base):
            return base
    return law


def _lowered(law: Loss) -> Loss:
    match law:
        case (
            SampledGaussianLoss(rate=rate)
            | SampledLaplaceLoss(rate=rate)
            | SampledDiscreteGaussianLoss(rate=rate)
            | SampledDiscreteLaplaceLoss(rate=rate)
            | GluedLoss(rate=rate)
        ) if rate > HIGHEST_RATE:
            return replace(law, rate=HIGHEST_RATE)
    return law
