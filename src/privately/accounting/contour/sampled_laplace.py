"""The sampled Laplace on the contour: two atoms, and a density that is analytic between them.

With L0 = epsilon (1 - 2x) the loss of the whole mechanism, the law without the row has atoms of e^-epsilon/2 at x = 0
and 1/2 at x = 1, and the density (epsilon/2) e^(-epsilon (1 - x)) between. M(z) = E[e^(s L)], L = ln(1 - q + q e^L0),
s = z + 1 ("remove", the loss is L) or -z ("add", the loss is -L).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privately.accounting.contour.atoms import Atoms
from privately.accounting.contour.clenshaw_curtis import ABSOLUTE, clenshaw_curtis
from privately.accounting.contour.points import Points, Tilted
from privately.accounting.contour.view import Rough, View, enlarged, exp_above
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log, log1p
from privately.accounting.losses import SampledLaplaceLoss
from privately.accounting.roads import NEAR_ONE, NotApplicable

_STRIPS = (0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
_LARGEST_RADIUS = 16.0
_LARGEST_EPSILON = 500.0
_MOST_POINTS = 4096
_MANY_POINTS = 64
_CELLS = 256
_SAFE = 2.0**-16


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
        n = max(self._fineness(c, reach, quiet), self._fineness(highest, 0.0, quiet))
        if n > _MOST_POINTS:
            raise NotApplicable("too many points")
        return Grid.over(self, n)

    def _fineness(self, c: float, reach: float, quiet: float) -> int:
        wanted = 8.0
        costs = [(self._ellipse_cost(self.power(c), reach, radius), radius) for radius in self._radii()]
        wanted = max(wanted, min((quiet + cost) / _log_below(radius) for cost, radius in costs))
        if wanted > 2 * _MOST_POINTS:
            return 2 * _MOST_POINTS
        n = math.ceil(wanted)
        return 1 << (n - 1).bit_length() if n <= _MANY_POINTS else 32 * math.ceil(n / 32)

    def _radii(self) -> list[float]:
        """Sums of semi-axes of ellipses in which the integrand is analytic: the angle of L0 stays below 2."""
        heights = (angle / self.epsilon for angle in _STRIPS)
        return [min(height + math.sqrt(height * height + 1), _LARGEST_RADIUS) for height in heights]

    def _ellipse_cost(self, s: float, reach: float, radius: float) -> float:
        """ln of how much larger the density's integrand may be in the ellipse than the larger atom, at most."""
        across, theta = (radius + 1 / radius) / 2, (radius - 1 / radius) / 2 * self.epsilon
        lifted, left = self.rate * exp_above(self.epsilon * across), 1 - self.rate
        longer, is_rare = self.epsilon * (across - 1), 2 * lifted < left
        angle = theta
        if theta <= 1 or is_rare:
            angle = min(theta, (1 if theta <= 1 else 1.34) * lifted * theta / left)
        if s > 0:
            grown = s * longer * min(lifted, 1.0)
        else:
            grown = -s * (longer + 0.62 * theta * theta / 4)
            grown = min(grown, -s * 2.01 * lifted / left) if is_rare else grown
        return longer / 2 + grown + self.epsilon + angle * reach

    def spread_out(self, tilted: Tilted, frequencies: Floats) -> Floats:
        """At most what 1 - |phi(w)| is for all w at or above each of these frequencies, as the density spreads out.

        Theorem: where a density falls, or rises, it is a mixture of even ones that begin where it is largest; an even
        one of length l has a transform of at most sup |sin v|/v over v >= w l/2.
        Reference: Khinchine 1938
        Proof: docs/theory/accounting/contour.md#layers
        Checked-by: tests/accounting/contour/test_sampled_laplace.py::test_rare_samples_fall_as_well
        """
        x = np.arange(_CELLS + 1.0) / _CELLS
        whole_loss = self.epsilon * (1 - 2 * x)
        lifted = self.rate * expm1(whole_loss)
        loss, share = log1p(lifted), self.rate * exp(whole_loss) / (1 + lifted)
        end = 0 if tilted.shares[0] > tilted.shares[-1] else -1
        exponent = self.epsilon * (x - x[end]) + tilted.s * (loss - loss[end])
        off = 2 * ERROR * np.abs(loss) + 4 * ERROR * np.abs(lifted) / (1 + lifted) + 32 * UNIT * self.epsilon * share
        if exponent.max() > _LARGEST_EPSILON or abs(tilted.s) * float(off.max()) > _SAFE / 4:
            return np.zeros_like(frequencies)
        heights = float(tilted.shares[end]) / 2 * exp(np.maximum(exponent, -600.0)) / share * (1 - _SAFE)
        lowest = int(heights.argmin())
        found = np.zeros_like(frequencies)
        for part in (slice(0, lowest), slice(None, lowest, -1)):
            places, levels = loss[part], np.minimum.accumulate(heights[part])
            lengths = np.abs(places - places[:1]) - off[part] - off[part][:1]
            layers = levels - np.append(levels[1:], 0.0)
            masses = np.maximum(lengths, 0.0) * layers
            found = found + _fallen(np.multiply.outer(frequencies, np.maximum(lengths, 0.0) / 2)) @ masses
        return found

    def missing(self, s: float, reach: float, n: int) -> float:
        """The error of the sum over x, relative to M, for |w| up to `reach`.

        Theorem: in the ellipse |e^(s L)| is at most e^(|s| epsilon (across - 1) + w height) times its largest value on
        [0, 1], and cos(height/2)^s more for s < 0, and far less where the row takes part in little of the mixture; the
        larger atom is at least e^-epsilon/2 times that value.
        Reference: Trefethen 2008
        Proof: docs/theory/accounting/contour.md#clenshaw-curtis
        Checked-by: tests/accounting/contour/test_sampled_laplace.py::test_the_inner_integral
        """
        least = math.inf
        for radius in self._radii():
            cost = self._ellipse_cost(s, reach, radius) - n * _log_below(radius)
            least = min(least, exp_above(cost) * 3 * max(self.epsilon, 1.0) / (radius - 1))
        return least


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
        nodes, weights = clenshaw_curtis(n)
        epsilon, rate = law.epsilon, law.rate
        x = np.concatenate([[0.0], nodes, [1.0]])
        whole_loss = epsilon * (1 - 2 * x)
        factor = np.concatenate([[0.5], weights * (epsilon / 2), [0.5]])
        lifted = rate * expm1(whole_loss)
        loss = log1p(lifted)
        share = rate * exp(whole_loss) / (1 + lifted)
        lost = 2 * ERROR * np.abs(lifted) / (1 + lifted)
        moved = share * epsilon * (2 * ABSOLUTE + 8 * UNIT)
        inside = np.concatenate([[0.0], ABSOLUTE * 2 / n / weights, [0.0]])
        points = Points(
            factor=factor,
            log_base=-epsilon * (1 - x),
            weight_error=inside + epsilon * ABSOLUTE + 8 * UNIT,
            loss=loss,
            loss_error=ERROR * np.abs(loss) + lost + moved,
        )
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
        if inside[-1] > (1 + whole) / 2 and doubt < _SAFE:  # as for rare samples, whose losses are small
            inside = np.minimum(inside, 1 - self.law.spread_out(tilted, frequencies) * (1 - 2 * _SAFE))
        return np.maximum(-log(inside) - 4 * ERROR, 0)

    def _variation(self, shares: Floats) -> float:
        return enlarged(float(shares[0]) / self.shares[0] + float(shares[-1]) / self.shares[1])

    def atoms(self, c: float, view: View, times: int) -> Atoms:
        """What can be taken out of the integral."""
        tilted = self.points.tilted(self.law.power(c))
        weight_error = float(tilted.error[[0, -1]].max()) + tilted.doubt(view.error)
        lost = float(self.points.loss_error[[0, -1]].max()) + 4 * UNIT * (self.law.epsilon + abs(float(view.centre)))
        return Atoms.of(view, c, times, self._variation(tilted.shares), (weight_error, lost))


def _fallen(turns: Floats) -> Floats:
    """1 - |sin v|/v, from below, for all v at or above each of these."""
    square = np.minimum(turns, 2.0) ** 2
    return np.asarray(np.maximum(square / 6 * (1 - square / 20), 1 - 1 / np.maximum(turns, 1.0)) * (1 - _SAFE))


def _log_below(radius: float) -> float:
    """ln(radius), from below."""
    return 2 * (radius - 1) / (radius + 1)
