"""The laws of a composition as the contour integral needs them: many alike together, the others each by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.contour.discrete import Discrete
from privately.accounting.contour.discrete_rows import DiscreteLoss, DiscreteNoises, is_in_row, outcomes_of
from privately.accounting.contour.finite import Finite
from privately.accounting.contour.finites import Finites, is_plain
from privately.accounting.contour.laplace_rows import AT_ONCE, SampledLaplaces, is_tame
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.protocols import Law
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.contour.sampled_laplace import SampledLaplace
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import NotApplicable
from privately.rounding import round_up

_DIGITS = 40
_MOST_OUTCOMES = 64
_MOST_IN_ALL = 400_000
_MANY = 16
"""So many laws are laid in rows where that is possible."""
_DISCRETE = (DiscreteGaussianLoss, DiscreteLaplaceLoss, SampledDiscreteGaussianLoss, SampledDiscreteLaplaceLoss)
_AMOUNTS = {GaussianLoss: 1, LaplaceLoss: 1, FiniteLoss: 2, SampledGaussianLoss: 2, SampledLaplaceLoss: 2}
_OTHER, _LISTED, _PER_AMOUNT = 16, 50, 50


def number_of(laws: Sequence[tuple[Law, int]]) -> int:
    """How many laws, those in rows counted by themselves."""
    return sum(getattr(law, "number", 1) for law, _ in laws)


def amount(composition: Composition) -> int:
    """How many laws, each counted as often as it takes memory or time."""
    return sum(_amount(law) for law, _ in composition.parts)


def _amount(law: Loss) -> int:
    if not isinstance(law, _DISCRETE):
        return _AMOUNTS.get(type(law), _OTHER)
    return max(outcomes_of(law) // _PER_AMOUNT, 2) if is_in_row(law) else _LISTED


def laws_of(parts: Sequence[tuple[Loss, int]]) -> tuple[list[tuple[Law, int]], float]:
    """The laws that need points or closed forms; what is Gaussian is one number. Of very many outcomes in all, fewer
    that are rare are listed.
    """
    with suppress(_TooMany):  # an except block would keep what was listed
        return _listed(parts, math.inf)
    return _listed(parts, 0.44 * _MOST_IN_ALL / len(parts))


class _TooMany(NotApplicable):
    """Outcomes, of all laws."""


def _listed(parts: Sequence[tuple[Loss, int]], farthest: float) -> tuple[list[tuple[Law, int]], float]:
    found = _Listing(farthest, is_many=len(parts) >= _MANY)
    for law, times in parts:
        found.add(law, times)
    if found.laplaces:
        found.laws.append((Laplaces.of(found.laplaces), 1))
    found.laws += [(row, 1) for row in Finites.some(found.finite)]
    found.lay_sampled()
    found.laws += [(row, 1) for row in DiscreteNoises.some(found.discrete)]
    return found.laws, float(found.gaussian)


@dataclass
class _Listing:
    """What was listed so far."""

    farthest: float
    is_many: bool
    laws: list[tuple[Law, int]] = field(default_factory=list)
    laplaces: list[tuple[LaplaceLoss, int]] = field(default_factory=list)
    finite: list[tuple[FiniteLoss, int]] = field(default_factory=list)
    sampled: list[tuple[SampledLaplace, int]] = field(default_factory=list)
    discrete: list[tuple[DiscreteLoss, int]] = field(default_factory=list)
    gaussian: Fraction = Fraction(0)
    outcomes: int = 0

    def add(self, law: Loss, times: int) -> None:
        """One more law, so many times."""
        match law:
            case GaussianLoss():
                self.gaussian += round_up(times * law.mu_squared, _DIGITS)  # far within a unit of rounding
            case LaplaceLoss():
                self.laplaces.append((law, times))
            case FiniteLoss() if self.is_many and is_plain(law):
                self.finite.append((law, times))
            case _ if self.is_many and isinstance(law, _DISCRETE) and is_in_row(law):
                self.discrete.append((law, times))
            case _:
                alone = self._alone(law)
                if self.is_many and isinstance(alone, SampledLaplace) and is_tame(alone):
                    self.sampled.append((alone, times))
                    if len(self.sampled) == AT_ONCE:
                        self.lay_sampled()
                else:
                    self.laws.append((alone, times))

    def lay_sampled(self) -> None:
        """The sampled Laplaces so far in rows, which take less memory."""
        self.laws += [(row, 1) for row in SampledLaplaces.some(self.sampled)]
        self.sampled.clear()

    def _alone(self, law: Loss) -> Law:
        match law:
            case SampledGaussianLoss():
                return SampledGaussian.of(law)
            case SampledLaplaceLoss():
                return SampledLaplace.of(law)
            case FiniteLoss() if len(law.outcomes) <= _MOST_OUTCOMES:
                return Finite.of(law)
        if not isinstance(law, _DISCRETE):
            raise NotApplicable(f"no transform of a {type(law).__name__}")
        listed = Discrete.over(law, self.farthest)
        self.outcomes += listed.points.loss.size
        if self.outcomes > _MOST_IN_ALL:
            raise _TooMany("too many outcomes of all laws")
        return listed
