"""Many steps of rarely sampled Gaussians with little noise: both lists of one step, added up on a lattice.

The density of such losses is a spike at almost nothing and a long hill far away, for which no step of a lattice is
right; atoms do not mind. Cells are fine where the loss grows, and coarse where there is next to none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.compositions import Composition
from privately.accounting.elementary import Floats
from privately.accounting.ends import proved
from privately.accounting.lattice.atoms import Atoms
from privately.accounting.lattice.planning import View
from privately.accounting.lattice.road import delta_of, epsilon_of
from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading.lists import Side
from privately.accounting.spreading.steps import mixed, normal_between
from privately.rounding import Interval

METHOD = "losses in cells, on a lattice"

_VERY_LITTLE = Fraction(280)
"""From this mu^2 on, a sum over hits is narrower and as fast, if it is not too long."""
_LITTLE, _SOME = Fraction(33), Fraction(12)
"""Below these the contour integral is likely to be narrower, and certain to be."""
_LARGEST = Fraction(400)
_MOST_STEPS = 10**6
_FINE, _COARSE = 15_000, 2.0**-5
_FAINT, _LEAST_RATE = 9.0, 1e-30
_RARE, _FIRST_RARE = 2.0**-36, 1e-30
_LEAST_DELTA = Fraction(1, 10**100)
_FINER = 8


@dataclass(frozen=True)
class ListsOnLattice:
    """The road, for a mu^2 from `least` to before `most`.

    Theorem: the upper list of one step costs at least as much as the step, the lower one at most as much, and so do
        sums of as many; a sum on the lattice has an upper end for every list of positive masses, and a lower one for
        those of at most 1 in all.
    Reference: Zhu-Dong-Wang 2022, Theorem 10
    Proof: docs/theory/accounting/spreading.md#on-a-lattice
    Checked-by: tests/accounting/spreading/test_on_lattice.py::test_answers_contain_independent_references,
        tests/accounting/spreading/test_on_lattice.py::test_neither_list_serves_for_the_other_side
    """

    least: Fraction
    most: Fraction

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        """The epsilon of the finite losses, 0 < delta < 1."""
        if delta < _LEAST_DELTA:
            raise NotApplicable("delta is too small")
        law, times = self._steps(composition)
        rare = float(delta) * _RARE
        upper = epsilon_of([listed_once(law, times, "upper", rare)], delta, width / _FINER).upper
        lower = epsilon_of([listed_once(law, times, "lower", rare)], delta, width / _FINER).lower
        return proved(lower, upper, method=METHOD)

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        """The delta of the finite losses."""
        law, times = self._steps(composition)
        upper = delta_of([listed_once(law, times, "upper", _FIRST_RARE)], epsilon, width / _FINER).upper
        lower = delta_of([listed_once(law, times, "lower", _FIRST_RARE)], epsilon, width / _FINER).lower
        return proved(lower, upper, method=METHOD)

    def _steps(self, composition: Composition) -> tuple[SampledGaussianLoss, int]:
        if len(composition.parts) != 1:
            raise NotApplicable("not one law alone")
        law, times = composition.parts[0]
        if not isinstance(law, SampledGaussianLoss) or law.direction != "remove":
            raise NotApplicable("not in the direction in which hits are seen")
        if not (self.least <= law.mu_squared < self.most and 1 < times <= _MOST_STEPS):
            raise NotApplicable("for other roads")
        return law, times


SOME = ListsOnLattice(_SOME, _LITTLE)
LITTLE = ListsOnLattice(_LITTLE, _VERY_LITTLE)
VERY_LITTLE = ListsOnLattice(_VERY_LITTLE, _LARGEST)


class Listed(View):
    """The list of one step. None of its losses counts as far: that is for laws whose masses are 1 in all."""

    def trimmed(self, mass: float, far: float) -> View:
        """As it is."""
        del mass, far
        return self


def listed_once(law: SampledGaussianLoss, times: int, side: Side, rare: float) -> Listed:
    """One step of so many, about `rare` of which is left out in all."""
    found = mixed(normal_between(math.sqrt(law.mu_squared), _edges(law, times, rare / times)), law, side)
    none = np.zeros(found.losses.size)
    atoms = Atoms(found.losses, none, found.masses, none, found.outside)
    return Listed(None, atoms, times, math.nextafter(float(found.losses[-1]), -math.inf))


def _edges(law: SampledGaussianLoss, times: int, rare: float) -> Floats:
    """Where to cut x: coarsely up to where the loss of a step begins to matter."""
    mu, rate = math.sqrt(law.mu_squared), float(law.rate)
    reach = math.sqrt(-2 * math.log(max(rare, 1e-200)))
    if not _LEAST_RATE < rate < 1:
        raise NotApplicable("the rate is out of range")
    bend = (math.log(1 / rate) - _FAINT - math.log(max(times * rate, 1.0)) / 2) / mu + mu / 2
    first = math.floor(-reach / _COARSE) * _COARSE
    start = max(math.floor(min(bend, mu) / _COARSE) * _COARSE, first)
    last = mu + reach
    fine = (last - start) / _FINE
    return np.concatenate([np.arange(first, start, _COARSE), np.arange(start, last + fine, fine)])
