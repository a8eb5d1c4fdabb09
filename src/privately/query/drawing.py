"""From exact whole numbers to noisy ones: the only place where both are at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privately import mechanisms as m
from privately.engines.protocol import Bins, Counts, Group
from privately.mechanisms.randomness import Randomness
from privately.noise import add
from privately.plans import Aggregation, Identity
from privately.query.allocation import Drawn
from privately.query.uses import Chosen, Listed, Noisy, TwoSided


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyNumber:
    """A number with noise of a known law, in steps, for every group."""

    tally: Identity
    mechanism: m.Laplace | m.Gaussian
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyPair:
    """Two-sided sums with noise, in steps above `low` and below `high`."""

    use: TwoSided
    mechanism: m.Laplace | m.Gaussian
    above: tuple[int, ...]
    below: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenPoints:
    """The points that were chosen for one probability."""

    bins: Identity
    mechanism: m.Quantile | m.PermutedQuantile
    points: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownKeys:
    """The values that were shown of keys that nobody listed, in order, each with its noisy number of units."""

    tally: Identity
    mechanism: m.ThresholdedHistogram
    keys: tuple[Group, ...]
    numbers: tuple[int, ...]


Noise: TypeAlias = NoisyNumber | NoisyPair | ChosenPoints | ShownKeys


def drawn(
    plan: Sequence[Drawn], aggregation: Aggregation, counts: Counts, groups: Sequence[Group], randomness: Randomness
) -> tuple[Noise, ...]:
    """Noise for every use, on every group that is listed, whether anybody is in it or not.

    Groups that nobody listed are public by then: what showed them is no use of these.
    """
    exact = _Exact(aggregation, counts, groups)
    found: list[Noise] = []
    for one in plan:
        match one.use:
            case Noisy(tally=tally):
                found.append(_number(tally, one.mechanisms[0], exact.numbers(tally), randomness))
            case TwoSided():
                found.append(_pair(one.use, one.mechanisms[0], exact, randomness))
            case Chosen():
                counts_in_bins = exact.bins(one.use.bins)
                found.extend(_points(one.use, each, counts_in_bins, randomness) for each in one.mechanisms)
            case Listed():
                raise AssertionError("groups are shown before anything else is drawn")
    return tuple(found)


class _Exact:
    """What an engine counted, for the groups that are listed. Never shown."""

    def __init__(self, aggregation: Aggregation, counts: Counts, groups: Sequence[Group]) -> None:
        self._places = {identity: at for at, (identity, _) in enumerate(aggregation.tallies)}
        self._rows = [counts.get(group) for group in groups]

    def numbers(self, tally: Identity) -> list[int]:
        """0 where nobody is."""
        found = [None if row is None else row[self._places[tally]] for row in self._rows]
        return [one if isinstance(one, int) else 0 for one in found]

    def bins(self, tally: Identity) -> list[OrderedCounts]:
        """None where nobody is."""
        found = [None if row is None else row[self._places[tally]] for row in self._rows]
        return [OrderedCounts.of(one if isinstance(one, Mapping) else {}) for one in found]


@dataclass(frozen=True, slots=True)
class OrderedCounts:
    """Values in order, each as often as it was counted, without a copy for every row.

    It looks to a choice like the array of all of them. Without `places` the values are 0, 1, and so on; the entry
    before that of a value says how many are below it, and its own how many are not above.
    """

    places: NDArray[np.int64] | None
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, counts: Bins | Mapping[int, int]) -> OrderedCounts:
        """From how often each value was counted."""
        if not isinstance(counts, Bins):
            counts = Bins(np.array(list(counts), np.int64), np.array(list(counts.values()), np.int64))
        if counts.places is None:
            return cls(None, _running(counts.counts))
        order = np.argsort(counts.places, kind="stable")
        order = order[counts.counts[order] > 0]
        return cls(counts.places[order], _running(counts.counts[order]))

    @property
    def size(self) -> int:
        return int(self.ends[-1])

    def __getitem__(self, ranks: slice) -> NDArray[np.int64]:
        """The values that have these ranks, each once."""
        first = int(np.searchsorted(self.ends, ranks.start, "right")) - 1
        last = int(np.searchsorted(self.ends, ranks.stop, "left"))
        if self.places is not None:
            return self.places[first:last]
        return first + np.flatnonzero(np.diff(self.ends[first : last + 1]))

    def searchsorted(self, values: Any, side: Literal["left", "right"] = "left", sorter: None = None) -> Any:
        """How many are below each value; with "right", how many are not above it."""
        del sorter
        if self.places is not None:
            return self.ends[np.searchsorted(self.places, values, side)]
        past = values if side == "left" else np.add(values, 1)
        return self.ends[np.minimum(np.maximum(past, 0), len(self.ends) - 1)]


def _running(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Sums of none, the first, the first two, and so on."""
    ends = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, dtype=np.int64, out=ends[1:])
    return ends


def _noisy(mechanism: m.Laplace | m.Gaussian, numbers: Sequence[int], randomness: Randomness) -> tuple[int, ...]:
    """What the mechanism does, without an end at 64 bits: sums may be longer, and their intervals are to hold."""
    if not numbers:
        return ()
    answers = add(np.array(numbers, object), randomness.draw(mechanism.law, size=len(numbers)))
    return tuple(int(answer) for answer in answers)


def _number(tally: Identity, mechanism: object, numbers: list[int], randomness: Randomness) -> NoisyNumber:
    assert isinstance(mechanism, (m.Laplace, m.Gaussian))  # noqa: S101 - for the type checker
    return NoisyNumber(tally=tally, mechanism=mechanism, numbers=_noisy(mechanism, numbers, randomness))


def _pair(use: TwoSided, mechanism: object, exact: _Exact, randomness: Randomness) -> NoisyPair:
    assert isinstance(mechanism, (m.Laplace, m.Gaussian))  # noqa: S101 - for the type checker
    pairs = list(zip(exact.numbers(use.total), exact.numbers(use.count), strict=True))
    above = [total - use.low * count for total, count in pairs]
    below = [use.high * count - total for total, count in pairs]
    answers = _noisy(mechanism, above + below, randomness)
    return NoisyPair(use=use, mechanism=mechanism, above=answers[: len(pairs)], below=answers[len(pairs) :])


def _points(use: Chosen, mechanism: object, counts: Sequence[Any], randomness: Randomness) -> ChosenPoints:
    """The middle of the bin that was chosen, or the bound that is nearest to it."""
    assert isinstance(mechanism, (m.Quantile, m.PermutedQuantile))  # noqa: S101 - for the type checker
    chosen = [mechanism.choose(ordered, 0, use.tally.bins - 1, randomness) for ordered in counts]
    middles = (use.tally.lower + (place + Fraction(1, 2)) * use.tally.width for place in chosen)
    bounds = use.tally.argument.known.range
    points = tuple(middles if bounds is None else (min(max(one, bounds.lower), bounds.upper) for one in middles))
    return ChosenPoints(bins=use.bins, mechanism=mechanism, points=points)
