"""What a group sees of one statement: the ends of a chain of laws of which every two neighbours are allowed.

h(a) is the largest p for which two outcomes of probabilities p and a are allowed; a link leads from a to h(a). All laws
of a chain are those of one test: a_k = q with all changes made, then a_(k-1) <= h(a_k), up to a_0. In floats a law is
its logit ln(a/(1-a)), and nothing there bounds anything; both ends are proved by what was found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import TypeGuard

from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable, nearly_log
from privately.accounting.two_outcomes.allowed import AtOrders, Statement
from privately.accounting.two_outcomes.pairs import TwoOutcomes
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.supports import Limit, delta_above, weighed
from privately.rounding import Enclosure, Interval

METHOD = "a chain of two outcomes"

_MOST_ROWS = 256
_FARTHEST, _CLOSE = -1e9, 1e-14
_MOST_CHAINS, _HALVED = 100, 4
_TURNS, _NEWTON, _STEPS = 30, 80, 60
_STEP, _LEAST_RATE = 2.0, 1e-9
_ROUNDING, _NEAR, _NEWTON_ENDS = 1e-16, 1e-14, 1e-9
_FIRST, _FINEST, _FINER, _FARTHER, _WIDEST = 0.1, 2e-4, 8, 4, 2.0
_NEXT_TO_ONE = 1e-4
_SMALL, _TERMS, _LARGE = 1.0, 24, 600.0
_TRIES, _LITTLE_MORE, _LEAST = 12, Decimal("1.000001"), Decimal("1e-25")
_MENDS, _MORE, _ABOVE = 12, Fraction(1, 10**18), 1 + Fraction(1, 10**6)
_SAME, _GRAIN, _NARROW = 1e-6, 10**18, Fraction(1, 10**6)
_DIGITS = Context(prec=50, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
_EXACT, _NEXT_TO_ALL = Context(prec=400, Emin=MIN_EMIN, Emax=MAX_EMAX), Decimal(300)


def of_group(statement: Statement, size: int, question: Question) -> Interval:
    """Both ends for so many changes at once, or NotApplicable.

    Theorem: let D be the largest delta of all that the statement allows. For epsilon_1 + ... + epsilon_k = epsilon the
        delta of k changes is at most D(epsilon_1) + e^epsilon_1 D(epsilon_2) + ... + e^(epsilon_1 + ... +
        epsilon_(k-1)) D(epsilon_k), and at least a_0 - e^epsilon a_k of every chain a_0, ..., a_k of which two
        neighbours are always allowed. The best of both are the same.
    Reference: Dong-Roth-Su 2022, Theorem 2.14, for one trade-off function; data processing
    Proof: docs/theory/accounting/two_outcomes.md#groups-of-one-statement
    Checked-by: tests/accounting/two_outcomes/test_chains.py::test_between_all_chains_of_a_grid,
        tests/accounting/two_outcomes/test_chains.py::test_both_ends_meet
    """
    if size > _MOST_ROWS:
        raise NotApplicable("too many changes")
    if isinstance(question, DeltaAt):
        return _delta(statement, size, question)
    if not question.delta:
        raise NotApplicable("at a delta of 0 no epsilon is enough")
    found = _worst(statement, size, question)
    if found is None:
        return _none_needed(statement, size, question)
    least = reached(statement, found.below).epsilon(question.delta).nonnegative()
    return Interval(least.interval().lower, _epsilon_above(statement, found, least, question), method=METHOD)


def _delta(statement: Statement, size: int, question: DeltaAt) -> Interval:
    found = _worst(statement, size, question)
    if found is None:
        raise NotApplicable("no chain seems to reveal anything")
    upper = above(statement, found, question.epsilon)
    lower = reached(statement, found.below).delta(question.epsilon)
    return Enclosure(lower.lower, upper.upper).clip(0, 1).interval(METHOD)


def _none_needed(statement: Statement, size: int, question: EpsilonAt) -> Interval:
    """0, if even at an epsilon of 0 no more than delta can be revealed."""
    if _delta(statement, size, DeltaAt(Fraction(0), question.width)).upper > question.delta:
        raise NotApplicable("an epsilon that is next to 0")
    return Interval(0, 0, method=METHOD)


@dataclass(frozen=True)
class Link:
    """From the law a to the one that is farthest above it, as the distance of their logits; and which order holds it.

    If p + a > 1 the link is seen as its mirror image, from 1 - p to 1 - a.
    """

    logit: float
    distance: float
    order: float

    @cached_property
    def is_mirrored(self) -> bool:
        return 2 * self.logit + self.distance > 0

    @cached_property
    def base(self) -> float:
        """The logit of q: of a, or of its mirror image's."""
        return -self.logit - self.distance if self.is_mirrored else self.logit

    @cached_property
    def losses(self) -> tuple[float, float]:
        """ln((1-p)/(1-q)) and ln(p/q)."""
        if self.distance < 1:
            low = -math.log1p(math.exp(self.logs[0]) * math.expm1(self.distance))
        else:
            low = _log_probability(-self.base - self.distance) - self.logs[1]
        return low, self.distance + low

    @cached_property
    def logs(self) -> tuple[float, float]:
        """ln q and ln(1-q)."""
        return _log_probability(self.base), _log_probability(-self.base)

    def log_apart(self, t: float) -> float:
        """ln F(t), of the mirror image if it is that."""
        found = _apart(*self.losses, *self.logs, t)
        return math.log(found) if found > 0 else -math.inf

    @property
    def excess(self) -> float:
        """ln of the slope, less ln(p/q): of q e^z it is the part that is lost."""
        return _shortfall(self.order * self.distance) - _shortfall((self.order - 1) * self.distance)

    @property
    def slope(self) -> float:
        """ln h'(a)."""
        steep = self.losses[1] + self.excess
        return -steep if self.is_mirrored else steep

    @property
    def elasticity(self) -> float:
        """ln of h'(a) a/h(a)."""
        return -self.distance - self.excess if self.is_mirrored else self.excess

    def log_steepness(self, log_apart: float) -> float:
        """ln of how fast F grows with the logit of p, where F is so large at the order."""
        (_, high), t, distance = self.losses, self.order, self.distance
        grown = t * (t - 1) * math.exp(log_apart)
        if self.is_mirrored:
            return sum(self.logs) + t * high - grown + math.log(distance) + _shortfall(t * distance)
        top = self.base + distance
        logs = _log_probability(top) + _log_probability(-top)
        return logs + (t - 1) * high - grown + math.log(distance) + _shortfall((t - 1) * distance)


def _log_probability(logit: float) -> float:
    return -math.log1p(math.exp(-logit)) if logit > 0 else logit - math.log1p(math.exp(logit))


def _shortfall(x: float) -> float:
    """ln((1 - e^-x)/x)."""
    return math.log(-math.expm1(-x) / x) if x else 0.0


def _apart(low: float, high: float, shown: float, hidden: float, t: float) -> float:
    """F(t), by both losses and ln q and ln(1-q)."""
    if t * high > _LARGE:
        one, other = shown + t * high, hidden + t * low
        if t == 1:
            return math.exp(one) * high + math.exp(other) * low
        return (max(one, other) + math.log1p(math.exp(-abs(one - other)))) / (t * (t - 1))
    mean = math.exp(shown) * _bend(high, t) + math.exp(hidden) * _bend(low, t)
    return math.log1p(t * (t - 1) * mean) / (t * (t - 1)) if t > 1 else mean


def _bend(loss: float, t: float) -> float:
    """(r^t - 1 - t(r-1))/(t(t-1)) at r = e^loss, by its series where all else would cancel."""
    if abs(t * loss) > _SMALL:
        if t == 1:
            return math.exp(loss) * (loss - 1) + 1
        return (math.expm1(t * loss) - t * math.expm1(loss)) / (t * (t - 1))
    power, factor, series = loss * loss / 2, 1.0, 0.0
    for k in range(3, _TERMS):
        series += factor * power
        power, factor = power * loss / k, factor * t + 1
        if abs(factor * power) < _ROUNDING * series:
            break
    return series


class _Search:
    """Links and chains in floats; each begins where the last one was."""

    def __init__(self, statement: Statement, size: int) -> None:
        self.listed = {float(t): math.log(b / t) for t, b in statement.bounds} if _is_listed(statement) else {}
        self.bound = math.log(statement.size)
        self.hints = [(next(iter(self.listed), 2.0), 1.0)] * size

    def chain(self, logit: float) -> list[Link]:
        """From the last law to the first."""
        links = []
        for k, hint in enumerate(self.hints):
            try:
                link = self._link(logit, *hint)
            except ValueError as reason:  # the logarithm of what has become 0
                raise NotApplicable("laws beyond floats") from reason
            if not math.isfinite(link.slope):
                raise NotApplicable("laws beyond floats")
            self.hints[k] = link.order, link.distance
            logit += link.distance
            links.append(link)
        return links

    def _link(self, logit: float, order: float, distance: float) -> Link:
        """Each order allows some distance; where another one allows less, that is the next one to look at."""
        for _ in range(_TURNS):
            link = self._allowed(Link(logit, distance, order))
            order, distance = self._strictest(link), link.distance
            if order == link.order or link.log_apart(order) - self._bound(order) <= _NEAR:
                break
        return Link(logit, distance, order)

    def _bound(self, order: float) -> float:
        return self.listed.get(order, self.bound)

    def _allowed(self, link: Link) -> Link:
        """Where F is as its bound, by Newton's method for logarithms."""
        x, low, high, bound = math.log(link.distance), -math.inf, math.inf, self._bound(link.order)
        for _ in range(_NEWTON):
            found = link.log_apart(link.order)
            missing = bound - found
            low, high = (x, high) if missing > 0 else (low, x)
            step = _STEP
            if missing < math.inf:
                rate = math.exp(min(x + link.log_steepness(found) - found, _LARGE))
                step = max(-_STEP, min(_STEP, missing / max(rate, _LEAST_RATE)))
            is_inside = low < x + step < high
            if not is_inside and math.isfinite(low + high):
                step = (low + high) / 2 - x
            x += step
            link = Link(link.logit, math.exp(x), link.order)
            if abs(step) <= (_NEWTON_ENDS if is_inside else _NEAR):
                break
        return link

    def _strictest(self, link: Link) -> float:
        """The order for which the distance is most too much."""
        if not self.listed:
            return _summit(link)
        return max(self.listed, key=lambda t: link.log_apart(t) - self.listed[t])


def _is_listed(statement: Statement) -> TypeGuard[AtOrders]:
    return isinstance(statement, AtOrders)


def _summit(link: Link) -> float:
    """The order at which F is largest, by parabolas in ln(t - 1)."""
    least = math.log(_NEXT_TO_ONE / max(1.0, link.distance))
    place = max(math.log(link.order - 1), least) if link.order > 1 else least
    half = _FIRST
    for _ in range(_STEPS):
        left, middle, right = (link.log_apart(1 + math.exp(place + k * half)) for k in (-1, 0, 1))
        if place <= least and middle >= right:
            return 1.0
        bend = left - 2 * middle + right
        if half < _FIRST and abs(right - left) + abs(bend) <= _NEAR:
            break  # no more than roundings
        step = half * (left - right) / (2 * bend) if bend < 0 else math.copysign(math.inf, right - left)
        is_far = abs(step) > _FARTHER * half
        step = max(-_FARTHER * half, min(_FARTHER * half, step))
        place = max(place + step, least)
        if not is_far and half <= _FINEST:
            break
        half = min(half * 2, _WIDEST) if is_far else max(half / _FINER, _FINEST)
    return 1 + math.exp(place)


@dataclass(frozen=True)
class Found:
    """Two chains next to each other between which the worst one is."""

    below: Sequence[Link]
    beyond: Sequence[Link]

    def split(self, epsilon: Fraction) -> list[Fraction]:
        """Parts of epsilon, from the last law to the first, between the slopes on either side as far as may be."""
        steep, flat = ([Fraction(link.slope) for link in links] for links in (self.below, self.beyond))
        span = sum(steep) - sum(flat)
        share = min(max((epsilon - sum(flat)) / span, Fraction(0)), Fraction(1)) if span > 0 else Fraction(0)
        parts = [Fraction(round((b + share * (a - b)) * _GRAIN), _GRAIN) for a, b in zip(steep, flat, strict=True)]
        more = (epsilon - sum(parts)) / len(parts)
        return [part + more for part in parts]


def _worst(statement: Statement, size: int, question: Question) -> Found | None:
    """The slope of h^k falls with q, and its tangent is ever higher at 0. None if q would be above 1/2."""
    search = _Search(statement, size)
    beyond = search.chain(0.0)
    if _ahead(beyond, question) > 0:
        return None
    low, below = -1.0, search.chain(-1.0)
    while _ahead(below, question) <= 0:
        beyond, low = below, 2 * low
        if low < _FARTHEST:
            raise NotApplicable("no chain seems to reveal so much")
        below = search.chain(low)
    return _between(search, Found(below, beyond), question)


def _between(search: _Search, found: Found, question: Question) -> Found:
    """By secants, where an end that stays counts for half the next time, and by halving now and then."""
    below, beyond = found.below, found.beyond
    left, right = _ahead(below, question), _ahead(beyond, question)
    for turn in range(_MOST_CHAINS):
        low, high = below[0].logit, beyond[0].logit
        if high - low <= _CLOSE * max(1.0, -low):
            break
        share = left / (left - right) if turn % _HALVED and math.isfinite(left - right) else 0.5
        middle = low + (high - low) * share
        links = search.chain(middle if low < middle < high else (low + high) / 2)
        ahead = _ahead(links, question)
        if ahead > 0:
            below, left, right = links, ahead, right / 2
        else:
            beyond, left, right = links, left / 2, ahead
    return Found(below, beyond)


def _ahead(links: Sequence[Link], question: Question) -> float:
    """Above 0 if the worst q is larger: how much too steep the chain is, or too low its tangent."""
    if isinstance(question, DeltaAt):
        return sum(link.slope for link in links) - float(question.epsilon)
    top = links[-1].logit + links[-1].distance
    left = -math.expm1(sum(link.elasticity for link in links))
    return nearly_log(question.delta) - _log_probability(top) - math.log(left) if left > 0 else math.inf


def reached(statement: Statement, links: Sequence[Link]) -> TwoOutcomes:
    """The first and the last law of a chain of exact ones, each a little less than what was found, if need be."""
    first = last = _exactly(Decimal(links[0].logit))
    for link in links:
        first = _next(statement, first, link)
    return TwoOutcomes(first, last)


def _exactly(logit: Decimal) -> Decimal:
    """A probability that has about this logit, with as many digits below 1 as above 0."""
    part = _DIGITS.exp(-abs(logit))
    rest = _DIGITS.divide(part, _DIGITS.add(1, part))
    return _EXACT.subtract(1, rest) if logit > 0 else rest


def _next(statement: Statement, a: Decimal, link: Link) -> Decimal:
    """A p next to h(a) such that the link is allowed, by the pair itself or by the one that mirrors it."""
    start, order = Decimal(link.logit), statement.order(link.order)
    logit = min(start + Decimal(link.distance), _NEXT_TO_ALL)
    for _ in range(_TRIES):
        p = _exactly(logit)
        if p <= a:
            return a
        is_mirrored = _EXACT.add(p, a) > 1
        pair = TwoOutcomes(_EXACT.subtract(1, a), _EXACT.subtract(1, p)) if is_mirrored else TwoOutcomes(p, a)
        excess, _ = statement.exceeded(pair, order)
        if excess <= 0:
            return p
        here = replace(link, distance=float(logit - start))
        steepness = _DIGITS.exp(Decimal(here.log_steepness(here.log_apart(link.order))))
        less = _DIGITS.divide(excess, steepness) * _LITTLE_MORE + _LEAST * max(abs(logit), Decimal(1))
        logit = max(_DIGITS.subtract(logit, less), (start + logit) / 2)
    raise NotApplicable("no chain was found that the statement allows")


def above(statement: Statement, found: Found, epsilon: Fraction) -> Enclosure:
    """D(epsilon_1) + e^epsilon_1 D(epsilon_2) + ..., from above: the first part is that of the first law."""
    total = Enclosure.of(0)
    for part, below, beyond in zip(found.split(epsilon), found.below, found.beyond, strict=True):
        total = _most(statement, part, below, beyond) + Enclosure.of(part).exp() * total
    return total


def _most(statement: Statement, epsilon: Fraction, below: Link, beyond: Link) -> Enclosure:
    """D, also below 0, where it is 1 - e^epsilon + e^epsilon D(-epsilon): by the line that touches at the link."""
    size = abs(epsilon)
    try:
        low, high = (Decimal(loss) for loss in below.losses)
        limits = _limits(statement, (below, beyond) if epsilon >= 0 else (beyond, below), low, high, size)
        most = delta_above(limits, low, high, size).clip(0, 1)
    except DEAD_ENDS:
        most = Enclosure.of(Fraction(answer(statement, DeltaAt(size, _NARROW)).upper))
    if epsilon >= 0:
        return most
    grown = Enclosure.of(epsilon).exp()
    return 1 - grown + grown * most


def _limits(
    statement: Statement, links: tuple[Link, Link], low: Decimal, high: Decimal, epsilon: Fraction
) -> list[Limit]:
    """The orders that hold the link on either side, weighed so that their line has the slope that is asked for."""
    near, other = (statement.order(link.order) for link in links)
    is_corner = links[0].is_mirrored != links[1].is_mirrored
    first = Limit(near, statement.bound(near))
    if not is_corner and abs(float(near - other)) <= _SAME * float(near):
        return [first]
    far = 1 - other if is_corner else other
    try:
        return weighed(first, Limit(far, statement.bound(far)), low, high, Enclosure.of(epsilon).exp())
    except DEAD_ENDS:
        return [first]


def _epsilon_above(statement: Statement, found: Found, lower: Enclosure, question: EpsilonAt) -> Fraction:
    """An epsilon at which the bound is at most delta: by tangents from below, as it falls and is convex."""
    epsilon = Fraction(lower.lower)
    q = Enclosure.of(Fraction(found.below[0].logit)).exp()
    for turn in range(_MENDS):
        excess = (above(statement, found, epsilon) - question.delta).upper
        if excess <= 0:
            return epsilon
        slope = Fraction((Enclosure.of(epsilon).exp() * q).lower)
        epsilon += Fraction(excess) / slope * _ABOVE + _MORE * 4**turn
    raise NotApplicable("no epsilon was found")
