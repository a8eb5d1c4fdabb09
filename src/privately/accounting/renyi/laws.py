"""The moments of each loss law."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from privately.accounting.losses import (
    DIRECTIONS,
    Direction,
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
from privately.accounting.renyi.closed_forms import discrete_laplace, finite, laplace
from privately.accounting.renyi.fixed_size import Glued, Halves, gaussian_halves, laplace_halves
from privately.accounting.renyi.moments import Moments, Quadratic
from privately.accounting.renyi.sampled import sampled_gaussian, sampled_laplace
from privately.accounting.renyi.sums import sampled_discrete_gaussian, sampled_discrete_laplace

Additive: TypeAlias = GaussianLoss | LaplaceLoss | DiscreteGaussianLoss | DiscreteLaplaceLoss


def moments_of(law: Loss) -> Moments:
    """Bounds on the moments of a loss law, exact but for rounding except where the class says otherwise."""
    match law:
        case SampledGaussianLoss():
            return sampled_gaussian(law)
        case SampledLaplaceLoss():
            return sampled_laplace(law)
        case SampledDiscreteGaussianLoss():
            return sampled_discrete_gaussian(law)
        case SampledDiscreteLaplaceLoss():
            return sampled_discrete_laplace(law)
        case GluedLoss(base=base, rate=rate):
            return _glued(base, rate)
        case FiniteLoss():
            return finite(law)
    return _additive(law)


def _additive(law: Additive) -> Moments:
    """Noise on the whole data.

    Theorem: for normal noise K(c) = c (c+1) mu^2/2; for discrete normal noise it is at most
        c (c+1) sensitivity^2/(2 variance).
    Reference: Bun-Steinke 2016, Proposition 1.6; Canonne-Kamath-Steinke 2020, Theorem 4
    Proof: docs/theory/accounting/renyi.md#noise
    Checked-by: tests/accounting/renyi/test_laws.py::test_noise
    """
    match law:
        case GaussianLoss(mu_squared=square):
            return Quadratic(square / 2)
        case LaplaceLoss(epsilon=epsilon):
            return laplace(epsilon)
        case DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
            return Quadratic(sensitivity**2 / (2 * variance))
        case DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            return discrete_laplace(scale, sensitivity)


def _glued(base: Additive, rate: Fraction) -> Moments:
    halves: Halves | None = None
    match base:
        case GaussianLoss():
            halves = gaussian_halves(base)
        case LaplaceLoss():
            halves = laplace_halves(base)
    remove, add = (moments_of(_sample(base, rate, direction)) for direction in DIRECTIONS)
    return Glued(remove, add, _additive(base), rate, halves)


def _sample(base: Additive, rate: Fraction, way: Direction) -> Loss:
    """The base on a Poisson sample."""
    match base:
        case GaussianLoss(mu_squared=square):
            return SampledGaussianLoss(mu_squared=square, rate=rate, direction=way)
        case LaplaceLoss(epsilon=epsilon):
            return SampledLaplaceLoss(epsilon=epsilon, rate=rate, direction=way)
        case DiscreteGaussianLoss(variance=variance, sensitivity=step):
            return SampledDiscreteGaussianLoss(variance=variance, sensitivity=step, rate=rate, direction=way)
        case DiscreteLaplaceLoss(scale=scale, sensitivity=step):
            return SampledDiscreteLaplaceLoss(scale=scale, sensitivity=step, rate=rate, direction=way)
