"""Several changes at once, bounded by what one change sees: for groups of events that have no rule of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from privately.accounting.events import (
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Gaussian,
    Group,
    Laplace,
    PoissonSample,
    Repeat,
    Sequence,
)
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure, Interval, round_down

METHOD = "one change after the other"

Asked = Callable[[Event, Question], Interval]

_ROUNDS = 10
_LESS = Fraction(999, 1000)
_LARGEST = 10**5
_LEAST_DELTA = Fraction(1, 10**5000)
_WIDTH, _ROUGH = Fraction(1, 1000), Fraction(1, 100)
_SEVERAL = (1, 2, 3, 4, 6, 8, 12, 16)
_DIGITS = 15
_TINY = -700
_TINIEST = Enclosure.of(_TINY).exp()


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
        growth, rough = _growth(each, size), asked(inner, DeltaAt(each, max(question.width, _ROUGH)))
        if (Fraction(rough.lower) * growth).lower >= 1:
            return Interval(0, 1, method=METHOD)
        found = min(rough.upper, asked(inner, DeltaAt(each, question.width)).upper)
        return Interval(0, min(Fraction((Fraction(found) * growth).upper), Fraction(1)), method=METHOD)
    delta = question.delta / size
    for turn in range(_ROUNDS):
        upper = asked(inner, EpsilonAt(delta, max(question.width, _ROUGH))).upper
        if upper == math.inf:
            break
        growth = _growth(Fraction(upper), size)
        if delta * Fraction(growth.upper) <= question.delta:
            upper = min(upper, asked(inner, EpsilonAt(delta, question.width)).upper)
            return Interval(0, size * Fraction(upper), method=METHOD)
        delta = question.delta / Fraction(growth.upper) * _LESS**2**turn  # a little less every time
        if delta < _LEAST_DELTA:
            break
    raise NotApplicable("no epsilon was found")


def group_lower(event: Group, question: Question, asked: Asked) -> Fraction | float:
    """A lower end for groups of noise on Poisson samples: 0 where nothing is known.

    Theorem: k rows that all move the noise the same way are j in the sample with probability B(j), binomial. The pair
        of that mixture against no row has, in both directions, a profile that is nowhere below that of m rows which
        are in the sample together with the probability that j >= m, or with a smaller one.
    Reference: Neyman-Pearson 1933, for monotone likelihood ratios
    Proof: docs/theory/accounting/events.md#groups-of-samples
    Checked-by: tests/accounting/test_group_bounds.py::test_groups_of_samples_from_below
    """
    best: Fraction | float = 0
    question = replace(question, width=max(question.width, _WIDTH))
    for together in (one for one in (*_SEVERAL, event.size) if one <= event.size):
        inside = _inside(event.event, event.size, together)
        if inside is None:
            break
        found = asked(inside, question).lower
        if found < best / 2:  # more rows are together so seldom that they show less and less
            break
        best = max(best, found)
    return best


def _inside(event: Event, size: int, together: int) -> Event | None:
    """What one change sees, if `together` of `size` rows are in a sample or none is; all are, where there is none."""
    match event:
        case Sequence(events=events):
            parts = [_inside(part, size, together) for part in events]
            known = [part for part in parts if part is not None]
            return Sequence(events=known) if len(known) == len(parts) else None
        case Repeat(event=inner, times=times):
            found = _inside(inner, size, together)
            return found and Repeat(event=found, times=times)
        case PoissonSample(event=inner, rate=rate):
            base = _aligned(inner, together)
            return base and PoissonSample(event=base, rate=at_least(together, size, rate))
    return _aligned(event, size)


def _aligned(event: Event, rows: int) -> Event | None:
    """So many rows that move the noise the same way, seen as one."""
    match event:
        case Gaussian(noise_multiplier=multiplier):
            return Gaussian(noise_multiplier=multiplier / rows, neighbors=event.neighbors)
        case Laplace(scale=scale):
            return Laplace(scale=scale / rows, neighbors=event.neighbors)
        case DiscreteGaussian(sensitivity=sensitivity) | DiscreteLaplace(sensitivity=sensitivity):
            return replace(event, sensitivity=sensitivity * rows)
    return None


def at_least(together: int, size: int, rate: Fraction) -> Fraction:
    """The probability that so many of `size` rows are in the sample, or a little less; 0 where it is tiny."""
    if rate in {0, 1}:
        return rate
    taken, stays = Enclosure.of(rate).log(), Enclosure.of(1 - rate).log()

    def just(j: int) -> Enclosure:
        exponent = Enclosure.of(math.comb(size, j)).log() + j * taken + (size - j) * stays
        return exponent.exp() if exponent.upper > _TINY else Enclosure(Enclosure.of(0).lower, _TINIEST.upper)

    share = Fraction(just(together).lower)
    if together <= _SEVERAL[-1]:
        share = max(share, Fraction((1 - sum(map(just, range(together)), Enclosure.of(0))).lower))
    return round_down(min(share, Fraction(1)), _DIGITS)


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
