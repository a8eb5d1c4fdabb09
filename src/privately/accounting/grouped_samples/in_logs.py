"""One step on a sample as a group sees it, where there is so little noise that ratios of densities leave the floats.

All masses and densities are logarithms, between two ends.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log, log_one
from privately.accounting.grouped_samples.mixtures import Numbers, Split, Step, is_in_range, listed
from privately.accounting.losses import DiscreteGaussianLoss, GaussianLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading import Losses, Side
from privately.accounting.spreading.steps import above
from privately.laws.gaussian_sums import whole_sum
from privately.rounding import Enclosure

Ends = tuple[Floats, Floats]
"""Not above, and not below."""

_LEAST_RARE = 1e-280
_LEAST_MU, _LARGEST_MU = 1e-6, 1e4
_MOST_OUTCOMES = 1 << 16
_LOG_DENSITY = 0.9189385332046727  # ln sqrt(2 pi)
_REMAINDER = 9.2e7  # 4^4 9!, and less
_FAINT = 1e-300
_MARGIN = 1e-6
_FARTHEST = 2.0**40


class Pieces(ABC):
    """Cells, or single outcomes, with nearly all that noise has around 0, 1, ..., rows."""

    outside: float
    """What noise has elsewhere, around any of these numbers of rows, from above."""

    @abstractmethod
    def masses(self, rows: int) -> Ends:
        """ln of the mass of every piece, around so many rows."""

    def densities(self, rows: int) -> tuple[Ends, Ends] | None:
        """The same of the density at the lower end of every cell and at the upper one, all of them times a constant;
        None for outcomes.
        """
        del rows
        return None


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
            h^6/322560, but for a part of h f(x) sqrt(2 pi) of at most e^(|x| h/2) ((|x| + h/2 + 1.8) h)^8/9.2e7; and its
            logarithm is that of h f(x) but for |x| h/2 + h^2/8.
        Reference: Taylor's formula
        Proof: docs/theory/accounting/group_samples.md#in-logarithms
        Checked-by: tests/accounting/grouped_samples/test_in_logs.py::test_pieces_hold_their_masses
        """
        shift = rows * self.mu
        at = (self.x + self.wide / 2) - shift
        square, far, step = at * at, np.abs(at), self.wide * self.wide / 4
        base = (log_one(self.wide) - _LOG_DENSITY) - square / 2
        rounded = 32 * UNIT * (square + np.abs(shift * at) + 1) + 64 * ERROR
        is_near = (far + 2) * self.wide < 1
        near = np.where(is_near, square, 0.0)
        fourth = (near - 6) * near + 3
        sixth = ((near - 15) * near + 45) * near - 15
        series = 1 + step * ((near - 1) / 6 + step * (fourth / 120 + step * sixth / 5040))
        left_out = 2 * ((far + self.wide / 2 + 1.8) * self.wide) ** 8 / _REMAINDER
        found = base + np.where(is_near, log(series), 0.0)
        off = rounded + np.where(is_near, 8 * (left_out + 4 * ERROR), far * self.wide / 2 + self.wide * self.wide / 8)
        return found - off, found + off

    def densities(self, rows: int) -> tuple[Ends, Ends]:
        """ln of the density around so many rows over that around 0."""
        return self._density(self.x, rows), self._density(self.x + self.wide, rows)

    def _density(self, x: Floats, rows: int) -> Ends:
        shift = rows * self.mu
        found, off = shift * x - shift * shift / 2, 8 * UNIT * (np.abs(shift * x) + shift * shift)
        return found - off, found + off


@dataclass(frozen=True)
class DiscreteNormalPieces(Pieces):
    """Whole numbers k, with masses in proportion to exp(-(k - rows * sensitivity)^2/(2 variance))."""

    law: DiscreteGaussianLoss
    k: Floats
    outside: float

    def masses(self, rows: int) -> Ends:
        whole = whole_sum(self.law.variance).log()
        off = self.k - float(rows * self.law.sensitivity)
        exponents = off * off * float(1 / (2 * self.law.variance))
        found, error = -exponents - float(whole.lower), 8 * UNIT * (exponents + abs(float(whole.lower)) + 1)
        return found - error, found + error


def listed_either_way(step: Step, split: Split, side: Side, count: int, rare: float) -> Losses:
    """By ratios of densities where these are floats, and by their logarithms elsewhere."""
    if not is_in_range(step, split, side, rare):
        with suppress(NotApplicable):
            return listed_in_logs(step, split, side, count, rare)
    return listed(step, split, side, count, rare)


def listed_in_logs(step: Step, split: Split, side: Side, count: int, rare: float) -> Losses:
    """As so many removed rows and so many added ones see it, cut into about so many pieces; about `rare` is left out.

    Theorem: the losses of a cell may be taken for its two ends, with masses under P of a + b = n and b = (n - m r)/(1 -
        r/R), r and R the ratios of P and Q there, m and n their masses: that costs at least as much, and so does more
        of n, and more of b. Taken for one outcome, it costs at most as much.
    Reference: the cell is the image of the two under a map that forgets which; data processing
    Proof: docs/theory/accounting/group_samples.md#in-logarithms
    Checked-by: tests/accounting/grouped_samples/test_in_logs.py::test_lists_are_on_their_sides
    """
    removed, added = (Numbers.of(rows, step.rate, side, rare / 2) for rows in split)
    pieces = _cut(step, removed, count, rare)
    p, q = _mixed(removed, pieces.masses, 1), _mixed(added, pieces.masses, -1)
    if side == "lower":
        masses = exp(p[0]) * (1 - 2 * ERROR)
        return _kept(p[0] - q[1], masses, 0.0, side)
    outside = float(removed.missing) * (1 + 4 * UNIT) + pieces.outside
    masses = exp(p[1]) * (1 + 2 * ERROR)
    edges = _edges(removed, added, pieces)
    if edges is None:
        return _kept(p[1] - q[0], masses, outside, side)
    low, high = edges
    width = high[0] - low[1]
    rounded = 8 * UNIT * (np.abs(q[0]) + np.abs(low[0]) + np.abs(p[1]))
    passed = 1 - exp(np.minimum(q[0] + low[0] - p[1] - rounded, 0.0)) * (1 - 4 * ERROR)
    share = np.minimum(passed * (1 + 4 * ERROR) / np.maximum(-expm1(-np.maximum(width, 0.0)), _FAINT), 1.0)
    upper = np.minimum(masses * share * (1 + 4 * UNIT), masses)
    losses = np.concatenate([low[1], high[1]])
    return _kept(losses, np.concatenate([(masses - upper) * (1 + 4 * UNIT), upper]), outside, side)


def _kept(losses: Floats, masses: Floats, outside: float, side: Side) -> Losses:
    """Without masses that are next to nothing, and with the losses rounded to the right side."""
    has_mass = masses > _FAINT
    losses = losses[has_mass]
    sign = 1 if side == "upper" else -1
    losses = losses + sign * 4 * UNIT * np.abs(losses)
    return Losses.of(losses, masses[has_mass], outside + masses.size * 2 * _FAINT if side == "upper" else 0.0)


def _edges(removed: Numbers, added: Numbers, pieces: Pieces) -> tuple[Ends, Ends] | None:
    """The losses at the lower end of every cell, and at the upper one."""
    if pieces.densities(0) is None:
        return None
    found = []
    for end in (0, 1):
        def at(rows: int, end: int = end) -> Ends:
            known = pieces.densities(rows)
            assert known is not None
            return known[end]
        p, q = _mixed(removed, at, 1), _mixed(added, at, -1)
        found.append((p[0] - q[1], p[1] - q[0]))
    return found[0], found[1]


def _mixed(numbers: Numbers, logs: Callable[[int], Ends], sign: int) -> Ends:
    """ln of the mixture over the numbers of rows."""
    known = [logs(sign * i) for i in range(numbers.most + 1)]
    weights = log(np.array(numbers.shares)).tolist()
    low, high = (_log_sum([one[end] + weight for one, weight in zip(known, weights, strict=True)]) for end in (0, 1))
    slack = 16 * (len(known) + 4) * UNIT + (16 + 2 * max(map(abs, weights))) * ERROR
    return low - slack - 16 * UNIT * np.abs(low), high + slack + 16 * UNIT * np.abs(high)


def _log_sum(exponents: list[Floats]) -> Floats:
    top = np.maximum.reduce(exponents)
    return top + log(np.add.reduce([exp(one - top) for one in exponents]))


def _cut(step: Step, removed: Numbers, count: int, rare: float) -> Pieces:
    match step.base:
        case GaussianLoss(mu_squared=mu_squared):
            return _normal(math.sqrt(mu_squared), removed, count, rare)
        case DiscreteGaussianLoss():
            return _discrete(step.base, removed, rare)
    raise NotApplicable("noise of bounded losses")


def _reach(rare: float) -> float:
    return math.sqrt(-2 * math.log(max(rare, _LEAST_RARE)))


def _normal(mu: float, removed: Numbers, count: int, rare: float) -> NormalPieces:
    if not _LEAST_MU <= mu <= _LARGEST_MU:
        raise NotApplicable("noise out of range")
    reach, centres = _reach(rare), [i * mu for i in range(removed.most + 1)]
    length = min(2 * reach * len(centres), 2 * reach + centres[-1])
    wide = 2.0 ** math.ceil(math.log2(length / count))
    return NormalPieces(mu, _around(centres, reach, wide) * wide, wide, 2 * above(reach - _MARGIN))


def _discrete(law: DiscreteGaussianLoss, removed: Numbers, rare: float) -> DiscreteNormalPieces:
    reach = math.ceil(_reach(rare) * math.sqrt(law.variance)) + 1
    if (removed.most + 1) * reach > _MOST_OUTCOMES or removed.most * law.sensitivity > _FARTHEST:
        raise NotApplicable("too many outcomes")
    ratio = Enclosure.of(-reach / law.variance).exp()
    beyond = Enclosure.of(-reach * reach / (2 * law.variance)).exp() * ratio / (1 - ratio) / whole_sum(law.variance)
    centres = [float(i * law.sensitivity) for i in range(removed.most + 1)]
    return DiscreteNormalPieces(law, _around(centres, reach, 1.0), 2 * float(beyond.upper) * (1 + 4 * UNIT))


def _around(centres: list[float], reach: float, wide: float) -> Floats:
    """All whole numbers of cells of this width that are within reach of a centre."""
    ends = [(math.floor((centre - reach) / wide), math.ceil((centre + reach) / wide)) for centre in centres]
    return np.unique(np.concatenate([np.arange(float(low), high + 1.0) for low, high in ends]))
