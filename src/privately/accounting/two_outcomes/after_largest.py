"""One step of zCDP before the profile of the largest one and normal noise beside it.

x        half of mu^2 of the noise; W_x is the profile of the largest statement with this noise beside it
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import Floats
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.blurred import Blurred
from privately.accounting.two_outcomes.hulls import convex
from privately.accounting.two_outcomes.smooth import Smooth
from privately.accounting.two_outcomes.steps import NEVER
from privately.accounting.two_outcomes.touching import Touching, touching
from privately.accounting.two_outcomes.wave_games import alone
from privately.accounting.two_outcomes.waves import Lattice, Proofs, Wave, Waves, proofs

FINE, _SOME, _APART = 0.018, 4, 3.0
"""Lines are looked for at every fourth place."""
_UNBOUNDED = 1e6
"""A sum of rho so large that no tail is known."""
_STEP, _WIDER, _MOST_PLACES, _SIZES, _NEAR = 1.3, 1.5, 4000, 1.12, 0.3
_MOST_ROWS = 100
_RARER = 1e-3
"""Values so much smaller are on the lattice too, as lines are not as good next to its end."""
_DOUBT = 1e-9


@dataclass(frozen=True)
class Largest:
    """W_x for one statement, down to values of `rarest`."""

    rho: float
    base: Blurred
    rarest: float
    _known: dict[float, Waves] = field(default_factory=dict)

    @classmethod
    def of(cls, statement: Concentrated, rarest: float, fine: float = FINE) -> Largest:
        lines = touching(statement, rarest * _RARER)
        lattice = Lattice(fine * math.sqrt(2 * lines.rho), 0)
        lattice = Lattice(lattice.step, reach(lines.rho, rarest * _RARER, lattice.step))
        wave = alone(statement, Waves(lines, lattice), lines)
        return cls(lines.rho, Blurred.of(wave.upper, lattice.step), rarest)

    def before(self, x: float, stride: int = 1) -> Before:
        """What is known of steps before W_x, on a lattice of so many steps each."""
        places = reach((2 * self.rho + x) * _WIDER, self.rarest * _RARER, self.base.step * stride)
        after = self.base.upper(2 * (x + _STEP * self.rho), places, stride)
        size = int((after > max(self.rarest * _RARER, 2 * float(after[-1]))).sum()) + 2
        size = math.ceil(_SIZES ** math.ceil(math.log(size, _SIZES)))  # few different lattices
        return Before(self, x, stride, self._upper(x, size, stride))

    def instead(self, statement: Concentrated) -> Before:
        """The profile of a lesser statement, in place of W_0."""
        return Before(self, 0.0, 1, self.alone(statement))

    def alone(self, statement: Concentrated) -> Floats:
        """Upper values of one statement."""
        lattice = Lattice(self.base.step, self.before(0.0).upper.size)
        lines = touching(statement, self.rarest * _RARER)
        return alone(statement, Waves(lines, lattice), lines, _APART).upper

    def waves(self, near: Touching, lattice: Lattice) -> Waves:
        """As for the last lattice, if it is the same."""
        if near.rho not in self._known or self._known[near.rho].lattice != lattice:
            self._known[near.rho] = Waves(near, lattice, _MOST_ROWS)
        return self._known[near.rho]

    def _upper(self, x: float, places: int, stride: int) -> Floats:
        found = (
            self.base.upper(2 * x, places, stride) if x else self.base.without(places * stride)[::stride] * (1 + _DOUBT)
        )
        return convex(found, self.base.step * stride)


def reach(rho: float, rarest: float, step: float) -> int:
    """How many places count, by the conversion of one order."""
    places = math.ceil((rho + 2 * math.sqrt(-math.log(rarest) * rho)) / step) + 2
    if not 0 < places < _MOST_PLACES:
        raise NotApplicable("too many places")
    return places


@dataclass(frozen=True)
class Before:
    """Upper values of W_x."""

    largest: Largest
    x: float
    stride: int
    upper: Floats

    @property
    def lattice(self) -> Lattice:
        return Lattice(self.largest.base.step * self.stride, self.upper.size)

    @property
    def is_near(self) -> bool:
        """Whether there is so little noise that lines are not easily found."""
        return self.x < _NEAR * self.largest.rho

    def lines(self, near: Touching) -> tuple[Proofs, Waves]:
        """Those for one step of this kind, and for others that are not far from it, at some of the places."""
        waves = self.largest.waves(near, self.lattice)
        smooth = Smooth.of(self.upper, self.lattice.far, self.lattice.step)
        return proofs(Wave(self.upper, smooth, _UNBOUNDED), waves, _SOME, int(self.is_near))[0], waves

    def step(self, lines: tuple[Proofs, Waves], rho: float) -> Floats:
        """Upper values with a step of rho before it, by these lines."""
        proved, waves = lines
        found = np.ones(proved.value.size * _SOME)
        for shift in range(-_SOME // 2, _SOME // 2 + 1):
            value = proved.elsewhere(waves, rho, shift * self.lattice.step)
            some = found[shift % _SOME if shift < 0 else shift :: _SOME]
            value = value[1:] if shift < 0 else value
            some[: value.size] = np.minimum(some[: value.size], value)
        found = np.minimum.accumulate(found[: self.upper.size])
        found = _convex_everywhere(found, self.lattice.step) if self.is_near else found
        return found[: int((found > self.largest.rarest).sum()) + 1]

    def excess(self, step: Floats, more: float) -> float:
        """The least e, but for rounding, with which a step is below the last of its values and (1 + e) W_(x + more);
        infinite if that is not so far from the middle.

        Theorem: what holds at both ends of a cell for a line holds for the chord between them, and so for a profile;
            what holds for y from 1 on holds for all y, as V(y) = 1 - y + y V(1/y), for V and for W.
        Reference: none
        Proof: docs/theory/accounting/two_outcomes.md#after-the-largest
        Checked-by: tests/accounting/two_outcomes/test_after_largest.py::test_one_step_before_noise
        """
        left, right = self.largest.base.tangents(2 * (self.x + more), step.size, self.stride)
        over = step - float(step[-1])
        lines, values = np.stack([left[:-1], right[:-1]]), np.stack([over[:-1], over[1:]])
        is_known = lines > 0
        needed = np.where(is_known, values / np.where(is_known, lines, 1.0), np.where(values > 0, math.inf, 0.0)).max(
            axis=0
        )
        total = self.largest.rho + self.x
        middle = total + math.sqrt(2 * total)
        far = np.arange(needed.size) * self.lattice.step > middle
        if not (needed[far] <= 1).all():
            return math.inf
        return max(float(needed.max()) - 1, 0.0) * (1 + _DOUBT)


def _convex_everywhere(upper: Floats, step: float) -> Floats:
    """The largest convex function that is not above these values, nor above those that they mean for y < 1."""
    nothing = np.zeros(upper.size)
    around = Curve(step, 0, NEVER, upper, nothing, nothing).upper_around(upper.size - 1, 0)
    return np.minimum(convex(around, step)[upper.size - 1 :], upper)
