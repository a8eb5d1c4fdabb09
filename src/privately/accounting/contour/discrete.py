"""Discrete noise on the contour: the points are its outcomes, but for those that are too rare to matter."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from privately.accounting.contour.finite import Finite
from privately.accounting.contour.points import Points, Tilted
from privately.accounting.contour.view import View, enlarged, exp_above
from privately.accounting.elementary import UNIT
from privately.accounting.lattice.atoms import atoms
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
)
from privately.accounting.roads import NotApplicable

DiscreteLoss = DiscreteGaussianLoss | DiscreteLaplaceLoss | SampledDiscreteGaussianLoss | SampledDiscreteLaplaceLoss

_MOST_POINTS = 1 << 14
_LEAST_MASS = 1e-290
_RARE = 2.0**-70
_LEAST_PART = 2.0**-10
_DEVIATIONS = 11.0
"""A tilt by c moves normal noise by c times the sensitivity; so far around that outcomes matter."""


@dataclass(frozen=True)
class Ends:
    """What is beyond the first and the last outcome: terms that fall by e^(fall - slope c) each time, at tilt c."""

    fall: float
    slope: float

    def beyond(self, c: float) -> float:
        """What is left out on one side, in units of the last term there, from above: 1/(e^x - 1) <= 1/x."""
        rate = self.fall - self.slope * c
        if rate < _LEAST_PART * self.fall:
            raise NotApplicable("too many outcomes matter")
        return 1 / rate


@dataclass(frozen=True)
class Discrete(Finite):
    """One law; as with other finite ones, its integrand does not fall."""

    ends: Ends | None
    heavy: int | None = None
    """How many outcomes matter, if that is known."""
    ceiling: float = math.inf
    """Up to about this height what was left out does not matter."""

    @classmethod
    def over(cls, law: DiscreteLoss, farthest: float = math.inf) -> Discrete:
        """The outcomes of a law, largest or smallest loss first, but for those that are too rare; of normal noise, up
        to about so many on either side.
        """
        known = atoms(law)
        first, last, ends, ceiling = 0, known.masses.size, None, math.inf
        if isinstance(law, (DiscreteGaussianLoss, SampledDiscreteGaussianLoss)):
            least = max(math.exp(-farthest * farthest / (2 * float(law.variance))), _LEAST_MASS)
            kept = np.flatnonzero(known.masses > least)
            if not kept.size:
                raise NotApplicable("too many outcomes matter")
            first, last = int(kept[0]), int(kept[-1]) + 1
            reach = (known.masses.size - law.sensitivity - 1) // 2  # k = -reach, ..., reach + sensitivity
            reach -= max(first, known.masses.size - last)
            ends = _ends(law, reach)
            if isinstance(law, DiscreteGaussianLoss) or law.direction == "remove":
                ceiling = max(reach - _DEVIATIONS * math.sqrt(law.variance), 1.0) / law.sensitivity
        if last - first > _MOST_POINTS:
            raise NotApplicable("too many outcomes")
        masses, losses = known.masses[first:last], known.losses[first:last]
        points = Points(
            factor=masses,
            log_base=np.broadcast_to(0.0, losses.shape),
            weight_error=known.mass_errors[first:last] / masses + 4 * UNIT,
            loss=losses,
            loss_error=known.loss_errors[first:last],
            known_base=masses,
        )
        return cls(points, ends, ceiling=ceiling)

    def log_mass(self, c: float) -> tuple[float, float]:
        """ln M(c), enclosed."""
        tilted = self.points.tilted(c)
        return tilted.log_mass(self._missing(tilted))

    @property
    def size(self) -> int:
        """How many points, about."""
        return self.points.loss.size if self.heavy is None else self.heavy

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> Discrete:  # noqa: ARG002 - exact for all
        near = self._near(self.points.tilted(c))
        return replace(self, heavy=near.stop - near.start)

    def view(self, c: float, reach: float) -> View:  # noqa: ARG002 - exact for all
        """What the integral needs at c; points that together hardly weigh anything are an error instead."""
        tilted = self.points.tilted(c)
        whole = tilted.view(self.points.loss, self.points.loss_error, self._missing(tilted))
        near = self._near(tilted)
        rare = enlarged(float(tilted.shares[: near.start].sum() + tilted.shares[near.stop :].sum()))
        return replace(
            whole, weights=whole.weights[near].copy(), losses=whole.losses[near].copy(), error=whole.error + 4 * rare
        )

    def _near(self, tilted: Tilted) -> slice:
        """From the first outcome that matters to the last."""
        heavy = np.flatnonzero(tilted.shares > _RARE)
        return slice(int(heavy[0]), int(heavy[-1]) + 1)

    def _missing(self, tilted: Tilted) -> float:
        """What the outcomes that are left out have of M(c) and of 1, at most.

        Theorem: beyond its ends each term of M(c) = sum P(k) e^(c L(k)) is at most e^((c s - reach)/variance) times
            the one before, s the sensitivity, with or without sampling.
        Reference: comparison with the geometric series
        Proof: docs/theory/accounting/contour.md#discrete-noise
        Checked-by: tests/accounting/contour/test_discrete.py::test_the_transform
        """
        if self.ends is None:
            return 0.0
        found = self.ends.beyond(tilted.s) * float(tilted.shares[0] + tilted.shares[-1])
        base = self.points.base
        return enlarged(found + self.ends.beyond(0.0) * float(base[0] + base[-1])) * (1 + 2.0**-20)


def _ends(law: DiscreteGaussianLoss | SampledDiscreteGaussianLoss, reach: int) -> Ends:
    """Beyond k = -reach and k = reach + sensitivity. Losses grow by at most sensitivity/variance each time; with the
    row added to the other data set, by that times the row's share of the mixture, where they grow.
    """
    slope = float(law.sensitivity / law.variance)
    if isinstance(law, SampledDiscreteGaussianLoss) and law.direction == "add":
        lifted = float(law.sensitivity * (2 * reach + law.sensitivity) / (2 * law.variance))
        slope *= min(float(law.rate / (1 - law.rate)) * exp_above(-lifted * (1 - 2.0**-40)), 1.0)
    return Ends(float(reach / law.variance) * (1 - 2.0**-40), enlarged(slope))
