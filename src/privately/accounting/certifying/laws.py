"""A law of the privacy loss by the name and the numbers that the checker gives it, and its profile in floating point.

A poor profile makes the checker's bound large, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privately.accounting.certifying.pairs import Pair, base_pair
from privately.accounting.losses import DIRECTIONS, Direction
from privately.accounting.roads import NotApplicable

Floats = NDArray[np.float64]

_LOWEST = -100.0
_SMALL, _LARGE = Fraction(1, 10**10), Fraction(400)
_LARGEST = 300.0


class Law(NamedTuple):
    """As the checker calls it."""

    name: str
    numbers: tuple[Fraction, ...]
    inner: tuple[tuple[tuple[Law, int], ...], ...] = ()
    """Lists of laws with their numbers of times."""
    laid: Pair | None = None
    """What is sampled, of a table."""

    @property
    def order(self) -> tuple[str, tuple[Fraction, ...], tuple[tuple[tuple[Law, int], ...], ...]]:
        """Tables of equal rates stay as they are."""
        return self.name, self.numbers, self.inner

    def require_within_floats(self) -> None:
        """Refuse losses so large, or so small, that floats do not tell them from infinity or from 0."""
        if self.inner:
            raise NotApplicable(f"a {self.name} law has no profile of its own")
        rate = self.numbers[-1] if self.is_sample else Fraction(1)
        loss = self.numbers[0]
        if self.base_name == "table":
            loss = Fraction(1)
        elif self.base_name.startswith("discrete"):
            loss = self.numbers[1] / loss
        if not _SMALL <= loss <= _LARGE or rate < _SMALL:
            raise NotApplicable("the losses are out of the range of floats")

    @property
    def is_sampled(self) -> bool:
        """Whether it is a Poisson sample."""
        return self.name.startswith("sampled ")

    @property
    def is_sample(self) -> bool:
        return self.name.startswith(("sampled ", "glued "))

    @property
    def is_directed(self) -> bool:
        """Whether the two directions differ."""
        lists = self.inner if self.name == "worst" else ()
        return self.is_sampled or any(law.is_directed for terms in lists for law, _ in terms)

    @property
    def base_name(self) -> str:
        return self.name.removeprefix("sampled ").removeprefix("glued ")

    @property
    def is_smooth(self) -> bool:
        """Whether its profile is a formula, and not that of points."""
        return self.base_name in {"normal", "laplace", "range"}

    def base(self) -> Sequence[tuple[Law, int]]:
        """What it is a sample or a group of."""
        return self.inner[0] if self.inner else ((Law(self.base_name, self.numbers[:-1]), 1),)

    def pair(self, direction: Direction) -> Pair:
        """As points, of laws that have finitely many outcomes."""
        numbers = self.numbers[:-1] if self.is_sample else self.numbers
        base = self.laid or base_pair(self.base_name, numbers)
        if not self.is_sample:
            return base
        rate = float(self.numbers[-1])
        return base.sampled(rate, direction) if self.is_sampled else base.glued(rate)

    def anchor(self, direction: Direction) -> float:
        """How far from 0 much mass sits at one loss, the largest or, for normal noise, where the row is not seen."""
        rate = float(self.numbers[-1]) if self.is_sample else 1.0
        match self.base_name:
            case "normal" | "table":
                return -math.log1p(-rate) if rate < 1 else math.inf
            case "discrete normal":
                return float(self.numbers[1] / self.numbers[0] / 2) if rate == 1 else -math.log1p(-rate)
            case "discrete laplace":
                epsilon = float(1 / self.numbers[0]) if rate == 1 else float(self.numbers[1] / self.numbers[0])
            case _:
                epsilon = float(self.numbers[0])
        if direction == "remove":
            return epsilon + math.log1p(-(1 - rate) * -math.expm1(-epsilon))
        return -math.log1p(rate * math.expm1(-epsilon))

    def profile(self, losses: Floats, direction: Direction) -> Floats:
        """D at e^loss."""
        if not self.is_smooth:
            return self.pair(direction).profile(losses)
        if self.name.startswith("glued"):
            ways = [self._replace(name=f"sampled {self.base_name}").profile(losses, way) for way in DIRECTIONS]
            return np.where(losses >= 0, *ways)
        grown = np.expm1(np.minimum(losses, 2 * _LARGEST))
        rate = float(self.numbers[-1])
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if not self.is_sampled:
                return self._base(grown + 1, losses)
            if direction == "remove":
                ratio = 1 + grown / rate
                return rate * self._base(ratio, np.log1p(np.maximum(grown / rate, -1.0)))
            weight = (grown + 1) * rate - grown
            ratio = np.maximum((grown + 1) * rate / np.maximum(weight, 1e-300), 1e-300)
            return np.maximum(weight, 0.0) * self._base(ratio, np.log(ratio))

    def _base(self, ratio: Floats, logs: Floats) -> Floats:
        if self.base_name == "normal":
            mu = math.sqrt(self.numbers[0])
            place = np.where(ratio > 0, logs, -1e3) / mu
            between = _tail(place - mu / 2) - ratio * _tail(place + mu / 2)
            of_normal: Floats = np.where(ratio > 0, np.maximum(between, 0.0), 1 - ratio)
            return of_normal
        epsilon = float(self.numbers[0])
        if self.base_name == "laplace":
            middle = 1 - np.sqrt(np.maximum(ratio, 0.0) * math.exp(-epsilon))
            of_laplace: Floats = np.maximum(np.maximum(middle, 1 - ratio), 0.0)
            return of_laplace
        root, half = np.sqrt(np.maximum(ratio, 0.0)), math.exp(epsilon / 2)
        above, below = np.maximum(half - root, 0.0) ** 2, np.maximum(half * root - 1, 0.0) ** 2
        of_range: Floats = np.where(ratio >= 1, above, (1 - ratio) * math.expm1(epsilon) + below) / math.expm1(epsilon)
        return of_range

    def below(self, losses: Floats, direction: Direction) -> Floats:
        """What D has above 1 - e^loss: e^loss times the profile of the other direction at -loss."""
        if not self.is_smooth:
            return self.pair(direction).below(losses)
        other: Direction = "add" if direction == "remove" else "remove"
        found: Floats = np.exp(np.minimum(losses, 0.0)) * self.profile(np.maximum(-losses, 0.0), other)
        return found

    def masses(self, losses: Floats, direction: Direction) -> tuple[Floats, Floats, Floats]:
        """P of all these losses but the last, if lines join the profile between them; P and Q from the next one on."""
        grown = np.exp(np.minimum(losses, 2 * _LARGEST))
        profile, below = self.profile(losses, direction), self.below(losses, direction)
        # The slope of the profile, below 0 that of what it has above 1 - alpha, which floats know better.
        is_low = losses[1:] <= 0
        rise = np.where(is_low, below[:-1] - below[1:], profile[:-1] - profile[1:])
        slope = rise / (grown[:-1] * np.expm1(np.diff(losses)))
        whole = np.where(is_low, 1.0, 0.0)
        before = (-below[0] / grown[0], 1.0) if losses[0] < 0 else ((1 - profile[0]) / grown[0], 0.0)
        masses: Floats = -(np.diff(slope, prepend=before[0]) + np.diff(whole, prepend=before[1])) * grown[:-1]
        beyond: Floats = slope + whole
        return masses, profile[1:] + grown[1:] * beyond, beyond

    def bottom(self, mass: float, direction: Direction) -> float:
        """A loss below which at most so much of P lies."""

        def below(x: float) -> float:
            return float(self.below(np.array([x]), direction)[0])

        low, high = -1e-9, 0.0
        while below(low) > mass:
            low, high = 2 * low, low
            if low < _LOWEST:
                raise NotApplicable("losses are too far below 0")
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if below(middle) > mass else (middle, high)
        return low


def _tail(x: Floats) -> Floats:
    return np.array([math.erfc(value / math.sqrt(2)) / 2 for value in x.tolist()])
