"""The laws of our noise, enclosed: how likely each integer is, to about 55 digits however far out it lies.

A law answers with an `Interval` that contains the truth, or with an integer that is certain. Nothing here draws
random numbers, and no cost grows with the scale or with the outcome asked for.

q   exp(-1/scale)            Phi  cumulative distribution function of the standard normal law
X   a draw                   k    an integer outcome
"""

from privately.laws.discrete_exponential import DiscreteExponential
from privately.laws.discrete_gaussian import DiscreteGaussian
from privately.laws.discrete_laplace import DiscreteLaplace
from privately.laws.finite_law import FiniteLaw
from privately.laws.geometric import Geometric
from privately.laws.law import Law
from privately.laws.rounded_normal import RoundedNormal

__all__ = [
    "DiscreteExponential",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "FiniteLaw",
    "Geometric",
    "Law",
    "RoundedNormal",
]
