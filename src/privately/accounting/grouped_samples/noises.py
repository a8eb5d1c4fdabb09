"""Noise around a whole number of rows: where its outcomes are cut, and what each piece has for every number of rows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1
from privately.accounting.losses import DiscreteGaussianLoss, DiscreteLaplaceLoss, GaussianLoss, LaplaceLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading.steps import above
from privately.laws.gaussian_sums import whole_sum
from privately.rounding import Enclosure

Base = GaussianLoss | LaplaceLoss | DiscreteGaussianLoss | DiscreteLaplaceLoss
Known = tuple[Floats, Floats]
"""Numbers, and how far they may be off."""

_FARTHEST = 36.0
_LARGEST = 600.0
"""Of the logarithm of a ratio."""
_LEAST_MU = 1e-6
_MOST = 1 << 16
_PER_SIDE = 1e-280
_DENSITY = 1 / math.sqrt(2 * math.pi)
_REMAINDER = 9.2e7  # 4^4 9!, and less


class Cut(ABC):
    """Noise around 0, cut into cells or into single outcomes; around i rows for -added <= i <= removed."""

    @abstractmethod
    def exponents(self, rows: int) -> Known:
        """At every edge, or at every outcome: ln of the density around so many rows over that around 0."""

    @abstractmethod
    def masses(self, rows: int) -> Known:
        """Of every cell, or of every outcome, around so many rows."""

    def beyond(self, rows: int) -> tuple[float, float]:
        """What is below the first edge, and above the last, from above."""
        del rows
        return 0.0, 0.0

    are_cells = True
    """Or single outcomes."""
    ends_are_sharp = False
    """Whether the ratio of any two densities is the same beyond an edge as at it."""


def cut(base: Base, removed: int, added: int, count: int, rare: float) -> Cut:
    """Into about so many pieces; about `rare` is outside."""
    match base:
        case GaussianLoss(mu_squared=mu_squared):
            return _normal(math.sqrt(mu_squared), removed, added, count, rare)
        case LaplaceLoss(epsilon=epsilon):
            return _laplace(epsilon, removed, added, count)
        case DiscreteGaussianLoss():
            return _discrete_normal(base, removed, added, rare)
        case DiscreteLaplaceLoss():
            return _discrete_laplace(base, removed, added)


def _reach(rare: float) -> float:
    return min(math.sqrt(-2 * math.log(max(rare, _PER_SIDE))), _FARTHEST)


@dataclass(frozen=True)
class NormalCells(Cut):
    """x of few bits, in even steps; `mu` is off by 2 units."""

    mu: float
    x: Floats

    def exponents(self, rows: int) -> Known:
        shift = rows * self.mu
        return shift * self.x - shift * shift / 2, 8 * UNIT * (np.abs(shift * self.x) + shift * shift)

    def masses(self, rows: int) -> Known:
        """By the even derivatives at the middle of every cell.

        Theorem: the normal density f around 0 has over a cell of width h around x the mass h f(x) times 1 + He2(x)
            h^2/24 + He4(x) h^4/1920 + He6(x) h^6/322560, but for a part e^(|x| h/2) ((|x| + h/2 + 1.8) h)^8/9.2e7.
        Reference: Taylor's formula; He_n(x) = E[(x + iZ)^n], Z normal
        Proof: docs/theory/accounting/group_samples.md#normal-cells
        Checked-by: tests/accounting/grouped_samples/test_noises.py::test_pieces_hold_their_masses
        """
        shift, wide = rows * self.mu, float(self.x[1] - self.x[0])
        at = (self.x[:-1] + wide / 2) - shift
        square, step = at * at, wide * wide / 4
        fourth = (square - 6) * square + 3
        sixth = ((square - 15) * square + 45) * square - 15
        series = 1 + step * ((square - 1) / 6 + step * (fourth / 120 + step * sixth / 5040))
        found = exp(-square / 2) * (wide * _DENSITY) * series
        far = np.abs(at)
        left_out = exp(far * (wide / 2)) * (((far + wide / 2 + 1.8) * wide) ** 8 / _REMAINDER)
        density = exp(-square / 2) * wide
        return found, density * (4 * ERROR + 32 * UNIT * (square + np.abs(shift * at) + 1) + left_out) + 1e-305

    def beyond(self, rows: int) -> tuple[float, float]:
        shift = rows * self.mu
        return above(shift - float(self.x[0])), above(float(self.x[-1]) - shift)


def _normal(mu: float, removed: int, added: int, count: int, rare: float) -> NormalCells:
    reach = _reach(rare)
    most = mu * max(removed, added)
    if mu < _LEAST_MU or mu * (removed + added) + reach > _FARTHEST or most * (mu * removed + reach) > _LARGEST:
        raise NotApplicable("noise out of range")
    step = 2.0 ** math.ceil(math.log2((mu * removed + 2 * reach) / count))
    first, last = math.floor(-reach / step), math.ceil((mu * removed + reach) / step)
    return NormalCells(mu, np.arange(first, last + 1.0) * step)


@dataclass(frozen=True)
class LaplaceCells(Cut):
    """Between -added and removed rows, `each` cells for every row; all distances are multiples of a cell."""

    epsilon: float
    each: int
    places: Floats

    ends_are_sharp = True

    def _distances(self, places: Floats, rows: int) -> Floats:
        return np.abs(places - rows * self.each) * (self.epsilon / self.each)

    def exponents(self, rows: int) -> Known:
        around, here = self._distances(self.places, 0), self._distances(self.places, rows)
        return around - here, 8 * UNIT * (around + here)

    def masses(self, rows: int) -> Known:
        far = self._distances(self.places, rows)
        near = np.minimum(far[:-1], far[1:])
        found = exp(-near) * (-expm1(np.array([-self.epsilon / self.each])) / 2)
        return found, found * (2 * ERROR + 8 * UNIT * (near + 1))

    def beyond(self, rows: int) -> tuple[float, float]:
        far = self._distances(self.places[[0, -1]], rows)
        low, high = (exp(-far) / 2 * (1 + 2 * ERROR + 8 * UNIT * (far + 1))).tolist()
        return low, high


def _laplace(epsilon: Fraction, removed: int, added: int, count: int) -> LaplaceCells:
    size, rows = float(epsilon), removed + added
    if not _LEAST_MU < size * rows < _LARGEST:
        raise NotApplicable("noise out of range")
    each = max(count // rows, 16)
    return LaplaceCells(size, each, np.arange(float(-added * each), removed * each + 1.0))


@dataclass(frozen=True)
class DiscreteNormal(Cut):
    """Whole numbers k, with masses in proportion to exp(-(k - rows * sensitivity)^2/(2 variance))."""

    law: DiscreteGaussianLoss
    k: Floats
    total: float
    outside: float

    are_cells = False

    def exponents(self, rows: int) -> Known:
        shift, per = rows * self.law.sensitivity, float(1 / (2 * self.law.variance))
        found = shift * (2 * self.k - shift) * per
        return found, 8 * UNIT * np.abs(found)

    def masses(self, rows: int) -> Known:
        off = self.k - rows * self.law.sensitivity
        exponents = off * off * float(1 / (2 * self.law.variance))
        found = exp(-exponents) / self.total
        return found, found * (2 * ERROR + 8 * UNIT * (exponents + 1)) + 1e-305

    def beyond(self, rows: int) -> tuple[float, float]:
        del rows
        return self.outside, self.outside


def _discrete_normal(law: DiscreteGaussianLoss, removed: int, added: int, rare: float) -> DiscreteNormal:
    if law.variance > _MOST**2 or law.sensitivity > _MOST:
        raise NotApplicable("too many outcomes")
    spread, far = math.sqrt(law.variance), law.sensitivity * removed
    reach = math.ceil(_reach(rare) * spread) + 1
    most = law.sensitivity * max(removed, added)
    if 2 * reach + far > _MOST or most * (far + reach) > _LARGEST * law.variance:
        raise NotApplicable("too many outcomes, or too large a loss")
    exact = reach * reach / (2 * law.variance)
    whole = whole_sum(law.variance)
    ratio = (Enclosure.of(-reach / law.variance)).exp()
    outside = (Enclosure.of(-exact).exp() * ratio / (1 - ratio) / whole).upper
    k = np.arange(float(-reach), reach + far + 1.0)
    return DiscreteNormal(law, k, float(whole.lower), float(outside) * (1 + 4 * UNIT))


@dataclass(frozen=True)
class DiscreteLaplace(Cut):
    """Whole numbers k from -added to removed rows; the ends stand for all that is beyond."""

    law: DiscreteLaplaceLoss
    k: Floats

    are_cells = False

    def _distances(self, rows: int) -> Floats:
        return np.abs(self.k - rows * self.law.sensitivity) * float(1 / self.law.scale)

    def exponents(self, rows: int) -> Known:
        around, here = self._distances(0), self._distances(rows)
        return around - here, 8 * UNIT * (around + here)

    def masses(self, rows: int) -> Known:
        far = self._distances(rows)
        inside = exp(np.array([-1 / float(self.law.scale)]))
        shares = np.full(far.size, float((-expm1(np.array([-1 / float(self.law.scale)])) / (1 + inside))[0]))
        shares[[0, -1]] = float((1 / (1 + inside))[0])
        found = exp(-far) * shares
        return found, found * (8 * ERROR + 8 * UNIT * (far + 1))


def _discrete_laplace(law: DiscreteLaplaceLoss, removed: int, added: int) -> DiscreteLaplace:
    rows = removed + added
    if law.sensitivity * rows > min(_LARGEST * law.scale, _MOST) or law.scale > 10**12:
        raise NotApplicable("too many outcomes, or too large a loss")
    ends = float(-added * law.sensitivity), removed * law.sensitivity + 1.0
    return DiscreteLaplace(law, np.arange(*ends))
