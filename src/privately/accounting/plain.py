"""Events without what changes nothing: a Parallel of one part, and parts of parts."""

from __future__ import annotations

from collections.abc import Iterator

from privately.accounting.events import Event, FixedSizeSample, Group, Parallel, PoissonSample, Repeat, Sequence


def plain(event: Event) -> Event:
    """The same event; itself, where nothing is to be taken away.

    Theorem: all rows of a Parallel of one part are in that part; and whoever is in a part of a part is in a part.
    Reference: none; by what the events mean
    Proof: docs/theory/accounting/events.md#parallel
    Checked-by: tests/accounting/test_plain.py::test_plain_events_cost_the_same
    """
    match event:
        case Parallel(events=events):
            parts = [part for one in events for part in _parts(plain(one))]
            return parts[0] if len(parts) == 1 else event if parts == list(events) else Parallel(events=parts)
        case Sequence(events=events):
            steps = [plain(one) for one in events]
            return event if all(map(_is_same, steps, events)) else Sequence(events=steps)
        case Repeat(event=inner, times=times):
            found = plain(inner)
            return event if found is inner else Repeat(event=found, times=times)
        case Group(event=inner, size=size):
            found = plain(inner)
            return event if found is inner else Group(event=found, size=size)
        case PoissonSample(event=inner, rate=rate):
            found = plain(inner)
            return event if found is inner else PoissonSample(event=found, rate=rate)
        case FixedSizeSample(event=inner, size=size, population=population):
            found = plain(inner)
            return event if found is inner else FixedSizeSample(event=found, size=size, population=population)
    return event


def _parts(event: Event) -> Iterator[Event]:
    if isinstance(event, Parallel):
        yield from event.events
    else:
        yield event


def _is_same(one: Event, other: Event) -> bool:
    return one is other
