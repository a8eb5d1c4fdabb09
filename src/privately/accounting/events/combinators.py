"""Events made of several runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice

from privately.accounting.events.event import MAX_NODES, MAX_TIMES, Event, check_part, enclose, settle
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors
from privately.rounding import whole


@dataclass(frozen=True, init=False, repr=False)
class Sequence(Event):
    """All of these, each in the light of the answers before it; which events they are is fixed beforehand.

    >>> from privately.accounting import Gaussian, Pure
    >>> Sequence(events=[Gaussian(noise_multiplier=2), Pure(epsilon="0.1")])
    Sequence(events=[Gaussian(noise_multiplier=2), Pure(epsilon='0.1')])
    """

    events: tuple[Event, ...]
    neighbors: Neighbors = field(init=False, repr=False, compare=False)

    def __init__(self, *, events: Iterable[Event]) -> None:
        settle(self, "events", _parts(events))
        enclose(self, self.events, name="events")


@dataclass(frozen=True, init=False, repr=False)
class Repeat(Event):
    """The same event `times` times, with fresh randomness each; 0 times is nothing."""

    event: Event
    times: int
    neighbors: Neighbors = field(init=False, repr=False, compare=False)

    def __init__(self, *, event: Event, times: int) -> None:
        settle(self, "event", check_part(event, "event"))
        settle(self, "times", whole(times, "times", minimum=0, maximum=MAX_TIMES))
        enclose(self, [event], name="times", times=self.times)


@dataclass(frozen=True, init=False, repr=False)
class Parallel(Event):
    """Each row goes to one part by a function of its own value, and each of the events sees one part.

    So one added or removed row meets one of the events, whichever is the worst. A replaced row could leave one part
    and enter another, whose events say nothing about rows that come and go: that is refused.
    """

    events: tuple[Event, ...]
    neighbors: Neighbors = field(init=False, repr=False, compare=False)

    def __init__(self, *, events: Iterable[Event]) -> None:
        settle(self, "events", _parts(events))
        enclose(self, self.events, name="events")
        _check_parallel(self.neighbors)


@dataclass(frozen=True, init=False, repr=False)
class Group(Event):
    """The same event, seen by `size` changes of the data at once."""

    event: Event
    size: int
    neighbors: Neighbors = field(init=False, repr=False, compare=False)

    def __init__(self, *, event: Event, size: int) -> None:
        settle(self, "event", check_part(event, "event"))
        settle(self, "size", whole(size, "size"))
        enclose(self, [event], name="event")
        settle(self, "neighbors", event.neighbors.times(self.size))


def _parts(events: Iterable[Event]) -> tuple[Event, ...]:
    if isinstance(events, (Mapping, AbstractSet)):
        raise InvalidParameter("events", "give a list of events: others forget how often each of them is run.")
    try:
        listed = list(islice(events, MAX_NODES))
    except TypeError:
        raise InvalidParameter("events", "give a list of events.") from None
    if not listed:
        raise InvalidParameter("events", "list at least one event; Repeat with times=0 is nothing.")
    return tuple(check_part(event, f"events[{place}]") for place, event in enumerate(listed))


def _check_parallel(neighbors: Neighbors) -> None:
    if neighbors.change != "add_remove" or neighbors.size != 1:
        raise NoSuchRule(
            premise=f"parts by value, {neighbors}",
            wanted="the cost of one part",
            hint="A replaced row can leave one part and enter another, and several rows can meet several parts:"
            " describe the parts under single additions and removals, or use Sequence.",
        )
    if neighbors.unit is not None and neighbors.max_rows != 1:
        raise NoSuchRule(
            premise=f"parts by value, {neighbors}",
            wanted="the cost of one part",
            hint="The rows of a unit can be in several parts: allow one row per unit, or use Sequence.",
        )
