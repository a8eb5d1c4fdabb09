"""The main road: bounds by the contour integral, refined until they are as narrow as asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.contour.finite import Finite
from privately.accounting.contour.integral import Integral
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.laying import Law, lay
from privately.accounting.contour.saddle import Outline, Saddle, for_delta, for_epsilon, shape
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.contour.sampled_laplace import SampledLaplace
from privately.accounting.losses import (
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.rounding import Enclosure, End, Interval

METHOD = "contour integral"

_TRIES = 3
_NEWTON_STEPS = 12
_CLOSE = 1e-10
_MOST_OUTCOMES = 64
_LEAST_EPSILON = 1e-3
_COARSEST = 1e-3
_QUICK = 0.01


def epsilon(composition: Composition, delta: Fraction, width: Fraction) -> Interval:
    """The epsilon of the finite losses of a composition, at 0 < delta < 1."""
    sums = _Sums(composition)
    ends = Enclosure.of(delta).log()
    low, high = math.nextafter(float(ends.lower), -math.inf), math.nextafter(float(ends.upper), math.inf)
    saddle = for_delta(sums.outline, low)
    guess = saddle.epsilon + (saddle.log_delta - low) / saddle.c

    def refined() -> Iterator[Interval]:
        nonlocal saddle, guess
        for tolerance in _tolerances(float(width) * saddle.c * max(guess, _LEAST_EPSILON)):
            found = _solved(sums.integral(saddle, guess, tolerance), guess, low, high)
            yield found
            guess = float(found.upper)
            saddle = for_epsilon(sums.outline, guess)

    return _first_narrow(refined(), lambda found: width * max(found.upper, Fraction(1, 1000)))


def delta(composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
    """The delta of the finite losses of a composition; `width` is relative to delta."""
    sums = _Sums(composition)
    saddle = for_epsilon(sums.outline, float(epsilon))

    def refined() -> Iterator[Interval]:
        for tolerance in _tolerances(float(width)):
            integral = sums.integral(saddle, float(epsilon), tolerance)
            s = float(epsilon - integral.centre)
            upper = integral.upper(math.nextafter(s, -math.inf))
            lower = integral.lower(math.nextafter(s, math.inf))
            yield Interval(_exp(lower).interval().lower, _exp(min(upper, 0.0)).interval().upper, method=METHOD)

    return _first_narrow(refined(), lambda found: width * found.upper)


def is_at_most(composition: Composition, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether the delta of the finite losses at this epsilon is certainly at most this one: a quick look."""
    try:
        sums = _Sums(composition)
        saddle = for_epsilon(sums.outline, float(epsilon))
        target = float(Enclosure.of(min(delta, Fraction(1))).log().lower)
        if saddle.log_delta > target or saddle.epsilon <= 0:
            return False
        integral = sums.integral(saddle, float(epsilon), _QUICK)
        s = float(epsilon - integral.centre)
        return integral.upper(math.nextafter(s, -math.inf)) <= math.nextafter(target, -math.inf)
    except DEAD_ENDS:
        return False


class _Sums:
    """Sums along any contour for one composition."""

    def __init__(self, composition: Composition) -> None:
        self.laws, self.gaussian = _laws(composition.parts)
        self.outline = Outline(self.laws, self.gaussian)

    def integral(self, saddle: Saddle, guess: float, tolerance: float) -> Integral:
        contour = shape(self.outline, saddle, guess, math.log(tolerance))
        return Integral(lay(self.laws, self.gaussian, contour, tolerance))


def _first_narrow(tries: Iterator[Interval], wanted: Callable[[Interval], End]) -> Interval:
    """What all tries know together, up to the first with which it is narrow enough."""
    best = next(tries)
    while best.width > wanted(best):
        try:
            found = next(tries)
        except (StopIteration, NotApplicable):
            break
        best = Interval(max(best.lower, found.lower), min(best.upper, found.upper), method=METHOD)
    return best


def _laws(parts: Sequence[tuple[Loss, int]]) -> tuple[list[tuple[Law, int]], float]:
    """The laws that need points or closed forms; what is Gaussian is one number."""
    laws: list[tuple[Law, int]] = []
    laplaces: list[tuple[LaplaceLoss, int]] = []
    gaussian = Fraction(0)
    for law, times in parts:
        match law:
            case GaussianLoss():
                gaussian += times * law.mu_squared
            case SampledGaussianLoss():
                laws.append((SampledGaussian.of(law), times))
            case LaplaceLoss():
                laplaces.append((law, times))
            case SampledLaplaceLoss():
                laws.append((SampledLaplace.of(law), times))
            case FiniteLoss() if len(law.outcomes) <= _MOST_OUTCOMES:
                laws.append((Finite.of(law), times))
            case _:
                raise NotApplicable(f"no transform of a {type(law).__name__}")
    if laplaces:
        laws.append((Laplaces.of(laplaces), 1))
    if not gaussian and all(isinstance(law, Finite) for law, _ in laws):
        raise NotApplicable("atoms alone: their transform does not fall")
    return laws, float(gaussian)


def _tolerances(first: float) -> Iterator[float]:
    tolerance = min(first / 10, _COARSEST)
    for _ in range(_TRIES):
        yield tolerance
        tolerance /= 30


def _solved(integral: Integral, guess: float, low: float, high: float) -> Interval:
    """Where the bounds on ln D pass ln delta, which lies between `low` and `high`."""
    centre = float(integral.centre)
    s, slope = guess - centre, -integral.c
    for _ in range(_NEWTON_STEPS):
        value, slope = integral.estimate(s)
        if not (math.isfinite(value) and slope < 0):
            raise NotApplicable("the profile is too flat or too steep")
        s -= min(max((value - low) / slope, -20 / integral.c), 20 / integral.c)
        if abs(value - low) < _CLOSE:
            break
    known = integral.bounds(s)
    above = max(1.02 * (known.upper - low), 0.0) / -slope
    below = max(1.02 * (high - known.lower), 0.0) / -slope if known.lower > -math.inf else math.inf
    lower = _lower(integral, s - below, slope, high)
    return Interval(lower, _upper(integral, s + above, slope, low), method=METHOD)


def _upper(integral: Integral, s: float, slope: float, target: float) -> Fraction:
    """An epsilon at which D is at most e^target."""
    origin = math.nextafter(float(-integral.centre), -math.inf)
    s = max(s, origin)
    for _ in range(_NEWTON_STEPS):
        excess = integral.upper(s) - target
        if excess <= 0:
            return max(integral.centre + Fraction(s), Fraction(0))
        s += 1.02 * excess / -slope + abs(s) * 2.0**-50
    raise NotApplicable("no upper end was found")


def _lower(integral: Integral, s: float, slope: float, target: float) -> Fraction:
    """An epsilon at which D is at least e^target, or 0."""
    for _ in range(_NEWTON_STEPS):
        found = integral.centre + Fraction(s) if math.isfinite(s) else Fraction(0)
        if found <= 0:
            return Fraction(0)
        missing = target - integral.lower(s)
        if missing <= 0:
            return found
        s -= 1.02 * min(missing, 20.0) / -slope + abs(s) * 2.0**-50
    return Fraction(0)


def _exp(logarithm: float) -> Enclosure:
    return Enclosure.of(0) if logarithm == -math.inf else Enclosure.of(Fraction(logarithm)).exp()
