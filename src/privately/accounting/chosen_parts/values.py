"""One run of a part, and what games of parts are worth, on a lattice of losses and from both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privately.accounting.compositions import Composition
from privately.accounting.elementary import ERROR, UNIT, Floats, Integers, exp, expm1
from privately.accounting.spreading import Losses, listed

Masses = tuple[Floats, int]
"""At the places first, first + 1, ... of a lattice."""

_SPARSE, _USUAL = 16, 14.0
"""Beyond so many spreads of one run places are so many steps apart."""
_CELLS, _LOST = 1 << 13, 1e-290


@dataclass(frozen=True)
class Pieces:
    """The same without long stretches of nothing: how far it reaches on both sides, and where each piece ends."""

    left: int
    right: int
    size: int
    kept: tuple[tuple[int, Floats], ...]

    @classmethod
    def of(cls, masses: Masses) -> Pieces:
        weights, first = masses
        last, places = first + weights.size - 1, np.flatnonzero(weights)
        left = max(last, 0)
        gaps = np.flatnonzero(np.diff(places) >= _SPARSE)  # all between is 0
        ends = zip([0, *(gaps + 1).tolist()], [*gaps.tolist(), places.size - 1], strict=True) if places.size else ()
        cut = ((int(places[begin]), int(places[end])) for begin, end in ends)
        kept = tuple((left - first - high, weights[low : high + 1]) for low, high in cut)
        return cls(left, max(-first, 0), weights.size, kept)


@dataclass(frozen=True)
class Part:
    """One run of a part, from either side of it: probabilities at the places of a lattice."""

    most: Masses
    """Under P, of the finite losses of a pair that costs at least as much."""
    outside: float
    """What is to be added, at most: infinite losses, and what was left out."""
    powers: Masses
    prices: Masses
    """Under P, from below, and under Q, from above, of outcomes and lots: losses are near these places."""
    infinite: float
    """The mass at infinite loss, from below."""

    @cached_property
    def pieces(self) -> tuple[Pieces, Pieces, Pieces]:
        """Of all three."""
        return Pieces.of(self.most), Pieces.of(self.powers), Pieces.of(self.prices)

    @classmethod
    def of(cls, composition: Composition, step: float, rare: float) -> Part:
        """From the lists of all its losses."""
        most = powers = prices = (np.ones(1), 0)
        outside = 0.0
        for law, times in composition.parts:
            above, below = listed(law, "upper", _CELLS, rare), listed(law, "lower", _CELLS, rare)
            one, (power, price) = _split(above, step), _drawn(below, step)
            for _ in range(times):
                most = _added(most, one, 1)
                powers, prices = _added(powers, power, -1), _added(prices, price, 1)
                outside = (outside + above.outside) * (1 + 4 * UNIT)
        least = math.nextafter(float(composition.infinite_lower), 0.0)
        outside = min((outside + float(composition.infinite)) * (1 + 4 * UNIT), 1.0)
        return cls((most[0] * ((1 - least) * (1 + 4 * UNIT)), most[1]), outside, powers, prices, least)


@dataclass(frozen=True)
class Value:
    """The value V(y) of a game at y = e^(j step), j = first, first + 1, ...: values that are not below it, and lines
    powers - y prices that nowhere are above it.
    """

    step: float
    first: int
    upper: Floats
    powers: Floats
    prices: Floats

    @classmethod
    def start(cls, step: float, first: int, last: int) -> Value:
        """Of nothing at all: the larger of 1 - y and 0."""
        losses = np.arange(float(first), last + 1) * step
        upper = np.where(losses < 0, -expm1(np.minimum(losses, 0.0)) * (1 + 4 * ERROR), 0.0)
        rejects = np.where(losses < 0, 1.0, 0.0)
        return cls(step, first, np.minimum(upper, 1.0), rejects, rejects)

    @property
    def losses(self) -> Floats:
        """j step at all places."""
        return np.arange(float(self.first), self.first + self.upper.size) * self.step

    def after(self, parts: Sequence[Part]) -> Value:
        """With one more run before all others, of the part that is worth most at every loss."""
        return worst([(self, part) for part in parts])


def worst(ways: Sequence[tuple[Value, Part]]) -> Value:
    """Of all ways to go on, one run of a part before the value of what is left then: at every loss the worst.

    Theorem: V'(y) is the largest of the means of V(y e^-L) under P. V is convex, falls, and is between 1 - y or 0 and
        1: a loss between two places may be divided between them by a chord from above, and from below any line that is
        not above V may follow any outcome, whichever part is chosen.
    Reference: Zhu-Dong-Wang 2022, Theorem 10, for one part; Bellman 1957
    Proof: docs/theory/accounting/events.md#games-of-parts
    Checked-by: tests/accounting/chosen_parts/test_games.py::test_no_strategy_is_outside,
        tests/accounting/chosen_parts/test_games.py::test_the_best_part_is_taken_at_every_loss
    """
    first = ways[0][0]
    grown = exp(first.losses)
    upper, best = np.zeros_like(first.upper), np.full_like(first.upper, -math.inf)
    powers, prices = first.powers, first.prices
    for left, part in ways:
        most, on_powers, on_prices = part.pieces
        value = _mean(left.upper, most, float(left.upper[-1]), 1)
        upper = np.maximum(upper, (value + part.outside) * (1 + 4 * UNIT) + _LOST)
        power = part.infinite + (1 - part.infinite) * _mean(left.powers, on_powers, 0.0, -1)
        price = (1 - part.infinite) * _mean(left.prices, on_prices, 0.0, 1) * (1 + 8 * UNIT) + _LOST
        power, price = power * (1 - 8 * UNIT), np.minimum(price, 1.0)
        found = power - grown * price
        is_more = found > best
        best = np.where(is_more, found, best)
        powers, prices = np.where(is_more, power, powers), np.where(is_more, price, prices)
    upper = np.minimum.accumulate(np.minimum(upper, 1.0))
    return Value(first.step, first.first, upper, powers, prices)


def width(found: Losses, times: int) -> float:
    """About how much of a lattice is added up."""
    wide = float(np.ptp(found.losses))
    return 2 * (wide if times > 1 else min(wide, 2 * _near_by(found) + 4 * wide / _SPARSE))


def _near_by(found: Losses) -> float:
    """Losses beyond this are rare."""
    return _USUAL * math.sqrt(variance(found))


def variance(found: Losses) -> float:
    return float((found.losses - found.losses @ found.masses) ** 2 @ found.masses)


def _split(found: Losses, step: float) -> Masses:
    """Each loss divided between the two places around it, by the chord between them."""
    first, at, rest, cells = _between(found, step)
    upward = np.minimum(expm1(-rest) / expm1(-cells * step) * (1 + 4 * ERROR), 1.0)
    return _placed(at, cells, found.masses, upward) * (1 + 4 * (at.size + 4) * UNIT), first


def _drawn(found: Losses, step: float) -> tuple[Masses, Masses]:
    """Under P and under Q, each loss by lots at one of the two places around it, on the mean where it is."""
    first, at, rest, cells = _between(found, step)
    upward, off = rest / (cells * step), 4 * (at.size + 4) * UNIT
    prices = _placed(at, cells, found.masses * exp(-found.losses), upward) * (1 + off + 4 * ERROR)
    return (_placed(at, cells, found.masses, upward) * (1 - off), first), (prices, first)


def _between(found: Losses, step: float) -> tuple[int, Integers, Floats, Floats]:
    """The first place; for each loss how far the last place below it is from that, how far the loss is from there, and
    how many steps there are to the next: more where losses are rare.
    """
    cells = np.where(np.abs(found.losses) > _near_by(found), float(_SPARSE), 1.0)
    place = np.floor(found.losses / (cells * step)) * cells
    first = int(place.min())
    rest = np.clip((found.losses - place * step) * (1 + 4 * UNIT), 0.0, cells * step)
    return first, (place - first).astype(np.int64), rest, cells


def _placed(at: Integers, cells: Floats, masses: Floats, upward: Floats) -> Floats:
    size = int(at.max()) + _SPARSE + 1
    after = at + cells.astype(np.int64)
    found = np.bincount(at, masses * (1 - upward), size) + np.bincount(after, masses * upward, size)
    return found.astype(np.float64, copy=False)


def _added(one: Masses, other: Masses, sign: int) -> Masses:
    """Of the sum of both, rounded up or down."""
    found = np.convolve(one[0], other[0])
    return found * (1 + sign * 2 * (min(one[0].size, other[0].size) + 4) * UNIT), one[1] + other[1]


def _mean(values: Floats, pieces: Pieces, beyond: float, sign: int) -> Floats:
    """At every place the sum of masses times the values so many places before it, rounded up or down; before the first
    place values are 1.
    """
    longer = np.concatenate([np.ones(pieces.left), values, np.full(pieces.right, beyond)])
    found, size = np.zeros_like(values), values.size
    for start, weights in pieces.kept:
        found += np.convolve(longer[start : start + size + weights.size - 1], weights, "valid")
    return found * (1 + sign * 2 * (pieces.size + 4) * UNIT)
