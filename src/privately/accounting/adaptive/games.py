"""Steps of bounded range, in every order or in one: the lattice they are played on, and the profile in the end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TypeAlias

from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.steps import LARGEST, play, table
from privately.accounting.roads import NotApplicable

Ranges: TypeAlias = tuple[tuple[Fraction, int], ...]
"""Each range, and the number of steps that have it."""

WORK = 4e6, 6e7, 6e8
"""How often values are compared, roughly: first this often, then more."""
_LEAST_CELLS, _FINEST, _WIDEST = 6, 1 / 1024, 0.25
_MOST_PLACES, _MOST_KEPT = 40_000, 1_000_000
_PER_PLAY = 1.5e5
"""What a step of a game costs beside that, in the same measure."""
MOST_PLAYS = WORK[-1] / _PER_PLAY
SPARE = 1e-7
"""What part of a value that counts may be neglected, in all."""
_MOST_LOSS = 600.0


@dataclass(frozen=True)
class Bounds:
    """A curve whose upper values count, and one whose tests count; often the same."""

    upper: Curve
    lower: Curve


@lru_cache(maxsize=8)
def bounds(ranges: Ranges, rare: float, work: float) -> Bounds:
    """The profile of all steps, chosen adaptively, in any order; values below about `rare` need not be told apart.

    Theorem: a composition of n and m steps of two ranges that begins with one of either kind is worth at most the
        better of the two; so every order, even one that is chosen as it goes, is within the value of the game over
        the numbers of steps that are left. A larger range is worth at least as much.
    Reference: Dong-Durfee-Rogers 2020, section 5; Bellman 1957
    Proof: docs/theory/accounting/adaptive.md#games
    Checked-by: tests/accounting/adaptive/test_games.py::test_every_order_is_within,
        tests/accounting/adaptive/test_games.py::test_ranges_that_fit_no_lattice
    """
    upper, step = above_every_order(ranges, rare, work), min(_fits(ranges, cells_of(ranges, rare, work)))
    return Bounds(upper, upper if float(step) == upper.step else _played(step, ranges, rare, work))


def above_every_order(ranges: Ranges, rare: float, work: float) -> Curve:
    """Upper values alone."""
    return _played(max(_fits(ranges, cells_of(ranges, rare, work))), ranges, rare, work)


@lru_cache(maxsize=4)
def in_one_order(ranges: Ranges, rare: float, work: float) -> Curve:
    """Tests that the steps reach with the largest range last, which is likely the worst of all orders."""
    times = [count for _, count in ranges]
    cells = _cells(ranges, rare, work, times, kept=1)
    step = min(_fits(ranges, cells))
    curve, cut = Curve.start(float(step)), SPARE * rare / sum(times)
    for count, often in sorted(zip(cells, times, strict=True), reverse=True):
        for _ in range(often):
            curve = play(curve, table(count, step)).trimmed(cut)
    return curve


def _played(step: Fraction, ranges: Ranges, rare: float, work: float) -> Curve:
    """The value of the game with all steps left, layer by layer of how many are."""
    cells, times = cells_of(ranges, rare, work), [count for _, count in ranges]
    cut = SPARE * rare / sum(times)
    layer = {(0,) * len(times): Curve.start(float(step))}
    tables = [table(count, step) for count in cells]
    for left in range(1, sum(times) + 1):
        after: dict[tuple[int, ...], Curve] = {}
        for state in _states(times, left):
            found: Curve | None = None
            for kind, chances in enumerate(tables):
                if not state[kind]:
                    continue
                before = layer[(*state[:kind], state[kind] - 1, *state[kind + 1 :])]
                value = play(before, chances)
                found = value if found is None else found.joined(value)
            if found is not None:
                after[state] = found.trimmed(cut)
        layer = after
    return layer[tuple(times)]


def _states(times: Sequence[int], left: int) -> Iterator[tuple[int, ...]]:
    """How many steps of each kind may be left, so many in all."""
    longest = max(range(len(times)), key=lambda kind: times[kind])
    others = [range(count + 1) if kind != longest else (0,) for kind, count in enumerate(times)]
    for state in product(*others):
        rest = left - sum(state)
        if 0 <= rest <= times[longest]:
            yield (*state[:longest], rest, *state[longest + 1 :])


def plays(ranges: Sequence[tuple[Fraction, int]]) -> float:
    """How many steps are played in all games; so many that nobody would wait, where they are too many for a float."""
    steps = sum(math.log1p(times) for _, times in ranges)
    return math.exp(min(steps, 700.0)) * sum(times / (times + 1) for _, times in ranges)


def cells_of(ranges: Ranges, rare: float, work: float) -> list[int]:
    """How many steps of the lattice each range is, about, where they are played in every order."""
    if plays(ranges) > work / _PER_PLAY:
        raise NotApplicable("too many steps of games")
    games = math.prod(times + 1 for _, times in ranges)
    played = [games * times / (times + 1) for _, times in ranges]
    return _cells(ranges, rare, work, played, kept=games / (max(times for _, times in ranges) + 1))


def _cells(ranges: Ranges, rare: float, work: float, played: Sequence[float], kept: float) -> list[int]:
    """The same, where steps of each range are played so often, and so many profiles are kept at a time."""
    sizes = [float(size) for size, _ in ranges]
    reach = _reach(ranges, rare)
    if sum(played) > work / _PER_PLAY or max(sizes) > LARGEST or reach > _MOST_LOSS:
        raise NotApplicable("too many steps of games, too large a range, or too large losses")
    compared = sum(count * size for count, size in zip(played, sizes, strict=True)) * reach
    finest = max(reach / _MOST_PLACES, reach * kept / _MOST_KEPT, _FINEST * max(sizes))
    step = min(max(math.sqrt(compared / work), finest), _WIDEST)
    if min(sizes) < _LEAST_CELLS * step or compared / step**2 > 1.2 * work:
        raise NotApplicable("the lattice would be too coarse")
    return _fitting([size for size, _ in ranges], step)


def _fits(ranges: Ranges, cells: Sequence[int]) -> list[Fraction]:
    """The steps of the lattice that would fit each range."""
    return [size / count for (size, _), count in zip(ranges, cells, strict=True)]


def _reach(ranges: Ranges, rare: float) -> float:
    """About the largest loss that counts."""
    squares = sum(times * float(size) ** 2 for size, times in ranges)
    deviations = math.sqrt(-2 * math.log(max(rare * SPARE, 1e-300)))
    return min(sum(times * float(size) for size, times in ranges), squares / 8 + deviations * math.sqrt(squares) / 2)


def _fitting(sizes: Sequence[Fraction], step: float) -> list[int]:
    """Whole numbers, in whose proportion the sizes are as nearly as possible."""
    largest = max(sizes)
    least = math.ceil(float(largest) / step)

    def shared(count: int) -> list[int]:
        return [round(size * count / largest) for size in sizes]

    def misfit(count: int) -> Fraction:
        fits = [size / cells for size, cells in zip(sizes, shared(count), strict=True)]
        return max(fits) / min(fits)

    return shared(min(range(least, least + (max(least // 2, 4) if len(sizes) > 1 else 1)), key=misfit))
