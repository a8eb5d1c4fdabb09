"""Events that run one mechanism, or any mechanism that keeps a stated guarantee.

Sensitivities are meant under `neighbors`: the largest change of the answer that one change of the data can make.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privately.accounting.events.event import Event, check_neighbors, noise, settle
from privately.guarantees import Neighbors, RenyiDP
from privately.rounding import LARGEST, Number, rational, whole

MOST_STEPS = 10**18
"""Whole sensitivities count steps of a grid, which may be fine."""


@dataclass(frozen=True, init=False, repr=False)
class Gaussian(Event):
    """Normal noise on a vector: `noise_multiplier` is the standard deviation over the L2 sensitivity.

    Rounding the noisy answer changes nothing. With 0 there is no noise, and no epsilon is enough.

    >>> Gaussian(noise_multiplier=0.1)
    Gaussian(noise_multiplier=0.1)
    """

    noise_multiplier: Fraction

    def __init__(self, *, noise_multiplier: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        settle(self, "noise_multiplier", noise(noise_multiplier, "noise_multiplier"))
        settle(self, "neighbors", check_neighbors(neighbors))


@dataclass(frozen=True, init=False, repr=False)
class Laplace(Event):
    """Laplace noise on each number of a vector: `scale` is that of the noise over the L1 sensitivity."""

    scale: Fraction

    def __init__(self, *, scale: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        settle(self, "scale", noise(scale, "scale"))
        settle(self, "neighbors", check_neighbors(neighbors))


@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussian(Event):
    """Noise k with probability in proportion to exp(-k^2/(2 variance)) on one whole number.

    `sensitivity` is whole, and `variance` is the parameter, slightly above the true variance.
    """

    variance: Fraction
    sensitivity: int

    def __init__(self, *, variance: Number, sensitivity: int = 1, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        settle(self, "variance", noise(variance, "variance"))
        settle(self, "sensitivity", whole(sensitivity, "sensitivity", maximum=MOST_STEPS))
        settle(self, "neighbors", check_neighbors(neighbors))


@dataclass(frozen=True, init=False, repr=False)
class DiscreteLaplace(Event):
    """Noise k with probability in proportion to exp(-|k|/scale) on each of some whole numbers.

    `sensitivity` is whole, and that of the L1 norm.
    """

    scale: Fraction
    sensitivity: int

    def __init__(self, *, scale: Number, sensitivity: int = 1, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        settle(self, "scale", noise(scale, "scale"))
        settle(self, "sensitivity", whole(sensitivity, "sensitivity", maximum=MOST_STEPS))
        settle(self, "neighbors", check_neighbors(neighbors))


@dataclass(frozen=True, init=False, repr=False)
class RandomizedResponse(Event):
    """Everybody's answer out of `categories`: the truth with probability e^epsilon/(categories - 1 + e^epsilon).

    Otherwise one of the others, all alike. Every row has an answer of its own: one change of the data changes the true
    answer of one person at most, and several changes as many.
    """

    epsilon: Fraction
    categories: int

    def __init__(self, *, epsilon: Number, categories: int = 2, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        settle(self, "epsilon", amount(epsilon, "epsilon"))
        settle(self, "categories", whole(categories, "categories", minimum=2))
        settle(self, "neighbors", check_neighbors(neighbors))


@dataclass(frozen=True, init=False, repr=False)
class Exponential(Event):
    """Any mechanism of bounded range `epsilon`, such as the exponential mechanism.

    On neighbours all privacy losses lie in one interval of that length. It is epsilon-DP and epsilon^2/8-zCDP, and no
    single pair of laws is its worst case.
    """

    epsilon: Fraction

    def __init__(self, *, epsilon: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        settle(self, "epsilon", amount(epsilon, "epsilon"))
        settle(self, "neighbors", check_neighbors(neighbors))


@dataclass(frozen=True, init=False, repr=False)
class Pure(Event):
    """Any mechanism that is epsilon-DP."""

    epsilon: Fraction

    def __init__(self, *, epsilon: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        settle(self, "epsilon", amount(epsilon, "epsilon"))
        settle(self, "neighbors", check_neighbors(neighbors))


@dataclass(frozen=True, init=False, repr=False)
class Approx(Event):
    """Any mechanism that is (epsilon, delta)-DP."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, *, epsilon: Number, delta: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        settle(self, "epsilon", amount(epsilon, "epsilon"))
        settle(self, "delta", rational(delta, "delta", minimum=0, maximum=1))
        settle(self, "neighbors", check_neighbors(neighbors))


@dataclass(frozen=True, init=False, repr=False)
class ZCDP(Event):
    """Any mechanism that is rho-zCDP. No single pair of laws is its worst case."""

    rho: Fraction

    def __init__(self, *, rho: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        settle(self, "rho", amount(rho, "rho"))
        settle(self, "neighbors", check_neighbors(neighbors))


@dataclass(frozen=True, init=False, repr=False)
class Renyi(Event):
    """Any mechanism whose Renyi divergence of each listed order is at most the bound beside it.

    >>> Renyi(bounds={8: "0.5", 2: 1})
    Renyi(bounds={2: 1, 8: 0.5})
    """

    bounds: tuple[tuple[Fraction, Fraction], ...]

    def __init__(
        self,
        *,
        bounds: Mapping[Any, Number] | Iterable[tuple[Number, Number]],
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        settle(self, "bounds", RenyiDP(bounds=bounds).parameters["bounds"])
        settle(self, "neighbors", check_neighbors(neighbors))


@dataclass(frozen=True, init=False, repr=False)
class GaussianDP(Event):
    """Any mechanism that is as hard to see through as two normal laws at distance mu."""

    mu: Fraction

    def __init__(self, *, mu: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        settle(self, "mu", amount(mu, "mu"))
        settle(self, "neighbors", check_neighbors(neighbors))


def amount(value: object, name: str) -> Fraction:
    """An epsilon, rho or mu."""
    return rational(value, name, minimum=0, maximum=LARGEST)
