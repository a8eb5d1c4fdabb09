"""A profile on a lattice beside normal noise, on both sides.

The profile W is that of a pair with the P-masses w_i at the losses i h, the same with P and Q exchanged, and some mass
at infinite loss; with noise of mu^2 = v beside it, it is that mass and the sum of w_i G_v(y e^(-i h)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, normal_tail
from privately.accounting.roads import NotApplicable

_FARTHEST = 36.0
_DOUBT, _SLIP = 1e-9, 1e-13


@dataclass(frozen=True)
class Blurred:
    """W, by its masses at the losses from 1 step on; the others follow."""

    step: float
    masses: Floats
    infinite: float

    @classmethod
    def of(cls, upper: Floats, step: float) -> Blurred:
        """Not below a profile with these upper values, which are convex and fall.

        Theorem: as for pairs of curves.
        Reference: Zhu-Dong-Wang 2022, section 3
        Proof: docs/theory/accounting/two_outcomes.md#after-the-largest
        Checked-by: tests/accounting/two_outcomes/test_blurred.py::test_it_is_not_below
        """
        raised, y = upper * (1 + 4 * _DOUBT), exp(np.arange(float(upper.size)) * step)
        # from 1 on no profile that is the same with P and Q exchanged falls faster than this line
        raised = np.maximum(raised, raised[0] - (1 - raised[0]) * (0.5 - _DOUBT) * (y - 1))
        rises = np.diff(raised) / np.diff(y)
        kinks = np.maximum(np.diff(np.append(rises, 0.0)), 0.0)
        found = cls(step, kinks * exp(np.arange(1.0, upper.size) * step), float(raised[-1]))
        is_above = found.even >= 0 and (found.without(upper.size) >= upper * (1 + _DOUBT)).all()
        if not is_above:  # also where something is no number
            raise NotApplicable("a profile that is no pair on its lattice")
        return found

    @property
    def even(self) -> float:
        """P-mass at loss 0: what is left."""
        losses = np.arange(1.0, self.masses.size + 1) * self.step
        return 1 - self.infinite - math.fsum((self.masses * (1 + exp(-losses))).tolist())

    @cached_property
    def all_masses(self) -> Floats:
        """From the smallest loss to the largest."""
        losses = np.arange(1.0, self.masses.size + 1) * self.step
        return np.concatenate([(self.masses * exp(-losses))[::-1], [max(self.even, 0.0)], self.masses])

    def without(self, places: int) -> Floats:
        """W itself at places from 0 on, but for rounding."""
        return self._mean(np.maximum(-expm1(self._differences(places, 1) * self.step), 0.0), places, 1)

    def upper_alone(self) -> Floats:
        """W itself, rounded up."""
        return np.minimum.accumulate(np.minimum(self.without(self.masses.size + 1) * (1 + _DOUBT), 1.0))

    def upper(self, v: float, places: int, stride: int = 1) -> Floats:
        """With noise, at so many places from 0 on, each so many steps after the last one, rounded up."""
        power, price, off = self._tests(v, self._differences(places, stride))
        found = self._mean(power - price + off, places, stride) * (1 + _DOUBT)
        return np.minimum.accumulate(np.minimum(found, 1.0))

    def tangents(self, v: float, places: int, stride: int = 1) -> tuple[Floats, Floats]:
        """Of lines that touch in the middle between two places, the values at both, rounded down.

        Theorem: P(N > a) - y P(N > b) is nowhere above G, whichever test it is of; a sum of such lines is nowhere above
            the sum.
        Reference: Neyman-Pearson
        Proof: docs/theory/accounting/two_outcomes.md#after-the-largest
        Checked-by: tests/accounting/two_outcomes/test_blurred.py::test_lines_are_below
        """
        power, price, off = self._tests(v, self._differences(places, stride) + stride / 2)
        half = math.exp(stride * self.step / 2)
        left = self._mean(power - price / half * (1 + _SLIP) - off, places, stride)
        right = self._mean(power - price * half * (1 + _SLIP) - off, places, stride)
        return left - _DOUBT * np.abs(left), right - _DOUBT * np.abs(right)

    def _differences(self, places: int, stride: int) -> Floats:
        """Of all places from 0 on and all losses, in steps."""
        return np.arange(-float(self.masses.size), (places - 1) * stride + self.masses.size + 1)

    def _tests(self, v: float, differences: Floats) -> tuple[Floats, Floats, Floats]:
        """The power of the best test at each y, y times its price, and what both may be off."""
        mu = math.sqrt(v)
        losses = differences * (self.step / mu)
        a, b = losses - mu / 2, losses + mu / 2
        power, price = normal_tail(np.clip(np.stack([a, b]), -_FARTHEST, _FARTHEST))
        price *= exp(differences * self.step)
        off = (8 * ERROR + 64 * UNIT * (1 + np.abs(losses) + mu) ** 2) * (power + price)
        return power, price, off + np.where(b > _FARTHEST, price + power, 0.0)

    def _mean(self, values: Floats, places: int, stride: int) -> Floats:
        """Infinite loss, and the sum over all losses of values at differences of places."""
        windows = sliding_window_view(values, self.all_masses.size)[: (places - 1) * stride + 1 : stride]
        found: Floats = windows @ self.all_masses[::-1] + self.infinite
        return found
