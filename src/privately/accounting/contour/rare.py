"""Where few take part and noise is little, jumps are what matters: they are taken apart at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.contour.jumps import JUMPS
from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval

_FEWEST_STEPS, _MOST_TAKEN, _MOST_NOISE = 64, Fraction(3, 10), 1


@dataclass(frozen=True)
class RareJumps:
    """The road of jumps for these compositions first, for all others later."""

    is_first: bool

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        self._check(composition)
        return JUMPS.epsilon(composition, delta, width)

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        self._check(composition)
        return JUMPS.delta(composition, epsilon, width)

    def _check(self, composition: Composition) -> None:
        if _is_rare(composition) != self.is_first:
            raise NotApplicable("it is tried later" if self.is_first else "it was tried before")


def _is_rare(composition: Composition) -> bool:
    if len(composition.parts) != 1:
        return False
    law, times = composition.parts[0]
    if not isinstance(law, SampledGaussianLoss) or law.direction != "remove":
        return False
    return times >= _FEWEST_STEPS and times * law.rate <= _MOST_TAKEN and law.mu_squared > _MOST_NOISE
