"""Several changes at once, bounded by what one change sees: for groups of events that have no rule of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from privately.accounting.events import Event, Group
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure, Interval

METHOD = "one change after the other"

Asked = Callable[[Event, Question], Interval]

_ROUNDS = 10
_LESS = Fraction(999, 1000)
_LARGEST = 10**5


def group_bound(event: Group, question: Question, asked: Asked) -> Interval:
    """An upper end for a group, from the answers for one change; NotApplicable where none was found.

    Theorem: if every change is (epsilon, delta)-DP, k of them are (k epsilon, delta (1 + e^epsilon + ... +
        e^((k-1) epsilon)))-DP; that holds for every epsilon and the delta that belongs to it.
    Reference: Vadhan 2017, Lemma 2.2
    Proof: docs/theory/accounting/events.md#bounding-events
    Checked-by: tests/accounting/test_group_bounds.py::test_groups_are_within_their_bounds
    """
    inner, size = event.event, event.size
    if isinstance(question, DeltaAt):
        each = question.epsilon / size
        found = Fraction(asked(inner, DeltaAt(each, question.width)).upper)
        return Interval(0, min(Fraction((found * _growth(each, size)).upper), Fraction(1)), method=METHOD)
    delta = question.delta / size
    for turn in range(_ROUNDS):
        upper = asked(inner, EpsilonAt(delta, question.width)).upper
        if upper == math.inf:
            break
        growth = _growth(Fraction(upper), size)
        if delta * Fraction(growth.upper) <= question.delta:
            return Interval(0, size * Fraction(upper), method=METHOD)
        delta = question.delta / Fraction(growth.upper) * _LESS**2**turn  # a little less every time
    raise NotApplicable("no epsilon was found")


def _growth(epsilon: Fraction, size: int) -> Enclosure:
    """1 + e^epsilon + ... + e^((size - 1) epsilon), from above: at most size times the last."""
    if size * epsilon > _LARGEST:
        raise NotApplicable("epsilon is too large")
    simple = size * Enclosure.of((size - 1) * epsilon).exp()
    below = Enclosure.of(epsilon).exp() - 1
    if below.lower <= 0:
        return simple
    exact = (Enclosure.of(size * epsilon).exp() - 1) / below
    return exact if exact.upper < simple.upper else simple
