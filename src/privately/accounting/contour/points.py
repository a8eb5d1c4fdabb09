"""A loss law as weighted points, tilted to any place on the real line.

M(z) = E[e^(s L)] over a base law, where s is z + 1 or -z (the base is Q) or z itself (the base is P). Each point has a
base weight, a loss L and bounds on the errors of both; what the sum over the points misses is added by the law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privately.accounting.contour.view import View, enlarged
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log_between
from privately.accounting.roads import NotApplicable

_LARGEST_EXPONENT = 600.0
LEAST_MASS = 2.0**-40


@dataclass(frozen=True)
class Points:
    """The base weight of a point is factor e^log_base, with this relative error."""

    factor: Floats | float
    log_base: Floats
    weight_error: Floats | float
    loss: Floats
    loss_error: Floats

    def tilted(self, s: float) -> Tilted:
        """The weights of e^(sL)."""
        exponent = s * self.loss
        spread = abs(s) * self.loss_error
        error = spread + self._fixed_error + np.abs(exponent) * (4 * UNIT)
        if self._is_plain and np.minimum.reduce(exponent) > -1 and np.maximum.reduce(exponent) < _LARGEST_EXPONENT:
            excess = self.base * expm1(exponent)
            return Tilted(s, self.base + excess, excess, error, spread, 0.0)
        top = exponent + self.log_base
        shift = max(float(top.max()) - _LARGEST_EXPONENT, 0.0)
        large = self.factor * exp(top - shift)
        error += 4 * UNIT * shift
        if shift:
            return Tilted(s, large, large, error, spread, shift)
        steep = exponent > 1
        excess = np.where(steep, large - self.base, self.base * expm1(np.minimum(exponent, 1.0)))
        return Tilted(s, np.where(np.abs(exponent) > 1, large, self.base + excess), excess, error, spread, 0.0)

    def quickly(self, s: float) -> Quick | None:
        """The weights of e^(sL) and a bound on their excess, to about a part in 10^11 of its terms, if floats allow.

        Theorem: where no base weight underflows the relative error of an excess is below 2^-38 but for what comes from
        wrong losses, which is at most 4 |s| e (g + |excess|).
        Reference: Higham 2002, section 3.3
        Proof: docs/theory/accounting/contour.md#points
        Checked-by: tests/accounting/contour/test_points.py::test_quick_bounds
        """
        exponent = s * self.loss
        if not (self._is_plain and exponent.max() < _LARGEST_EXPONENT and np.max(self.weight_error) <= 2.0**-42):
            return None
        excess = self.base * expm1(exponent)
        size = np.abs(excess)
        off = (2.0**-38 + 2 * size.size * UNIT) * float(size.sum()) + 4 * abs(s) * float(
            self.loss_error @ (self.base + size)
        )
        return Quick(float(excess.sum()) + enlarged(off), self.base + excess)

    @cached_property
    def _fixed_error(self) -> Floats:
        return self.weight_error + 4 * ERROR + np.abs(self.log_base) * (4 * UNIT)

    @cached_property
    def _is_plain(self) -> bool:
        """Whether no base weight underflows."""
        return bool(np.minimum.reduce(self.log_base) > -_LARGEST_EXPONENT)

    @cached_property
    def base(self) -> Floats:
        """The base weights."""
        return self.factor * exp(self.log_base)


@dataclass(frozen=True)
class Quick:
    """A bound on the sum of all excesses, and weights that are nearly right."""

    above: float
    weights: Floats


@dataclass(frozen=True)
class Tilted:
    """Weights e^(sL) and their excess over the base weights, both times e^-shift."""

    s: float
    weights: Floats
    excess: Floats
    error: Floats
    spread: Floats
    shift: float

    @cached_property
    def total(self) -> float:
        return float(np.add.reduce(self.weights))

    def log_mass(self, missing: float) -> tuple[float, float]:
        """ln M, where the points miss at most this part of M and of 1."""
        sizes = np.abs(self.excess)
        off = 3 * float(sizes @ self.error) + float(self.weights @ self.spread)
        off += 2 * self.weights.size * UNIT * float(np.add.reduce(sizes))
        off = enlarged(off + 2 * missing * max(self.total, 0.0 if self.shift else 1.0))
        found = float(np.add.reduce(self.excess))
        least = found - off + (0.0 if self.shift else 1.0)
        if least < LEAST_MASS:
            raise NotApplicable("the points do not tell the transform from 0")
        if self.shift:
            low, high = log_between(found - off)[0], log_between(found + off)[1]
            return math.nextafter(low + self.shift, -math.inf), math.nextafter(high + self.shift, math.inf)
        return log_between(found - off, 1)[0], log_between(found + off, 1)[1]

    @cached_property
    def shares(self) -> Floats:
        """The weights, of sum 1."""
        return self.weights / self.total

    def doubt(self, missing: float) -> float:
        """How far the sum of the weights may be from M, relative to it."""
        return missing + float(self.shares @ self.error) + self.weights.size * UNIT

    def view(self, losses: Floats, loss_error: Floats, missing: float) -> View:
        """As the integral needs it; `losses` carry their sign."""
        weights, whole = self.shares, self.doubt(missing)
        centre = float(weights @ losses)
        centred = losses - centre
        off = loss_error + 2 * UNIT * (np.abs(losses) + abs(centre))
        slope = float(weights @ ((self.error + whole) * np.abs(centred) + off))
        return View(
            log_mass=self.log_mass(missing),
            centre=centre,
            weights=weights,
            losses=centred,
            error=enlarged(2 * missing),
            slope=enlarged(slope) * (1 + 2 * whole),
        )
