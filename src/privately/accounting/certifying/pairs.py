"""Pairs of laws as points, in floating point: what the checker makes of discrete noise, of responses and of samples.

Everything here is a choice or a guess. A poor one makes the checker's bound large, never wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privately.accounting.losses import Direction
from privately.accounting.roads import NotApplicable

Floats = NDArray[np.float64]

_QUIET = 600
_MOST_OUTCOMES = 4000
_STEEPEST = 700.0
_LARGEST = 9000


@dataclass(frozen=True, eq=False)
class Pair:
    """Finite losses, falling, and the logarithms of their P; P of infinite losses, Q of losses of -infinity."""

    losses: Floats
    log_p: Floats
    infinite: float = 0.0
    hidden: float = 0.0

    def sampled(self, rate: float, direction: Direction) -> Pair:
        """Under Poisson sampling."""
        if direction == "remove":
            mixed = _mixed(self.losses, rate)
            log_p = self.log_p - self.losses + mixed
            least = math.log1p(-rate)
            extra = [math.log(self.hidden) + least] if self.hidden else []
            return Pair(np.append(mixed, [least] * len(extra)), np.append(log_p, extra), rate * self.infinite)
        most = [-math.log1p(-rate)] if self.infinite else []
        log_p = np.append([math.log(self.infinite)] if most else [], self.log_p)
        return Pair(np.append(most, -_mixed(-self.losses, rate)), log_p, 0.0, rate * self.hidden)

    def glued(self, rate: float) -> Pair:
        """In a sample of fixed size."""
        above, below = self.losses > 0, self.losses < 0
        one, other = self._part(above).sampled(rate, "remove"), self._part(below).sampled(rate, "add")
        p = np.exp(self.log_p)
        gained = float((p[above] * -np.expm1(-self.losses[above])).sum()) + self.infinite
        middle = (1 - rate) * gained + float(p[self.losses == 0].sum())
        losses = np.concatenate([one.losses, [0.0], other.losses])
        log_p = np.concatenate([one.log_p, [math.log(max(middle, 1e-300))], other.log_p])
        return Pair(losses, log_p, rate * self.infinite, rate * self.hidden)

    def _part(self, chosen: NDArray[np.bool_]) -> Pair:
        return Pair(self.losses[chosen], self.log_p[chosen])

    def profile(self, at: Floats) -> Floats:
        """D at e^at."""
        p, q = np.exp(self.log_p), np.exp(self.log_p - self.losses)
        place = np.searchsorted(-self.losses, -at)
        sums, others = np.append(0.0, np.cumsum(p)), np.append(0.0, np.cumsum(q))
        found: Floats = self.infinite + sums[place] - np.exp(np.minimum(at, _STEEPEST)) * others[place]
        return np.maximum(found, 0.0)

    def below(self, at: Floats) -> Floats:
        """What D has above 1 - e^at."""
        p, q = np.exp(self.log_p), np.exp(self.log_p - self.losses)
        place = self.losses.size - np.searchsorted(-self.losses, -at)
        sums, others = np.append(0.0, np.cumsum(p[::-1])), np.append(0.0, np.cumsum(q[::-1]))
        found: Floats = np.exp(np.minimum(at, _STEEPEST)) * (others[place] + self.hidden) - sums[place]
        return np.maximum(found, 0.0)


def _mixed(losses: Floats, rate: float) -> Floats:
    """ln(1 - q + q e^loss)."""
    near = np.log1p(rate * np.expm1(np.minimum(losses, _STEEPEST)))
    found: Floats = near + np.maximum(losses - _STEEPEST, 0.0)
    return found


@lru_cache(maxsize=64)
def base_pair(name: str, numbers: tuple[Fraction, ...]) -> Pair:
    """Of discrete noise, or of a response; for a range law, the response that it is at most."""
    if name == "discrete laplace":
        return _discrete_laplace(float(numbers[0]), int(numbers[1]))
    if name == "discrete normal":
        return _discrete_normal(numbers[0], int(numbers[1]))
    if name not in {"response", "range"} or numbers[0] > _LARGEST:
        raise NotApplicable(f"no points of a {name} law")
    epsilon = float(numbers[0])
    categories, delta = (int(numbers[1]), float(numbers[2])) if name == "response" else (2, 0.0)
    # e^epsilon + K - 1, over e^epsilon
    log_truth = math.log1p(-delta) - math.log1p((categories - 1) * math.exp(-epsilon)) if delta < 1 else -math.inf
    even = [log_truth - epsilon + math.log(categories - 2)] if categories > 2 else []
    log_p = [log_truth, *even, log_truth - epsilon]
    return Pair(np.array([epsilon, *(0.0 for _ in even), -epsilon]), np.array(log_p), delta, delta)


def _discrete_laplace(scale: float, sensitivity: int) -> Pair:
    j = np.arange(sensitivity + 1.0)
    log_p = math.log(-math.expm1(-1 / scale)) - math.log1p(math.exp(-1 / scale)) - j / scale
    log_p[0] = -math.log1p(math.exp(-1 / scale))
    log_p[-1] = log_p[0] - sensitivity / scale
    return Pair((sensitivity - 2 * j) / scale, log_p)


def _discrete_normal(variance: Fraction, sensitivity: int) -> Pair:
    reach = math.isqrt(_QUIET * variance.numerator // variance.denominator) + 2
    if 2 * reach + sensitivity > _MOST_OUTCOMES or (reach + sensitivity) ** 2 > _LARGEST * variance:
        raise NotApplicable("the discrete noise is too wide, or too narrow")
    k = np.arange(sensitivity + reach, -reach - 1.0, -1.0)
    spread = 2 * float(variance)
    total = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / spread).sum()
    unlisted = 2 * (1 + spread / 2 / reach) * math.exp(-(reach**2) / spread)
    log_p = -((k - sensitivity) ** 2) / spread - math.log(total)
    return Pair(sensitivity * (2 * k - sensitivity) / spread, log_p, unlisted, unlisted)
