"""Noise around a whole number of rows, cut into pieces, whose masses and densities are logarithms between two ends."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp_one, expm1_one, log, log_one
from privately.accounting.grouped_samples.noises import Base
from privately.accounting.losses import DiscreteGaussianLoss, DiscreteLaplaceLoss, GaussianLoss, LaplaceLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading.steps import above
from privately.laws.gaussian_sums import whole_sum
from privately.rounding import Enclosure

Ends = tuple[Floats, Floats]
"""Not above, and not below."""

_LEAST_RARE, _MARGIN = 1e-280, 1e-6
_LEAST_MU, _LARGEST_MU = 1e-6, 1e4
_LARGEST, _FINEST = 1e6, 16
_MOST_OUTCOMES, _FARTHEST = 1 << 16, 2.0**40
_LOG_TWO, _LOG_DENSITY = 0.6931471805599453, 0.9189385332046727  # ln 2, ln sqrt(2 pi)
_REMAINDER = 9.2e7  # 4^4 9!, and less


class Pieces(ABC):
    """Cells, or single outcomes, with nearly all that noise has around the numbers of rows that it was cut for."""

    outside: float
    """What noise has elsewhere, around any of these, from above."""

    @abstractmethod
    def masses(self, rows: int) -> Ends:
        """ln of the mass of every piece, around so many rows."""

    def at_lower_ends(self, rows: int) -> Ends:
        """ln of the density at the lower end of every cell, but for a number that does not depend on the rows; an
        outcome is a cell with the same ratios at both ends.
        """
        return self.masses(rows)

    def at_upper_ends(self, rows: int) -> Ends:
        """The same at the upper ends."""
        return self.masses(rows)


def cut_in_logs(base: Base, rows: Sequence[int], least: int, count: int, rare: float) -> Pieces:
    """Into about so many pieces around each of these numbers of rows; other noise may be around `least` or more."""
    match base:
        case GaussianLoss(mu_squared=mu_squared):
            return _normal(math.sqrt(mu_squared), rows, count, rare)
        case LaplaceLoss(epsilon=epsilon):
            return _laplace(epsilon, least, max(rows), count)
        case DiscreteGaussianLoss():
            return _discrete_normal(base, rows, rare)
        case DiscreteLaplaceLoss():
            return _discrete_laplace(base, least, max(rows))


def _ends(found: Floats, off: Floats) -> Ends:
    return found - off, found + off


@dataclass(frozen=True)
class NormalPieces(Pieces):
    """Cells of this width, a power of two, from each of `x`, a multiple of it; `mu` is off by 2 units."""

    mu: float
    x: Floats
    wide: float
    outside: float

    def masses(self, rows: int) -> Ends:
        """By the even derivatives at the middle of every cell or, far out, by the densities at its ends.

        Theorem: the mass of a cell of width h around x is h f(x) times 1 + He2(x) h^2/24 + He4(x) h^4/1920 + He6(x)
            h^6/322560, but for a part e^(|x| h/2) ((|x| + h/2 + 1.8) h)^8/9.2e7 of h f(x); and its logarithm is that
            of h f(x), but for |x| h/2 + h^2/8.
        Reference: Taylor's formula
        Proof: docs/theory/accounting/group_samples.md#in-logarithms
        Checked-by: tests/accounting/grouped_samples/test_log_pieces.py::test_pieces_hold_their_masses
        """
        shift, wide = rows * self.mu, self.wide
        at = (self.x + wide / 2) - shift
        square, far, step = at * at, np.abs(at), wide * wide / 4
        is_near = (far + 2) * wide < 1
        near = np.where(is_near, square, 0.0)
        fourth = (near - 6) * near + 3
        sixth = ((near - 15) * near + 45) * near - 15
        series = 1 + step * ((near - 1) / 6 + step * (fourth / 120 + step * sixth / 5040))
        left_out = 2 * ((far + wide / 2 + 1.8) * wide) ** 8 / _REMAINDER
        found = (log_one(wide) - _LOG_DENSITY) - square / 2 + np.where(is_near, log(np.maximum(series, 0.5)), 0.0)
        rounded = 32 * UNIT * (square + np.abs(shift * at) + 1) + 64 * ERROR
        return _ends(found, rounded + np.where(is_near, 4 * left_out, far * wide / 2 + wide * wide / 8))

    def at_lower_ends(self, rows: int) -> Ends:
        return self._density(self.x, rows)

    def at_upper_ends(self, rows: int) -> Ends:
        return self._density(self.x + self.wide, rows)

    def _density(self, x: Floats, rows: int) -> Ends:
        """Over that around 0."""
        shift = rows * self.mu
        return _ends(shift * x - shift * shift / 2, 8 * UNIT * (np.abs(shift * x) + shift * shift))


def _normal(mu: float, rows: Sequence[int], count: int, rare: float) -> NormalPieces:
    if not _LEAST_MU <= mu <= _LARGEST_MU:
        raise NotApplicable("noise out of range")
    reach, centres = _reach(rare), [i * mu for i in rows]
    length = min(2 * reach * len(centres), 2 * reach + centres[-1] - centres[0])
    wide = 2.0 ** math.ceil(math.log2(length / count))
    return NormalPieces(mu, _around(centres, reach, wide) * wide, wide, 2 * above(reach - _MARGIN))


def _reach(rare: float) -> float:
    return math.sqrt(-2 * math.log(max(rare, _LEAST_RARE)))


def _around(centres: Sequence[float], reach: float, wide: float) -> Floats:
    """All whole numbers of cells of this width that are within reach of a centre."""
    ends = [(math.floor((centre - reach) / wide), math.ceil((centre + reach) / wide)) for centre in centres]
    return np.unique(np.concatenate([np.arange(float(low), high + 1.0) for low, high in ends]))


@dataclass(frozen=True)
class LaplacePieces(Pieces):
    """As many cells for every row, and before and after all of them what is beyond, where no ratio changes."""

    epsilon: float
    each: int
    places: Floats
    outside = 0.0

    def _distances(self, rows: int) -> Floats:
        return np.abs(self.places - float(rows * self.each)) * (self.epsilon / self.each)

    def masses(self, rows: int) -> Ends:
        far = self._distances(rows)
        part = log_one(-expm1_one(-self.epsilon / self.each)) - _LOG_TWO
        cells = part - np.minimum(far[:-1], far[1:])
        found = np.concatenate([[-far[0] - _LOG_TWO], cells, [-far[-1] - _LOG_TWO]])
        return _ends(found, 16 * UNIT * np.abs(found) + 64 * ERROR)

    def at_lower_ends(self, rows: int) -> Ends:
        far = self._distances(rows)
        return _ends(-np.append(far[0], far), 16 * UNIT * np.append(far[0], far))

    def at_upper_ends(self, rows: int) -> Ends:
        far = self._distances(rows)
        return _ends(-np.append(far, far[-1]), 16 * UNIT * np.append(far, far[-1]))


def _laplace(epsilon: Fraction, least: int, most: int, count: int) -> LaplacePieces:
    size, rows = float(epsilon), most - least
    if not _LEAST_MU < size * rows < _LARGEST or count // rows < _FINEST:
        raise NotApplicable("noise out of range")
    each = count // rows
    return LaplacePieces(size, each, np.arange(float(least * each), most * each + 1.0))


@dataclass(frozen=True)
class DiscreteNormalPieces(Pieces):
    """Whole numbers k, with masses in proportion to exp(-(k - rows * sensitivity)^2/(2 variance))."""

    law: DiscreteGaussianLoss
    k: Floats
    outside: float

    def masses(self, rows: int) -> Ends:
        whole = float(whole_sum(self.law.variance).log().lower)
        off = self.k - float(rows * self.law.sensitivity)
        found = -off * off * float(1 / (2 * self.law.variance)) - whole
        return _ends(found, 16 * UNIT * (np.abs(found) + abs(whole) + 1))


def _discrete_normal(law: DiscreteGaussianLoss, rows: Sequence[int], rare: float) -> DiscreteNormalPieces:
    reach = math.ceil(_reach(rare) * math.sqrt(law.variance)) + 1
    if len(rows) * reach > _MOST_OUTCOMES or max(rows) * law.sensitivity > _FARTHEST:
        raise NotApplicable("too many outcomes")
    ratio = Enclosure.of(-reach / law.variance).exp()
    beyond = Enclosure.of(-reach * reach / (2 * law.variance)).exp() * ratio / (1 - ratio) / whole_sum(law.variance)
    centres = [float(i * law.sensitivity) for i in rows]
    return DiscreteNormalPieces(law, _around(centres, reach, 1.0), 2 * float(beyond.upper) * (1 + 4 * UNIT))


@dataclass(frozen=True)
class DiscreteLaplacePieces(Pieces):
    """Whole numbers k; the first and the last stand for all that is beyond."""

    law: DiscreteLaplaceLoss
    k: Floats
    outside = 0.0

    def masses(self, rows: int) -> Ends:
        falls = exp_one(-float(1 / self.law.scale))
        shares = np.full(self.k.size, 1 - falls)
        shares[[0, -1]] = 1.0
        far = np.abs(self.k - float(rows * self.law.sensitivity)) * float(1 / self.law.scale)
        found = log(shares / (1 + falls)) - far
        return _ends(found, 16 * UNIT * (np.abs(found) + 1) + 32 * ERROR / (1 - falls))


def _discrete_laplace(law: DiscreteLaplaceLoss, least: int, most: int) -> DiscreteLaplacePieces:
    if law.sensitivity * (most - least) > _MOST_OUTCOMES or law.scale > _LARGEST:
        raise NotApplicable("too many outcomes")
    return DiscreteLaplacePieces(law, np.arange(float(least * law.sensitivity), most * law.sensitivity + 1.0))
