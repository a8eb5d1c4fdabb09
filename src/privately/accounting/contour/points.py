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
_LEAST_MASS = 2.0**-40


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
        top = exponent + self.log_base
        shift = max(float(top.max()) - _LARGEST_EXPONENT, 0.0)
        large = self.factor * exp(top - shift)
        spread = abs(s) * self.loss_error
        error = spread + self.weight_error + 4 * ERROR + 4 * UNIT * (np.abs(exponent) + np.abs(self.log_base) + shift)
        if shift:
            return Tilted(s, large, large, error, spread, shift)
        steep = exponent > 1
        excess = np.where(steep, large - self.base, self.base * expm1(np.minimum(exponent, 1.0)))
        return Tilted(s, np.where(np.abs(exponent) > 1, large, self.base + excess), excess, error, spread, 0.0)

    @cached_property
    def base(self) -> Floats:
        """The base weights."""
        return self.factor * exp(self.log_base)


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
        return float(self.weights.sum())

    def log_mass(self, missing: float) -> tuple[float, float]:
        """ln M, where the points miss at most this part of M and of 1."""
        off = float(np.abs(self.excess) @ (3 * self.error)) + float(self.weights @ self.spread)
        off += 2 * self.weights.size * UNIT * float(np.abs(self.excess).sum())
        off = enlarged(off + 2 * missing * max(self.total, 0.0 if self.shift else 1.0))
        found = float(self.excess.sum())
        least = found - off + (0.0 if self.shift else 1.0)
        if least < _LEAST_MASS:
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
