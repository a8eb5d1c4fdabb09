"""The main road: bounds by the contour integral, refined until they are as narrow as asked."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.contour.bundles import grids
from privately.accounting.contour.chernoff import chernoff, log_chernoff
from privately.accounting.contour.discrete_rows import DiscreteNoises
from privately.accounting.contour.finite import Finite
from privately.accounting.contour.finites import Finites
from privately.accounting.contour.integral import Integral
from privately.accounting.contour.laying import MOST_WORK, Layout, Whole, lay
from privately.accounting.contour.listing import laws_of, number_of
from privately.accounting.contour.mirrors import Known
from privately.accounting.contour.saddle import Outline, Saddle, for_delta, for_epsilon, shape
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.elementary import UNIT, log_between
from privately.accounting.losses import (
    FiniteLoss,
    SampledGaussianLoss,
)
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.rounding import Enclosure, End, Interval

METHOD = "contour integral"

_NOTHING, _WHOLE = Fraction(0), Fraction(1)
_TRIES = 3
_NEWTON_STEPS, _FARTHEST = 12, 20.0
_CLOSE = 1e-4
_LEAST_EPSILON = 1e-3
_COARSEST = 1e-5
_QUICK = 0.05
_LEAST_DELTA = 1e-290
_USUAL = 3.0
_FLATTER = (0.75, 0.85, 0.95)
_CLEARLY = 0.01
_QUIET = 8.0
_FINER = 300.0
_FINEST = 1e-10
_LITTLE_WORK = 1 << 18
_FEW_STEPS = 50
_MORE_WORK = 1 << 24
_NOT_MANY, _PER_STEP, _WIDE_PER_STEP, _LEAST_TOLERANCE = 1000, 1e-10, 1e-9, 1e-13
_HOPELESS = 0.5
_NARROW = Fraction(1, 10**6)
"""Up to so many steps of one sampled Gaussian answers are made so narrow for every step, where that takes no more work
and such a width is asked for."""
_LOWEST_START, _HIGHEST_START = 0.1, 1000.0


def epsilon(composition: Composition, delta: Fraction, width: Fraction, *, is_strict: bool = False) -> Interval:
    """The epsilon of the finite losses of a composition, at 0 < delta < 1; strictly: only if a fine sum stays short."""
    sums = Sums(composition, is_strict=is_strict)
    sums.is_fine = width <= _NARROW
    found = epsilon_by(sums, delta, width)
    _LAST.known = Known.of(composition, sums.layout)
    return found


def epsilon_by(sums: Sums, delta: Fraction, width: Fraction) -> Interval:
    """The same by sums along contours."""
    low, high = log_ends(delta)
    saddle = for_delta(sums.outline, low)
    guess = saddle.epsilon + (saddle.log_delta - low) / saddle.c

    def refined() -> Iterator[Interval]:
        nonlocal saddle, guess
        for tolerance in _tolerances(float(width) * saddle.c * max(guess, _LEAST_EPSILON)):
            found = solved(sums.finer_integral(saddle, guess, tolerance), guess, low, high)
            yield found
            guess = float(found.upper)
            if float(found.width) > _HOPELESS * max(guess, _LEAST_EPSILON):
                return  # a steeper contour, or a longer sum, would not know more
            saddle = for_epsilon(sums.outline, guess, saddle.c)

    wanted = float(width)
    return first_narrow(refined(), lambda found: wanted * max(float(found.upper), _LEAST_EPSILON))


def delta(composition: Composition, epsilon: Fraction, width: Fraction, *, is_strict: bool = False) -> Interval:
    """The delta of the finite losses of a composition; `width` is relative to delta."""
    return delta_by(Sums(composition, is_strict=is_strict), epsilon, width)


def delta_by(sums: Sums, epsilon: Fraction, width: Fraction) -> Interval:
    """The same by sums along contours."""
    saddle = for_epsilon(sums.outline, float(epsilon))

    def refined() -> Iterator[Interval]:
        for tolerance in _tolerances(float(width)):
            integral = sums.finer_integral(saddle, float(epsilon), tolerance)
            s = float(epsilon - integral.centre)
            upper = integral.upper(math.nextafter(s, -math.inf))
            lower = integral.lower(math.nextafter(s, math.inf))
            yield Interval(exp_of(lower).interval().lower, exp_of(min(upper, 0.0)).interval().upper, method=METHOD)

    return first_narrow(refined(), lambda found: width * found.upper)


def is_at_most(composition: Composition, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether the delta of the finite losses at this epsilon is certainly at most this one: a quick look."""
    try:
        target, last = log_ends(delta if delta < 1 else _WHOLE)[0], _LAST.known
        if last and last.is_mirror_below(composition, epsilon, target):
            return True
        return Sums(composition).are_at_most(epsilon, target)
    except DEAD_ENDS:
        return False


class FewSteps:
    """The same road for a few steps of one sampled Gaussian, for which a lattice is shorter unless a fine sum is short:
    before the lattice, and as a last resort after it. Before it, all else has this road too.
    """

    def __init__(self, *, is_last: bool) -> None:
        self.is_last = is_last

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        return epsilon(composition, delta, width, is_strict=self._is_strict(composition))

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        return delta(composition, epsilon, width, is_strict=self._is_strict(composition))

    def is_improvable(self, composition: Composition, found: Interval) -> bool:
        """Whether a lattice is likely to tell an epsilon more narrowly, which was found before it."""
        return self._is_strict(composition) and found.width > _WIDE_PER_STEP * composition.parts[0][1]

    def _is_strict(self, composition: Composition) -> bool:
        is_few = False
        if len(composition.parts) == 1:
            law, times = composition.parts[0]
            is_few = isinstance(law, SampledGaussianLoss) and times <= _FEW_STEPS
        if self.is_last and not is_few:
            raise NotApplicable("it was tried before")
        return is_few and not self.is_last


class Sums:
    """Sums along any contour for one composition."""

    is_fine = False
    """Whether few steps are to be known as narrowly as that costs little."""

    def __init__(self, composition: Composition, *, is_strict: bool = False) -> None:
        self.is_strict = is_strict
        if all(isinstance(law, FiniteLoss) for law, _ in composition.parts):
            raise NotApplicable("atoms alone: their transform does not fall")
        self.laws, self.gaussian = laws_of(composition.parts)
        if not self.gaussian and all(isinstance(law, (Finite, Finites, DiscreteNoises)) for law, _ in self.laws):
            raise NotApplicable("atoms alone: their transform does not fall")
        self.outline = Outline(self.laws, self.gaussian)
        self.layout: Layout | None = None
        """Of the last integral."""

    def integral(self, saddle: Saddle, guess: float, tolerance: float, most_work: int = MOST_WORK) -> Integral:
        contour = shape(self.outline, saddle, guess, math.log(tolerance))
        self.layout = lay(self.laws, self.gaussian, contour, tolerance, most_work)
        return Integral(self.layout)

    def finer_integral(self, saddle: Saddle, guess: float, tolerance: float) -> Integral:
        """Finer than asked where the sum stays short: its length grows with the logarithm of the tolerance only."""
        if self.is_strict:  # few steps, whose answers others give as narrowly
            finest = max(tolerance / (100 * _FINER), min(tolerance, _FINEST / 100))
            with suppress(NotApplicable):
                return self.integral(saddle, guess, finest, _LITTLE_WORK)
        finer = max(tolerance / _FINER, min(tolerance, _FINEST))
        law, times = self.laws[0] if len(self.laws) == 1 else (None, 0)
        if self.is_fine and isinstance(law, SampledGaussian) and times <= _NOT_MANY:
            finest = max(min(times * _PER_STEP * saddle.c, finer), _LEAST_TOLERANCE)
            with suppress(NotApplicable):
                return self.integral(saddle, guess, finest, _MORE_WORK)
        with nullcontext() if self.is_strict else suppress(NotApplicable):  # an except block would keep what was laid
            return self.integral(saddle, guess, finer, _LITTLE_WORK * number_of(self.laws))
        return self.integral(saddle, guess, tolerance)

    def are_at_most(self, epsilon: Fraction, log_delta: float) -> bool:
        """Whether ln D is certainly at most this: a quick look."""
        saddle = for_epsilon(self.outline, float(epsilon), _start(float(epsilon), log_delta))
        if saddle.log_delta > log_delta or saddle.epsilon <= 0:
            return False
        if self.is_far_below(saddle, epsilon, log_delta):
            return True
        integral = self.integral(saddle, float(epsilon), _QUICK)
        s = float(epsilon - integral.centre)
        return integral.upper(math.nextafter(s, -math.inf)) <= math.nextafter(log_delta, -math.inf)

    def is_far_below(self, saddle: Saddle, epsilon: Fraction, log_delta: float) -> bool:
        """Whether a Chernoff bound shows that ln D is at most this; tried only where it seems to be.

        Theorem: D(epsilon) <= M(b) e^(-b epsilon) b^b/(b + 1)^(b + 1) for every b > 0.
        Reference: Canonne-Kamath-Steinke 2020, Proposition 7
        Proof: docs/theory/accounting/contour.md#far-below
        Checked-by: tests/accounting/contour/test_road.py::test_chernoff_bounds
        """
        heights, near = [saddle.c * factor for factor in _FLATTER], float(epsilon)
        levels = self.outline.levels(heights)
        guess, b = min((k - b * near + log_chernoff(b), b) for b, k in zip(heights, levels, strict=True))
        return guess < log_delta - _CLEARLY and self.chernoff(b, near) <= log_delta

    def chernoff(self, b: float, epsilon: float) -> float:
        """ln D at epsilon, a float within a unit of rounding of the true one, from above."""
        quiet = [_QUIET + math.log(times * len(self.laws)) for _, times in self.laws]
        return chernoff(Whole(grids(self.laws, b, b, 0.0, quiet), self.gaussian, b), b, epsilon)


class _Last(threading.local):
    """The answer before, in this thread: what is asked next is often the other direction."""

    known: Known | None = None


_LAST = _Last()


def first_narrow(tries: Iterator[Interval], wanted: Callable[[Interval], End]) -> Interval:
    """What all tries know together, up to the first with which it is narrow enough."""
    best = next(tries)
    while _width(best) > wanted(best):
        try:
            found = next(tries)
        except (StopIteration, NotApplicable):
            break
        best = Interval(max(best.lower, found.lower), min(best.upper, found.upper), method=METHOD)
    return best


def _width(found: Interval) -> End:
    """In floats where these can tell, which is sooner."""
    lower, upper = float(found.lower), float(found.upper)
    return upper - lower if lower > _LEAST_DELTA and upper < math.inf else found.width


def _tolerances(wanted: float) -> Iterator[float]:
    tolerance = min(wanted / 10, _COARSEST)
    for _ in range(_TRIES):
        yield tolerance
        tolerance /= 30


def solved(integral: Integral, guess: float, low: float, high: float) -> Interval:
    """Where the bounds on ln D pass ln delta, which lies between `low` and `high`."""
    s, slope = guess - integral.near_centre, -integral.c
    farthest = _FARTHEST / integral.c
    for _ in range(_NEWTON_STEPS):
        value, slope, bend = integral.estimate(s)
        if not (math.isfinite(value) and slope < 0):
            raise NotApplicable("the profile is too flat or too steep")
        stride = (low - value) / slope
        if abs(bend * stride) < -slope / 4:
            stride -= bend * stride * stride / (2 * slope)
        s += min(max(stride, -farthest), farthest)
        if abs(value - low) < _CLOSE:
            break
    near = integral.near_centre
    right = max(s, math.nextafter(-near - 4 * UNIT * abs(near), -math.inf))  # epsilon is at least 0
    least, most = integral.roughly(right)
    start = right if most <= low and right > s else right + _stride(most - low, slope, s)
    upper = _upper(integral, start, slope, low)
    left = s - _stride(min(high - least, _FARTHEST), slope, s)
    return Interval(_lower(integral, left, slope, high), upper, method=METHOD)


def _stride(missing: float, slope: float, s: float) -> float:
    """How far to go where ln D has to change by so much, and a little farther."""
    return 1.02 * max(missing, 0.0) / -slope + abs(s) * 2.0**-50


def _upper(integral: Integral, s: float, slope: float, target: float) -> Fraction:
    """An epsilon at which D is at most e^target."""
    for _ in range(_NEWTON_STEPS):
        excess = integral.upper(s) - target
        if excess <= 0:
            near = integral.near_centre
            if near + s < _CLOSE and integral.centre + Fraction(s) <= 0:
                return _NOTHING
            return Fraction(max(near + s + 4 * UNIT * (abs(near) + abs(s)), 0.0))
        s += _stride(excess, slope, s)
    raise NotApplicable("no upper end was found")


def _lower(integral: Integral, s: float, slope: float, target: float) -> Fraction:
    """An epsilon at which D is at least e^target, or 0."""
    near = integral.near_centre
    for _ in range(_NEWTON_STEPS):
        found = near + s - 4 * UNIT * (abs(near) + abs(s))
        if not found > 0:
            return _NOTHING
        missing = target - integral.lower(s)
        if missing <= 0:
            return Fraction(found)
        s -= _stride(min(missing, _FARTHEST), slope, s)
    return _NOTHING


def log_ends(delta: Fraction) -> tuple[float, float]:
    """Floats below and above ln delta, 0 < delta <= 1."""
    near = float(delta)
    if near < _LEAST_DELTA:
        ends = Enclosure.of(delta).log()
        return math.nextafter(float(ends.lower), -math.inf), math.nextafter(float(ends.upper), math.inf)
    low, high = log_between(near)
    return low - 4 * UNIT, min(high + 4 * UNIT, 0.0)


def _start(epsilon: float, log_delta: float) -> float:
    """A first guess of the saddle, right for normal losses of large variance."""
    return min(max(2 * (-log_delta - _USUAL) / max(epsilon, _LEAST_EPSILON), _LOWEST_START), _HIGHEST_START)


def exp_of(logarithm: float) -> Enclosure:
    return Enclosure.of(0) if logarithm == -math.inf else Enclosure.of(Fraction(logarithm)).exp()
