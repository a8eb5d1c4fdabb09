"""Noise on the whole numbers that is wide beside their distance: between two laws of noise on the line."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from privately.accounting.compositions import Composition, relaid
from privately.accounting.events import (
    DiscreteGaussian,
    Event,
    FixedSizeSample,
    GaussianDP,
    Group,
    Parallel,
    PoissonSample,
    Repeat,
    Sequence,
)
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
from privately.rounding import Enclosure, Interval, round_down, round_up

SPREAD = Fraction(3)
"""How much larger or smaller the variance of the normal noise is."""
OFF = Fraction(1, 10**24)
"""By which factor e^OFF, at most, each of the two laws of one step is off then."""
LEAST_VARIANCE, LEAST_SCALE = Fraction(100), Fraction(10)
_DIGITS = 15

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
        return enclosed(EpsilonAt(delta, width), partial(self.asked, above), partial(self.asked, below), off)

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        """Which delta belongs to this epsilon."""
        above, below, off = self.both(composition)
        return enclosed(DeltaAt(epsilon, width), partial(self.asked, above), partial(self.asked, below), off)

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


def enclosed(
    question: Question, above: Callable[[Question], Interval], below: Callable[[Question], Interval], off: Fraction
) -> Interval:
    """The answer for noise on the whole numbers, from those for noise on the line that costs more, and less, but for
    a factor of e^off in each of two laws.
    """
    factor = 1 + 2 * off  # at least e^off
    if isinstance(question, EpsilonAt):
        top = above(EpsilonAt(question.delta / factor, question.width))
        most = top.upper + 2 * off
        if question.delta * factor >= 1:
            return Interval(0, most, method=_method(top))
        bottom = below(EpsilonAt(question.delta * factor, question.width))
        return Interval(min(max(bottom.lower - 2 * off, Fraction(0)), most), most, method=_method(top))
    earlier = question.epsilon - 2 * off
    top = above(DeltaAt(max(earlier, Fraction(0)), question.width))
    most = min((Fraction(top.upper) + max(-earlier, Fraction(0))) * factor, Fraction(1))
    bottom = below(DeltaAt(question.epsilon + 2 * off, question.width))
    return Interval(min(Fraction(bottom.lower) / factor, most), most, method=_method(top))


def event_on_the_line(event: Event, *, upward: bool) -> Event:
    """The event with normal noise in place of wide discrete normal noise.

    Theorem: it costs at least as much, or at most, but for a factor of e^OFF in each law of each run.
    Reference: as for WideNoise
    Proof: docs/theory/accounting/events.md#wide-noise
    Checked-by: tests/accounting/test_wide_noise.py::test_events_on_the_line_are_on_their_sides
    """
    match event:
        case DiscreteGaussian(variance=variance, sensitivity=sensitivity) if variance >= LEAST_VARIANCE:
            root = Enclosure.of(_square(variance, sensitivity, upward=upward)).sqrt()
            mu = round_up(Fraction(root.upper), _DIGITS) if upward else round_down(Fraction(root.lower), _DIGITS)
            return GaussianDP(mu=mu, neighbors=event.neighbors)
        case Sequence(events=events):
            return Sequence(events=[event_on_the_line(part, upward=upward) for part in events])
        case Parallel(events=events):
            return Parallel(events=[event_on_the_line(part, upward=upward) for part in events])
        case Repeat() | Group() | PoissonSample() | FixedSizeSample():
            return replace(event, event=event_on_the_line(event.event, upward=upward))
    return event


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
