"""Points of one sampled Gaussian for many steps, laid and summed up in a few operations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from privately.accounting.contour.sampled_gaussian import Extent, SampledGaussian
from privately.accounting.contour.view import enlarged
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, exp_moderate, exp_one, log_of_normal
from privately.accounting.roads import NotApplicable

FARTHEST = 34.0
"""No x is farther from 0: the normal density is above 10^-252."""
_PER_ROOT = 0.3989422804014327
_LARGEST_EXPONENT = 600.0
_BITS = 4


def short_below(step: float) -> float:
    """The largest number of few binary digits that is not above: normal weights at its multiples are kept."""
    fraction, exponent = math.frexp(step)
    return math.ldexp(math.floor(fraction * (1 << _BITS)), exponent - _BITS)


@lru_cache(maxsize=64)
def normal_weights(step: float) -> Floats:
    """step times the normal density at the multiples of a step of few binary digits, up to the farthest."""
    last = int(FARTHEST / step)
    x = np.arange(-last, last + 1.0) * step
    weights: Floats = exp(x * x * -0.5) * (step * _PER_ROOT)
    weights.flags.writeable = False
    return weights


class Means(NamedTuple):
    """Sums over the points with the weights e^(sL) of one power s: of 1, of the square of the loss, of the share of
    the row and its square; and the first and the last weight.
    """

    power: float
    total: float
    loss_square: float
    share: float
    share_square: float
    first: float
    last: float


class SwiftPoints(NamedTuple):
    """Equally spaced x with their losses and all that is summed up there."""

    law: SampledGaussian
    extent: Extent
    base: Floats
    loss: Floats
    columns: Floats
    """A row each: 1, the square of the loss, the share and its square."""
    drift: float
    """An error of a loss is at most this times the share, 8u, and ERROR of the loss."""

    @classmethod
    def laid(cls, law: SampledGaussian, step: float, first: int, last: int) -> SwiftPoints:
        """Those at first step, ..., last step.

        Theorem: e^t at equally spaced t is a row of products; with n points each is off by at most
            6(n + 2)u + 8u (mu (2|x_first| + |x_last|) + mu^2), relative.
        Reference: Higham 2002, section 3.1
        Proof: docs/theory/accounting/contour.md#many-alike-steps
        Checked-by: tests/accounting/contour/test_swift_points.py::test_losses_and_shares
        """
        left, right, mu = first * step, last * step, law.mu
        if not (-FARTHEST < left < 0 < right < FARTHEST and right * mu < _LARGEST_EXPONENT and law.rate <= 0.5):
            raise NotApplicable("points too far away")
        weights, count = normal_weights(step), last - first + 1
        middle = weights.size // 2
        columns = np.empty((4, count))
        ones, square, share, share_square = columns
        ones.fill(1.0)
        share.fill(exp_one(mu * step))
        share[0] = law.rate * exp_one(mu * left - mu * mu / 2)
        np.multiply.accumulate(share, out=share)
        whole = share + (1 - law.rate)
        share /= whole
        loss = log_of_normal(whole)
        np.multiply(loss, loss, out=square)
        np.multiply(share, share, out=share_square)
        drift = 6 * (count + 2) * UNIT + 8 * UNIT * (mu * (right - 2 * left) + mu * mu)
        extent = Extent(law, step, left, right, float(share[0]))
        return cls(law, extent, weights[middle + first : middle + last + 1], loss, columns, 1.01 * drift)

    @property
    def size(self) -> int:
        """How many points."""
        return self.loss.size

    @property
    def share(self) -> Floats:
        """The part of the mixture at x that comes from the row."""
        found: Floats = self.columns[2]
        return found

    def tilted(self, powers: Sequence[float]) -> tuple[Floats, list[Means]]:
        """The weights of e^(sL) for these powers s, a row each, and sums over them."""
        least, most = float(self.loss[0]), float(self.loss[-1])
        if max(map(abs, powers)) * max(-least, most) > _LARGEST_EXPONENT:
            raise NotApplicable("weights beyond the range of floats")
        rows = exp_moderate(np.array(powers)[:, None] * self.loss)
        rows *= self.base
        sums, ends = (rows @ self.columns.T).tolist(), rows[:, :: rows.shape[1] - 1].tolist()
        return rows, [Means(s, *row, *both) for s, row, both in zip(powers, sums, ends, strict=True)]

    def outside(self, means: Means) -> float:
        """What the points beyond both ends add, relative to the sum."""
        return self.extent.outside(means.power, means.first, means.last) / means.total

    def wrong(self, means: Means) -> float:
        """The mean error of the losses."""
        root = math.sqrt(means.loss_square / means.total)
        return enlarged(self.drift * means.share / means.total + 8 * UNIT + ERROR * root)

    def doubt(self, means: Means, missing: float) -> float:
        """How far the sum of the weights is from M at most, relative to it.

        Theorem: it is what the points miss, ERROR, |s| times the mean error of the losses, and the rounding of the sum.
        Reference: Higham 2002, section 3.1
        Proof: docs/theory/accounting/contour.md#many-alike-steps
        Checked-by: tests/accounting/contour/test_swift_points.py::test_transforms_on_the_real_line
        """
        rounding = ERROR + 2 * self.size * UNIT
        return enlarged(missing + rounding + abs(means.power) * self.wrong(means))
