"""One statement alone: the worst of all pairs that it allows has two outcomes."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.renyi.orders import best_excess, delta_score, epsilon_score
from privately.accounting.roads import DEAD_ENDS, NotApplicable, nearly_log
from privately.accounting.two_outcomes import search
from privately.accounting.two_outcomes.allowed import Statement
from privately.accounting.two_outcomes.pairs import TwoOutcomes
from privately.accounting.two_outcomes.search import Place
from privately.accounting.two_outcomes.supports import Limit, delta_above, epsilon_above, weighed
from privately.rounding import Enclosure, Interval

METHOD = "two outcomes"

_DIGITS = Context(prec=55, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
_TRIES = 8
_LEAST_REST = Decimal("1e-50")
_STEP, _MORE, _LITTLE = Decimal("1e-20"), Decimal("1.000001"), Decimal("1e-18")
_ALMOST_NOTHING, _ALMOST_ALL = 1e-9, -1e-9
_SAME = 1e-6


def answer(statement: Statement, question: Question) -> Interval:
    """Both ends, or NotApplicable.

    Theorem: the largest delta at any epsilon, over all pairs whose divergences are bounded, is reached by a pair of two
        outcomes: whether the loss is above epsilon.
    Reference: data processing, van Erven-Harremoes 2014, Theorem 1
    Proof: docs/theory/accounting/two_outcomes.md#two-outcomes-are-enough
    Checked-by: tests/accounting/two_outcomes/test_road.py::test_against_linear_programs,
        tests/accounting/two_outcomes/test_road.py::test_no_more_outcomes_reveal_more
    """
    if isinstance(question, DeltaAt):
        place = _worst(statement, question)
        upper = _delta_above(statement, place, question)
        lower = _allowed(statement, place).delta(question.epsilon)
        return Enclosure(lower.lower, upper.upper).clip(0, 1).interval(METHOD)
    if not question.delta:
        raise NotApplicable("at a delta of 0 no epsilon is enough")
    try:
        place = _worst(statement, question)
    except search.NothingFound:
        return _none_needed(statement, question)
    if place.score < _ALMOST_NOTHING:
        return _none_needed(statement, question)
    upper = epsilon_above(_limits(statement, place, question), *_losses(place), question.delta)
    lower = _allowed(statement, place).epsilon(question.delta)
    return Enclosure(lower.lower, upper.upper).nonnegative().interval(METHOD)


def _delta_above(statement: Statement, place: Place, question: DeltaAt) -> Enclosure:
    try:
        return delta_above(_limits(statement, place, question), *_losses(place), question.epsilon)
    except DEAD_ENDS:
        if place.score < _ALMOST_ALL:
            raise
        return Enclosure.of(1)


def _none_needed(statement: Statement, question: EpsilonAt) -> Interval:
    """0, if even at an epsilon of 0 no more than delta can be revealed."""
    if answer(statement, DeltaAt(Fraction(0), question.width)).upper > question.delta:
        raise NotApplicable("an epsilon that is next to 0")
    return Interval(0, 0, method=METHOD)


def _worst(statement: Statement, question: Question) -> Place:
    """From about where the best order alone would have it."""
    rough, last = statement.moments.rough, statement.last
    if isinstance(question, EpsilonAt):
        rare = nearly_log(question.delta)
        c = min(float(best_excess(lambda c: epsilon_score(rough(c), c, rare))), last)
        epsilon = epsilon_score(rough(c), c, rare)
    else:
        epsilon = float(question.epsilon)
        c = min(float(best_excess(lambda c: delta_score(rough(c), c, epsilon))), last)
    log_q = rough(c) - (1 + c) * (epsilon + math.log1p(1 / c))
    return search.worst(statement.rows, question, log_q, math.log(c))


def _losses(place: Place) -> tuple[Decimal, Decimal]:
    return Decimal(place.low), Decimal(place.log_ratio)


def _allowed(statement: Statement, place: Place) -> TwoOutcomes:
    """A pair near the place that the statement allows, with p a little less if need be."""
    q = _DIGITS.exp(Decimal(place.log_q))
    log_p, order = Decimal(place.log_p), statement.order(place.order)
    most = _DIGITS.subtract(1, max(q, _LEAST_REST))
    for _ in range(_TRIES):
        pair = TwoOutcomes(min(_DIGITS.exp(log_p), most), q)
        excess, at = statement.exceeded(pair, order)
        if excess <= 0:
            return pair
        log_p = _DIGITS.subtract(log_p, excess / _steepness(pair, at) * _MORE + _LITTLE)
    raise NotApplicable("no pair was found that the statement allows")


def _steepness(pair: TwoOutcomes, t: Fraction) -> Decimal:
    """About how fast F(t) grows with ln p."""
    further = TwoOutcomes(_DIGITS.multiply(pair.p, 1 + _STEP), pair.q)
    found = (further.apart(t).lower - pair.apart(t).lower) / _STEP
    if found <= 0:
        raise NotApplicable("an order that does not tell the outcomes apart")
    return found


def _limits(statement: Statement, place: Place, question: Question) -> list[Limit]:
    """The orders that hold the pair, weighed so that their line has the slope that is asked for."""
    orders = [statement.order(t) if t > 0 else 1 - statement.order(-t) for t in place.sides]
    near = statement.order(place.order)
    alone = Limit(near, statement.bound(near))
    if abs(float(orders[0] - orders[1])) <= _SAME * float(near):
        return [alone]
    first, second = (Limit(t, statement.bound(t)) for t in orders)
    asked = question.epsilon if isinstance(question, DeltaAt) else Fraction(place.score)
    try:
        return weighed(first, second, *_losses(place), Enclosure.of(asked).exp())
    except DEAD_ENDS:
        return [alone]
