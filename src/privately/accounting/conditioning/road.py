"""epsilon and delta of a composition in which few losses stand beside others: by the profile of these others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from privately.accounting.closed_forms.finite import Table, delta_of, inverse_of
from privately.accounting.compositions import Composition
from privately.accounting.conditioning.tables import combined, repeated
from privately.accounting.extremes import largest_loss
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.questions import seldom
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure, Interval

METHOD = "mean over few losses"

Inner = Callable[[Composition, Fraction, Fraction], Interval]
"""delta of a composition at epsilon >= 0, about so narrow, relative to it; NotApplicable where it does not know."""

_FEW = FiniteLoss, DiscreteGaussianLoss, DiscreteLaplaceLoss, SampledDiscreteGaussianLoss, SampledDiscreteLaplaceLoss
_SAMPLED = SampledGaussianLoss, SampledLaplaceLoss, SampledDiscreteGaussianLoss, SampledDiscreteLaplaceLoss
_ONE, _NOTHING = Enclosure.of(1), Enclosure.of(0)
_SMALL = Fraction(1, 1000)
_MOST_BESIDE = 16
_RARE = 2.0**-40
_FIRST_RARE = 1e-20
_LEAST = 1e-240
_CRUMB = Decimal("5.7e-14")
_FAR = 140
_COARSE, _FINE = Fraction(1, 10**4), Fraction(1, 10**9)
_ROUNDS, _CHECKS = 60, 16
_CLOSE, _FLAT, _FIRST = 1 << 12, 0.1, 1e-3
_HIGHEST = Fraction(10**9)


@dataclass
class Budget:
    """How many profiles may still be asked for."""

    left: int

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise NotApplicable("too many profiles of what is left")


@dataclass(frozen=True)
class Mixture:
    """The sums of the few losses, and the composition of all others."""

    few: Table
    rest: Composition
    inner: Inner
    budget: Budget

    def at(self, epsilon: Fraction, width: Fraction) -> Enclosure:
        """The mean of the profiles of the others; the true one at epsilon lies between its lower end at epsilon + slack
        and its upper end at epsilon - slack.

        Theorem: D(epsilon) = E[D_B(epsilon - A)], A the sum of the few losses and D_B the profile of all others, for
            every epsilon; and D_B(y) = 1 - k e^y (1 - D_B'(-y)), B' that of exchanged laws and k = E[e^-B].
        Reference: independence of the losses; Dong-Roth-Su 2022, Proposition 2.4, for exchanged laws
        Proof: docs/theory/accounting/conditioning.md#the-mean-over-few-losses
        Checked-by: tests/accounting/conditioning/test_road.py::test_means_contain_the_truth,
            tests/accounting/conditioning/test_road.py::test_profiles_below_zero
        """
        lower = upper = Enclosure.of(0)
        for place, (value, mass) in enumerate(zip(self.few.values.tolist(), self.few.masses.tolist(), strict=True)):
            found = self.others(epsilon - Fraction(value), width)
            share = Enclosure.of(Fraction(mass))
            lower, upper = lower + share * found, upper + share * found
            left = Enclosure.of(Fraction(self._left[place + 1])) * found
            if left.upper <= upper.upper * _CRUMB:  # profiles fall, so all that follow are below this one
                upper = upper + left
                break
        doubt = Enclosure.of(Fraction(self.few.error))
        least, most = lower * (1 - doubt), upper * (1 + 2 * doubt) + Fraction(self.few.outside)
        return Enclosure(least.lower, most.upper).clip(0, 1)

    def others(self, y: Fraction, width: Fraction) -> Enclosure:
        """The profile of all other losses, at any y."""
        if y >= 0:
            if self.tops[0] is not None and self.tops[0] <= y:
                return _NOTHING
            return self._asked(self.rest, y, width)
        grown = self.kept * Enclosure.of(y).exp()
        if y < -_FAR:
            return Enclosure((1 - grown).lower, Decimal(1)).clip(0, 1)
        if self.tops[1] is not None and self.tops[1] <= -y:
            return (1 - grown).clip(0, 1)
        return (1 - grown * (1 - self._asked(self.swapped, -y, width))).clip(0, 1)

    def _asked(self, composition: Composition, y: Fraction, width: Fraction) -> Enclosure:
        self.budget.spend()
        try:
            found = self.inner(composition, y, width)
        except NotApplicable:
            return Enclosure(Decimal(0), min(Enclosure.of(seldom(composition)).upper, Decimal(1)))
        lower, upper = Enclosure.of(Fraction(found.lower)), Enclosure.of(Fraction(found.upper))
        return Enclosure(lower.lower, upper.upper).clip(0, 1)

    @cached_property
    def _left(self) -> list[float]:
        """The mass from each value on, from above."""
        sums = np.cumsum(self.few.masses[::-1])[::-1] * (1 + 1e-9)
        return [*sums.tolist(), 0.0]

    @cached_property
    def swapped(self) -> Composition:
        """The other losses with P and Q exchanged."""
        return Composition(parts=tuple((exchanged(law), times) for law, times in self.rest.parts))

    @cached_property
    def kept(self) -> Enclosure:
        """E[e^-B]."""
        found = _ONE
        for law, times in self.rest.parts:
            if isinstance(law, FiniteLoss):
                falls = sum((mass * (-loss).exp() for mass, loss in law.atoms()), _NOTHING)
                found = found * falls**times
        return found

    @cached_property
    def tops(self) -> tuple[Fraction | None, Fraction | None]:
        """The largest loss of the others, from above, and with P and Q exchanged."""
        ends = [largest_loss(one) for one in (self.rest, self.swapped)]
        first, second = (None if end is None else Fraction(end.upper) for end in ends)
        return first, second


@dataclass(frozen=True)
class Conditioned:
    """The road, for compositions with at most so many sums of few losses; `inner` answers for all others, so often."""

    inner: Inner
    most: int
    work: int
    is_one_step: bool
    """Whether what is left may be a single step at most."""

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        """The epsilon of the finite losses, 0 < delta < 1."""
        mixture = self.mixture(composition, max(float(delta) * _RARE, _LEAST))
        if not mixture.rest.parts:
            return Interval(*inverse_of(mixture.few, delta), method=METHOD)
        slack = Fraction(mixture.few.slack)
        lower, upper = _solved(mixture, delta, width, slack)
        return Interval(max(lower - slack, Fraction(0)), upper + slack if upper else upper, method=METHOD)

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        """The delta of the finite losses."""
        found = self._delta(composition, epsilon, _FIRST_RARE)
        if found.width > width * found.upper:
            found = self._delta(composition, epsilon, max(float(found.upper) * _RARE, _LEAST))
        return found

    def _delta(self, composition: Composition, epsilon: Fraction, rare: float) -> Interval:
        mixture = self.mixture(composition, rare)
        if not mixture.rest.parts:
            ends = (Fraction(delta_of(mixture.few, epsilon, sign=sign)) for sign in (-1, 1))
            return Interval(*ends, method=METHOD)
        slack = Fraction(mixture.few.slack)
        lower, upper = mixture.at(epsilon + slack, _FINE), mixture.at(epsilon - slack, _FINE)
        return Enclosure(lower.lower, upper.upper).interval(METHOD)

    def mixture(self, composition: Composition, rare: float) -> Mixture:
        """Laws of few outcomes apart from all others."""
        self._check_beside([part for part in composition.parts if not isinstance(part[0], _FEW)])
        few, rest = self._apart(composition, rare)
        if few is None:
            raise NotApplicable("no law has few outcomes")
        self._check_beside(rest)
        return Mixture(few, Composition(parts=tuple(rest)), self.inner, Budget(self.work))

    def _check_beside(self, rest: Sequence[tuple[Loss, int]]) -> None:
        if self.is_one_step and (len(rest) > 1 or any(times > 1 for _, times in rest)):
            raise NotApplicable("more than one step beside few losses")
        if len(rest) > _MOST_BESIDE:
            raise NotApplicable("too many laws beside few losses: each of their profiles takes long")

    def _apart(self, composition: Composition, rare: float) -> tuple[Table | None, list[tuple[Loss, int]]]:
        """The sums of all losses that are few together, and the other laws."""
        parts = composition.parts
        each, found = rare / len(parts), []
        for law, times in parts:
            if isinstance(law, _FEW):
                with suppress(NotApplicable):
                    found.append((repeated(law, times, each), (law, times)))
        found.sort(key=lambda one: one[0].values.size)
        everything = len(found) == len(parts)
        few: Table | None = None
        gone: list[tuple[Loss, int]] = []
        for table, part in found:
            with suppress(NotApplicable):
                joined = table if few is None else combined(few, table, each)
                if everything or joined.values.size <= self.most:
                    few, gone = joined, [*gone, part]
        rest = [part for part in parts if part not in gone]
        if few is not None and rest and few.values.size > self.most:
            raise NotApplicable("too many sums of few losses")
        return few, rest


def exchanged(law: Loss) -> Loss:
    """The law of -L under Q.

    Theorem: additive noise is symmetric, and ((1-q)Q + qP, Q) exchanged is the pair of the other direction.
    Reference: Zhu-Dong-Wang 2022
    Proof: docs/theory/accounting/conditioning.md#exchanged-laws
    Checked-by: tests/accounting/conditioning/test_road.py::test_profiles_below_zero
    """
    if isinstance(law, FiniteLoss):
        return replace(law, outcomes=tuple((second, first) for first, second in reversed(law.outcomes)))
    if isinstance(law, _SAMPLED):
        return replace(law, direction="add" if law.direction == "remove" else "remove")
    return law


def _solved(mixture: Mixture, delta: Fraction, width: Fraction, slack: Fraction) -> tuple[Fraction, Fraction]:
    """Where the mean passes delta: by secants of its logarithm, kept within a bracket, then checked on either side.

    Nothing if that is certainly not above 0, nor further below it than `slack`.
    """
    at_zero = mixture.at(-slack, _FINE)
    if at_zero.upper <= delta:
        return Fraction(0), Fraction(0)
    low, high = (Fraction(0), _log_ratio(at_zero, delta)), _beyond(mixture, delta)
    x, value, last = *high, low
    for _ in range(_ROUNDS):
        gap = width * max(x, _SMALL)
        is_near = x != last[0] and abs(value) < _FLAT and _stride(last, (x, value)) <= gap / _CLOSE
        if is_near or high[0] - low[0] <= gap / _CLOSE:
            break
        last, x = (x, value), _between(low, high)
        value = _log_ratio(mixture.at(x, _FINE), delta)
        if value > 0:  # the end that stays counts half, so that the next secant falls beyond the root
            low, high = (x, value), (high[0], high[1] / 2 if last[1] > 0 else high[1])
        else:
            low, high = (low[0], low[1] / 2 if last[1] <= 0 else low[1]), (x, value)
    return _checked(mixture, delta, x, width)


def _stride(one: tuple[Fraction, float], other: tuple[Fraction, float]) -> float:
    """How far the second point is from the root, by the secant through both."""
    if not math.isfinite(one[1]) or one[1] == other[1]:
        return math.inf
    return abs(other[1] * float(one[0] - other[0]) / (one[1] - other[1]))


def _between(low: tuple[Fraction, float], high: tuple[Fraction, float]) -> Fraction:
    """The root of the secant, or the middle."""
    (left, above), (right, below) = low, high
    part = above / (above - below) if above > below and math.isfinite(below) else 0.5
    share = Fraction(min(max(part, 1e-12), 1 - 1e-12))
    return Fraction(float(left + (right - left) * share))


def _beyond(mixture: Mixture, delta: Fraction) -> tuple[Fraction, float]:
    """An epsilon at which the mean is below delta."""
    masses = np.cumsum(mixture.few.masses)
    likely = mixture.few.values[min(int(np.searchsorted(masses, float(delta))), masses.size - 1)]
    epsilon = Fraction(max(float(likely), _FIRST))
    while epsilon < _HIGHEST:
        found = mixture.at(epsilon, _COARSE)
        if found.upper <= delta:
            return epsilon, _log_ratio(found, delta)
        epsilon *= 2
    raise NotApplicable("epsilon is out of range")


def _log_ratio(found: Enclosure, delta: Fraction) -> float:
    """ln(D/delta), about."""
    middle = (Fraction(found.lower) + Fraction(found.upper)) / 2 / delta
    return math.log(middle) if middle > 0 else -math.inf


def _checked(mixture: Mixture, delta: Fraction, x: Fraction, width: Fraction) -> tuple[Fraction, Fraction]:
    """Ends near x, a little further every time, that are certainly on either side."""
    margin = width * max(x, _SMALL) / _CLOSE
    lower: Fraction | None = None
    upper: Fraction | None = None
    for _ in range(_CHECKS):
        if upper is None and mixture.at(x + margin, _FINE).upper <= delta:
            upper = x + margin
        if lower is None and (x <= margin or mixture.at(x - margin, _FINE).lower >= delta):
            lower = max(x - margin, Fraction(0))
        if lower is not None and upper is not None:
            return lower, upper
        margin *= 4
    if upper is None:
        raise NotApplicable("no upper end was found")
    return lower or Fraction(0), upper
