"""Which noise a question needs: one use of a mechanism for each independent thing that is asked of all groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from privately.guarantees import Sensitivity
from privately.plans import (
    BinCounts,
    Identity,
    Mean,
    Number,
    Quantile,
    Question,
    RowCount,
    Spread,
    StepSum,
    Tally,
    UnitCount,
    pair_sensitivity,
    sensitivity,
)
from privately.query.listing import Listing, listing_of

Moves: TypeAlias = tuple[Sensitivity, Sensitivity]
Found: TypeAlias = dict[Identity | tuple[Identity, Identity], "Use"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noisy:
    """A tally with noise on the number of every group. `moves` is how far neighbours move it, in L1 and in L2."""

    tally: Identity
    moves: Moves
    weight: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSided:
    """For averages: the sums of x - low and of high - x, with noise on both, in steps."""

    total: Identity
    count: Identity
    low: int
    high: int
    moves: Moves
    weight: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Quantiles of binned values: a choice among the bins in every group, for each probability in turn.

    `moves` is how many rows come or go, in L1. The weight of k choices that share a cost evenly is k^3.
    """

    bins: Identity
    tally: BinCounts
    probabilities: tuple[Fraction, ...]
    moves: Moves
    weight: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Values of keys that nobody listed: those are shown that enough units have, with their noisy numbers of units.

    One unit has at most `keys` of them. `moves` is of the numbers of units, in L1 and L2.
    """

    tally: Identity
    keys: int
    moves: Moves
    weight: int = 1


Use: TypeAlias = Noisy | TwoSided | Chosen | Listed


def uses(question: Question) -> tuple[Use, ...]:
    """What must be drawn. A count or sum that an average brings along is not drawn again.

    Where groups are unknown, what shows them comes first; a count of units that it brings along is not drawn again.
    """
    tallies = dict(question.aggregation.tallies)
    found: Found = {}
    listing = listing_of(question)
    if listing is not None:
        found[listing.tally] = _listed(question, listing)

    def moves(tally: Identity) -> Moves:
        aggregation, asked = question.aggregation, tallies[tally]
        return sensitivity(aggregation, asked, "L1"), sensitivity(aggregation, asked, "L2")

    for estimate in question.estimates:
        if isinstance(estimate, (Mean, Spread)):
            _add(found, (estimate.total, estimate.count), _pair(question, estimate, tallies))
        if isinstance(estimate, Spread):
            _add(found, estimate.squares, Noisy(tally=estimate.squares, moves=moves(estimate.squares)))
    paired = {name for use in found.values() if isinstance(use, TwoSided) for name in (use.total, use.count)}
    for estimate in question.estimates:
        if isinstance(estimate, Number) and isinstance(found.get(estimate.tally), Listed):
            continue
        if isinstance(estimate, Number) and estimate.tally not in paired:
            _add(found, estimate.tally, Noisy(tally=estimate.tally, moves=moves(estimate.tally)))
        if isinstance(estimate, Quantile):
            _choose(found, estimate, tallies[estimate.bins], moves(estimate.bins))
    return tuple(found.values())


def _listed(question: Question, listing: Listing) -> Listed:
    """Each estimate that is read off it adds to its weight."""
    aggregation, units = listing.aggregation, UnitCount()
    moves = sensitivity(aggregation, units, "L1"), sensitivity(aggregation, units, "L2")
    read = sum(isinstance(one, Number) and one.tally == listing.tally for one in question.estimates)
    return Listed(tally=listing.tally, keys=listing.most, moves=moves, weight=1 + read)


def _pair(question: Question, estimate: Mean | Spread, tallies: Mapping[Identity, Tally]) -> TwoSided:
    """Where all rows are counted and not the values that are summed, a NULL is one of x = 0."""
    steps, rows = tallies[estimate.total], tallies[estimate.count]
    assert isinstance(steps, StepSum)  # noqa: S101 - a question has no other
    assert isinstance(rows, RowCount)  # noqa: S101 - a question has no other
    low, high = steps.low, max(steps.high, steps.low + 1)
    if rows.argument != steps.argument:
        low, high = min(low, 0), max(high, 0)
    aggregation, width = question.aggregation, high - low
    moves = pair_sensitivity(aggregation, width, "L1"), pair_sensitivity(aggregation, width, "L2")
    return TwoSided(total=estimate.total, count=estimate.count, low=low, high=high, moves=moves)


def _add(found: Found, name: Identity | tuple[Identity, Identity], use: Use) -> None:
    known = found.get(name)
    found[name] = use if known is None else replace(known, weight=known.weight + 1)


def _choose(found: Found, estimate: Quantile, tally: Tally, moves: Moves) -> None:
    assert isinstance(tally, BinCounts)  # noqa: S101 - a question has no other
    known = found.get(estimate.bins)
    before = known.probabilities if isinstance(known, Chosen) else ()
    listed = tuple(sorted({*before, estimate.probability}))
    found[estimate.bins] = Chosen(
        bins=estimate.bins, tally=tally, probabilities=listed, moves=moves, weight=len(listed) ** 3
    )
