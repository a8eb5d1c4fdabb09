"""Paths of one law on which every step but one lands on an atom: what they add to the profile, in closed form.

With M = b + t, b the atoms and t the density, these are T b^(T-1) t. Taken out of the sum over the nodes, as b^T is,
they leave what falls like the square of t, which falls like 1/w for exponential losses: far fewer nodes are enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, expm1
from privately.accounting.lattice.atoms import Atoms
from privately.accounting.lattice.bases import ExponentialBase
from privately.accounting.lattice.smooth import Smooth

_MOST_STEPS = 64
"""Of more steps hardly any path has only one off the atoms."""
_MOST_ATOMS = 2
_LOWEST = -600.0
_CERTAIN = 2.0**-10


@dataclass(frozen=True)
class OneOff:
    """A density and one or two atoms at multiples of `step`, all less `offset`; each of `times` steps is one of these.

    `masses` are those of the atoms, each within its error.
    """

    dense: Smooth
    points: tuple[int, ...]
    masses: tuple[float, ...]
    mass_errors: tuple[float, ...]
    times: int
    step: float
    offset: float

    @classmethod
    def of(
        cls, dense: Smooth, atoms: Atoms, points: Floats, times: int, *, step: float, offset: float
    ) -> OneOff | None:
        """If such paths are worth listing, and not too many."""
        size = atoms.losses.size
        if not (0 < size <= _MOST_ATOMS and 2 <= times <= _MOST_STEPS and isinstance(dense.base, ExponentialBase)):
            return None
        if not (times * atoms.mass_errors < _CERTAIN * atoms.masses).all():
            return None
        places = tuple(int(point) for point in points)
        return cls(dense, places, tuple(atoms.masses.tolist()), tuple(atoms.mass_errors.tolist()), times, step, offset)

    def at(self, epsilon: Fraction) -> tuple[float, float]:
        """What these paths add to the profile at epsilon (less all offsets), and a bound on the error.

        Theorem: it is T sum_i C(T-1, i) p_1^i p_2^(T-1-i) H(epsilon - i l_1 - (T-1-i) l_2), where
            H(x) = G(x) + p (1 - e^x)+ is the profile of the density, p its mass.
        Reference: the binomial theorem
        Proof: docs/theory/accounting/lattice.md#one-step-off-the-atoms
        Checked-by: tests/accounting/lattice/test_one_off.py::test_one_step_off_the_atoms
        """
        start = epsilon + Fraction(self.offset)
        value, error = self._profile(np.array([float(start - place) for place in self._places]))
        weights, doubt = self._weights
        total = float((weights * value).sum())
        off = float((weights * error).sum()) * (1 + doubt) + total * (doubt + 4 * (self.times + 8) * UNIT)
        return total, off * (1 + 1e-9) + 1e-300

    def _profile(self, x: Floats) -> tuple[Floats, Floats]:
        """H, where each x is within UNIT, relative, of what is meant; it falls, and is 0 above all losses."""
        is_above = x > self._largest
        x = np.clip(x, _LOWEST, self._largest)
        curve, error = self.dense.curve(x)
        mass, mass_error = self.dense.mass()
        rest = -expm1(np.minimum(x, 0.0))
        value = curve + mass * rest
        off = mass_error * rest + mass * (2 * ERROR * rest + 2 * UNIT * np.abs(np.minimum(x, 0.0)))
        error = (error + off) * (1 + 1e-9) + 4 * UNIT * value + np.where(x <= _LOWEST, 1e-250, 0.0)
        return np.where(is_above, 0.0, value), np.where(is_above, 0.0, error)

    @cached_property
    def _largest(self) -> float:
        """Above all losses of the density, with room for the rounding of what is compared with it."""
        if not isinstance(self.dense.base, ExponentialBase):
            return math.inf
        end = math.nextafter(self.dense.base.epsilon, math.inf)
        if self.dense.form == "add":
            return -self.dense.loss_between(-end)[0] * (1 + 4 * UNIT)
        return self.dense.loss_between(end)[1] * (1 + 4 * UNIT)

    @cached_property
    def _others(self) -> list[tuple[int, ...]]:
        """How often each atom occurs among all steps but one."""
        rest = self.times - 1
        return [(rest,)] if len(self.points) == 1 else [(i, rest - i) for i in range(self.times)]

    @cached_property
    def _places(self) -> list[Fraction]:
        step = Fraction(self.step)
        return [step * sum(n * point for n, point in zip(often, self.points, strict=True)) for often in self._others]

    @cached_property
    def _weights(self) -> tuple[Floats, float]:
        """Of each way to land on atoms in all steps but one, and a bound on the relative error of all of them."""
        masses = [Fraction(mass) for mass in self.masses]
        each = max(error / mass for mass, error in zip(self.masses, self.mass_errors, strict=True))
        found = [
            float(
                self.times
                * math.comb(self.times - 1, often[0])
                * math.prod((mass**n for mass, n in zip(masses, often, strict=True)), start=Fraction(1))
            )
            for often in self._others
        ]
        return np.array(found), 1.01 * self.times * each + 4 * UNIT
