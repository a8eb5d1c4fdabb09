"""Laplace noise: paths on which every step but one lands on an atom are exact too, and taken out of the integral."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privately.accounting.contour.atoms import Atoms
from privately.accounting.contour.view import Complex, View, enlarged, power, size_of
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, exp_one, expm1, log


@dataclass(frozen=True)
class OneOff(Atoms):
    """The atoms of Laplace noise, at least two steps; one of them may lie between the atoms.

    With a = p1 + p2 the mass of the atoms at l1 and l2, the loss between them has the density
    p1/2 e^(-(c + 1/2)(l1 - l)).

    Theorem: its transform is R(w) = (p1 e^(i w l1) - p2 e^(i w l2))/(2z + 1), so |R| <= a/(2w); and what is left of
        phi^T without the paths of at most one such step is at most T (T-1)/2 R^2 (a + R)^(T-2).
    Reference: Sommer-Meiser-Mohammadi 2019 for the law
    Proof: docs/theory/accounting/contour.md#one-step-off-the-atoms
    Checked-by: tests/accounting/contour/test_one_off.py::test_one_step_off_the_atoms,
        tests/accounting/contour/test_one_off.py::test_what_is_left_falls
    """

    def falls(self, reaches: Floats) -> Floats:
        """Lower bounds on -ln of what is left, for all w at or above each reach."""
        doubt = 1 + 2 * self.weight_error
        rest = np.minimum(self.variation * doubt / reaches, 1.0)
        inside = np.minimum(enlarged(self.mass) * doubt + rest, 1.0)
        pairs = np.full_like(rest, self.times * (self.times - 1) / 2)
        off, often, ways = log(np.array([rest, inside, pairs]))
        found: Floats = -2 * off - (self.times - 2) * often - ways - 2.0**-20
        return found

    @cached_property
    def _rest(self) -> float:
        """The mass between the atoms."""
        return float(self.weights[0] - self.weights[1]) / (2 * self.c + 1)

    @cached_property
    def _others(self) -> float:
        """The weight of all steps but one: mass^(times - 1)."""
        return exp_one(max((self.times - 1) * self._log_mass, -700.0))

    @property
    def taken(self) -> float:
        return self.whole + self.times * self._others * self._rest

    @property
    def taken_error(self) -> float:
        return enlarged(self.doubt * self.whole + self.times * self._others * (2 * self.doubt + 4 * self.weight_error))

    def transforms(self, step: float, count: int) -> tuple[Complex, Floats]:
        """alpha^(T-1) (alpha + T R), centred, and bounds on the errors."""
        w = step * np.arange(1, count + 1, dtype=np.float64)
        signs = np.array([1.0, -1.0])
        alone, apart = (
            View((0.0, 0.0), 0.0, self.weights * sign, self.losses, self.weight_error, self.loss_error)
            for sign in (1.0, signs)
        )
        found, error = alone.transforms(step, count)
        error = error + 4 * UNIT
        raised, off = power(found + (self.mass - 1), error, self.times - 1)
        others, off = 1 + raised, off + 2 * UNIT
        between, between_error = apart.transforms(step, count)
        below = np.asarray((2 * self.c + 1) + 2j * w, dtype=np.complex128)
        between = (between + float(self.weights @ signs)) / below
        between_error = (between_error + 8 * ERROR) / size_of(below)
        near = found + self.mass + self.times * between
        near_error = error + self.times * between_error + 8 * UNIT
        size, other = size_of(others), size_of(near)
        return others * near, enlarged(1.0) * (size * near_error + (other + near_error) * off + 8 * UNIT * size * other)

    def part(self, s: float) -> tuple[float, float, float]:
        """As for atoms alone, and T times the same of one step between them.

        Theorem: beside an atom sum that leaves d = l1 - u, the step between adds p1 e^(-cd) (1 - e^(-(d+b)/2))
            (1 - e^(-(d-b)/2)), b the positive part of l2 - u.
        Reference: Sommer-Meiser-Mohammadi 2019 for the law
        Proof: docs/theory/accounting/contour.md#one-step-off-the-atoms
        Checked-by: tests/accounting/contour/test_one_off.py::test_one_step_off_the_atoms
        """
        value, error, slope = super().part(s)
        weights, losses, weight_error = self._binomial_others
        top, bottom = float(self.losses[0]), float(self.losses[1])
        places = losses + (top - s)
        start = int(np.searchsorted(places, 0.0))
        weights, d = weights[start:], places[start:]
        b = np.maximum(d - (top - bottom), 0.0)
        discounts = exp(-self.c * d)
        left, right = -expm1((d + b) * -0.5), -expm1((d - b) * -0.5)
        scale = self.times * float(self.weights[0])
        gained = scale * float(weights @ (discounts * left * right))
        moved = self._moved(s)
        off = gained * (weight_error + 2 * self.weight_error + 8 * ERROR + self.c * moved)
        off += 4 * moved * self.times * self._others
        falls = np.where(b > 0, (1 - left) * right, ((1 - left) * right + left * (1 - right)) / 2)
        steeper = self.c * gained - scale * float(weights @ (discounts * falls))
        return value + gained, error + enlarged(off), slope + steeper

    def nearly(self, s: float) -> tuple[float, float, float]:
        """As `part`, which for few steps is quick enough."""
        return self.part(s)

    @cached_property
    def _binomial_others(self) -> tuple[Floats, Floats, float]:
        return self._binomial_of(self.times - 1, self._others)
