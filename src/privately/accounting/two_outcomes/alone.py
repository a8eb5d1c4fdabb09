"""Events that are one statement, maybe on a sample."""

from __future__ import annotations

import math
from fractions import Fraction

from privately.accounting.events import ZCDP, Event, FixedSizeSample, Group, PoissonSample, Renyi
from privately.accounting.questions import SELDOM, DeltaAt, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.terms import Terms, alternatives
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated, Statement
from privately.accounting.two_outcomes.chains import of_group
from privately.accounting.two_outcomes.road import answer
from privately.errors import NoSuchRule
from privately.rounding import Enclosure, Interval

_SAMPLED = ", on a sample"
_MOST_PARTS = 8
_LEAST, _MOST = Fraction(1, 10**12), Fraction(10**9)
_NEARLY = Fraction(1, 10**5)


def alone(event: Event, question: Question) -> Interval | None:
    """The answer for a single statement, on a sample or not, or the worst of several parts of that kind; else None.

    Theorem: with D the largest delta of all that a statement allows, that of its sample of rate q is q D(y), where
        e^y = 1 + (e^epsilon - 1)/q.
    Reference: Balle-Barthe-Gaboardi 2018, Theorems 8 and 9
    Proof: docs/theory/accounting/two_outcomes.md#on-a-sample
    Checked-by: tests/accounting/two_outcomes/test_alone.py::test_a_sample_against_its_pairs
    """
    if has_group(event):  # what several changes see of a statement is not all that a larger one allows
        return _of_group(event, question)
    try:
        found = [_stated(terms) for terms in alternatives(event)]
        if not 0 < len(found) <= _MOST_PARTS:
            return None
        answers = [_answer(statement, rate, question) for statement, rate in found]
    except (*DEAD_ENDS, NoSuchRule):
        return None
    top = max(answers, key=lambda one: one.upper)
    return Interval(max(one.lower for one in answers), top.upper, method=top.method)


def _of_group(event: Event, question: Question) -> Interval | None:
    """What several changes see of one statement without a sample, where both ends are near each other."""
    try:
        if not isinstance(event, Group) or has_group(event.event):
            return None
        found = [_stated(terms) for terms in alternatives(event.event)]
        if len(found) != 1 or found[0][1] != 1:
            return None
        known = of_group(found[0][0], event.size, question)
    except (*DEAD_ENDS, NoSuchRule):
        return None
    return known if question.is_met(known, max(question.width, _NEARLY)) else None


def has_group(event: Event) -> bool:
    """Whether several changes at once are meant anywhere."""
    inner = getattr(event, "events", None) or [part for part in [getattr(event, "event", None)] if part is not None]
    return (isinstance(event, Group) and event.size > 1) or any(map(has_group, inner))


def _stated(terms: Terms) -> tuple[Statement, Fraction]:
    """The statement, and the rate at which it is sampled."""
    if list(terms.values()) != [1]:
        raise NotApplicable("not one statement")
    (term,), rate = terms, Fraction(1)
    if isinstance(term, (PoissonSample, FixedSizeSample)):
        rate, term = term.rate, term.event
    return stated(term), rate


def stated(term: Event) -> Statement:
    """What a term says, if it is a statement; NotApplicable also where its numbers are beyond what is computed."""
    if isinstance(term, ZCDP) and _LEAST <= term.rho <= _MOST:
        return Concentrated(term.rho)
    if isinstance(term, Renyi) and all(bound >= _LEAST for _, bound in term.bounds):
        return AtOrders(term.bounds)
    raise NotApplicable("not one statement")


def _answer(statement: Statement, rate: Fraction, question: Question) -> Interval:
    if rate == 1:
        return answer(statement, question)
    if isinstance(question, DeltaAt):
        inner = (1 + (Enclosure.of(question.epsilon).exp() - 1) / rate).log().nonnegative()
        low, high = inner.interval()
        if isinstance(high, float):
            raise NotApplicable("an epsilon that is too large")
        below, above = (answer(statement, DeltaAt(Fraction(one), question.width)) for one in (high, low))
        return Interval(rate * below.lower, rate * above.upper, method=f"{above.method}{_SAMPLED}")
    if question.delta >= rate:
        return SELDOM
    found = answer(statement, EpsilonAt(question.delta / rate, question.width))
    if isinstance(found.upper, float):
        return Interval(0, math.inf, method=found.method)
    lower, upper = ((1 + rate * (Enclosure.of(Fraction(one)).exp() - 1)).log().nonnegative() for one in found)
    return Enclosure(lower.lower, upper.upper).interval(f"{found.method}{_SAMPLED}")
