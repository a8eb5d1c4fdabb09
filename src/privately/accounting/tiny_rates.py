"""Samples so rare that their rates are next to no float: between a rate that is one and no sample at all."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from privately.accounting.events import Event, Group, Parallel, PoissonSample, Repeat, Sequence

TINY = Fraction(1, 10**200)


def has_tiny_rates(event: Event, around: Fraction = Fraction(1)) -> bool:
    """Whether there is a sample, inside of others or not, of a smaller rate than this, but not 0."""
    match event:
        case PoissonSample(event=inner, rate=rate):
            return 0 < rate * around < TINY or has_tiny_rates(inner, rate * around or around)
        case Sequence(events=events) | Parallel(events=events):
            return any(has_tiny_rates(part, around) for part in events)
        case Repeat(event=inner) | Group(event=inner):
            return has_tiny_rates(inner, around)
    return False


def without_tiny_rates(event: Event, *, upward: bool, around: Fraction = Fraction(1)) -> Event:
    """With that rate in place of smaller ones, which costs at least as much, or 0, which costs at most as much.

    Theorem: the profile of a sample rises with its rate.
    Reference: Balle-Barthe-Gaboardi 2018
    Proof: docs/theory/accounting/events.md#rates-near-1
    Checked-by: tests/accounting/test_tiny_rates.py::test_between_a_float_and_nothing
    """

    def step(inner: Event, within: Fraction = around) -> Event:
        return without_tiny_rates(inner, upward=upward, around=within)

    match event:
        case PoissonSample(event=inner, rate=rate) if 0 < rate * around < TINY:
            return PoissonSample(event=inner, rate=min(TINY / around, Fraction(1)) if upward else 0)
        case PoissonSample(event=inner, rate=rate):
            return PoissonSample(event=step(inner, rate * around or around), rate=rate)
        case Sequence(events=events) | Parallel(events=events):
            return replace(event, events=tuple(map(step, events)))
        case Repeat(event=inner) | Group(event=inner):
            return replace(event, event=step(inner))
    return event
