"""Laws of the privacy loss."""

from privately.accounting.losses.laws import (
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
    Weight,
    response,
)

__all__ = [
    "DIRECTIONS",
    "Direction",
    "DiscreteGaussianLoss",
    "DiscreteLaplaceLoss",
    "FiniteLoss",
    "GaussianLoss",
    "GluedLoss",
    "LaplaceLoss",
    "Loss",
    "SampledDiscreteGaussianLoss",
    "SampledDiscreteLaplaceLoss",
    "SampledGaussianLoss",
    "SampledLaplaceLoss",
    "Weight",
    "response",
]
