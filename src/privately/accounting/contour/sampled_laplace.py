"""The sampled Laplace on the contour: two atoms, and a density that is analytic between them.

With L0 = epsilon (1 - 2x) the loss of the whole mechanism, the law without the row has atoms of e^-epsilon/2 at x = 0
and 1/2 at x = 1, and the density (epsilon/2) e^(-epsilon (1 - x)) between. M(z) = E[e^(s L)], L = ln(1 - q + q e^L0),
s = z + 1 ("remove", the loss is L) or -z ("add", the loss is -L).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from privately.accounting.contour.atoms import Atoms
from privately.accounting.contour.clenshaw_curtis import ABSOLUTE, clenshaw_curtis
from privately.accounting.contour.ellipses import MOST_POINTS, Ellipses
from privately.accounting.contour.layers import SAFE, spread_out
from privately.accounting.contour.points import Points, Tilted
from privately.accounting.contour.view import Rough, View, enlarged
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log, log1p
from privately.accounting.kept import Kept
from privately.accounting.losses import SampledLaplaceLoss
from privately.accounting.roads import NEAR_ONE, NotApplicable

_LARGEST_EPSILON = 500.0


@dataclass(frozen=True)
class SampledLaplace:
    """One law, apart from any contour."""

    epsilon: float
    rate: float
    removes: bool

    @classmethod
    def of(cls, law: SampledLaplaceLoss) -> SampledLaplace:
        """Its floats are within a unit of rounding of the exact parameters."""
        if law.epsilon > _LARGEST_EPSILON:
            raise NotApplicable("losses beyond the range of floats")
        if law.rate > NEAR_ONE:
            raise NotApplicable("a rate so near 1")
        return cls(epsilon=float(law.epsilon), rate=float(law.rate), removes=law.direction == "remove")

    def power(self, c: float) -> float:
        """The real part of s."""
        return c + 1 if self.removes else -c

    def rough(self, highest: float) -> Rough:
        """For contours up to this height."""
        points = self.grid(highest, highest, 0.0, 12.0).points
        base = np.log(points.factor) + points.log_base
        return Rough(points.loss, base + points.loss) if self.removes else Rough(-points.loss, base)

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> Grid:
        """Points for c, frequencies up to `reach`, and ln M up to the highest; with errors of about e^-quiet."""
        n = needed(self.ellipses, (self.power(c), self.power(highest)), reach, np.array([quiet]))
        return Grid.over(self, int(n[0]))

    @Kept
    def ellipses(self) -> Ellipses:
        return Ellipses(np.array([self.epsilon]), np.array([self.rate]))

    def spread_out(self, tilted: Tilted, frequencies: Floats) -> Floats:
        """At most what 1 - |phi(w)| is for all w at or above each of these frequencies, as the density spreads out."""
        ends = tilted.shares[:1], tilted.shares[-1:]
        found: Floats = spread_out(self.ellipses.epsilon, self.ellipses.rate, tilted.s, ends, frequencies)[0]
        return found

    def missing(self, s: float, reach: float, n: int) -> float:
        """The error of the sum over x, relative to M, for |w| up to `reach`."""
        return float(self.ellipses.missing(s, reach, np.array([float(n)]))[0])


def needed(ellipses: Ellipses, powers: tuple[float, float], reach: float, quiet: Floats) -> Floats:
    """How many points are needed, for frequencies up to `reach` at the first power and for M at both."""
    n = np.maximum(ellipses.fineness(powers[0], reach, quiet), ellipses.fineness(powers[1], 0.0, quiet))
    if n.max() > MOST_POINTS:
        raise NotApplicable("too many points")
    return n


def points_between(
    epsilon: Floats | float, rate: Floats | float, x: Floats, factor: Floats, inside: Floats
) -> tuple[Points, Floats]:
    """Points at x = 0, at x = 1 and between, and there the part of the mixture that comes from the row; factors of
    those between are weights of an integral over x times epsilon/2, `inside` is by what part these weights are off.
    """
    whole_loss = epsilon * (1 - 2 * x)
    lifted = rate * expm1(whole_loss)
    loss = log1p(lifted)
    share = rate * exp(whole_loss) / (1 + lifted)
    lost = 2 * ERROR * np.abs(lifted) / (1 + lifted)
    moved = share * epsilon * (2 * ABSOLUTE + 8 * UNIT)
    points = Points(
        factor=factor,
        log_base=-epsilon * (1 - x),
        weight_error=inside + epsilon * ABSOLUTE + 8 * UNIT,
        loss=loss,
        loss_error=ERROR * np.abs(loss) + lost + moved,
    )
    return points, share


@lru_cache(maxsize=64)
def nodes_between(n: int) -> tuple[Floats, Floats, Floats]:
    """x = 0, Chebyshev points and x = 1; their weights in an integral over x, none for the first and the last; and by
    what part these are off.
    """
    nodes, weights = clenshaw_curtis(n)
    x = np.concatenate([[0.0], nodes, [1.0]])
    return x, np.pad(weights, 1), np.pad(ABSOLUTE * 2 / n / weights, 1)


@dataclass(frozen=True)
class Grid:
    """Chebyshev points between the atoms, which are the first and the last point."""

    law: SampledLaplace
    n: int
    points: Points
    shares: tuple[float, float]
    """The part of the mixture that comes from the row, at x = 0 and x = 1: dL/dx = -2 epsilon share."""

    @classmethod
    def over(cls, law: SampledLaplace, n: int) -> Grid:
        x, weights, inside = nodes_between(n)
        factor = weights * (law.epsilon / 2)
        factor[[0, -1]] = 0.5
        points, share = points_between(law.epsilon, law.rate, x, factor, inside)
        return cls(law=law, n=n, points=points, shares=(float(share[0]), float(share[-1])))

    @property
    def size(self) -> int:
        """How many points."""
        return self.points.loss.size

    @property
    def is_endless(self) -> bool:
        """Its points are laid for frequencies up to a reach."""
        return False

    def log_mass(self, c: float) -> tuple[float, float]:
        """ln M(c), enclosed."""
        tilted = self.points.tilted(self.law.power(c))
        return tilted.log_mass(self._missing(tilted, 0.0))

    def log_mass_above(self, c: float) -> float:
        """ln M(c), from above."""
        return self.log_mass(c)[1]

    def view(self, c: float, reach: float) -> View:
        """What the integral needs at c."""
        tilted = self.points.tilted(self.law.power(c))
        losses = self.points.loss if self.law.removes else -self.points.loss
        return tilted.view(losses, self.points.loss_error, self._missing(tilted, reach))

    def _missing(self, tilted: Tilted, reach: float) -> float:
        return self.law.missing(tilted.s, reach, self.n) + self.law.missing(1.0, 0.0, self.n)

    def decay(self, c: float, frequencies: Floats) -> Floats:
        """Lower bounds on -ln |phi(w)| for all w at or above each of these frequencies: atoms, and variation/w.

        Theorem: the density of L, times e^(cL), falls and then rises along x, or is monotone: its variation is at most
        twice the sum of its ends.
        Reference: Katznelson 2004, section I.4
        Proof: docs/theory/accounting/contour.md#atoms-and-variation
        Checked-by: tests/accounting/contour/test_sampled_laplace.py::test_how_fast_the_integrand_falls
        """
        tilted = self.points.tilted(self.law.power(c))
        doubt = 2 * tilted.doubt(self._missing(tilted, 0.0))
        whole = enlarged(float(tilted.shares[0] + tilted.shares[-1])) * (1 + doubt)
        inside = np.minimum(whole + self._variation(tilted.shares) * (1 + doubt) / frequencies, 1.0)
        if inside[-1] > (1 + whole) / 2 and doubt < SAFE:  # as for rare samples, whose losses are small
            inside = np.minimum(inside, 1 - self.law.spread_out(tilted, frequencies) * (1 - 2 * SAFE))
        return np.maximum(-log(inside) - 4 * ERROR, 0)

    def _variation(self, shares: Floats) -> float:
        return enlarged(float(shares[0]) / self.shares[0] + float(shares[-1]) / self.shares[1])

    def atoms(self, c: float, view: View, times: int) -> Atoms:
        """What can be taken out of the integral."""
        tilted = self.points.tilted(self.law.power(c))
        weight_error = float(tilted.error[[0, -1]].max()) + tilted.doubt(view.error)
        lost = float(self.points.loss_error[[0, -1]].max()) + 4 * UNIT * (self.law.epsilon + abs(float(view.centre)))
        return Atoms.of(view, c, times, self._variation(tilted.shares), (weight_error, lost))
