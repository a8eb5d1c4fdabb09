"""The largest loss that a law can show: epsilon at delta = 0."""

from __future__ import annotations

import math
from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.rounding import Enclosure

_LARGE, _LARGE_FOR_FLOATS = 1000, 100
_EXACT_BITS = 512
"""Losses that are rational are added up exactly while denominators are no longer than this."""


def largest_loss(composition: Composition) -> Enclosure | None:
    """The sum of the largest losses of the parts; None when there is no largest.

    Theorem: epsilon(0) is the essential supremum of the loss; sampling at rate q turns the loss l of the pair into
        ln(1 - q + q e^l) in one direction and -ln(1 - q + q e^-l) in the other.
    Reference: Balle-Barthe-Gaboardi 2018
    Proof: docs/theory/accounting/events.md#largest-losses
    Checked-by: tests/accounting/test_extremes.py::test_largest_losses
    """
    exact, rounded = Fraction(0), Enclosure.of(0)
    for law, times in composition.parts:
        largest = _largest(law)
        if largest is None:
            return None
        if isinstance(largest, Fraction) and (total := exact + times * largest).denominator.bit_length() <= _EXACT_BITS:
            exact = total
        else:
            rounded = rounded + times * Enclosure.of(largest)
    return Enclosure.of(exact) + rounded


def roughly_largest(composition: Composition) -> float:
    """About as much or less, in no time: laws of which only `largest_loss` can tell count for 0."""
    total = 0.0
    for law, times in composition.parts:
        if isinstance(law, SampledGaussianLoss):
            rate = float(law.rate)
            total -= times * math.log1p(-rate) if rate < 1 else 0.0
        elif isinstance(law, LaplaceLoss):
            total += times * float(law.epsilon)
        elif isinstance(law, FiniteLoss):
            total += times * _roughly_first(law)
        elif isinstance(law, SampledLaplaceLoss) and law.epsilon <= _LARGE_FOR_FLOATS:
            sign = 1 if law.direction == "remove" else -1
            total += times * sign * math.log1p(float(law.rate) * math.expm1(sign * float(law.epsilon)))
    return total


def _roughly_first(law: FiniteLoss) -> float:
    """About the loss of the first outcome, which is usually the largest, if that is above 0 and of whole numbers."""
    (a, b), (c, d) = law.outcomes[0]
    if law.epsilon > _LARGE_FOR_FLOATS or any(number.denominator != 1 for number in (a, b, c, d)):
        return 0.0
    more, (w, x, y, z) = math.expm1(law.epsilon), (number.numerator for number in (a, b, c, d))
    below = y + z * (1 + more)
    gap = (w - y + x - z) + (x - z) * more
    return math.log1p(gap / below) if gap > 0 < below else 0.0


def _largest(law: Loss) -> Fraction | Enclosure | None:
    match law:
        case LaplaceLoss(epsilon=epsilon):
            return epsilon
        case DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            return sensitivity / scale
        case FiniteLoss() if law.is_response:
            return law.epsilon
        case FiniteLoss():
            losses = [loss for _, loss in law.atoms()]
            return Enclosure(max(loss.lower for loss in losses), max(loss.upper for loss in losses))
        case SampledLaplaceLoss() | SampledDiscreteLaplaceLoss():
            return _sampled(law, _base(law))
        case SampledGaussianLoss(direction="add") | SampledDiscreteGaussianLoss(direction="add"):
            return -Enclosure.of(1 - law.rate).log()
        case GluedLoss(base=LaplaceLoss() | DiscreteLaplaceLoss()):
            whole = _largest(law.base)
            return None if whole is None else removed_loss(law.rate, Enclosure.of(whole))
        case GaussianLoss() | DiscreteGaussianLoss() | SampledGaussianLoss() | SampledDiscreteGaussianLoss():
            return None
        case GluedLoss():
            return None


def _base(law: SampledLaplaceLoss | SampledDiscreteLaplaceLoss) -> Enclosure:
    if isinstance(law, SampledLaplaceLoss):
        return Enclosure.of(law.epsilon)
    return Enclosure.of(law.sensitivity / law.scale)


def _sampled(law: SampledLaplaceLoss | SampledDiscreteLaplaceLoss, whole: Enclosure) -> Enclosure:
    if law.direction == "remove":
        return removed_loss(law.rate, whole)
    return -(1 - law.rate + law.rate * (-whole).exp()).log()


def removed_loss(rate: Fraction, whole: Enclosure) -> Enclosure:
    """ln(1 - q + q e^l), for large l as l + ln(q + (1 - q) e^-l), which stays in the range of numbers."""
    if whole.lower > _LARGE:
        return whole + (rate + (1 - rate) * (-whole).exp()).log()
    return (1 - rate + rate * whole.exp()).log()
