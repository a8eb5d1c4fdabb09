"""What one step of a law with few outcomes can show: the probability and the loss of each, enclosed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from privately.accounting.closed_forms.finite import Pair, atoms_of
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
)
from privately.accounting.roads import NotApplicable
from privately.laws.gaussian_sums import half_sum, whole_sum
from privately.rounding import Enclosure

MOST = 64
"""More outcomes than this are not few."""

_NOTHING = Enclosure.of(0)
_MOST_ROOM = 10**4
_FAR, _MOST_FAR = 200, 160
"""Losses so large are beyond most other roads: then more outcomes are few."""

_Gaussian = DiscreteGaussianLoss | SampledDiscreteGaussianLoss
_Laplace = DiscreteLaplaceLoss | SampledDiscreteLaplaceLoss


def outcomes(law: Loss, rare: Fraction) -> tuple[Sequence[Pair], Enclosure]:
    """All outcomes but for some whose probability is at most `rare` in all; that probability, from above.

    Theorem: beyond k = -reach and k = sensitivity + reach, discrete normal noise has under P, under Q and under every
        mixture of them at most twice the mass of k > reach under Q; under P alone it has as much beyond sensitivity -
        reach and sensitivity + reach.
    Reference: the law is symmetric, and the two pairs of tails are each other's mirror images
    Proof: docs/theory/accounting/conditioning.md#outcomes
    Checked-by: tests/accounting/conditioning/test_outcomes.py::test_outcomes_and_what_is_missing_are_all
    """
    match law:
        case FiniteLoss() if len(law.outcomes) <= MOST:
            return atoms_of(law), _NOTHING
        case DiscreteGaussianLoss() | SampledDiscreteGaussianLoss():
            return _gaussian(law, rare)
        case DiscreteLaplaceLoss() | SampledDiscreteLaplaceLoss() if law.sensitivity < MOST:
            return [_mixed(law, p, q) for p, q in _laplace(law)], _NOTHING
    raise NotApplicable("not finitely many losses, or too many")


def _gaussian(law: _Gaussian, rare: Fraction) -> tuple[Sequence[Pair], Enclosure]:
    if law.variance > _MOST_ROOM:
        raise NotApplicable("too many outcomes")
    total = whole_sum(law.variance)
    reach = max(math.isqrt(math.floor(2 * law.variance * _bits(rare))) - 1, 1)
    while (outside := 2 * half_sum(reach + 1, law.variance) / total).upper > rare:
        reach += 1
    places = range(-reach, law.sensitivity + reach + 1)
    if len(places) > MOST and isinstance(law, DiscreteGaussianLoss):
        places = places[law.sensitivity :]  # all that P can give
    is_far = law.sensitivity * (law.sensitivity + 2 * reach) > _FAR * law.variance
    if len(places) > (_MOST_FAR if is_far else MOST):
        raise NotApplicable("too many outcomes")
    weights = {k: Enclosure.of(-k * k / (2 * law.variance)).exp() / total for k in {abs(place) for place in places}}
    shifted = {abs(place - law.sensitivity) for place in places} - weights.keys()
    weights.update({k: Enclosure.of(-k * k / (2 * law.variance)).exp() / total for k in shifted})
    listed = [_mixed(law, weights[abs(k - law.sensitivity)], weights[abs(k)]) for k in reversed(places)]
    return listed, outside


def _bits(rare: Fraction) -> Fraction:
    """About ln(1/rare), and not above it."""
    return Fraction(max(rare.denominator.bit_length() - rare.numerator.bit_length() - 1, 1)) * Fraction(69, 100)


def _laplace(law: _Laplace) -> list[tuple[Enclosure, Enclosure]]:
    """P and Q of k = sensitivity, ..., 0, with all that is beyond at the ends."""
    ratio, last = Enclosure.of(-1 / law.scale).exp(), law.sensitivity

    def mass(k: int) -> Enclosure:
        share = 1 / (1 + ratio) if k in {0, last} else (1 - ratio) / (1 + ratio)
        return share * Enclosure.of(-k / law.scale).exp()

    return [(mass(last - k), mass(k)) for k in range(last, -1, -1)]


def _mixed(law: _Gaussian | _Laplace, p: Enclosure, q: Enclosure) -> Pair:
    """The probability and the loss of an outcome of the pair without sampling."""
    match law:
        case SampledDiscreteGaussianLoss(rate=rate) | SampledDiscreteLaplaceLoss(rate=rate):
            ratio = 1 - rate + rate * (p / q if law.direction == "remove" else q / p)
            return (q * ratio, ratio.log()) if law.direction == "remove" else (p, -ratio.log())
    return p, (p / q).log()
