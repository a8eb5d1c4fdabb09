"""Noise on the whole numbers that is wide beside their distance: between two laws of noise on the line."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction

from privately.accounting.compositions import Composition, relaid
from privately.accounting.losses import (
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
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval

SPREAD = Fraction(3)
"""How much larger or smaller the variance of the normal noise is."""
OFF = Fraction(1, 10**24)
"""By which factor e^OFF, at most, each of the two laws of one step is off then."""
LEAST_VARIANCE, LEAST_SCALE = Fraction(100), Fraction(10)

Asked = Callable[[Composition, Question], Interval]


@dataclass(frozen=True)
class WideNoise:
    """A road by way of noise on the line, where the difference between the two is below `narrow`, relative to epsilon.

    Theorem: normal noise of variance v - 3, rounded at random, is discrete normal noise of parameter v; and that with
        normal noise of variance 3 is normal noise of variance v + 3: up to factors e^(+-10^-24) in each probability,
        for v >= 100. Discrete Laplace noise of scale t >= 1 on a number that changes by s costs at least as much as
        Laplace noise of that scale, and at most as much as Laplace noise on one that changes by s + 1/t. All this holds
        with and without sampling.
    Reference: Poisson summation; Canonne-Kamath-Steinke 2020 for discrete normal noise; Ghosh-Roughgarden-Sundararajan
        2009 for discrete Laplace noise
    Proof: docs/theory/accounting/events.md#wide-noise
    Checked-by: tests/accounting/test_wide_noise.py::test_normal_noise_is_on_its_side,
        tests/accounting/test_wide_noise.py::test_laplace_noise_is_on_its_side,
        tests/accounting/test_wide_noise.py::test_answers_contain_exact_sums
    """

    asked: Asked
    narrow: Fraction

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        """Which epsilon belongs to this delta."""
        above, below, off = self.both(composition)
        factor = 1 + 2 * off  # at least e^off
        top = self.asked(above, EpsilonAt(delta / factor, width))
        most = top.upper + 2 * off
        if delta * factor >= 1:
            return Interval(0, most, method=_method(top))
        bottom = self.asked(below, EpsilonAt(delta * factor, width))
        least = max(bottom.lower - 2 * off, Fraction(0))
        return Interval(min(least, most), most, method=_method(top))

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        """Which delta belongs to this epsilon."""
        above, below, off = self.both(composition)
        factor = 1 + 2 * off
        earlier = epsilon - 2 * off
        top = self.asked(above, DeltaAt(max(earlier, Fraction(0)), width))
        most = min((Fraction(top.upper) + max(-earlier, Fraction(0))) * factor, Fraction(1))
        bottom = self.asked(below, DeltaAt(epsilon + 2 * off, width))
        return Interval(min(Fraction(bottom.lower) / factor, most), most, method=_method(top))

    def both(self, composition: Composition) -> tuple[Composition, Composition, Fraction]:
        """A composition on each side, and the factor e^off by which each of their two laws may be off."""
        wide = {law: times for law, times in composition.parts if self._is_wide(law)}
        if not wide:
            raise NotApplicable("no noise is so wide")
        off = OFF * sum(times for law, times in wide.items() if hasattr(law, "variance"))
        if off > 1:
            raise NotApplicable("too many steps of normal noise")
        above, below = (relaid(composition, _moved(wide, upward=upward)) for upward in (True, False))
        return above, below, off

    def _is_wide(self, law: Loss) -> bool:
        match law:
            case DiscreteGaussianLoss(variance=variance) | SampledDiscreteGaussianLoss(variance=variance):
                return variance >= max(SPREAD / self.narrow, LEAST_VARIANCE)
            case (
                DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity)
                | SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity)
            ):
                return scale >= LEAST_SCALE and scale * sensitivity >= 1 / self.narrow
        return False


def _moved(wide: Collection[Loss], *, upward: bool) -> Callable[[Loss], Loss]:
    return lambda law: on_the_line(law, upward=upward) if law in wide else law


def on_the_line(law: Loss, *, upward: bool) -> Loss:
    """Noise on the line that costs at least as much, or at most, but for the factors of normal noise."""
    match law:
        case DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
            return GaussianLoss(mu_squared=_square(variance, sensitivity, upward=upward))
        case SampledDiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
            square = _square(variance, sensitivity, upward=upward)
            return SampledGaussianLoss(mu_squared=square, rate=law.rate, direction=law.direction)
        case DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            return LaplaceLoss(epsilon=_shift(scale, sensitivity, upward=upward))
        case SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            shift = _shift(scale, sensitivity, upward=upward)
            return SampledLaplaceLoss(epsilon=shift, rate=law.rate, direction=law.direction)
    return law


def _square(variance: Fraction, sensitivity: int, *, upward: bool) -> Fraction:
    return sensitivity**2 / (variance - SPREAD if upward else variance + SPREAD)


def _shift(scale: Fraction, sensitivity: int, *, upward: bool) -> Fraction:
    return (sensitivity + 1 / scale if upward else Fraction(sensitivity)) / scale


def _method(top: Interval) -> str:
    return f"{top.method}, noise on the line"
