"""The contour integral where losses do not fall along it: a little normal loss is added, and what that changes bounded.

Few steps with atoms (Laplace noise, randomized response, discrete noise) have transforms that do not fall, or slowly.
With a normal loss of variance m beside them the sum is short, and the profile is changed by the order of m only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.contour.discrete_rows import DiscreteNoises
from privately.accounting.contour.finite import Finite
from privately.accounting.contour.finites import Finites
from privately.accounting.contour.integral import Integral
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.laying import MOST_NODES, Layout, lay
from privately.accounting.contour.listing import laws_of
from privately.accounting.contour.protocols import Law
from privately.accounting.contour.road import exp_of, first_narrow, log_ends, solved
from privately.accounting.contour.saddle import Outline, Saddle, Shape, for_delta, for_epsilon, shape
from privately.accounting.contour.view import Complex, enlarged, size_of
from privately.accounting.elementary import ERROR, UNIT, Floats, log_between
from privately.accounting.losses import SampledDiscreteGaussianLoss, SampledDiscreteLaplaceLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval

METHOD = "contour integral, softened"

_SAMPLED = (SampledDiscreteGaussianLoss, SampledDiscreteLaplaceLoss)
_FEW = 4
_MANY, _FOR_MANY, _MOST_BRIEF = 16, 1 << 29, 1 << 30
"""For many laws a lattice takes longer than this much work, and much more memory."""
_LEAST_EPSILON = 1e-3
_LOWER = (1.0, 0.8, 0.6, 0.45, 0.33, 0.25, 0.18, 0.12)
_SHARE = 0.3
_PART = 40.0
_COARSEST = 1e-3
_TRIES = 5
_MOVED = 1.0
_LEAST_CHANGE = 1e-3
_USUAL_POINTS = 64
_EXACT = (Finite, Finites, DiscreteNoises, Laplaces)
_SOFTEST = 0.01
_PER_TURN = 0.1591549430918954  # above 1/(2 pi)


class SoftIntegral(Integral):
    """Bounds on a profile, from the sum for the same losses and a normal one of variance `softness` beside them."""

    takes_slopes = True

    def __init__(self, layout: Layout, softness: float) -> None:
        self.softness = softness
        self._sizes = self._errors = self._turned = 0.0
        super().__init__(layout)

    def _transform(self) -> tuple[Complex, Floats]:
        value, error = super()._transform()
        sizes = size_of(value)
        self._sizes, self._errors = float(sizes.sum()), float(error.sum())
        self._turned = 4 * UNIT * float((sizes * self.places).sum())
        return value, error

    def lower(self, s: float) -> float:
        """ln D at centre + s without the normal loss, from below.

        Theorem: with D_m and f_m the profile and the density of the losses with a normal one of variance m,
            D_m - m e^(m/8) f_m <= D <= D_m.
        Reference: Dong-Roth-Su 2022 for the normal loss; post-processing for the upper side
        Proof: docs/theory/accounting/contour.md#a-little-normal-loss
        Checked-by: tests/accounting/contour/test_softened.py::test_both_sides_of_the_profile
        """
        total, off, low, _ = self._known(s)
        rest = total - off - self._aliases(self.near_centre + s, low) - self.change(s)
        return low + log_between(rest)[0] if rest > 0 else -math.inf

    def change(self, s: float) -> float:
        """m e^(m/8) f_m at centre + s, from above, over e^(K - c epsilon).

        f = D'' - D', and both follow from derivatives of the sum; what is beyond the last frequency W adds at most
        (2/(mW) + h) e^-falls/pi to f. Every term of the three sums is at most the size of the transform.
        """
        total, slope, bend = self.sum_at(s)
        density = bend - (2 * self.c + 1) * slope + self.c * (self.c + 1) * total
        rounding = self._errors + self._sizes * 4 * (2 * ERROR + (4 * self.layout.count + 16) * UNIT)
        off = 2 * self.step * _PER_TURN * (rounding + self._turned * abs(s)) + 32 * UNIT * self.step
        grown = 1 + self.softness / 4  # above e^(m/8) for m <= 1
        last = self.step * self.layout.count
        beyond = self.layout.truncated * grown * (2 + self.softness * last * self.step)
        return enlarged(self.softness * grown * (max(density, 0.0) + off) + beyond)


@dataclass(frozen=True)
class Softened:
    """A road: with as little normal loss as a sum of at most so much work allows.

    A brief one is for what a lattice does badly, and gives up where the sum would be long; its work is that per law.
    For many laws, both may do more.
    """

    most_work: int
    is_brief: bool = False

    def work_for(self, composition: Composition) -> int:
        """How much work is allowed."""
        least = _FOR_MANY if len(composition.parts) > _MANY else 0
        if not self.is_brief:
            return max(self.most_work, least)
        if len(composition.parts) <= _FEW and not any(isinstance(law, _SAMPLED) for law, _ in composition.parts):
            raise NotApplicable("a lattice is likely to be shorter")
        return min(max(self.most_work * max(len(composition.parts), _FEW), least), _MOST_BRIEF)

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        """The epsilon of the finite losses of a composition, at 0 < delta < 1."""
        sums = _Sums(composition, self)
        low, high = log_ends(delta)
        saddle = for_delta(sums.outline, low)
        guess = saddle.epsilon + (saddle.log_delta - low) / saddle.c

        def refined() -> Iterator[Interval]:
            nonlocal saddle, guess
            share = _SHARE
            for _ in range(_TRIES):
                wanted = float(width) * max(guess, _LEAST_EPSILON)
                integral = sums.integral(saddle, guess, wanted * saddle.c, share)
                found = solved(integral, guess, low, high)
                yield replace(found, method=METHOD)
                before, guess = guess, float(found.upper)
                if abs(before - guess) * saddle.c > _MOVED:
                    saddle = for_epsilon(sums.outline, guess, saddle.c)
                elif sums.is_at_limit:
                    return
                else:
                    share *= _less(float(found.width) / wanted)

        return first_narrow(refined(), lambda found: width * max(found.upper, Fraction(1, 1000)))

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        """The delta of the finite losses of a composition; `width` is relative to delta."""
        sums = _Sums(composition, self)
        saddle = for_epsilon(sums.outline, float(epsilon))

        def refined() -> Iterator[Interval]:
            share = _SHARE
            for _ in range(_TRIES):
                integral = sums.integral(saddle, float(epsilon), float(width), share)
                s = float(epsilon - integral.centre)
                upper = integral.upper(math.nextafter(s, -math.inf))
                lower = integral.lower(math.nextafter(s, math.inf))
                found = Interval(exp_of(lower).interval().lower, exp_of(min(upper, 0.0)).interval().upper)
                yield replace(found, method=METHOD)
                if sums.is_at_limit or not found.upper:
                    return
                share *= _less(float(found.width / found.upper) / float(width))

        return first_narrow(refined(), lambda found: width * found.upper)


BRIEF = Softened(1 << 21, is_brief=True)
THOROUGH = Softened(1 << 25)


@dataclass(eq=False)
class _Place(Saddle):
    """Any point of the real line, with ln of what delta is there of e^(K - c epsilon)."""

    share: float

    @property
    def log_sum(self) -> float:
        return self.share


class _Sums:
    """Sums along any contour for one composition and a normal loss."""

    def __init__(self, composition: Composition, road: Softened) -> None:
        self.most_work, self.is_brief = road.work_for(composition), road.is_brief
        self.laws, self.gaussian = laws_of(composition.parts)
        self.outline = Outline(self.laws, self.gaussian)
        self.is_at_limit = False

    def integral(self, saddle: Saddle, guess: float, wanted: float, share: float) -> SoftIntegral:
        """For an error of `wanted` in ln delta, of which the softening takes this share if the losses are smooth."""
        tolerance = min(wanted / _PART, _COARSEST)
        laid = self._laid(saddle, guess, math.log(tolerance))
        softness = min(share * wanted / (saddle.c * (saddle.c + 1)), _SOFTEST)
        self.is_at_limit = False
        try:
            return self._softened(laid, softness, tolerance)
        except NotApplicable:
            if self.is_brief:
                raise
        self.is_at_limit = True
        softness = max(self._fitting(laid, tolerance), softness)
        if softness > _SOFTEST:
            raise NotApplicable("too much normal loss would be needed")
        return self._softened(laid, softness, tolerance)

    def _softened(self, laid: Shape, softness: float, tolerance: float) -> SoftIntegral:
        soft = laid._replace(saddle=replace(laid.saddle, variance=laid.saddle.variance + softness))
        return SoftIntegral(lay(self.laws, self.gaussian + softness, soft, tolerance, self.most_work), softness)

    def _laid(self, saddle: Saddle, guess: float, log_tolerance: float) -> Shape:
        """The contour that promises the shortest sum: rare large losses swamp the saddle, and are smaller below it."""
        log_delta = saddle.log_delta - saddle.c * (guess - saddle.epsilon)
        least, found = math.inf, None
        for factor in _LOWER:
            c = saddle.c * factor
            k, mean, variance = self.outline.cumulants(c)
            place = _Place(c, k, mean, variance, min(log_delta - k + c * guess, 0.0))
            laid = shape(self.outline, place, guess, log_tolerance)
            cost = math.sqrt(3 - log_tolerance - place.log_sum) / laid.step
            if cost > least:
                break
            least, found = cost, laid
        if found is None:
            raise NotApplicable("no contour fits")
        return found

    def _fitting(self, laid: Shape, tolerance: float) -> float:
        """The softness at which the sum is about as much work as it may be, if nothing else falls."""
        needed = 4 - math.log(tolerance) - laid.saddle.log_sum
        most = self.most_work / sum(_points(law, laid.saddle.c) for law, _ in self.laws)
        count = 0.8 * min(most, MOST_NODES)
        return 2 * needed / (count * laid.step) ** 2


def _points(law: Law, c: float) -> int:
    """What a frequency costs at c, about."""
    return (
        law.grid(c, c, 0.0, 0.0).size if isinstance(law, (Finite, Finites, DiscreteNoises, Laplaces)) else _USUAL_POINTS
    )


def _less(ratio: float) -> float:
    """By how much less is added where the answer was so many times too wide: atoms are moved like its root."""
    return min(max((0.5 / ratio) ** 2, _LEAST_CHANGE), 0.5)
