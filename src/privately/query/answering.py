"""Where the data is asked: one pass for groups that are public, two where the first must show which there are."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from privately import mechanisms as m
from privately.engines.protocol import Counts, Group, Limits, TableReport
from privately.mechanisms.randomness import Randomness
from privately.plans import Aggregation, Identity
from privately.query.allocation import Drawn
from privately.query.drawing import Noise, ShownKeys, drawn
from privately.query.listing import (
    Listing,
    groups_of,
    listing_of,
    most_groups,
    public_groups,
    restricted,
    shown_keys,
)
from privately.query.pricing import Priced
from privately.query.uses import Chosen, Noisy, TwoSided

Answered: TypeAlias = tuple[tuple[Group, ...], tuple[Noise, ...]]


class Engine(Protocol):
    """Where the data sits: it counts, exactly, and knows nothing of privacy."""

    def ready(self) -> None:
        """Passes if the data is there, as it was when it was opened; otherwise says what to do. Reads nothing of it."""

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts: ...

    def check(self, table: str) -> TableReport:
        """What the owner, and nobody else, may know exactly."""

    def close(self) -> None: ...


def answered(priced: Priced, engine: Engine, limits: Limits | None, randomness: Randomness) -> Answered:
    """The groups of the answer and the noisy numbers of each. The charge was made before."""
    asked, listing = priced.question.aggregation, listing_of(priced.question)
    if listing is None:
        groups = groups_of(priced.question)
        return groups, drawn(priced.plan, asked, engine.run(asked, limits), groups, randomness)
    first, *rest = priced.plan
    most = most_groups(priced.question) // public_groups(priced.question)
    shown = _shown(first, listing, most, engine, limits, randomness)
    groups = groups_of(priced.question, shown.keys)
    counts: Counts = {}
    if rest and groups:
        asked = restricted(priced.question, shown.keys, _needed(rest))
        counts = engine.run(asked, limits)
    return groups, (shown, *drawn(rest, asked, counts, groups, randomness))


def _shown(  # noqa: PLR0917 - all are handed on
    first: Drawn, listing: Listing, most: int, engine: Engine, limits: Limits | None, randomness: Randomness
) -> ShownKeys:
    (mechanism,) = first.mechanisms
    assert isinstance(mechanism, m.ThresholdedHistogram)  # noqa: S101 - what shows groups comes first
    types = [key.expression.known.type for key in listing.aggregation.keys]
    found = shown_keys(mechanism, engine.run(listing.aggregation, limits), types, most, randomness)
    return ShownKeys(tally=listing.tally, mechanism=mechanism, keys=tuple(found), numbers=tuple(found.values()))


def _needed(plan: list[Drawn]) -> set[Identity]:
    """The tallies that the second pass has to count."""
    found: set[Identity] = set()
    for one in plan:
        match one.use:
            case Noisy(tally=tally):
                found.add(tally)
            case TwoSided(total=total, count=count):
                found |= {total, count}
            case Chosen(bins=bins):
                found.add(bins)
    return found
