"""Small lattices, and profiles that are known in closed form, with other code than the library's."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from privately.accounting.elementary import Floats
from privately.accounting.sampled_games.profiles import Lattice, Profile
from privately.accounting.sampled_games.rules import Bounded, orders
from privately.accounting.sampled_games.ways import Way
from privately.accounting.two_outcomes.allowed import Concentrated, Statement

HALF = Concentrated(Fraction(1, 2))
LATTICE = Lattice(0.05, -60, 100)
RATES = ["0.2", "1"]


def way(rate: str, lattice: Lattice = LATTICE) -> Way:
    return Way(Fraction(rate), lattice)


def bounded(one: Way, statement: Statement = HALF, *, is_low: bool = False) -> Bounded:
    return Bounded(orders(statement, one.ratios, is_low=is_low), one.ratios, one.doubt)


def normal(y: float, mu: float = 0.7) -> float:
    """V(y) of normal noise."""
    if y <= 0:
        return 1.0
    law, middle = NormalDist(), math.log(y) / mu
    return law.cdf(mu / 2 - middle) - y * law.cdf(-mu / 2 - middle)


def profile(lattice: Lattice = LATTICE, of: Callable[[float], float] = normal) -> Profile:
    """Exact values of it."""
    y = np.exp(lattice.losses)
    return Profile(lattice, np.array([max(of(at) - max(1 - at, 0.0), 0.0) for at in y.tolist()]))


def payoff(one: Way, y: float, r: float, of: Callable[[float], float] = normal) -> float:
    """Of one ratio, by what a sample is."""
    rate = float(one.rate)
    s = 1 - rate + rate * r
    return s * of(y / s) if s > 0 else 0.0


def drawn(seed: int, many: int) -> list[tuple[Floats, Floats]]:
    """Ratios of mean 1 and their probabilities."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(many):
        weights = draw.dirichlet(np.full(int(draw.integers(2, 5)), 0.5)) + 1e-6
        ratios = np.exp(draw.normal(0, 1.5, weights.size))
        weights /= weights.sum()
        found.append((ratios / (weights @ ratios), weights))
    return found
