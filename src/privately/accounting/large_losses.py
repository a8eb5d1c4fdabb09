"""Few steps with losses of hundreds and thousands, which rare samples and little noise have: as lists in logarithms."""

from __future__ import annotations

from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.grouped_samples.in_logs import law_in_logs, listed_in_logs
from privately.accounting.grouped_samples.mixtures import Split, Step
from privately.accounting.grouped_samples.noises import Base
from privately.accounting.losses import (
    Direction,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading import Curve, Losses, Side, far_two_of, listed
from privately.rounding import Interval

METHOD = "large losses in cells"

_SIDES: tuple[Side, Side] = "lower", "upper"
_CELLS = 1 << 14
_LARGE = 5.0
_MOST_STEPS, _MOST_LAWS = 256, 16
_RARE, _LEFT_OUT = 2.0**-24, 1e-30
_LEAST_DELTA = Fraction(1, 10**100)


class LargeLosses:
    """The road.

    Theorem: the upper list of a law costs at least as much as the law, the lower one at most as much, and so do sums of
        as many; a sampled law is what a group of one row sees.
    Reference: Zhu-Dong-Wang 2022, Theorem 10
    Proof: docs/theory/accounting/group_samples.md#in-logarithms
    Checked-by: tests/accounting/test_large_losses.py::test_answers_contain_independent_references
    """

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        """The epsilon of the finite losses, 0 < delta < 1, as near as the lists allow."""
        del width
        if delta < _LEAST_DELTA:
            raise NotApplicable("delta is too small")
        lower, upper = (_curve(composition, side, float(delta) * _RARE) for side in _SIDES)
        high = upper.epsilon(delta)
        return Interval(min(lower.epsilon(delta), high), high, method=METHOD)

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        """The delta of the finite losses."""
        del width
        lower, upper = (_curve(composition, side, _LEFT_OUT).delta(epsilon) for side in _SIDES)
        return Interval(lower, upper, method=METHOD)


LARGE_LOSSES = LargeLosses()


def _curve(composition: Composition, side: Side, rare: float) -> Curve:
    steps = sum(times for _, times in composition.parts)
    if not 1 < steps <= _MOST_STEPS or len(composition.parts) > _MOST_LAWS:
        raise NotApplicable("one step, or too many")
    lists = [(_listed(law, side, rare / steps), times) for law, times in composition.parts]
    if max(float(one.losses[0]) for one, _ in lists) < _LARGE:
        raise NotApplicable("no large losses")
    return Curve(far_two_of(lists, side, rare), side)


def _listed(law: Loss, side: Side, rare: float) -> Losses:
    found = _sampled(law)
    if found is not None:
        return listed_in_logs(*found, side, _CELLS, rare)
    if isinstance(law, Base):
        return law_in_logs(law, side, _CELLS, rare)
    return listed(law, side, _CELLS, rare)


def _sampled(law: Loss) -> tuple[Step, Split] | None:
    """A law on a sample as one row sees it that is removed or added."""
    match law:
        case SampledGaussianLoss(mu_squared=square, rate=rate, direction=direction):
            base: Base = GaussianLoss(mu_squared=square)
        case SampledLaplaceLoss(epsilon=epsilon, rate=rate, direction=direction):
            base = LaplaceLoss(epsilon=epsilon)
        case SampledDiscreteGaussianLoss(variance=variance, sensitivity=sensitivity, rate=rate, direction=direction):
            base = DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity)
        case SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity, rate=rate, direction=direction):
            base = DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity)
        case _:
            return None
    return Step(base, rate), _SPLITS[direction]


_SPLITS: dict[Direction, Split] = {"remove": (1, 0), "add": (0, 1)}
