"""The two questions one can ask of a composition, and what can be said without a road."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from privately.accounting.compositions import Composition
from privately.accounting.ends import proved
from privately.accounting.extremes import largest_loss, roughly_largest
from privately.accounting.losses import Loss, SampledGaussianLoss, SampledLaplaceLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure, End, Interval

_SCALE = Fraction(1, 1000)
_ONE, _TWO = Fraction(1), Fraction(2)
_LEAST_SQUARE, _TURN = Fraction(1, 10**200), Fraction(6)
_PER_ROOT_TURN = 0.39894228041  # above 1/sqrt(2 pi) by more than two roundings
_MARGIN = 1e-12
_MOST_SPREAD = 100
_FAR = 0.99
"""An epsilon below this part of about the largest loss is below the largest loss."""
_LEAST_DELTA = Fraction(1, 10**1000)
_LEAST_SHOWN, _MANY = Fraction(1, 10**40), 700.0
LARGEST_EPSILON = Fraction(10**12)
"""Beyond it delta is only bounded by what it is here."""
NO_ROAD = "no road"
"""How the methods of answers begin that hold when no road leads anywhere."""
NEVER = Interval(math.inf, math.inf, method="no epsilon is enough")
NOTHING = Interval(0, 0, method="nothing is revealed")
ALLOWED = Interval(0, 0, method="a delta of 1 allows everything")
NO_LOWER = Interval(0, 0, method="none is known")
SELDOM = Interval(0, 0, method="exact: the row is hardly ever in a sample")


class QuickRoad(Protocol):
    """Can tell, for the finite losses, that delta at an epsilon is at most so much."""

    def is_at_most(self, composition: Composition, epsilon: Fraction, delta: Fraction) -> bool: ...


class Road(Protocol):
    """Answers for the finite losses of a composition, or NotApplicable."""

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval: ...
    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval: ...


@dataclass(frozen=True)
class EpsilonAt:
    """Which epsilon belongs to this delta, below 1?"""

    delta: Fraction
    width: Fraction

    def settled(self, composition: Composition) -> Interval | None:
        """The answer, where it needs no road."""
        if self.delta < composition.infinite_lower:
            return NEVER
        if not composition.parts and self.delta >= composition.infinite:
            return NOTHING
        if composition.parts and not _is_often(composition, self.delta) and self.delta >= seldom(composition):
            return SELDOM
        if composition.parts and is_hardly_different(composition, self.delta):
            return SELDOM
        if self.delta > composition.infinite or composition.infinite != composition.infinite_lower:
            return None
        largest = largest_loss(composition)
        return NEVER if largest is None else largest.nonnegative().interval("exact: the largest loss")

    def by(self, road: Road, composition: Composition) -> Interval:
        """The answer of a road, with the infinite losses put back and the largest loss as a limit."""
        low = high = _left_of(self.delta, composition.infinite)
        if composition.infinite_lower is not composition.infinite:
            high = _left_of(self.delta, composition.infinite_lower)
        if high <= 0:
            raise NotApplicable("no delta is left for finite losses")
        finite = _finite(composition)
        found = road.epsilon(finite, high, self.width)
        upper: End = found.upper
        if low is not high and low != high:
            upper = road.epsilon(finite, low, self.width).upper if low > 0 else math.inf
        is_far = upper < _FAR * roughly_largest(composition)
        largest = None if is_far else largest_loss(composition)
        if largest is None or self.delta < composition.infinite:
            return found if upper is found.upper else Interval(found.lower, upper, method=found.method)
        limit = largest.nonnegative().interval().upper
        return proved(found.lower, min(upper, limit), method=found.method)

    def is_below(self, road: QuickRoad, composition: Composition, found: Interval) -> bool:
        """Whether the composition's epsilon is certainly at most the upper end that was found for another one."""
        if self.delta <= composition.infinite or not composition.parts or isinstance(found.upper, float):
            return False
        if roughly_largest(composition) < 2 * float(found.upper):
            largest = largest_loss(composition)
            if largest is not None and largest.interval().upper <= found.upper:
                return True
        return road.is_at_most(composition, found.upper, _left_of(self.delta, composition.infinite))

    def is_met(self, found: Interval, width: Fraction | None = None) -> bool:
        """Whether the answer is as narrow as asked, or as this."""
        wanted = self.width if width is None else width
        if _is_clearly_narrow(found, wanted):
            return True
        return found.lower == found.upper or found.width <= wanted * max(found.lower, _SCALE)

    def eased(self, known: Interval) -> EpsilonAt:
        """The same, asked no more narrowly than what is known already."""
        if self.is_met(known) or known.upper == math.inf:
            return self
        wide = Fraction(known.width) / max(Fraction(known.lower), _SCALE)
        return EpsilonAt(self.delta, min(max(self.width, wide), _ONE))

    def unknown(self, composition: Composition) -> Interval:
        """What holds when no road leads anywhere."""
        largest = largest_loss(composition)
        if largest is None or self.delta < composition.infinite:
            return Interval(0, math.inf, method=f"{NO_ROAD} leads to an upper end")
        return Interval(0, largest.nonnegative().interval().upper, method=f"{NO_ROAD} but the largest loss")


@dataclass(frozen=True)
class DeltaAt:
    """Which delta belongs to this epsilon?"""

    epsilon: Fraction
    width: Fraction

    def settled(self, composition: Composition) -> Interval | None:
        """The answer, where it needs no road."""
        largest = largest_loss(composition)
        if largest is not None and self.epsilon >= largest.interval().upper:
            return Interval(composition.infinite_lower, composition.infinite, method="exact: beyond the largest loss")
        return None

    def by(self, road: Road, composition: Composition) -> Interval:
        """The answer of a road, with the infinite losses put back."""
        found = road.delta(_finite(composition), min(self.epsilon, LARGEST_EPSILON), self.width)
        if self.epsilon > LARGEST_EPSILON:  # delta falls
            found = Interval(0, found.upper, method=found.method)
        low, high = composition.infinite_lower, composition.infinite
        upper = shown_at_most(composition, high + (1 - high) * found.upper)
        return proved(low + (1 - low) * found.lower, upper, method=found.method)

    def is_below(self, road: QuickRoad, composition: Composition, found: Interval) -> bool:
        """Whether the composition's delta is certainly at most the upper end that was found for another one."""
        left = Fraction(found.upper) - composition.infinite
        if left <= 0 or not composition.parts or composition.infinite == 1:
            return False
        return road.is_at_most(composition, self.epsilon, _left_of(Fraction(found.upper), composition.infinite))

    def is_met(self, found: Interval, width: Fraction | None = None) -> bool:
        """Whether the answer is as narrow as asked, or as this; what is next to 0 need not be told from it."""
        wanted = self.width if width is None else width
        if _is_clearly_narrow(found, wanted) or found.upper <= _LEAST_DELTA:
            return True
        return found.width <= wanted * found.upper

    def eased(self, known: Interval) -> DeltaAt:
        """The same, asked no more narrowly than what is known already."""
        if self.is_met(known):
            return self
        return DeltaAt(self.epsilon, min(max(self.width, Fraction(known.width) / Fraction(known.upper)), _ONE))

    def unknown(self, composition: Composition) -> Interval:
        """What holds when no road leads anywhere."""
        return Interval(composition.infinite_lower, shown_at_most(composition, _ONE), method=NO_ROAD)


Question = EpsilonAt | DeltaAt


def seldom(composition: Composition) -> Fraction:
    """A bound on the probability that the row is in any sample and shows, or an infinite loss occurs: delta at 0.

    Theorem: (1-q)Q + qP is within q v of Q in total variation, v that of P and Q, which is at most 1, mu/sqrt(2 pi) for
        normal noise and epsilon/2 for Laplace noise; and total variations of independent parts add up.
    Reference: Balle-Barthe-Gaboardi 2018
    Proof: docs/theory/accounting/events.md#seldom-sampled
    Checked-by: tests/accounting/test_questions.py::test_rows_that_are_seldom_sampled,
        tests/accounting/test_questions.py::test_rows_that_are_seldom_seen
    """
    total = composition.infinite
    for law, times in composition.parts:
        rate: Fraction | None = getattr(law, "rate", None)
        if rate is None:  # 1 or more in all
            return total + 1
        shown = times * rate * _variation(law)
        total = total + shown if total else shown
    return total


def is_hardly_different(composition: Composition, delta: Fraction) -> bool:
    """Whether delta at 0 is at most this, as many rare samples of noise differ by less than any of them may show.

    Theorem: products of (1-q)Q + qP and of Q differ by at most sqrt(sum of q^2 c / 2) in total variation, c + 1 the
        mean of (dP/dQ)^2 under Q: e^(mu^2) for normal noise, (2 e^epsilon + e^(-2 epsilon))/3 for Laplace noise.
    Reference: Pinsker's inequality; Tsybakov 2009, Lemma 2.7
    Proof: docs/theory/accounting/events.md#seldom-sampled
    Checked-by: tests/accounting/test_questions.py::test_many_rare_samples_are_hardly_different
    """
    if delta <= composition.infinite:  # exactly: floats do not tell what is left of tiny deltas
        return False
    left, rough = float(delta - composition.infinite), 0.0
    for law, times in composition.parts:
        least = _least_spread(law)
        if least == math.inf:
            return False
        rough += times * float(getattr(law, "rate", 1)) ** 2 * least
    if rough > left * left:
        return False
    total = sum((times * _spread(law) for law, times in composition.parts), Enclosure.of(0))
    return Fraction(total.upper) <= 2 * (delta - composition.infinite) ** 2


def _least_spread(law: Loss) -> float:
    """Less than half of c; infinite where it is not looked at."""
    match law:
        case SampledGaussianLoss(mu_squared=square) if square < _MOST_SPREAD:
            return float(square) / 4
        case SampledLaplaceLoss(epsilon=epsilon) if epsilon < _MOST_SPREAD:
            return float(epsilon) ** 2 / 4
    return math.inf


def _spread(law: Loss) -> Enclosure:
    """q^2 c."""
    match law:
        case SampledGaussianLoss(mu_squared=square, rate=rate):
            return rate**2 * (Enclosure.of(square).exp() - 1)
        case SampledLaplaceLoss(epsilon=epsilon, rate=rate):
            return rate**2 * ((2 * Enclosure.of(epsilon).exp() + Enclosure.of(-2 * epsilon).exp()) / 3 - 1)
    raise NotApplicable("another law")


def shown_at_most(composition: Composition, known: End) -> End:
    """At most what is known, and at most delta at 0: the probability that the row shows in a sample, or an infinite
    loss occurs.

    Theorem: where parts are within t_i in total variation, all together are within 1 - prod (1 - t_i).
    Reference: independent couplings
    Proof: docs/theory/accounting/events.md#seldom-sampled
    Checked-by: tests/accounting/test_questions.py::test_rows_that_show_in_some_sample
    """
    added = seldom(composition)
    if added <= _LEAST_SHOWN or float(known) < -math.expm1(-min(float(added), _MANY)) * _FAR:
        return min(known, added)
    hidden = Enclosure.of(1 - composition.infinite)
    for law, times in composition.parts:
        rate: Fraction | None = getattr(law, "rate", None)
        if rate is None:
            return min(known, added)
        hidden = hidden * Enclosure.of(1 - rate * _variation(law)) ** times
    return min(known, added, Fraction((1 - hidden).interval().upper))


def _variation(law: Loss) -> Fraction:
    """The total variation of a pair without its sampling, at most."""
    match law:
        case SampledGaussianLoss(mu_squared=mu_squared) if _LEAST_SQUARE < mu_squared < _TURN:
            return Fraction(_PER_ROOT_TURN * math.sqrt(mu_squared))
        case SampledLaplaceLoss(epsilon=epsilon) if epsilon < _TWO:
            return epsilon / 2
    return _ONE


def _is_often(composition: Composition, delta: Fraction) -> bool:
    """Whether one law alone makes `seldom` larger than delta; a quick look."""
    return any(getattr(law, "rate", 1) * _variation(law) > delta for law, _ in composition.parts[:1])


def _finite(composition: Composition) -> Composition:
    """Its finite losses alone."""
    return Composition(parts=composition.parts) if composition.infinite else composition


def _is_clearly_narrow(found: Interval, width: Fraction) -> bool:
    """As floats see it, with a margin for their rounding; False where they cannot tell."""
    try:
        lower, upper = float(found.lower), float(found.upper)
    except OverflowError:
        return False
    return 0 < lower < math.inf and upper - lower < float(width) * lower * (1 - _MARGIN) - _MARGIN * lower


def _left_of(delta: Fraction, mass: Fraction) -> Fraction:
    """What is left of delta for the finite losses."""
    return (delta - mass) / (1 - mass) if mass else delta
