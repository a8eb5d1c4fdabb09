"""A loss law as weighted points, tilted to any place on the real line.

M(z) = E[e^(s L)] over a base law, where s is z + 1 or -z (the base is Q) or z itself (the base is P). Each point has a
base weight, a loss L and bounds on the errors of both; what the sum over the points misses is added by the law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from privately.accounting.contour.view import View, enlarged
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log_between
from privately.accounting.roads import NotApplicable

_LARGEST_EXPONENT = 600.0
LEAST_MASS = 2.0**-40
_FINE = 2.0**-42


@dataclass(frozen=True)
class Points:
    """The base weight of a point is factor e^log_base, with this relative error."""

    factor: Floats | float
    log_base: Floats
    weight_error: Floats | float
    loss: Floats
    loss_error: Floats
    known_base: Floats | None = None
    """The base weights, where they are known."""

    def tilted(self, s: float, lifted: Floats | None = None) -> Tilted:
        """The weights of e^(sL); `lifted` is e^(sL) - 1 where that is known."""
        exponent = s * self.loss
        if self.is_plain and np.minimum.reduce(exponent) > -1 and np.maximum.reduce(exponent) < _LARGEST_EXPONENT:
            excess = self.base * (expm1(exponent) if lifted is None else lifted)
            return Tilted(self, s, self.base + excess, excess, 0.0)
        top = exponent + self.log_base
        shift = max(float(top.max()) - _LARGEST_EXPONENT, 0.0)
        large = self.factor * exp(top - shift)
        if shift:
            return Tilted(self, s, large, large, shift)
        steep = exponent > 1
        excess = np.where(steep, large - self.base, self.base * expm1(np.minimum(exponent, 1.0)))
        return Tilted(self, s, np.where(np.abs(exponent) > 1, large, self.base + excess), excess, 0.0)

    def looks(self, powers: Sequence[float]) -> tuple[Floats, list[Look]] | None:
        """e^(sL) - 1 for several s at once, a row each, with what `quickly` says of them; None if floats do not allow
        it for all.
        """
        if not (self.is_plain and isinstance(self.weight_error, float) and self.weight_error <= _FINE):
            return None
        exponent = np.multiply.outer(np.array(powers), self.loss)
        if not np.maximum.reduce(exponent, axis=None) < _LARGEST_EXPONENT:
            return None
        lifted, base = expm1(exponent), self.base
        size, left, right = np.abs(lifted), float(base[0]), float(base[-1])
        rows = lifted @ base, size @ base, size @ self._wrong, lifted[:, 0], lifted[:, -1]
        (wrong, whole), found = self._wholes, []
        for s, excess, sizes, spread, first, last in zip(powers, *(row.tolist() for row in rows), strict=True):
            off = (2.0**-38 + 2 * base.size * UNIT) * sizes + 4 * abs(s) * (wrong + spread)
            ends = left + left * first, right + right * last
            found.append(Look(excess + enlarged(off), whole + excess, ends))
        return lifted, found

    @cached_property
    def _wrong(self) -> Floats:
        return self.base * self.loss_error

    @cached_property
    def _wholes(self) -> tuple[float, float]:
        return float(np.add.reduce(self._wrong)), float(np.add.reduce(self.base))

    def quickly(self, s: float) -> Quick | None:
        """The weights of e^(sL) and a bound on their excess, to about a part in 10^11 of its terms, if floats allow.

        Theorem: where no base weight underflows the relative error of an excess is below 2^-38 but for what comes from
        wrong losses, which is at most 4 |s| e (g + |excess|).
        Reference: Higham 2002, section 3.3
        Proof: docs/theory/accounting/contour.md#points
        Checked-by: tests/accounting/contour/test_points.py::test_quick_bounds
        """
        exponent = s * self.loss
        if not (self.is_plain and exponent.max() < _LARGEST_EXPONENT and np.max(self.weight_error) <= _FINE):
            return None
        excess = self.base * expm1(exponent)
        size = np.abs(excess)
        off = (2.0**-38 + 2 * size.size * UNIT) * float(size.sum()) + 4 * abs(s) * float(
            self.loss_error @ (self.base + size)
        )
        return Quick(float(excess.sum()) + enlarged(off), self.base + excess)

    @cached_property
    def fixed_error(self) -> Floats | float:
        """The relative error of all weights that does not come from wrong losses."""
        if self.is_plain and isinstance(self.weight_error, float):
            return self.weight_error + 4 * ERROR - self.least_log * (4 * UNIT)
        return self.weight_error + 4 * ERROR + np.abs(self.log_base) * (4 * UNIT)

    @cached_property
    def blur(self) -> Floats:
        """How wrong losses make weights, over |s|: with the rounding of sL."""
        blur = np.abs(self.loss)
        blur *= 4 * UNIT
        blur += self.loss_error
        return blur

    @cached_property
    def least_log(self) -> float:
        """The least log_base, or 0."""
        return min(float(np.minimum.reduce(self.log_base)), 0.0)

    @property
    def is_plain(self) -> bool:
        """Whether no base weight underflows."""
        return self.least_log > -_LARGEST_EXPONENT

    @cached_property
    def base(self) -> Floats:
        """The base weights."""
        return self.factor * exp(self.log_base) if self.known_base is None else self.known_base


@dataclass(frozen=True)
class Quick:
    """A bound on the sum of all excesses, and weights that are nearly right."""

    above: float
    weights: Floats


class Look(NamedTuple):
    """A bound on the sum of all excesses, and nearly the sum of all weights and those at both ends."""

    above: float
    total: float
    ends: tuple[float, float]


@dataclass(frozen=True)
class Tilted:
    """Weights e^(sL) and their excess over the base weights, both times e^-shift."""

    points: Points
    s: float
    weights: Floats
    excess: Floats
    shift: float

    @cached_property
    def spread(self) -> Floats:
        """What wrong losses do to the weights, relative to them."""
        return abs(self.s) * self.points.loss_error

    @cached_property
    def error(self) -> Floats:
        """The relative errors of the weights."""
        return abs(self.s) * self.points.blur + self._fixed

    @cached_property
    def _fixed(self) -> Floats | float:
        return self.points.fixed_error + 4 * UNIT * self.shift

    @cached_property
    def total(self) -> float:
        return float(np.add.reduce(self.weights))

    def _errors(self, sizes: Floats, total: float) -> float:
        """The sum of sizes times errors; that of the sizes is `total`."""
        fixed = self._fixed * total if isinstance(self._fixed, float) else float(sizes @ self._fixed)
        return fixed + abs(self.s) * float(sizes @ self.points.blur)

    def log_mass(self, missing: float) -> tuple[float, float]:
        """ln M, where the points miss at most this part of M and of 1."""
        sizes = np.abs(self.excess)
        size = float(np.add.reduce(sizes))
        off = 3 * self._errors(sizes, size) + abs(self.s) * float(self.weights @ self.points.loss_error)
        off += 2 * self.weights.size * UNIT * size
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
        return missing + self._mean_error + self.weights.size * UNIT

    @cached_property
    def _mean_error(self) -> float:
        return self._errors(self.shares, 1 + self.weights.size * UNIT)

    def view(self, losses: Floats, loss_error: Floats, missing: float) -> View:
        """As the integral needs it; `losses` carry their sign."""
        weights, whole = self.shares, self.doubt(missing)
        centre = float(weights @ losses)
        centred = losses - centre
        parts = np.abs(centred)
        parts *= weights
        spread = float(np.add.reduce(parts))
        slope = self._errors(parts, spread) + whole * spread + float(weights @ loss_error)
        slope += 2 * UNIT * (spread + 2 * abs(centre))
        return View(
            log_mass=self.log_mass(missing),
            centre=centre,
            weights=weights,
            losses=centred,
            error=enlarged(2 * missing),
            slope=enlarged(slope) * (1 + 2 * whole),
        )
