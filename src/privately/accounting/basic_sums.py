"""Steps one by one: what basic composition makes of the answers for each, where samples are so rare that it is best."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from privately.accounting.events import Event, FixedSizeSample, PoissonSample
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.terms import Terms, alternatives
from privately.errors import NoSuchRule
from privately.rounding import Interval

METHOD = "sum over all steps"

_MOST_TERMS = 16
_WIDTH = Fraction(1, 10**4)


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


def _terms(event: Event) -> Terms:
    """All steps; none where there are many different ones, or parts of which one is chosen."""
    if event.neighbors.size > 1:
        return {}
    try:
        listed = alternatives(event)
    except NoSuchRule:
        return {}
    return listed[0] if len(listed) == 1 and len(listed[0]) <= _MOST_TERMS else {}
