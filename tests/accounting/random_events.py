"""Random events of all kinds, inside of one another."""

import math
import random
from collections.abc import Callable

from privately.accounting.events import (
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    FixedSizeSample,
    Gaussian,
    GaussianDP,
    Group,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Renyi,
    Repeat,
    Sequence,
)
from privately.errors import PrivatelyError
from privately.guarantees import Neighbors


def between(chance: random.Random, low: float, high: float) -> str:
    """Three digits, on a logarithmic scale."""
    return f"{math.exp(chance.uniform(math.log(low), math.log(high))):.3g}"


def leaf(chance: random.Random, neighbors: Neighbors) -> Event:
    def some(low: float, high: float) -> str:
        return between(chance, low, high)

    sensitivity = chance.choice([1, 1, 1, 2, 5])
    kinds: list[Callable[[], Event]] = [
        lambda: Gaussian(noise_multiplier=some(0.3, 30), neighbors=neighbors),
        lambda: Laplace(scale=some(0.3, 30), neighbors=neighbors),
        lambda: DiscreteGaussian(variance=some(0.3, 300), sensitivity=sensitivity, neighbors=neighbors),
        lambda: DiscreteLaplace(scale=some(0.3, 30), sensitivity=sensitivity, neighbors=neighbors),
        lambda: (
            RandomizedResponse(epsilon=some(0.01, 3), categories=1 + sensitivity, neighbors=neighbors)
            if sensitivity > 1
            else RandomizedResponse(epsilon=some(0.01, 3), neighbors=neighbors)
        ),
        lambda: Exponential(epsilon=some(0.01, 3), neighbors=neighbors),
        lambda: Pure(epsilon=some(0.01, 3), neighbors=neighbors),
        lambda: Approx(epsilon=some(0.01, 3), delta=some(1e-14, 1e-9), neighbors=neighbors),
        lambda: ZCDP(rho=some(1e-4, 1), neighbors=neighbors),
        lambda: Renyi(bounds={2: "0.1", 4: "0.3", 16: "1.5", 64: "7"}, neighbors=neighbors),
        lambda: GaussianDP(mu=some(0.01, 2), neighbors=neighbors),
    ]
    return chance.choice(kinds)()


def event(chance: random.Random, neighbors: Neighbors, depth: int) -> Event:
    if not depth:
        return leaf(chance, neighbors)
    inner = event(chance, neighbors, depth - 1)
    kind = chance.choice(["repeat", "repeat", "sequence", "sample", "sample", "parallel", "group"])
    if kind == "repeat":
        return Repeat(event=inner, times=chance.choice([1, 2, 3, 10, 100, 1000]))
    if kind == "sequence":
        return Sequence(events=[inner, event(chance, neighbors, depth - 1)])
    if kind == "parallel":
        return Parallel(events=[inner, event(chance, neighbors, depth - 1)])
    if kind == "group":
        return Group(event=inner, size=chance.choice([1, 2, 3, 5]))
    if neighbors == Neighbors.ADD_REMOVE:
        return PoissonSample(event=inner, rate=between(chance, 1e-4, 0.9))
    return FixedSizeSample(event=inner, size=chance.choice([1, 10, 100, 500]), population=1000)


def drawn(seed: int) -> tuple[Event, str]:
    """An event that can be made, and a delta."""
    chance = random.Random(seed)
    neighbors = chance.choice([Neighbors.ADD_REMOVE] * 3 + [Neighbors.REPLACE])
    while True:
        try:
            return event(chance, neighbors, chance.choice([1, 2, 3])), between(chance, 1e-8, 1e-3)
        except PrivatelyError:
            continue
