"""One step of a law as two lists of losses, on either side of it.

Outcomes are cut into cells, each with probabilities m under Q and n under P and with the losses y0 < y1 at its ends, of
the pair without sampling. A cell may be taken for its two ends (which costs at least as much) or for one outcome
(which costs at most as much); sampling mixes both in the same way.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.conditioning.tables import one as few_losses
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log, log1p, normal_tail
from privately.accounting.lattice.atoms import atoms
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import NEAR_ONE, NotApplicable
from privately.accounting.spreading.lists import Losses, Side

_SAMPLED = SampledGaussianLoss, SampledLaplaceLoss, SampledDiscreteGaussianLoss
_WIDE, _LEAST_VARIANCE, _LARGEST_VARIANCE = 4 * 10**6, 10**6, 10**24
_FARTHEST = 36.0
_FINEST, _HALF = 2.0**-10, 0.5
_LEAST_RATE = Fraction(1, 10**30)
_LEAST_MU, _LARGEST_SIZE, _LARGEST_EPSILON = 1e-6, 680.0, 300.0


@dataclass(frozen=True)
class Cells:
    """y at the edges and the masses of the cells between, each within its error; `low` and `high` are the
    masses under Q and under P below the first edge and above the last one, or of atoms there.
    """

    y: Floats
    y_errors: Floats
    m: Floats
    m_errors: Floats
    n: Floats
    n_errors: Floats
    low: tuple[float, float]
    high: tuple[float, float]
    are_atoms: bool
    beyond: tuple[Floats, Floats] | None = None
    """What Q has below every edge and what it has above, from above, where that is known better than the sum of m."""

    def spread(self, *, rises: bool) -> tuple[Floats, Floats]:
        """The y of all edges and masses under Q that, with those y, cost at least as much, where the loss rises with y
        or falls; what is beyond is left out.

        Theorem: m = a + b with a e^y0 + b e^y1 = n has b = (n e^-y0 - m)/expm1(y1 - y0) and a = (m - n e^-y1)/
            -expm1(y0 - y1); both outcomes in place of the cell cost at least as much, with and without sampling. More
            mass beyond any edge, on the side of larger losses, costs more.
        Reference: the cell is the image of the two under a map that forgets which; data processing
        Proof: docs/theory/accounting/spreading.md#one-step
        Checked-by: tests/accounting/spreading/test_steps.py::test_lists_are_on_their_sides
        """
        width = np.diff(self.y)
        slack = self.y_errors[:-1] + self.y_errors[1:]
        if width.max() > 1 or float((slack / width).max()) > _FINEST:
            raise NotApplicable("cells are too wide, or too narrow for floats")
        off = 2 * slack + 4 * ERROR + 4 * UNIT
        more = (1 + 4 * ERROR) * (1 + 2 * slack / width)
        whole, last = self._whole(off, rises=rises)
        if rises:
            left = exp(-self.y[:-1])
            above = (self.n * left - self.m) + (self.n_errors + self.n * off) * left + self.m_errors
            upper = np.minimum(np.maximum(above, 0.0) / expm1(width) * more, whole)
            lower = (whole - upper) * (1 + 2 * UNIT)
        else:
            right = exp(-self.y[1:])
            below = (self.m - self.n * right) + (self.n_errors + self.n * off) * right + self.m_errors
            lower = np.minimum(np.maximum(below, 0.0) / -expm1(-width) * more, whole)
            upper = (whole - lower) * (1 + 2 * UNIT)
        masses = np.append(lower, 0.0) + np.append(0.0, upper)
        masses[-1 if rises else 0] += last
        return self.y, masses * (1 + 2 * UNIT)

    def _whole(self, off: Floats, *, rises: bool) -> tuple[Floats, float]:
        """The masses of all cells from above or, in the half of the larger losses, so that their sums from the largest
        on are; and what is beyond it.
        """
        each = self.m * (1 + off) + self.m_errors
        if self.beyond is None:
            return each, 0.0
        below, above = self.beyond
        sums = np.maximum.accumulate(above[::-1] if rises else below)
        found = np.diff(sums) * (1 + 2 * UNIT)
        found, ends = (found[::-1], sums[:0:-1]) if rises else (found, sums[1:])
        return np.where(ends <= _HALF, found, each), float(sums[0])

    def joined(self) -> tuple[Floats, Floats, Floats]:
        """The y of all cells as one outcome each, how far it may be off, and the masses under Q, rounded down."""
        if not ((self.n_errors < _FINEST * self.n).all() and (self.m_errors < _FINEST * self.m).all()):
            raise NotApplicable("cells are too narrow for floats")
        y = log(self.n / self.m)
        off = 2 * (self.n_errors / self.n + self.m_errors / self.m) + ERROR * np.abs(y) + 8 * UNIT
        return y, off, self.m * (1 - 4 * UNIT) - self.m_errors


def listed(law: Loss, side: Side, count: int, rare: float) -> Losses:
    """One step, with about so many losses; for the side "upper", about `rare` is left out."""
    match law:
        case GaussianLoss(mu_squared=mu_squared) | SampledGaussianLoss(mu_squared=mu_squared):
            return mixed(_normal(math.sqrt(mu_squared), count, rare), law, side)
        case LaplaceLoss(epsilon=epsilon) | SampledLaplaceLoss(epsilon=epsilon):
            return mixed(_laplace(epsilon, count), law, side)
        case GluedLoss():
            raise NotApplicable("a glued law is no pair")
    if isinstance(law, DiscreteGaussianLoss | SampledDiscreteGaussianLoss) and law.variance > _WIDE:
        return mixed(_discrete_normal(law, count, rare), law, side)
    return _atoms(law, side, rare)


def _normal(mu: float, count: int, rare: float) -> Cells:
    """x of even steps is normal around 0 under Q and around mu under P; y = mu x - mu^2/2. `mu` is off by 2 units."""
    reach = min(math.sqrt(-2 * math.log(max(rare, 1e-300))), _FARTHEST)
    if mu < _LEAST_MU or mu + reach > _FARTHEST or mu * (mu + reach) > _LARGEST_SIZE:
        raise NotApplicable("noise out of range")
    step = 2.0 ** math.ceil(math.log2((mu + 2 * reach) / count))
    first, last = math.floor(-reach / step), math.ceil((mu + reach) / step)
    return normal_between(mu, np.arange(first, last + 1.0) * step)


def normal_between(mu: float, x: Floats) -> Cells:
    """The cells between rising x, which must not be so far out that tails or ratios leave the floats."""
    far = max(float(x[-1]), mu - float(x[0]))
    if far > _FARTHEST + 0.5 or mu * far > _LARGEST_SIZE + 10:
        raise NotApplicable("noise out of range")
    m, m_errors = _normal_cells(x, 0.0)
    n, n_errors = _normal_cells(x, mu)
    y = mu * x - mu * mu / 2
    low, high = ((above(sign * end), above(sign * (end - mu))) for sign, end in ((-1, float(x[0])), (1, float(x[-1]))))
    errors = 8 * UNIT * (np.abs(mu * x) + mu * mu)
    return Cells(y, errors, m, m_errors, n, n_errors, low, high, are_atoms=False, beyond=(_beyond(-x), _beyond(x)))


def _beyond(x: Floats) -> Floats:
    """P(N > x), from above."""
    return normal_tail(x) * (1 + 4 * ERROR)


def _discrete_normal(law: DiscreteGaussianLoss | SampledDiscreteGaussianLoss, count: int, rare: float) -> Cells:
    """Wide discrete normal noise: cells of many outcomes k each, from one edge to before the next.

    Theorem: for variance v >= 10^6 and |k| <= 40 sqrt(v), the mass of the outcomes k0, ..., k1 - 1 is that of a normal
        law of variance v from k0 - 1/2 to k1 - 1/2, but for a part (t^2 + 1)/(20 v), t the larger |k|/sqrt(v).
    Reference: midpoint rule; Poisson summation, DLMF 20.7(viii)
    Proof: docs/theory/accounting/spreading.md#wide-discrete-noise
    Checked-by: tests/accounting/spreading/test_steps.py::test_wide_discrete_noise
    """
    if not _LEAST_VARIANCE <= law.variance < _LARGEST_VARIANCE:
        raise NotApplicable("the noise is too narrow, or too wide")
    spread = math.sqrt(law.variance)
    mu = law.sensitivity / spread
    reach = min(math.sqrt(-2 * math.log(max(rare, 1e-300))), _FARTHEST)
    if not _LEAST_MU < mu < _FARTHEST - reach or mu * (mu + reach) > _LARGEST_SIZE:
        raise NotApplicable("noise out of range")
    step = max(math.ceil((mu + 2 * reach) * spread / count), 1)
    first, last = math.floor(-reach * spread / step), math.ceil((mu + reach) * spread / step)
    k = np.arange(first, last + 1.0) * step
    x = (k - 0.5) / spread
    (m, m_errors), (n, n_errors) = _normal_cells(x, 0.0), _normal_cells(x, mu)
    per = float(law.sensitivity / law.variance)
    y = (k - law.sensitivity / 2) * per
    off = ((np.abs(x) + mu + 1) ** 2 + 1) / (20 * float(law.variance))
    off = np.maximum(off[:-1], off[1:])
    ends = (-1, float(x[0]) + 2 / spread), (1, float(x[-1]) - 2 / spread)
    low, high = ((above(sign * end), above(sign * (end - mu))) for sign, end in ends)
    errors = 8 * UNIT * per * (np.abs(k) + law.sensitivity)
    return Cells(y, errors, m, m_errors + m * off, n, n_errors + n * off, low, high, are_atoms=False)


def above(x: float) -> float:
    """P(N > x), from above."""
    return float(normal_tail(np.array([x]))[0]) * (1 + 4 * ERROR + 16 * UNIT * (x * x + 1) * (1 + abs(x)))


def _normal_cells(x: Floats, mean: float) -> tuple[Floats, Floats]:
    """P(x0 < N + mean < x1) for neighbours, and bounds on the errors: differences of tails on the side of the cell."""
    at = x - mean
    tails = normal_tail(np.abs(at))
    errors = tails * (2 * ERROR + 16 * UNIT * (at * at + np.abs(mean * at) + 1))
    same = at[:-1] * at[1:] >= 0
    cells = np.where(same, np.abs(tails[:-1] - tails[1:]), 1 - tails[:-1] - tails[1:])
    return cells, errors[:-1] + errors[1:] + 4 * UNIT * cells


def _laplace(epsilon: Fraction, count: int) -> Cells:
    """x from 0 to epsilon: m = e^-x0 (1 - e^-dx)/2 and n = e^(x0 - epsilon) (e^dx - 1)/2, y = 2x - epsilon."""
    size = float(epsilon)
    if not _LEAST_MU < size < _LARGEST_EPSILON:
        raise NotApplicable("noise out of range")
    x = np.linspace(0.0, size, count + 1)
    wide = np.diff(x)
    y = 2 * x - size
    m, n = exp(-x[:-1]) * -expm1(-wide) / 2, exp(x[:-1] - size) * expm1(wide) / 2
    off = 4 * ERROR + 8 * UNIT * size * (1 + 1 / wide)
    far = float(exp(np.array([-size]))[0]) / 2 * (1 + 4 * ERROR + 4 * UNIT * size)
    errors = np.full_like(y, 8 * UNIT * size)
    return Cells(y, errors, m, m * off, n, n * off, (0.5, far), (far, 0.5), are_atoms=True)


def mixed(cells: Cells, law: Loss, side: Side) -> Losses:
    """The losses under sampling, or without it: as y falls where the direction is not "remove", so do they."""
    removes = isinstance(law, _SAMPLED) and law.direction == "remove"
    sign = 1 if side == "upper" else -1
    y, masses, errors = _placed(cells, side, rises=removes)
    outside = 0.0
    if not cells.are_atoms and side == "upper":  # what is beyond the end of small losses is taken for that end
        end = 0 if removes else -1
        y, errors = np.append(y, y[end]), np.append(errors, errors[end])
        masses = np.append(masses, (cells.low if removes else cells.high)[0])
        outside = max(cells.high) if removes else cells.low[0]
    rate = law.rate if isinstance(law, _SAMPLED) else None
    if rate is None:
        losses = -y + sign * errors
        return Losses.of(losses + sign * 4 * UNIT * np.abs(losses), masses, outside)
    if not _LEAST_RATE < rate < NEAR_ONE:
        raise NotApplicable("the rate is out of range")
    share = float(rate)
    moved = y + errors if removes == (side == "upper") else y - errors
    rise = share * expm1(np.minimum(moved, 700.0))
    losses = log1p(rise) * (1 if removes else -1)
    off = _near_one(rise)
    losses = losses + sign * ((8 * ERROR + 8 * UNIT) * np.abs(losses) + off)
    if removes:
        masses = masses * (1 + rise) * (1 + sign * (2 * off + 8 * ERROR + 8 * UNIT))
    return Losses.of(losses, masses, outside * (1 + 8 * UNIT))


def _near_one(rise: Floats) -> Floats:
    """How far ln(1 + rise) may be off because `rise` is, beside a part of itself: rise near -1 counts most."""
    return (4 * ERROR + 8 * UNIT) * np.abs(rise) / np.maximum(1 + rise, 2.0**-30)


def _placed(cells: Cells, side: Side, *, rises: bool) -> tuple[Floats, Floats, Floats]:
    """y, masses under Q and errors of y, with atoms at both ends."""
    if side == "upper":
        y, masses = cells.spread(rises=rises)
        errors = cells.y_errors
    else:
        y, errors, masses = cells.joined()
    if not cells.are_atoms:
        return y, masses, errors
    ends, sign = cells.y[[0, -1]], 1 if side == "upper" else -1
    weights = np.array([cells.low[0], cells.high[0]]) * (1 + sign * (8 * ERROR + 16 * UNIT * _LARGEST_EPSILON))
    return np.append(y, ends), np.append(masses, weights), np.append(errors, cells.y_errors[[0, -1]])


def _atoms(law: Loss, side: Side, rare: float) -> Losses:
    """Finitely many losses, or discrete noise."""
    sign = 1 if side == "upper" else -1
    with suppress(NotApplicable):
        found = atoms(law)
        losses = found.losses + sign * (found.loss_errors + 4 * UNIT * np.abs(found.losses))
        masses = np.maximum(found.masses + sign * (found.mass_errors + 4 * UNIT * found.masses), 0.0)
        return Losses.of(losses, masses, found.outside)
    if not isinstance(law, (*_FEW, FiniteLoss)):
        raise NotApplicable("too many losses")
    table = few_losses(law, rare)
    losses = table.values + sign * (table.slack + 4 * UNIT * np.abs(table.values))
    return Losses.of(losses, table.masses * (1 + sign * (table.error + 4 * UNIT)), table.outside)


_FEW = DiscreteGaussianLoss, DiscreteLaplaceLoss, SampledDiscreteGaussianLoss, SampledDiscreteLaplaceLoss
