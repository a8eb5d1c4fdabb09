"""Discrete noise on a Poisson sample: sums over whole numbers, in floats with error bounds.

The noise k has law Q, of a data set without the row, and k - sensitivity with it; L0 is the base's loss at k, and the
loss is +-L with L = ln(1 - q + q e^L0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privately.accounting.contour.points import Points, Tilted
from privately.accounting.contour.view import enlarged
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log1p
from privately.accounting.losses import SampledDiscreteGaussianLoss, SampledDiscreteLaplaceLoss
from privately.accounting.renyi.closed_forms import discrete_laplace
from privately.accounting.renyi.moments import Moments, Quadratic
from privately.accounting.renyi.sampled import Enclosed, sample_of
from privately.accounting.roads import NotApplicable

_MOST_POINTS = 1 << 16
_LARGEST_LOSS = 500.0
_WIDTH = 10.0
_NEAREST_RATE = 1 - 2.0**-40
_LARGEST_SENSITIVITY = 1 << 20


@dataclass(frozen=True)
class LaplaceSum:
    """Discrete Laplace noise: as many points as there are losses."""

    step: float
    sensitivity: int
    rate: float
    removes: bool

    @classmethod
    def of(cls, law: SampledDiscreteLaplaceLoss) -> LaplaceSum:
        """Its floats are within a unit of rounding of the exact parameters."""
        if law.sensitivity >= _MOST_POINTS or law.sensitivity / law.scale > _LARGEST_LOSS:
            raise NotApplicable("losses beyond the range of floats")
        return cls(float(1 / law.scale), law.sensitivity, float(law.rate), law.direction == "remove")

    def log_mass(self, c: float) -> tuple[float, float]:
        """ln M(c), enclosed."""
        return self.points().tilted(_power(c, removes=self.removes)).log_mass(0.0)

    def rough(self, c: float) -> float:
        return sum(self.log_mass(c)) / 2

    def points(self) -> Points:
        """k = 0, ..., sensitivity; the first and the last stand for all beyond them, where the loss is the same."""
        k = np.arange(self.sensitivity + 1.0)
        end = 1 / (1 + exp(np.array([-self.step])))
        factor = np.full_like(k, float((-expm1(np.array([-self.step])) * end)[0]))
        factor[[0, -1]] = end[0]
        whole = (2 * k - self.sensitivity) * self.step
        log_base = -k * self.step
        return _points(factor, log_base, 8 * ERROR - 4 * UNIT * log_base, whole, self.rate)


@dataclass(frozen=True)
class GaussianSum:
    """Discrete Gaussian noise: as many points as matter at c."""

    variance: float
    sensitivity: int
    rate: float
    removes: bool

    @classmethod
    def of(cls, law: SampledDiscreteGaussianLoss) -> GaussianSum:
        """Its floats are within a unit of rounding of the exact parameters."""
        if law.sensitivity > _LARGEST_SENSITIVITY:
            raise NotApplicable("so large a sensitivity")
        return cls(float(law.variance), law.sensitivity, float(law.rate), law.direction == "remove")

    def log_mass(self, c: float) -> tuple[float, float]:
        """ln M(c), enclosed.

        Theorem: beyond its ends each sum is at most its last term divided by the exponent with which its terms fall.
        Reference: Canonne-Kamath-Steinke 2020 for the law
        Proof: docs/theory/accounting/renyi.md#discrete-noise-on-a-sample
        Checked-by: tests/accounting/renyi/test_sums.py::test_discrete_gaussian
        """
        s = _power(c, removes=self.removes)
        k = np.arange(*self._range(c), dtype=np.float64)
        log_base = -k * k / (2 * self.variance)
        weights = exp(log_base)
        total = float(weights.sum())
        whole = self.sensitivity * (2 * k - self.sensitivity) / (2 * self.variance)
        if whole[-1] > _LARGEST_LOSS:
            raise NotApplicable("losses beyond the range of floats")
        untilted = self._beyond(0.0, k, weights, 0.0) / total
        doubt = untilted + 2 * k.size * UNIT + 4 * ERROR
        factor = np.full_like(k, 1 / total)
        points = _points(factor, log_base, 2 * doubt - 8 * UNIT * log_base, whole, self.rate)
        tilted = points.tilted(s)
        share = self.rate * float(exp(whole[:1])[0]) / (1 - self.rate)
        return tilted.log_mass(enlarged(untilted + self._tilted_beyond(tilted, k, share)))

    def rough(self, c: float) -> float:
        return sum(self.log_mass(c)) / 2

    def _range(self, c: float) -> tuple[int, int]:
        width = _WIDTH * math.sqrt(self.variance)
        left, right = width, width
        if self.removes:
            right += (c + 1) * self.sensitivity
        else:
            shallow = math.sqrt(_WIDTH**2 - 2 * c * math.log1p(-self.rate)) * math.sqrt(self.variance)
            left = min(left + c * self.sensitivity, shallow)
        if left + right > _MOST_POINTS:
            raise NotApplicable("too many points")
        return -math.ceil(left) - 2, math.ceil(right) + 3

    def _tilted_beyond(self, tilted: Tilted, k: Floats, share: float) -> float:
        return self._beyond(tilted.s, k, tilted.weights, share) / tilted.total

    def _beyond(self, s: float, k: Floats, weights: Floats, share: float) -> float:
        """The sums beyond both ends; `share` bounds the slope of L at the left end."""
        pull = abs(s) * self.sensitivity
        falls = k[-1] - (pull if s > 0 else 0.0)
        rises = -k[0] - (pull * min(share, 1.0) if s < 0 else 0.0)
        if min(falls, rises) <= 0:
            raise NotApplicable("the sum ends too early")
        return float(weights[-1] / falls + weights[0] / rises) * self.variance * (1 + 2.0**-20)


def sampled_discrete_laplace(law: SampledDiscreteLaplaceLoss) -> Moments:
    """One direction of discrete Laplace noise on a Poisson sample."""
    beyond = sample_of(discrete_laplace(law.scale, law.sensitivity), law.rate, law.direction)
    try:
        return Enclosed(_checked(LaplaceSum.of(law)), beyond)
    except NotApplicable:
        return beyond


def sampled_discrete_gaussian(law: SampledDiscreteGaussianLoss) -> Moments:
    """One direction of discrete Gaussian noise on a Poisson sample."""
    beyond = sample_of(Quadratic(law.sensitivity**2 / (2 * law.variance)), law.rate, law.direction)
    try:
        return Enclosed(_checked(GaussianSum.of(law)), beyond)
    except NotApplicable:
        return beyond


def _checked(law: LaplaceSum | GaussianSum) -> LaplaceSum | GaussianSum:
    if law.rate > _NEAREST_RATE:
        raise NotApplicable("a rate so near 1")
    return law


def _power(c: float, *, removes: bool) -> float:
    """M(c) is the mean of e^(sL) over Q."""
    return c + 1 if removes else -c


def _points(factor: Floats, log_base: Floats, weight_error: Floats, whole: Floats, rate: float) -> Points:
    """From the base's losses, which are off by at most 8 units of rounding."""
    lifted = rate * expm1(whole)
    loss, sum_of_both = log1p(lifted), 1 + lifted
    share = np.minimum((lifted + rate) / sum_of_both, 1.0)
    lost = 2 * ERROR * np.abs(lifted) / sum_of_both + share * (8 * UNIT * np.abs(whole))
    return Points(
        factor=factor,
        log_base=log_base,
        weight_error=weight_error,
        loss=loss,
        loss_error=ERROR * np.abs(loss) + lost,
    )
