"""Finitely many outcomes on the contour: the points are the outcomes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privately.accounting.contour.points import Points
from privately.accounting.contour.view import Rough, View
from privately.accounting.elementary import UNIT, Floats
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable

_LEAST = 1e-300
_MISSING = 1e-290
"""More than losses of at most 0 that are less probable than floats can say add to any transform."""


@dataclass(frozen=True)
class Finite:
    """One law; its integrand does not fall, so another part of the composition must."""

    points: Points

    @classmethod
    def of(cls, law: FiniteLoss) -> Finite:
        atoms = law.atoms()
        probability = np.array([float(p.lower) for p, _ in atoms])
        loss = np.array([float(loss.lower) for _, loss in atoms])
        if ((probability < _LEAST) & (loss > 0)).any():
            raise NotApplicable("large losses of a probability beyond the range of floats")
        return cls(
            Points(
                factor=probability,
                log_base=np.zeros_like(loss),
                weight_error=4 * UNIT,
                loss=loss,
                loss_error=4 * UNIT * np.abs(loss) + 1e-50,
            )
        )

    @property
    def size(self) -> int:
        """How many points."""
        return self.points.loss.size

    @property
    def is_endless(self) -> bool:
        """It is exact, whatever the frequency."""
        return True

    def rough(self, highest: float) -> Rough:  # noqa: ARG002 - the same at all heights
        return Rough(self.points.loss, np.log(np.maximum(self.points.factor, _LEAST)))

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> Finite:  # noqa: ARG002 - exact for all
        return self

    def log_mass(self, c: float) -> tuple[float, float]:
        """ln M(c), enclosed."""
        return self.points.tilted(c).log_mass(_MISSING)

    def log_mass_above(self, c: float) -> float:
        """ln M(c), from above."""
        return self.log_mass(c)[1]

    def view(self, c: float, reach: float) -> View:  # noqa: ARG002 - exact for all
        """What the integral needs at c."""
        return self.points.tilted(c).view(self.points.loss, self.points.loss_error, _MISSING)

    def atoms(self, c: float, view: View, times: int) -> None:
        """None that could be taken out."""

    def decay(self, c: float, frequencies: Floats) -> Floats:  # noqa: ARG002 - the same at all frequencies
        """It may not fall at all."""
        return np.zeros_like(frequencies)
