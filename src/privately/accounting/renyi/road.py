"""The Renyi road: any event with bounded divergences, at the best real order, from above."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Listing
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter

from privately.accounting.bounding import within
from privately.accounting.events import Event, FixedSizeSample, PoissonSample, Repeat, Sequence
from privately.accounting.renyi.curves import Curve, curves
from privately.accounting.renyi.numbers import short
from privately.accounting.renyi.orders import best_excess, delta_score, epsilon_score
from privately.accounting.roads import NotApplicable
from privately.errors import NoSuchRule
from privately.guarantees import RenyiDP
from privately.guarantees.curves import bound_to_delta, bound_to_epsilon
from privately.rounding import LARGEST, Enclosure, End, Interval, Number, rational

METHOD = "Renyi divergence"
WIDTH = Fraction(1, 10**6)
_HUGE = Fraction(10**300)
_DIVERGENCES = "Renyi divergences"
_NEVER = "no epsilon is enough"
_ANYTHING = "delta = 1 allows anything"
_SELDOM = "the row is hardly ever in a sample"
_SAMPLED = ", on a sample"

Tight = Callable[[Event, Fraction], Interval]
"""Another road: epsilon at a delta, or delta at an epsilon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An interval, and the order at which its upper end was found. With `epsilon_at` or `delta_at` anybody can see it.

    The order is `math.inf` when the end is the largest loss, and None when there is nothing to show.
    """

    interval: Interval
    order: End | None


def epsilon(event: Event, delta: Fraction, width: Fraction = WIDTH) -> Interval:
    """The least epsilon of an event at a delta >= 0, from above.

    Theorem: if what is run on a sample of rate q is (e, d)-DP, the sample is (ln(1 + q(e^e - 1)), qd)-DP; and with
        qd >= q nothing is asked of e.
    Reference: Balle-Barthe-Gaboardi 2018, Theorems 8 and 9
    Proof: docs/theory/accounting/renyi.md#one-sample
    Checked-by: tests/accounting/renyi/test_road.py::test_one_sample_dominates_enumeration
    """

    def sampled(base: Event, rate: Fraction) -> Interval:
        if delta >= rate:
            return Interval(0, 0, method=_SELDOM)
        found = epsilon(base, delta / rate, width)
        if isinstance(found.upper, float):
            return Interval(0, math.inf, method=_NEVER)
        upper = (1 + rate * (Enclosure.of(found.upper).exp() - 1)).log().interval().upper
        return Interval(0, upper, method=f"{found.method}{_SAMPLED}")

    return _better(event, sampled, lambda: epsilon_with_order(event, delta).interval)


def delta(event: Event, epsilon: Fraction, width: Fraction = WIDTH) -> Interval:
    """The least delta of an event at an epsilon >= 0, from above, by the same theorem."""

    def sampled(base: Event, rate: Fraction) -> Interval:
        inner = (1 + (Enclosure.of(epsilon).exp() - 1) / rate).log().nonnegative()
        found = delta(base, Fraction(inner.lower), width)
        return Interval(0, rate * found.upper, method=f"{found.method}{_SAMPLED}")

    return _better(event, sampled, lambda: delta_with_order(event, epsilon).interval)


def _better(event: Event, sampled: Callable[[Event, Fraction], Interval], whole: Callable[[], Interval]) -> Interval:
    """By the divergences of the event or, if it is one sample, by what is run on it."""
    single = _single(event)
    if not isinstance(single, (PoissonSample, FixedSizeSample)) or not 0 < single.rate < 1:
        return whole()
    found: list[Interval] = []
    reason: Exception = NotApplicable("nothing is known of this sample")
    for way in (whole, lambda: sampled(single.event, single.rate)):
        try:
            found.append(way())
        except (NotApplicable, NoSuchRule) as fault:
            reason = fault
    if not found:
        raise reason
    return min(found, key=lambda one: one.upper)


def _single(event: Event) -> Event:
    """What remains when nothing else is run."""
    match event:
        case Repeat(event=inner, times=1) | Sequence(events=(inner,)):
            return _single(inner)
    return event


def epsilon_with_order(event: Event, delta: Fraction, *, lower: Tight | None = None) -> Answer:
    """The least epsilon of an event at a delta >= 0, and a witness.

    `lower` gives the lower end, for an event that costs no more; without it that is 0.
    """
    if delta >= 1:
        return Answer(interval=Interval(0, 0, method=_ANYTHING), order=None)
    upper, order = _best_epsilon(curves(event), delta)
    return _answer(event, delta, upper, order, lower)


def delta_with_order(event: Event, epsilon: Fraction, *, lower: Tight | None = None) -> Answer:
    """The least delta of an event at an epsilon >= 0, and a witness."""
    found = curves(event)
    order = _delta_order(found, epsilon)
    return _answer(event, epsilon, _delta_at(found, order, epsilon), order, lower)


def epsilon_at(event: Event, order: End, delta: Fraction) -> End:
    """The epsilon that follows at one order; `math.inf` for none.

    Theorem: in each direction (epsilon, d + (1-d) delta')-DP holds, d the mass at infinite loss, where the divergence
        of the rest at this order gives epsilon at delta'; at order infinity, where epsilon is the largest loss.
    Reference: Canonne-Kamath-Steinke 2020; Mironov 2017
    Proof: docs/theory/accounting/renyi.md#conversion
    Checked-by: tests/accounting/renyi/test_road.py::test_every_order_gives_a_bound
    """
    return _epsilon_at(curves(event), order, delta)


def delta_at(event: Event, order: End, epsilon: Fraction) -> Fraction:
    """The delta that follows at one order, by the same theorem."""
    return _delta_at(curves(event), order, epsilon)


def renyi_bounds(event: Event, orders: Iterable[Number]) -> RenyiDP:
    """What every mechanism which the event describes satisfies at these orders, or NoSuchRule.

    Theorem: the divergence of order a, in both directions, is at most the bound beside it.
    Reference: those of the curves
    Proof: docs/theory/accounting/renyi.md#from-events-to-curves
    Checked-by: tests/accounting/renyi/test_road.py::test_renyi_bounds
    """
    listed = [rational(order, "orders", above=1, maximum=LARGEST) for order in orders]
    try:
        found = curves(event)
    except NotApplicable as refused:
        raise NoSuchRule(premise=event, wanted=_DIVERGENCES, hint=f"There is no rule: {refused.reason}.") from None
    if any(curve.infinite for curve in found):
        raise NoSuchRule(premise=event, wanted=_DIVERGENCES, hint="What may reveal everything has none.")
    bounds = {order: max(short(curve.moments.above(order - 1) / (order - 1)) for curve in found) for order in listed}
    if any(bound > LARGEST for bound in bounds.values()):
        raise NoSuchRule(premise=event, wanted=_DIVERGENCES, hint="At some order there is no finite bound.")
    return RenyiDP(bounds=list(bounds.items()), neighbors=event.neighbors)


def _best_epsilon(found: Listing[Curve], delta: Fraction) -> tuple[End, End | None]:
    """The least epsilon that was found, and its order."""
    if any(curve.infinite > delta for curve in found):
        return math.inf, None
    upper: End = max(curve.moments.largest for curve in found)
    order: End | None = None if upper == math.inf else math.inf
    left = [(curve.moments, (delta - curve.infinite) / (1 - curve.infinite)) for curve in found]
    if any(rest == 0 for _, rest in left):
        return upper, order
    logs = [(moments, float(Enclosure.of(rest).log().lower)) for moments, rest in left]
    best = 1 + best_excess(lambda c: max(epsilon_score(moments.rough(c), c, rest) for moments, rest in logs))
    return min((upper, order), (_epsilon_at(found, best, delta), best), key=itemgetter(0))


def _epsilon_at(found: Listing[Curve], order: End, delta: Fraction) -> End:
    return max(_one_epsilon(curve, order, delta) for curve in found)


def _one_epsilon(curve: Curve, order: End, delta: Fraction) -> End:
    if curve.infinite > delta:
        return math.inf
    if isinstance(order, float):
        return curve.moments.largest
    rest = (delta - curve.infinite) / (1 - curve.infinite)
    moment = curve.moments.above(order - 1)
    if rest == 0 or isinstance(moment, float):
        return math.inf
    return bound_to_epsilon(order, moment / (order - 1), rest).interval().upper


def _delta_order(found: Listing[Curve], epsilon: Fraction) -> End:
    if all(curve.moments.largest <= epsilon for curve in found):
        return math.inf
    near = float(min(epsilon, _HUGE))
    return 1 + best_excess(lambda c: max(delta_score(curve.moments.rough(c), c, near) for curve in found))


def _delta_at(found: Listing[Curve], order: End, epsilon: Fraction) -> Fraction:
    return max(_one_delta(curve, order, epsilon) for curve in found)


def _one_delta(curve: Curve, order: End, epsilon: Fraction) -> Fraction:
    if curve.moments.largest <= epsilon:
        return curve.infinite
    moment = math.inf if isinstance(order, float) else curve.moments.above(order - 1)
    if isinstance(order, float) or isinstance(moment, float):
        return Fraction(1)
    inner = bound_to_delta(order, moment / (order - 1), epsilon).interval().upper
    return min(curve.infinite + (1 - curve.infinite) * Fraction(inner), Fraction(1))


def _answer(event: Event, given: Fraction, upper: End, order: End | None, lower: Tight | None) -> Answer:
    method = _NEVER if order is None else f"{METHOD} of order {float(order):.6g}"
    least: End = Fraction(0)
    if lower is not None:
        with contextlib.suppress(NotApplicable, NoSuchRule):
            found = lower(within(event), given)
            least, method = found.lower, f"upper: {method}; lower: {found.method}"
    return Answer(interval=Interval(least, upper, method=method), order=order)
