"""The sampled Gaussian on a line beside the real one, where fast oscillation has died out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privately.accounting.contour.points import Points, Tilted
from privately.accounting.contour.view import View, enlarged, exp_above
from privately.accounting.elementary import ERROR, UNIT, Floats, atan, cos_sin, exp, log1p, turn_minus_one

_TURN = 6.283185307179586  # below 2 pi
_HIGHEST = 1.5
_DYADIC = 1024


@dataclass(frozen=True)
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
        y, s = self.height, tilted.s
        turn = turn_minus_one(np.array([self.mu * y]))[0]
        versed, sine = -turn.real, turn.imag
        mixed = -2 * share * (1 - share) * versed
        wane = log1p(mixed) / 2
        slant = share * sine / (1 - share * versed)
        angle = atan(slant)
        sizes = tilted.shares * exp(np.minimum(s * wane, 600.0)) * float(exp(np.array([y * y / 2]))[0])
        cosine, sine_of = cos_sin(s * angle - x * y if self.removes else x * y - s * angle)
        sign = 1 if self.removes else -1
        real = sign * (points.loss + wane)
        centre = float(tilted.shares @ (sign * points.loss))
        losses = (real - centre) + 1j * angle
        loss_error = points.loss_error + 8 * ERROR * (np.abs(mixed) + slant) + 4 * UNIT * (np.abs(real) + abs(centre))
        errors = tilted.error + abs(s) * loss_error + 4 * ERROR
        whole = tilted.doubt(gaps[1])
        slope = float(sizes @ ((errors + whole) * (np.abs(losses.real) + losses.imag) + loss_error))
        return View(
            log_mass=tilted.log_mass(gaps[1]),
            centre=centre,
            weights=sizes * cosine + 1j * (sizes * sine_of),
            losses=losses,
            error=enlarged(2 * gaps[0]),
            slope=enlarged(slope) * (1 + 2 * whole),
        )
