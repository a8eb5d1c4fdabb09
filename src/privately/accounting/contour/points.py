"""A loss law as weighted points, tilted to any place on the real line.

M(z) = E[e^(s L)] over a base law, where s is z + 1 or -z (the base is Q) or z itself (the base is P). Each point has a
base weight, a loss L and bounds on the errors of both; what the sum over the points misses is added by the law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from privately.accounting.contour.view import View, enlarged
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log_between
from privately.accounting.kept import Kept
from privately.accounting.roads import NotApplicable

_LARGEST_EXPONENT = 600.0
LEAST_MASS = 2.0**-40
_FINE = 2.0**-42
_LEAST_LIFTED = -0.63
"""Above e^-1 - 1."""


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
    known_least: float | None = None
    """The least log_base, or 0, if that is known."""
    covers: float = 0.0
    """Where losses increase, and their errors are at least ERROR times their sizes: what the rounding of sL makes of
    these errors, over them.
    """
    is_plain: bool = field(init=False)
    """Whether no base weight underflows."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_plain", self.least_log > -_LARGEST_EXPONENT)

    @property
    def least_log(self) -> float:
        """The least log_base, or 0."""
        known = self.known_least
        return min(float(np.minimum.reduce(self.log_base)), 0.0) if known is None else known

    def tilted(self, s: float) -> Tilted:
        """The weights of e^(sL)."""
        exponent = s * self.loss
        if self.is_plain and np.minimum.reduce(exponent) > -1 and np.maximum.reduce(exponent) < _LARGEST_EXPONENT:
            excess = self.base * expm1(exponent)
            return Tilted(self, s, self.base + excess, excess, 0.0)
        top = exponent + self.log_base
        shift = max(float(top.max()) - _LARGEST_EXPONENT, 0.0)
        large = self.factor * exp(top - shift)
        if shift:
            return Tilted(self, s, large, large, shift)
        steep = exponent > 1
        excess = np.where(steep, large - self.base, self.base * expm1(np.minimum(exponent, 1.0)))
        return Tilted(self, s, np.where(np.abs(exponent) > 1, large, self.base + excess), excess, 0.0)

    def looks(self, powers: Sequence[float]) -> tuple[Tilted | None, list[Look]] | None:
        """What `quickly` says of e^(sL) for several s at once, and the weights for the first if these are plain; None
        if floats do not allow it for all.
        """
        if not (self.is_plain and isinstance(self.weight_error, float) and self.weight_error <= _FINE):
            return None
        base, many = self.base, len(powers)
        both, by = np.empty((2 * many, base.size)), np.empty((2, base.size))
        exponent = np.array(powers)[:, None] * self.loss
        if not np.maximum.reduce(exponent, axis=None) < _LARGEST_EXPONENT:
            return None
        lifted = both[:many]
        lifted[:] = expm1(exponent)
        np.abs(lifted, out=both[many:])
        by[0] = base
        np.multiply(base, self.loss_error, out=by[1])
        sums = (both @ by.T).tolist()
        whole, wrong = np.add.reduce(by, axis=1).tolist()
        every, found = base.size - 1, []
        (left, right), ends = base[::every].tolist(), lifted[:, ::every].tolist()
        for place, s in enumerate(powers):
            (excess, _), (size, spread), (first, last) = sums[place], sums[many + place], ends[place]
            off = (2.0**-38 + 2 * base.size * UNIT) * size + 4 * abs(s) * (wrong + spread)
            found.append(Look(excess + enlarged(off), whole + excess, (left + left * first, right + right * last)))
        if not self.covers or min(ends[0]) < _LEAST_LIFTED:
            return None, found
        known = Sums(sums[0][0], sums[many][0], sums[many][1], whole, wrong)
        weights = base * lifted[0]
        return Tilted(self, powers[0], base + weights, weights, known=known), found

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

    @property
    def fixed_error(self) -> Floats | float:
        """The relative error of all weights that does not come from wrong losses."""
        if self.is_plain and isinstance(self.weight_error, float):
            return self.weight_error + 4 * ERROR - self.least_log * (4 * UNIT)
        return self.weight_error + 4 * ERROR + np.abs(self.log_base) * (4 * UNIT)

    @Kept
    def blur(self) -> Floats:
        """How wrong losses make weights, over |s|: with the rounding of sL."""
        blur = np.abs(self.loss)
        blur *= 4 * UNIT
        blur += self.loss_error
        return blur

    @Kept
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


class Sums(NamedTuple):
    """Sums over all points: of the excess, of its sizes and of these times the errors of the losses; of the base
    weights, and of those times the same errors.
    """

    excess: float
    size: float
    spread: float
    whole: float
    wrong: float


class Tilted:
    """Weights e^(sL) and their excess over the base weights, both times e^-shift."""

    def __init__(
        self,
        points: Points,
        s: float,
        weights: Floats,
        excess: Floats,
        shift: float = 0.0,
        *,
        known: Sums | None = None,
    ) -> None:
        self.points, self.s = points, s
        self.weights, self.excess, self.shift = weights, excess, shift
        self._known = known
        self._fixed = points.fixed_error + 4 * UNIT * shift
        self.total = float(np.add.reduce(weights)) if known is None else known.whole + known.excess

    @Kept
    def spread(self) -> Floats:
        """What wrong losses do to the weights, relative to them."""
        return abs(self.s) * self.points.loss_error

    @Kept
    def error(self) -> Floats:
        """The relative errors of the weights."""
        return abs(self.s) * self.points.blur + self._fixed

    def _errors(self, sizes: Floats, total: float) -> float:
        """The sum of sizes times errors; that of the sizes is `total`."""
        points = self.points
        fixed = self._fixed * total if isinstance(self._fixed, float) else float(sizes @ self._fixed)
        blurred = points.covers * float(sizes @ points.loss_error) if points.covers else float(sizes @ points.blur)
        return fixed + abs(self.s) * blurred

    def log_mass(self, missing: float) -> tuple[float, float]:
        """ln M, where the points miss at most this part of M and of 1."""
        known, s = self._known, abs(self.s)
        if known is not None and isinstance(self._fixed, float):
            found, size = known.excess, known.size
            off = 3 * (self._fixed * size + s * self.points.covers * known.spread) + s * (known.wrong + known.spread)
        else:
            sizes = np.abs(self.excess)
            size, found = float(np.add.reduce(sizes)), float(np.add.reduce(self.excess))
            off = 3 * self._errors(sizes, size) + s * float(self.weights @ self.points.loss_error)
        off += 2 * self.weights.size * UNIT * size
        off = enlarged(off + 2 * missing * max(self.total, 0.0 if self.shift else 1.0))
        least = found - off + (0.0 if self.shift else 1.0)
        if least < LEAST_MASS:
            raise NotApplicable("the points do not tell the transform from 0")
        if self.shift:
            low, high = log_between(found - off)[0], log_between(found + off)[1]
            return math.nextafter(low + self.shift, -math.inf), math.nextafter(high + self.shift, math.inf)
        return log_between(found - off, 1)[0], log_between(found + off, 1)[1]

    @Kept
    def shares(self) -> Floats:
        """The weights, of sum 1."""
        return self.weights / self.total

    def doubt(self, missing: float) -> float:
        """How far the sum of the weights may be from M, relative to it."""
        return missing + self._mean_errors()[0] + self.weights.size * UNIT

    def _mean_errors(self) -> tuple[float, float]:
        """The mean errors of the weights and of the losses, at most."""
        known = self._known
        if known is None or not isinstance(self._fixed, float):
            wrong = float(self.shares @ self.points.loss_error)
            return self._errors(self.shares, 1 + self.weights.size * UNIT), wrong
        wrong = enlarged((known.wrong + known.spread) / self.total)
        return self._fixed + abs(self.s) * self.points.covers * wrong, wrong

    def view(self, losses: Floats, loss_error: Floats, missing: float, centre: float | None = None) -> View:
        """As the integral needs it; `losses` carry their sign. The centre is that of the weights, or any other."""
        weights = self.shares
        mean_error, wrong = self._mean_errors()
        whole = missing + mean_error + weights.size * UNIT
        if centre is None:
            centre = float(weights @ losses)
        centred = losses - centre
        parts = np.abs(centred)
        parts *= weights
        spread = float(np.add.reduce(parts))
        if loss_error is not self.points.loss_error:
            wrong = float(weights @ loss_error)
        slope = self._errors(parts, spread) + whole * spread + wrong
        slope += 2 * UNIT * (spread + 2 * abs(centre))
        return View(
            log_mass=self.log_mass(missing),
            centre=centre,
            weights=weights,
            losses=centred,
            error=enlarged(2 * missing),
            slope=enlarged(slope) * (1 + 2 * whole),
            spread=spread,
        )
