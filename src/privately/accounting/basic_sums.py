"""Steps one by one: what basic composition makes of the answers for each, where samples are so rare that it is best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from privately.accounting.events import Event, FixedSizeSample, PoissonSample, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.terms import Terms, alternatives
from privately.errors import NoSuchRule
from privately.rounding import Interval

METHOD = "sum over all steps"

_MOST_TERMS = 16
_WIDTH, _NONE = Fraction(1, 10**4), Fraction(0)


def basic_sum(event: Event, question: Question, asked: Callable[[Event, Question], Interval]) -> Interval | None:
    """An upper end for several steps, some of them on samples; None for all else.

    Theorem: steps that are (epsilon_i, delta_i)-DP, each chosen in the light of all before it, are together
        (sum epsilon_i, sum delta_i)-DP.
    Reference: Dwork-Kenthapadi-McSherry-Mironov-Naor 2006, Theorem 1
    Proof: docs/theory/composition.md#sequential-composition
    Checked-by: tests/accounting/test_basic_sums.py::test_no_less_than_the_truth
    """
    terms = _terms(event)
    steps = sum(terms.values())
    if steps < 2 or not any(isinstance(term, (PoissonSample, FixedSizeSample)) for term in terms):
        return None
    each: Question
    if isinstance(question, EpsilonAt):
        each = EpsilonAt(question.delta / steps, max(question.width, _WIDTH))
    else:
        each = DeltaAt(question.epsilon / steps, max(question.width, _WIDTH))
    total = sum((times * asked(term, each).upper for term, times in terms.items()), Fraction(0))
    return Interval(0, total if isinstance(question, EpsilonAt) else min(total, Fraction(1)), method=METHOD)


def rarely_shown(event: Event, question: Question, asked: Callable[[Event, Question], Interval]) -> Interval | None:
    """An upper epsilon where delta covers all that samples may show; None for all else.

    Theorem: steps that are (0, delta_i)-DP beside others that are (epsilon, delta)-DP, each chosen in the light of all
        before it, are together (epsilon, delta + sum delta_i)-DP.
    Reference: Dwork-Kenthapadi-McSherry-Mironov-Naor 2006, Theorem 1
    Proof: docs/theory/composition.md#sequential-composition
    Checked-by: tests/accounting/test_basic_sums.py::test_delta_covers_what_samples_show
    """
    terms = _terms(event)
    sampled = {term: times for term, times in terms.items() if isinstance(term, (PoissonSample, FixedSizeSample))}
    if not isinstance(question, EpsilonAt) or not sampled or len(sampled) == len(terms):
        return None
    shown = sum((times * asked(term, DeltaAt(_NONE, _WIDTH)).upper for term, times in sampled.items()), _NONE)
    if not shown < question.delta:
        return None
    rest = [Repeat(event=term, times=times) for term, times in terms.items() if term not in sampled]
    found = asked(Steps(events=rest), replace(question, delta=question.delta - Fraction(shown)))
    return Interval(0, found.upper, method=METHOD)


def _terms(event: Event) -> Terms:
    """All steps; none where there are many different ones, or parts of which one is chosen."""
    if event.neighbors.size > 1:
        return {}
    try:
        listed = alternatives(event)
    except NoSuchRule:
        return {}
    return listed[0] if len(listed) == 1 and len(listed[0]) <= _MOST_TERMS else {}
