"""Sampled Laplaces away from the real line: in which ellipses their integrands are analytic, and how large there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privately.accounting.elementary import Floats
from privately.accounting.kept import Kept

_STRIPS = np.array([0.125, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0])
_LARGEST_RADIUS = 16.0
_FEWEST = 8.0
_MANY = 64
MOST_POINTS = 4096
_LARGEST = 900


@dataclass(frozen=True)
class Ellipses:
    """Of laws with these epsilons and rates: one row each, a column for every ellipse."""

    epsilon: Floats
    rate: Floats

    @Kept
    def radii(self) -> Floats:
        """Sums of semi-axes of ellipses in which the integrand is analytic: the angle of L0 stays below 2."""
        heights = _STRIPS / self.epsilon[:, None]
        return np.minimum(heights + np.sqrt(heights * heights + 1), _LARGEST_RADIUS)

    def costs(self, s: float, reach: float) -> Floats:
        """ln of how much larger the density's integrand may be in each ellipse than the larger atom, at most."""
        epsilon, rate = self.epsilon[:, None], self.rate[:, None]
        across, theta = (self.radii + 1 / self.radii) / 2, (self.radii - 1 / self.radii) / 2 * epsilon
        lifted, left = rate * _exp_above(epsilon * across), 1 - rate
        longer, is_rare = epsilon * (across - 1), 2 * lifted < left
        short = np.minimum(theta, np.where(theta <= 1, 1.0, 1.34) * lifted * theta / left)
        angle = np.where((theta <= 1) | is_rare, short, theta)
        if s > 0:
            grown = s * longer * np.minimum(lifted, 1.0)
        else:
            grown = -s * (longer + 0.62 * theta * theta / 4)
            grown = np.where(is_rare, np.minimum(grown, -s * 2.01 * lifted / left), grown)
        found: Floats = longer / 2 + grown + epsilon + angle * reach
        return found

    def fineness(self, s: float, reach: float, quiet: Floats) -> Floats:
        """How many points each law needs for errors of about e^-quiet: whole numbers, few of them different."""
        wanted = np.min((quiet[:, None] + self.costs(s, reach)) / log_below(self.radii), axis=1)
        n = np.ceil(np.minimum(np.maximum(wanted, _FEWEST), 2 * MOST_POINTS))
        found: Floats = np.where(
            n <= _MANY, np.ldexp(1.0, np.ceil(np.log2(np.minimum(n, _MANY))).astype(np.int64)), 32 * np.ceil(n / 32)
        )
        return found

    def missing(self, s: float, reach: float, n: Floats) -> Floats:
        """The errors of sums over so many points, relative to M, for |w| up to `reach`.

        Theorem: in the ellipse |e^(s L)| is at most e^(|s| epsilon (across - 1) + w height) times its largest value on
        [0, 1], and cos(height/2)^s more for s < 0, and far less where the row takes part in little of the mixture; the
        larger atom is at least e^-epsilon/2 times that value.
        Reference: Trefethen 2008
        Proof: docs/theory/accounting/contour.md#clenshaw-curtis
        Checked-by: tests/accounting/contour/test_sampled_laplace.py::test_the_inner_integral
        """
        costs = _exp_above(self.costs(s, reach) - n[:, None] * log_below(self.radii))
        found: Floats = np.min(costs * 3 * np.maximum(self.epsilon, 1.0)[:, None] / (self.radii - 1), axis=1)
        return found


def log_below(radius: Floats) -> Floats:
    """ln(radius), from below."""
    found: Floats = 2 * (radius - 1) / (radius + 1)
    return found


def _exp_above(x: Floats) -> Floats:
    """As `exp_above`, of each number."""
    exponent = np.ceil(x * 1.4426950408889635 + 2.0**-20)
    powers = np.ldexp(1.0, np.clip(exponent, -_LARGEST, _LARGEST).astype(np.int64))
    found: Floats = np.where(exponent < _LARGEST, powers, np.inf)
    return found
