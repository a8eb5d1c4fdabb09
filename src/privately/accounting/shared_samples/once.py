"""One sample, drawn once: from what is run on it, whatever that is."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from privately.accounting.ends import proved
from privately.accounting.events import Event, FixedSizeSample, PoissonSample
from privately.accounting.extremes import removed_loss
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.terms import Terms, alternatives, flatten
from privately.rounding import Enclosure, Interval

Asked = Callable[[Event, Question], Interval]

_SAMPLES = (PoissonSample, FixedSizeSample)
_NEVER_SEEN = Interval(0, 0, method="exact: the row is hardly ever in a sample")
_LARGEST = 10**5
_FINER, _ROUGH = 8, Fraction(1, 200)
"""Under small rates the width of an epsilon counts more; what is asked for roughly stays rough, and soon told."""


def once(event: Event, question: Question, asked: Asked) -> Interval | None:
    """The answer for an event that is one sample, drawn once; None for others.

    Theorem: delta(epsilon) of a sample at rate q is q times that of what is sampled at ln(1 + (e^epsilon - 1)/q), for
        Poisson samples and for those of fixed size, as a supremum over all mechanisms that the event describes.
    Reference: Balle-Barthe-Gaboardi 2018, Theorems 8 and 9
    Proof: docs/theory/accounting/events.md#one-sample-once
    Checked-by: tests/accounting/shared_samples/test_once.py::test_one_sample_is_that_of_its_base
    """
    sample = _alone(event)
    if sample is None:
        return None
    rate = Fraction(sample.rate)
    if isinstance(question, EpsilonAt):
        if question.delta >= rate:
            return _NEVER_SEEN
        width = question.width if question.width > _ROUGH else question.width / _FINER
        found = asked(sample.event, EpsilonAt(question.delta / rate, width))
        if found.lower == math.inf:
            return found
        if found.upper > _LARGEST:
            return None
        low, high = (removed_loss(rate, Enclosure.of(Fraction(end))).nonnegative() for end in found)
        return Interval(low.interval().lower, high.interval().upper, method=found.method)
    if question.epsilon > _LARGEST:
        return None
    inner = (1 + (Enclosure.of(question.epsilon).exp() - 1) / rate).log().nonnegative().interval()
    upper = rate * asked(sample.event, DeltaAt(Fraction(inner.lower), question.width)).upper
    found = asked(sample.event, DeltaAt(Fraction(inner.upper), question.width))
    return proved(rate * found.lower, upper, method=found.method)


def _alone(event: Event) -> PoissonSample | FixedSizeSample | None:
    """The sample, if the event is one, with nothing sampled inside of it."""
    terms = _only(event)
    if terms is None or list(terms.values()) != [1]:
        return None
    (sample,) = terms
    if not isinstance(sample, _SAMPLES):
        return None
    inside = flatten(sample.event)
    return None if any(isinstance(term, _SAMPLES) for term in inside) else sample


def _only(event: Event) -> Terms | None:
    found = alternatives(event)
    return found[0] if len(found) == 1 else None
