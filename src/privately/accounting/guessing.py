"""A guess at the parameter that keeps a promise, where samples are so rare that answers take long.

Everything here is a choice in floating point, and nothing depends on it but how often an answer is asked for: losses of
one step are shared out among the nodes of a lattice around them, and a Fourier transform adds up all steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privately.accounting.compositions import Composition, compositions
from privately.accounting.elementary import Floats
from privately.accounting.events import Event
from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.roads import DEAD_ENDS
from privately.errors import InvalidParameter, NoSuchRule

_RARE = 1e-3
_LEAST_DELTA, _LEAST_EPSILON, _LARGEST_EPSILON = 1e-10, 0.02, 50.0
_FINE = 1 / 64
_FARTHEST, _DEVIATIONS = 8.0, 10.0
_NODES, _LONGEST = 1 << 12, 400.0
_NEGLIGIBLE = 1e-5
_DOUBLINGS, _TURNS = 24, 30
_CLOSE, _APART = 1e-6, 1e-3
_FLOOR, _TINY = -5.0, 1e-3
"""Lower ones are mostly rounding."""
_MOST_LAWS, _MOST_NODES = 4, 32
_FLAT, _STEEP = 1e-3, 1e3


class Guess(NamedTuple):
    """About where the promise is just kept, and by which power of the parameter epsilon grows there."""

    place: float
    power: float


def guessed(make: Callable[[float], Event], promised: Fraction, allowed: Fraction) -> Guess | None:
    """None where there is nothing to guess, or asking is quick."""
    if not (_LEAST_EPSILON <= promised <= _LARGEST_EPSILON and _LEAST_DELTA <= allowed < 1):
        return None
    epsilon, delta = float(promised), float(allowed)

    def excess(parameter: float, at: float = epsilon) -> float | None:
        try:
            event = make(parameter)
            listed = compositions(event) if isinstance(event, Event) and event.nodes <= _MOST_NODES else ()
        except (*DEAD_ENDS, InvalidParameter, NoSuchRule):
            return None
        rare = next((one for one in listed if _is_rare(one)), None)
        found = None if rare is None else _delta(rare, at, delta)
        return None if found is None else max(math.log(max(found / delta, _TINY)), _FLOOR)

    place = crossing(excess)
    if place is None:
        return None
    around = [excess(place * (1 + _APART)), excess(place), excess(place, epsilon * (1 + _APART))]
    if None in around:
        return None
    up, here, beyond = (value or 0.0 for value in around)
    power = (up - here) / (here - beyond) if here > beyond else 0.0
    return Guess(place, power) if _FLAT < abs(power) < _STEEP else None


def crossing(excess: Callable[[float], float | None]) -> float | None:
    """Where it is about 0: by doubling away from 1 on both sides, then between the last two."""
    start = excess(1.0)
    if start is None:
        return None
    last = {2.0: (1.0, start), 0.5: (1.0, start)}
    for _ in range(_DOUBLINGS):
        for factor, (place, value) in list(last.items()):
            following = excess(place * factor)
            if following is None:
                del last[factor]
            elif (following > 0) != (value > 0):
                return _between(excess, (math.log(place), value), (math.log(place * factor), following))
            else:
                last[factor] = place * factor, following
    return None


def _between(
    excess: Callable[[float], float | None], one: tuple[float, float], other: tuple[float, float]
) -> float | None:
    """Secants, and halves where these come no nearer."""
    for turn in range(_TURNS):
        middle = (one[0] * other[1] - other[0] * one[1]) / (other[1] - one[1])
        if turn % 3 == 2 or min(one[1], other[1]) <= _FLOOR:
            middle = (one[0] + other[0]) / 2
        value = excess(math.exp(middle))
        if value is None:
            return None
        if abs(value) < _CLOSE or abs(one[0] - other[0]) < _CLOSE:
            return math.exp(middle)
        one, other = (other if (value > 0) != (other[1] > 0) else one), (middle, value)
    return None


def _is_rare(composition: Composition) -> bool:
    """A few sampled Gaussians in the direction in which losses are large, rarely sampled."""
    return (
        1 <= len(composition.parts) <= _MOST_LAWS
        and not composition.infinite
        and all(
            isinstance(law, SampledGaussianLoss) and law.direction == "remove" and law.rate <= _RARE
            for law, _ in composition.parts
        )
    )


@dataclass(frozen=True)
class _Step:
    """Losses of one step with their probabilities, so many times."""

    losses: Floats
    masses: Floats
    times: int

    @classmethod
    def of(cls, law: SampledGaussianLoss, times: int) -> _Step:
        mu, rate = math.sqrt(law.mu_squared), float(law.rate)
        x = np.arange(-_FARTHEST, mu + _FARTHEST, _FINE)
        ratio = rate * np.expm1(np.minimum(mu * x - mu * mu / 2, 700.0))
        masses = np.exp(-x * x / 2) * (1 + ratio)
        return cls(np.log1p(ratio), masses / masses.sum(), times)

    def moments(self) -> tuple[float, float]:
        mean = float(self.masses @ self.losses)
        return self.times * mean, self.times * float(self.masses @ (self.losses - mean) ** 2)

    def highest(self, delta: float) -> float:
        """All larger losses together are far less probable than delta."""
        beyond = np.cumsum(self.masses[::-1])[::-1] * self.times
        return float(self.losses[np.searchsorted(-beyond, -delta * _NEGLIGIBLE, side="right") - 1])

    def transform(self, step: float) -> NDArray[np.complex128]:
        """Of all of them, each loss shared out among four nodes as a cubic through them would be."""
        place = np.floor(self.losses / step)
        t = self.losses / step - place
        shares = (
            -t * (t - 1) * (t - 2) / 6,
            (t * t - 1) * (t - 2) / 2,
            -t * (t + 1) * (t - 2) / 2,
            t * (t * t - 1) / 6,
        )
        nodes = np.zeros(_NODES)
        for moved, share in enumerate(shares, -1):
            nodes += np.bincount((place + moved).astype(np.int64) % _NODES, share * self.masses, _NODES)
        found: NDArray[np.complex128] = np.fft.rfft(nodes) ** self.times
        return found


def _delta(composition: Composition, epsilon: float, delta: float) -> float | None:
    steps = [_Step.of(law, times) for law, times in composition.parts if isinstance(law, SampledGaussianLoss)]
    mean, variance = (sum(values) for values in zip(*(step.moments() for step in steps), strict=True))
    spread = _DEVIATIONS * math.sqrt(variance)
    highest = mean + max(spread, 2 * max(step.highest(delta) for step in steps)) + epsilon
    lowest = mean - spread - epsilon / 2
    if highest - lowest > _LONGEST:
        return None
    step = epsilon / math.ceil(epsilon * _NODES / (highest - lowest))
    masses = np.fft.irfft(math.prod(one.transform(step) for one in steps), _NODES)
    first = math.floor(lowest / step)
    losses = (first + (np.arange(_NODES) - first) % _NODES) * step
    return float(masses @ -np.expm1(np.minimum(epsilon - losses, 0.0)))
