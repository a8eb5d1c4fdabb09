"""Several changes at once of data that is divided into parts."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement

from privately.accounting.events import (
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Gaussian,
    GaussianDP,
    Group,
    Laplace,
    Pure,
    RandomizedResponse,
    Repeat,
    Sequence,
)
from privately.accounting.groups import group_of_leaf
from privately.accounting.terms import side_by_side
from privately.errors import NoSuchRule
from privately.guarantees import Neighbors

_MOST_WAYS = 32
_REACHED = (Gaussian, GaussianDP, Laplace, DiscreteGaussian, DiscreteLaplace, RandomizedResponse, Pure)
"""Of these groups have one worst pair, the same in both directions, that is reached."""


def splits(event: Event) -> list[Event]:
    """What a group sees of parts side by side: a composition for each way to divide its rows among them.

    None for other events, where there are too many ways, and where parts hold other things than noise, responses,
    `Pure` and `GaussianDP`.

    Theorem: rows that come and go meet the parts that they belong to. Of k rows j_i meet part i, at the cost of a group
        of j_i, and parts are independent: the profile is the largest over all j_i that add up to k, and is reached.
    Reference: McSherry 2009, Theorem 4
    Proof: docs/theory/accounting/events.md#groups-of-parts
    Checked-by: tests/accounting/test_grouped_parts.py::test_groups_of_parts_by_enumeration
    """
    parts = side_by_side(event.event) if isinstance(event, Group) else ()
    if not isinstance(event, Group) or not parts or math.comb(event.size + len(parts) - 1, event.size) > _MOST_WAYS:
        return []
    ways = [Counter(way) for way in combinations_with_replacement(range(len(parts)), event.size)]
    try:
        return [
            Sequence(events=[_seen(parts[place], rows, event.neighbors) for place, rows in way.items()]) for way in ways
        ]
    except NoSuchRule:
        return []


def _seen(event: Event, rows: int, neighbors: Neighbors) -> Event:
    """What so many rows see of one part."""
    match event:
        case Sequence(events=events):
            return Sequence(events=[_seen(one, rows, neighbors) for one in events])
        case Repeat(event=inner, times=times):
            return Repeat(event=_seen(inner, rows, neighbors), times=times)
    if not isinstance(event, _REACHED):
        raise NoSuchRule(premise=type(event).__name__, wanted="what some rows of a group see of it")
    return group_of_leaf(event, rows, neighbors)
