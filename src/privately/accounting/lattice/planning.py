"""Where to lay contour and lattice: choices that make the bounds good. None has to be right for the bounds to hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privately.accounting.compositions import Composition
from privately.accounting.elementary import Floats
from privately.accounting.extremes import largest_loss
from privately.accounting.lattice.atoms import Atoms, atoms
from privately.accounting.lattice.bases import NormalBase
from privately.accounting.lattice.smooth import Smooth, smooth
from privately.accounting.losses import (
    FiniteLoss,
    GaussianLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import NotApplicable

_HEIGHTS: Floats = np.exp(np.linspace(math.log(1e-3), math.log(1e6), 160))
_STEEPEST = 550.0
_MANY = 1000
_LARGE = 64
_ROOT_HALF = math.sqrt(0.5)


@dataclass(frozen=True)
class View:
    """A law as this road sees it: the y of its density are kept up to `cut`, the atoms up to the loss `highest`.

    No loss is below `lowest`.
    """

    dense: Smooth | None
    atoms: Atoms
    times: int
    lowest: float
    cut: float = math.inf
    highest: float = math.inf

    @classmethod
    def of(cls, law: Loss, times: int) -> View:
        return cls(smooth(law), atoms(law), times, least_loss(law))

    def trimmed(self, mass: float, far: float) -> View:
        """Without losses above `far`; or without the largest, up to this `mass`, if that leaves less."""
        cut, highest = math.inf, far
        if self.dense is not None and self.dense.form != "add":
            cut = self.dense.plain(far) if far < self.dense.ends()[1] else math.inf
            if isinstance(self.dense.base, NormalBase):
                cut = max(min(cut, _quantile(self.dense, self.dense.base.mu, mass)), 1e-3 * self.dense.base.mu)
        if self.atoms.losses.size:
            order = np.argsort(-self.atoms.losses)
            outside = np.cumsum(self.atoms.masses[order]) <= mass
            if outside.any():
                highest = min(far, float(self.atoms.losses[order][min(int(outside.sum()), order.size - 1)]))
        return replace(self, cut=cut, highest=max(highest, float(self.atoms.losses.min(initial=math.inf))))

    def sketch(self) -> tuple[Floats, Floats]:
        """Losses and the logarithms of their masses, roughly."""
        kept = self.atoms.losses <= self.highest
        losses, masses = self.atoms.losses[kept], self.atoms.masses[kept]
        if losses.size > _MANY:
            order = np.argsort(losses)
            starts = np.linspace(0, losses.size, _MANY // 2, endpoint=False).astype(np.int64)
            total = np.add.reduceat(masses[order], starts) + 1e-300
            losses, masses = np.add.reduceat((masses * losses)[order], starts) / total, total
        carried = np.log(np.maximum(masses, 1e-300))
        if self.dense is None:
            return losses, carried
        more, logs = self.dense.sketch(self.cut)
        return np.concatenate([losses, more]), np.concatenate([carried, logs])


def least_loss(law: Loss) -> float:
    """A float below all losses of a law, -infinity if there is none.

    Theorem: the least loss is minus the largest of the swapped pair: that of the other direction under sampling, and of
        the same law for symmetric pairs and glued ones.
    Reference: ln(dP/dQ) = -ln(dQ/dP)
    Proof: docs/theory/accounting/lattice.md#far-losses
    Checked-by: tests/accounting/lattice/test_planning.py::test_least_losses
    """
    match law:
        case FiniteLoss():
            end = min(loss.lower for _, loss in law.atoms())
            return math.nextafter(float(end), -math.inf)
        case (
            SampledGaussianLoss() | SampledLaplaceLoss() | SampledDiscreteGaussianLoss() | SampledDiscreteLaplaceLoss()
        ):
            law = replace(law, direction="add" if law.direction == "remove" else "remove")
    largest = largest_loss(Composition(parts=((law, 1),)))
    return -math.inf if largest is None else math.nextafter(-float(largest.upper), -math.inf)


def in_steps(law: Loss, times: int) -> tuple[Loss, int]:
    """The same losses; a normal one that is too large in one step comes in several.

    Theorem: the sum of k independent losses of mu^2/k has the law of one of mu^2.
    Reference: Dong-Roth-Su 2022, Corollary 2.1
    Proof: docs/theory/accounting/lattice.md#normal-losses
    Checked-by: tests/accounting/lattice/test_planning.py::test_large_normal_losses_come_in_steps
    """
    if not isinstance(law, GaussianLoss) or law.mu_squared <= _LARGE:
        return law, times
    steps = math.ceil(law.mu_squared)
    return GaussianLoss(mu_squared=law.mu_squared / steps), times * steps


def _quantile(dense: Smooth, mu: float, mass: float) -> float:
    """The y above which there is about this mass."""

    def tail(x: float) -> float:
        return math.erfc(x * _ROOT_HALF) / 2

    low, high = 0.0, 37 * mu
    for _ in range(60):
        y = (low + high) / 2
        left = dense.rate * tail(y / mu - mu / 2) + (1 - dense.rate) * tail(y / mu + mu / 2)
        low, high = (y, high) if left > mass else (low, y)
    return high


@dataclass(frozen=True)
class Outline:
    """K(c), the logarithm of the transform of the composition, and its derivatives at all heights, roughly."""

    heights: Floats
    k: Floats
    mean: Floats
    variance: Floats
    single: Floats

    @classmethod
    def of(cls, views: Sequence[View]) -> Outline:
        sketches = [view.sketch() for view in views]
        largest = max(*(float(losses.max()) for losses, _ in sketches), 1e-9)
        heights = _HEIGHTS[_HEIGHTS * largest < _STEEPEST]
        k, mean, variance = (np.zeros(heights.size) for _ in range(3))
        single = np.full(heights.size, math.inf)
        for view, (losses, logs) in zip(views, sketches, strict=True):
            exponents = heights[:, None] * losses + logs
            top = exponents.max(axis=1)
            weights = np.exp(np.maximum(exponents - top[:, None], -700.0))
            total = weights.sum(axis=1)
            first = (weights * losses).sum(axis=1) / total
            second = np.maximum((weights * (losses * losses)).sum(axis=1) / total - first * first, 1e-300)
            k += view.times * (top + np.log(total))
            mean += view.times * first
            variance += view.times * second
            single = np.minimum(single, np.where(second > 1e-12 * losses.max() ** 2, second, math.inf))
        return cls(heights, k, mean, variance, single)

    def epsilon(self, log_delta: float) -> float:
        """The epsilon that belongs to delta, by the saddle point."""
        c = self.heights
        epsilons = self.mean - 1 / c - 1 / (c + 1)
        logs = self._saddle(epsilons)
        falling = np.minimum.accumulate(logs)
        place = int(np.searchsorted(-falling, -log_delta))
        if place in {0, c.size}:
            return max(float(epsilons[min(place, c.size - 1)]), 0.0)
        rise = (logs[place - 1] - log_delta) / max(logs[place - 1] - logs[place], 1e-9)
        found = epsilons[place - 1] + (epsilons[place] - epsilons[place - 1]) * min(max(rise, 0.0), 1.0)
        return max(float(found), 0.0)

    def log_delta(self, epsilon: float) -> float:
        """The delta that belongs to epsilon, by the saddle point."""
        c = self.heights
        place = int(np.argmin(self.k - c * epsilon - np.log(c * (c + 1))))
        return min(float(self._saddle(np.full(c.size, epsilon))[place]), 0.0)

    def _saddle(self, epsilons: Floats) -> Floats:
        c = self.heights
        spread = self.variance + 1 / c**2 + 1 / (c + 1) ** 2
        return self.k - c * epsilons - np.log(c * (c + 1)) - np.log(2 * math.pi * spread) / 2


@dataclass(frozen=True)
class Contour:
    """A height c, the period that it needs, and another height from which to bound the aliases.

    `log_share` is ln of the part that delta has of its Chernoff bound at c, `deviation` that of a single loss.
    """

    tilt: float
    period: float
    height: float
    deviation: float
    log_share: float


def contour(outline: Outline, epsilon: float, log_delta: float, log_tolerance: float) -> Contour:
    """The height that promises the smallest error for its number of nodes."""
    c, level = outline.heights, log_delta + log_tolerance
    place = int(np.argmin(outline.k - c * epsilon - np.log(c * (c + 1))))
    best: tuple[float, Contour] | None = None
    for i in range(place, -1, -1):
        if best is not None and c[i] < c[place] / 8:
            break
        found = _through(outline, i, epsilon, log_delta, level)
        cost = math.log(found.period) - found.log_share / 3 if found else math.inf
        if found and (best is None or cost < best[0]):
            best = cost, found
    if best is None:
        raise NotApplicable("no contour serves")
    return best[1]


def contour_for_chords(
    outline: Outline, epsilon: float, log_delta: float, log_tolerance: float, *, count: int, steps: int
) -> Contour:
    """The same for chords, which cost the square of the step whatever the height, and little rounding.

    Aliases from the left are known but for e^epsilon times e^(-(c + 1) N a).
    """
    level = log_delta + log_tolerance
    tried = (
        _through(outline, i, epsilon, log_delta, level, left=(epsilon - level) / (1 + outline.heights[i]))
        for i in range(outline.heights.size)
    )

    def cost(found: Contour) -> float:
        return steps * (found.period / count) ** 2 / 8 + _CHORD_ROUNDING * math.exp(min(-found.log_share, 600.0))

    served = [found for found in tried if found]
    if not served:
        raise NotApplicable("no contour serves")
    return min(served, key=cost)


def _through(
    outline: Outline, place: int, epsilon: float, log_delta: float, level: float, *, left: float | None = None
) -> Contour | None:
    """The contour at one of the heights, if there is one above it for aliases; `left` is the period that those from
    the left need.
    """
    c = outline.heights
    others = c > 1.02 * c[place]
    if not others.any():
        return None
    needed = (outline.k[others] - c[others] * epsilon - level) / (c[others] - c[place])
    first = int(np.argmin(needed))
    period = max(float(needed[first]), float(-level / c[place] if left is None else left), 1e-12)
    share = float(log_delta + c[place] * epsilon - outline.k[place])
    return Contour(float(c[place]), period, float(c[others][first]), float(np.sqrt(outline.single[place])), share)


_CHORD_ROUNDING = 4e-11
"""About what rounding of a sum over chords adds to epsilon, over its largest terms."""


@dataclass(frozen=True)
class Grid:
    """A step of the lattice, a number of nodes, and an offset for each law."""

    step: float
    count: int
    offsets: tuple[float, ...]


def grid(views: Sequence[View], period: float, count: int, most: int) -> Grid:
    """About `count` nodes, with as many atoms as possible on the lattice."""
    gaps = [_gaps(view.atoms.up_to(view.highest)[0].losses) for view in views]
    wanted = np.concatenate([gap for gap in gaps if gap is not None] or [np.zeros(0)])
    step = period / count
    if wanted.size:
        largest = float(wanted.max())
        if largest < step:
            finer = 1 << max(math.ceil(math.log2(period / largest)), 0)
            if finer <= most:
                step, count = largest, finer
        else:
            first = max(math.ceil(largest / (2 * step)), 1)
            tried = min(max(math.floor(largest / step), 1) - first + 1, _TRIED)
            steps = largest / (first + np.arange(float(tried)))
            off = wanted / steps[:, None]
            missed = np.abs(off - np.rint(off)).max(axis=1) * steps
            step = float(steps[int(np.argmin(missed + 1e-15 * largest * np.arange(steps.size)))])
    return Grid(step, count, tuple(_offset(view, step) for view in views))


_TRIED = 4096
_FEW = 12
_NEAR = 2.0**-37


def _gaps(losses: Floats) -> Floats | None:
    """What should be multiples of the step for all atoms of a law to lie on the lattice."""
    if losses.size < 2:
        return None
    ordered = np.sort(losses)
    apart: NDArray[np.bool_] = np.append(True, np.diff(ordered) > 1e-13 * np.abs(ordered).max())
    ordered = ordered[apart]
    between: Floats = np.diff(ordered)
    if not between.size:
        return None
    if float(np.ptp(between)) <= 1e-12 * float(np.abs(ordered).max() + between.max()):
        return (ordered[-1:] - ordered[:1]) / between.size
    return ordered[-1] - ordered[:-1] if ordered.size <= _FEW else None


def _offset(view: View, step: float) -> float:
    """That of the smallest loss: atoms that do not fit are joined from the largest down."""
    losses = view.atoms.up_to(view.highest)[0].losses
    if not losses.size:
        return 0.0
    last = float(losses.min())
    off = last - math.floor(last / step) * step
    return off if _NEAR * step < off < step * (1 - _NEAR) else 0.0
