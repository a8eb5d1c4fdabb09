"""From events to what is known of their Renyi divergences, for each direction in which neighbours can differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence as Listing
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from privately.accounting.bounding import bounding
from privately.accounting.compositions import Composition, compositions
from privately.accounting.events import (
    ZCDP,
    Event,
    Exponential,
    FixedSizeSample,
    Group,
    PoissonSample,
    Renyi,
    Repeat,
    Sequence,
)
from privately.accounting.failing import failing
from privately.accounting.groups import grouped
from privately.accounting.renyi.amplification import Mixed, poisson
from privately.accounting.renyi.closed_forms import bounded_range
from privately.accounting.renyi.grouping import LARGEST_GROUP, Grouped
from privately.accounting.renyi.laws import moments_of
from privately.accounting.renyi.moments import Largest, Least, Listed, Moments, Quadratic, Sum
from privately.accounting.roads import NotApplicable
from privately.accounting.terms import is_silent, parts_of
from privately.errors import NoSuchRule


@dataclass(frozen=True)
class Curve:
    """The losses in one direction: with probability `infinite` anything, otherwise losses with these moments.

    Both may be bounds from above. Written out: P >= (1 - infinite) P' for some law P', and the mean of e^(cL) over P'
    with L = ln((1 - infinite) dP'/dQ) is at most e^K(c).
    """

    moments: Moments
    infinite: Fraction = Fraction(0)


Both: TypeAlias = tuple[Curve, Curve]
"""For "remove" and for "add"; the same object when they are alike."""

_NOTHING = Curve(Sum())

MOST_TERMS = 2048
"""Of more different terms nothing is said."""


def curves(event: Event) -> tuple[Curve, ...]:
    """One for each direction; one in all when they are alike. What holds for all of them holds for the event.

    Raises NotApplicable or NoSuchRule where no divergence is bounded.

    Theorem: each bounds the losses of every mechanism that the event describes, for its direction: terms add up,
        parts of a Parallel count as the worst of them at each order, groups and samples as their theorems say.
    Reference: Mironov 2017; Bun-Steinke 2016; Zhu-Dong-Wang 2022, Theorem 11
    Proof: docs/theory/accounting/renyi.md#from-events-to-curves
    Checked-by: tests/accounting/renyi/test_curves.py::test_curves_dominate_enumeration,
        tests/accounting/renyi/test_curves.py::test_curves_are_above_the_compositions
    """
    remove, add = _both(event, 1)
    return (remove,) if remove is add else (remove, add)


def _both(event: Event, size: int) -> Both:
    """What `size` changes at once see of an event."""
    terms: Counter[Event] = Counter()
    _collect(event, 1, terms)
    if len(terms) > MOST_TERMS:
        raise NotApplicable(f"there are {len(terms)} different terms, more than {MOST_TERMS}")
    found = [(_term(term, size), times) for term, times in terms.items()]
    remove = _summed([(both[0], times) for both, times in found])
    if all(both[0] is both[1] for both, _ in found):
        return remove, remove
    return remove, _summed([(both[1], times) for both, times in found])


def _collect(event: Event, times: int, found: Counter[Event]) -> None:
    match event:
        case Sequence(events=events):
            for part in events:
                _collect(part, times, found)
        case Repeat(event=inner, times=runs):
            _collect(inner, times * runs, found)
        case _ if times and not is_silent(event):
            found[event] += times


def _summed(parts: Listing[tuple[Curve, int]]) -> Curve:
    failures: Counter[Fraction] = Counter()
    for curve, times in parts:
        if curve.infinite:
            failures[curve.infinite] += times
    return Curve(Sum(tuple((curve.moments, times) for curve, times in parts)), failing(failures)[1])


def _term(event: Event, size: int) -> Both:
    if isinstance(event, Group):
        return _both(event.event, size * event.size)
    if size > 1:
        return _group(event, size)
    split = parts_of(event)
    if split is not None:
        parts, rate = split
        if len(parts) > MOST_TERMS:
            raise NotApplicable(f"there are {len(parts)} parts, more than {MOST_TERMS}")
        sampled = parts if rate == 1 else [PoissonSample(event=part, rate=rate) for part in parts]
        return _worst([_both(part, 1) for part in sampled])
    match event:
        case PoissonSample() | FixedSizeSample():
            return _sampled(event)
        case ZCDP(rho=rho):
            return _alike(Quadratic(rho))
        case Renyi(bounds=bounds):
            return _alike(Listed(bounds))
        case Exponential(epsilon=epsilon):
            return _alike(bounded_range(epsilon))
    return _composed(event)


def _composed(event: Event) -> Both:
    """By the pair of laws that is the event's worst case."""
    if parts_of(event) is not None:
        raise NotApplicable("several parts may have several worst cases")
    found = [_curve(one) for one in compositions(event)]
    return found[0], found[-1]


def _curve(found: Composition) -> Curve:
    return Curve(Sum(tuple((moments_of(law), times) for law, times in found.parts)), found.infinite)


def _worst(parts: Listing[Both]) -> Both:
    first, *rest = parts
    if not rest:
        return first
    ways = [_largest([both[way] for both in parts]) for way in (0, 1)]
    return (ways[0], ways[0]) if all(both[0] is both[1] for both in parts) else (ways[0], ways[1])


def _largest(listed: Listing[Curve]) -> Curve:
    return Curve(Largest([one.moments for one in listed]), max(one.infinite for one in listed))


def _group(event: Event, size: int) -> Both:
    try:
        scaled = grouped(event, size)
    except NoSuchRule:
        return _path(event, size)
    return _both(bounding(scaled) if isinstance(scaled, Group) else scaled, 1)


def _path(event: Event, size: int) -> Both:
    """By single changes, each of which may be of either direction."""
    both = _term(event, 1)
    if any(curve.infinite for curve in both):
        raise NotApplicable("groups of what may reveal everything")
    if size > LARGEST_GROUP:
        raise NotApplicable("groups so large")
    return _alike(Grouped(_largest(both).moments, size))


def _sampled(event: PoissonSample | FixedSizeSample) -> Both:
    if event.rate == 1:
        return _both(event.event, 1)
    try:
        return _composed(event)
    except (NotApplicable, NoSuchRule):
        found = [one for one in (_amplified(event), _bounded(event)) if one is not None]
    if not found:
        return _seldom(_both(event.event, 1), event)
    lowest = min(one[0].infinite for one in found)
    kept = [one for one in found if one[0].infinite == lowest]
    ways = [Curve(Least([one[way].moments for one in kept]), max(one[way].infinite for one in kept)) for way in (0, 1)]
    return ways[0], ways[1]


def _amplified(event: PoissonSample | FixedSizeSample) -> Both | None:
    """From the divergences of what is run on the sample."""
    try:
        both = _both(event.event, 1)
    except (NotApplicable, NoSuchRule):
        return None
    if any(curve.infinite for curve in both):
        return None
    if isinstance(event, FixedSizeSample):
        return _alike(Mixed(_largest(both).moments, event.rate))
    remove, add = poisson((both[0].moments, both[1].moments), event.rate)
    return Curve(remove), Curve(add)


def _seldom(both: Both, event: PoissonSample | FixedSizeSample) -> Both:
    """A sample of what may reveal everything.

    Theorem: the moments mix as for samples of fixed size, also of Poisson samples in both directions; the mass at
        infinite loss is multiplied by the rate, but for an added row.
    Reference: van Erven-Harremoes 2014, Theorem 13
    Proof: docs/theory/accounting/renyi.md#samples-of-what-may-reveal-everything
    Checked-by: tests/accounting/renyi/test_curves.py::test_samples_of_what_may_reveal_everything
    """
    if isinstance(event, FixedSizeSample):
        worst = _largest(both)
        curve = Curve(Mixed(worst.moments, event.rate), event.rate * worst.infinite)
        return curve, curve
    remove, add = both
    return (
        Curve(Mixed(remove.moments, event.rate), event.rate * remove.infinite),
        Curve(Mixed(add.moments, event.rate), add.infinite),
    )


def _bounded(event: Event) -> Both | None:
    """From an event with a pair of laws that costs at least as much."""
    try:
        return _composed(bounding(event))
    except (NotApplicable, NoSuchRule):
        return None


def _alike(moments: Moments) -> Both:
    curve = Curve(moments)
    return curve, curve
