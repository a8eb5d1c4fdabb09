"""Normal noise around as many rows as are in a sample, for the contour integral.

P and Q are mixtures over the removed rows and over the added ones. With x normal, M(z) = E[Q (P/Q)^(z + 1)], all as
multiples of the density of x. The bounds are those for one row, with k mu in place of mu for k rows in all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.contour.falling import QUARTER_TURN, Aside, aside, fallen, tangent
from privately.accounting.contour.listing import laws_of
from privately.accounting.contour.points import Points, Tilted
from privately.accounting.contour.road import Sums
from privately.accounting.contour.saddle import Outline
from privately.accounting.contour.view import Rough, View, exp_above
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log
from privately.accounting.grouped_samples.mixtures import Numbers, PairPoints, Ratios, Split
from privately.accounting.grouped_samples.noises import NormalCells
from privately.accounting.kept import Kept
from privately.accounting.losses import GaussianLoss, Loss
from privately.accounting.roads import NotApplicable

_PER_ROOT = 0.3989422804014327
_TURN = 6.283185307179586  # below 2 pi
_DYADIC = 1024
_DENSITY, _ROUGH_WIDTH = 3.0, 9.0
_WIDEST_STEP, _WIDEST = 0.5, 2.0
_MOST_POINTS, _LARGEST = 1 << 16, 600.0
_SAFE = 2.0**-20
_LESS = 2.5


@dataclass(frozen=True)
class MixedRows:
    """So many removed rows and so many added ones, apart from any contour."""

    mu: float
    removed: Numbers
    added: Numbers

    @classmethod
    def of(cls, base: GaussianLoss, rate: Fraction, split: Split) -> MixedRows:
        removed, added = (Numbers.of(rows, rate, "upper", 0.0) for rows in split)
        return cls(math.sqrt(base.mu_squared), removed, added)

    @property
    def whole(self) -> float:
        """How far all rows move the noise."""
        return self.mu * (self.removed.most + self.added.most)

    def swell(self, c: float) -> float:
        """How much larger the integrand may be at Im x = y: e^(swell y^2/2), for k mu |y| <= 2."""
        return 1 + 0.31 * c * (self.mu * self.added.most) ** 2

    def ends(self, highest: float, width: float) -> tuple[float, float]:
        """Where the laws up to this height lie, but for about e^(-width^2/2)."""
        back, ahead = self.mu * self.added.most, self.mu * self.removed.most
        return -back - width, (highest + 1) * ahead + min(highest * back, width) + width

    def rough(self, highest: float) -> Rough:
        """For contours up to this height."""
        left, right = self.ends(highest, _ROUGH_WIDTH)
        if right - left > _MOST_POINTS:
            raise NotApplicable("the losses are spread too widely")
        count = int((right - left) * _DENSITY) + 2
        x = np.linspace(left, right, count)
        first, second = self._roughly(self.removed, x), self._roughly(self.added, -x)
        return Rough(first - second, first - x * x / 2 + math.log((right - left) / (count - 1) * _PER_ROOT))

    def _roughly(self, numbers: Numbers, x: Floats) -> Floats:
        i = np.arange(len(numbers.shares)) * self.mu
        exponents = np.multiply.outer(x, i) - i * i / 2 + np.log(numbers.shares)
        top: Floats = exponents.max(axis=1)
        found: Floats = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
        return found

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> GroupGrid:
        """Points for c, frequencies up to `reach`, and ln M up to the highest; with errors of about e^-quiet."""
        wide = min(self._widest_step(c, reach, quiet), self._widest_step(highest, 0.0, quiet), _WIDEST_STEP)
        step = max(math.floor(wide * _DYADIC), 1) / _DYADIC
        left, right = self.ends(highest, math.sqrt(2 * quiet))
        most = self.mu * max(self.removed.most, self.added.most)
        if (right - left) / step > _MOST_POINTS or most * max(right, -left) > _LARGEST:
            raise NotApplicable("too many points, or too large losses")
        return GroupGrid.over(self, np.arange(math.floor(left / step), math.ceil(right / step) + 1.0) * step, step)

    def _widest_step(self, c: float, reach: float, quiet: float) -> float:
        cost = self.swell(c) / 2
        a = min(_WIDEST / self.whole, math.sqrt(quiet / cost))
        return _TURN / (reach * self.whole + quiet / a + cost * a)

    def aliasing(self, c: float, reach: float, step: float, widest: float = _WIDEST) -> float:
        """The error of the sum over x, relative to M(c), for |w| up to `reach`.

        Theorem: for k mu |Im x| = t <= 2 mixtures have no zero, |P| is no larger than at Re x, |Q| at most by cos(b mu
            |Im x|/2) smaller, and the angle of P/Q is between 0 and t; so the error is at most 2 S/(e^(2 pi a/step) -
            1), S = e^(swell a^2/2 + w k mu a) M(c).
        Reference: Trefethen-Weideman 2014, Theorem 5.1
        Proof: docs/theory/accounting/group_samples.md#on-the-contour
        Checked-by: tests/accounting/grouped_samples/test_normal_law.py::test_sizes_off_the_real_line,
            tests/accounting/grouped_samples/test_normal_law.py::test_transforms
        """
        pull, cost = _TURN / step - reach * self.whole, self.swell(c) / 2
        a = min(widest / self.whole, max(pull, 0.0) / (2 * cost))
        least = (cost * a - pull) * a
        return 2.1 * exp_above(least) if least < -4 else math.inf


@dataclass(frozen=True)
class GroupGrid:
    """Equally spaced x, and the points there."""

    law: MixedRows
    x: Floats
    step: float
    points: Points
    share: Floats
    """The mean of (i + j)/k, each weighed by its part of its mixture: dL/dx = k mu share."""
    behind: float
    """The mean of j at the last x."""

    size = property(lambda self: self.x.size)
    is_endless = False

    @classmethod
    def over(cls, law: MixedRows, x: Floats, step: float) -> GroupGrid:
        pieces = NormalCells(law.mu, x)
        first, second = Ratios.of(law.removed, pieces, 1), Ratios.of(law.added, pieces, -1)
        found = PairPoints.of(first, second, 0.0)
        means = [_mean(numbers, pieces, sign) for numbers, sign in ((law.removed, 1), (law.added, -1))]
        share = np.minimum((means[0] + means[1]) / (law.removed.most + law.added.most), 1.0)
        log_base, off = -x * x / 2, 4 * UNIT
        if law.added.most:
            grown = log(second.ratio)
            log_base, off = (
                log_base + grown,
                off + 4 * float(second.part.max()) + 2 * ERROR * float(np.abs(grown).max()),
            )
        points = Points(step * _PER_ROOT, log_base, off, found.loss, found.loss_error)
        return cls(law, x, step, points, share, float(means[1][-1]))

    def _tilted(self, c: float) -> Tilted:
        return self.points.tilted(c + 1)

    def log_mass_above(self, c: float) -> float:
        """ln M(c), from above."""
        tilted = self._tilted(c)
        return tilted.log_mass(self._missing(tilted, c, 0.0))[1]

    def view(self, c: float, reach: float) -> View:
        """What the integral needs at c."""
        tilted = self._tilted(c)
        return tilted.view(self.points.loss, self.points.loss_error, self._missing(tilted, c, reach))

    def atoms(self, c: float, view: View, times: int) -> None:
        """None that could be taken out."""

    def _missing(self, tilted: Tilted, c: float, reach: float, widest: float = _WIDEST) -> float:
        """What the sum over the points misses, relative to M(c) and, untilted, to 1."""
        return self.law.aliasing(c, reach, self.step, widest) + self._outside(tilted, c) + self._untilted

    @Kept
    def _untilted(self) -> float:
        first, last = (exp_above(float(self.points.log_base[end])) for end in (0, -1))
        rises, falls = -float(self.x[0]) - self.law.mu * self.law.added.most, float(self.x[-1])
        return self.law.aliasing(0.0, 0.0, self.step) + self._beyond(first, rises, last, falls)

    def _outside(self, tilted: Tilted, c: float) -> float:
        """Beyond both ends: geometric, as the logarithmic slope -x + (c + 1) mu E[i] + c mu E[j] is bounded."""
        falls = float(self.x[-1]) - self.law.mu * ((c + 1) * self.law.removed.most + c * self.behind * (1 + _SAFE))
        first, last = float(tilted.weights[0]), float(tilted.weights[-1])
        return self._beyond(first, -float(self.x[0]), last, falls) / tilted.total

    def _beyond(self, first: float, rises: float, last: float, falls: float) -> float:
        if min(falls, rises) * self.step < _SAFE:
            raise NotApplicable("the grid ends too early")
        return (last / falls + first / rises) / self.step * (1 + _SAFE)

    def decay(self, c: float, frequencies: Floats) -> Floats:
        """Lower bounds on -ln |phi(w)| that hold for all w at or above each of these frequencies.

        Theorem: on Im x = y, t = k mu y <= pi/2, the integrand is at most e^(swell y^2/2 - w share sin t) times as
            large; and the share is analytic there, of a real part of at least 0 and a size of at most 1.
        Reference: Olver 1974, chapter 4
        Proof: docs/theory/accounting/group_samples.md#on-the-contour
        Checked-by: tests/accounting/grouped_samples/test_normal_law.py::test_sizes_off_the_real_line,
            tests/accounting/grouped_samples/test_normal_law.py::test_how_fast_transforms_fall
        """
        tilted, swell = self._tilted(c), self.law.swell(c) * (1 + _SAFE)
        missing = self._missing(tilted, c, 0.0, QUARTER_TURN)
        mean = float(tilted.shares @ self.share)
        asides = []
        for w in frequencies.tolist():
            best = tangent(w, self.law.whole, mean, min(mean, 0.5), 0.0) / swell
            for k in (best, best / _LESS):
                pull, cost = aside(w, k, self.law.whole, 0.5, 0.0)
                asides.append(Aside(w, pull, cost * swell))
        gains = [-float(expm1(-one.pull * self.share) @ tilted.shares) for one in asides]
        found = fallen(asides, gains, missing)
        return np.array([found[w] for w in frequencies.tolist()])


def _mean(numbers: Numbers, pieces: NormalCells, sign: int) -> Floats:
    """Of the number of rows, each weighed by its part of the mixture, at every x."""
    total, weighed = np.zeros(pieces.x.size), np.zeros(pieces.x.size)
    for i, share in enumerate(numbers.shares):
        part = share * exp(pieces.exponents(sign * i)[0])
        total, weighed = total + part, weighed + i * part
    return weighed / total


class GroupSums(Sums):
    """Sums along contours for such laws, each so many times, beside others."""

    def __init__(self, rows: Sequence[tuple[MixedRows, int]], others: Sequence[tuple[Loss, int]]) -> None:
        self.is_strict, self.layout = False, None
        plain, self.gaussian = laws_of(others)
        self.laws = [*rows, *plain]
        self.outline = Outline(self.laws, self.gaussian)
