"""The sampled Gaussian on a line beside the real one, where fast oscillation has died out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privately.accounting.contour.points import Points, Tilted
from privately.accounting.contour.view import Complex, View, enlarged, exp_above
from privately.accounting.elementary import ERROR, UNIT, Floats, atan, cos_sin, exp, log1p, turn_minus_one

_TURN = 6.283185307179586  # below 2 pi
_HIGHEST = 1.5
_DYADIC = 1024


@dataclass(frozen=True, slots=True)
class Line:
    """Im x = height; below the real line for "add", mirrored here. At height 0 it is the real line itself."""

    mu: float
    removes: bool
    c: float
    height: float

    @classmethod
    def best(cls, mu: float, c: float, quiet: float, *, removes: bool) -> Line:
        """The line that allows the widest steps of x."""
        growth = cls(mu, removes, c, 1.0).edge
        height = math.floor(min(math.sqrt(quiet / growth), 1 / mu, _HIGHEST) * _DYADIC) / _DYADIC
        return cls(mu, removes, c, height)

    @staticmethod
    def widest(mu: float, quiet: float) -> float:
        """No line allows wider steps than this."""
        return _TURN * min(1 / mu, _HIGHEST) / quiet if quiet > 0 else math.inf

    @property
    def edge(self) -> float:
        """ln of how much larger the integrand may be at twice the height than on the real line, for mu height <= 1."""
        square = self.height * self.height
        return 2 * square + (0.0 if self.removes else 0.62 * self.c * self.mu * self.mu * square)

    def step(self, quiet: float) -> float:
        """The widest step of x with errors of about e^-quiet, whatever the frequency."""
        return _TURN * self.height / (quiet + self.edge)

    def missing(self, dx: float) -> float:
        """The error of the sum over the line, relative to M(c), for all w >= 0.

        Theorem: on 0 <= Im x <= 2y the factor e^(iw loss) is at most 1, so that the edges contribute M(c) and at most
        e^(2 y^2) cos(mu y)^(-c) M(c), the cosine for "add" alone.
        Reference: Trefethen-Weideman 2014, Theorem 5.1
        Proof: docs/theory/accounting/contour.md#the-inner-integral
        Checked-by: tests/accounting/contour/test_shifted.py::test_the_sum_on_the_line
        """
        exponent = self.edge - _TURN * self.height / dx
        return 2.1 * exp_above(exponent) if exponent < -4 else math.inf

    def view(self, x: Floats, points: Points, share: Floats, tilted: Tilted, gaps: tuple[float, float]) -> View:
        """The tilted law as points on the line; `gaps` are what sums miss on the line, and on the real one."""
        y, sign = self.height, 1 if self.removes else -1
        turn = turn_minus_one(np.array([self.mu * y]))[0]
        grown = float(exp(np.array([y * y / 2]))[0])
        seen = Beside.of(Turned(y, -turn.real, turn.imag, grown), x, points, share, (tilted.s, tilted.shares, sign))
        centre = float(tilted.shares @ (sign * points.loss))
        losses = (seen.real - centre) + 1j * seen.angle
        loss_error = seen.loss_error + 4 * UNIT * abs(centre)
        whole = tilted.doubt(gaps[1])
        slope = float(np.add.reduce(seen.slopes(losses.real, loss_error, tilted.error + whole, tilted.s)))
        return View(
            log_mass=tilted.log_mass(gaps[1]),
            centre=centre,
            weights=seen.weights,
            losses=losses,
            error=enlarged(2 * gaps[0]),
            slope=enlarged(slope) * (1 + 2 * whole),
        )


class Turned(NamedTuple):
    """The height y of a line, 1 - cos and sin of mu y, and e^(y^2/2): numbers, or arrays for points of many laws."""

    height: Floats | float
    versed: Floats | float
    sine: Floats | float
    grown: Floats | float


class Beside(NamedTuple):
    """Points on a line beside the real one: the sizes of their weights, these themselves, and the losses, not centred,
    with bounds on their errors.
    """

    sizes: Floats
    weights: Complex
    real: Floats
    angle: Floats
    loss_error: Floats

    @classmethod
    def of(cls, line: Turned, x: Floats, points: Points, share: Floats, tilt: tuple[float, Floats, int]) -> Beside:
        """`tilt` is s, the shares of the tilted weights on the real line, and the sign of the loss."""
        s, shares, sign = tilt
        mixed = -2 * share * (1 - share) * line.versed
        wane = log1p(mixed) / 2
        slant = share * line.sine / (1 - share * line.versed)
        angle = atan(slant)
        sizes = shares * exp(np.minimum(s * wane, 600.0)) * line.grown
        cosine, sine = cos_sin(sign * (s * angle - x * line.height))
        real = sign * (points.loss + wane)
        loss_error = points.loss_error + 8 * ERROR * (np.abs(mixed) + slant) + 4 * UNIT * np.abs(real)
        return cls(sizes, sizes * cosine + 1j * (sizes * sine), real, angle, loss_error)

    def slopes(self, centred: Floats, loss_error: Floats, weight_error: Floats, s: float) -> Floats:
        """What each point adds to the growth of the error of the transform with the frequency."""
        errors = weight_error + abs(s) * loss_error + 4 * ERROR
        return self.sizes * (errors * (np.abs(centred) + self.angle) + loss_error)


def missing_beside(mu: Floats, height: Floats, step: Floats, c: float | None) -> tuple[Floats, Floats]:
    """What `Line.missing` bounds, for lines of many laws of one direction, and how much larger the integrand may be at
    twice the height: c is that of "add", None for "remove".
    """
    square = height * height
    edge = 2 * square if c is None else 2 * square + 0.62 * c * (mu * height) ** 2
    exponent = edge - _TURN * height / step
    missing = np.where(exponent < -4, 2.1 * exp(np.clip(exponent, -600.0, 0.0)), math.inf)
    return missing, exp(np.minimum(edge, 600.0)) * (1 + 2.0**-10)
