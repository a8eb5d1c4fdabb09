"""Steps of bounded range, in every order or in one: the lattice they are played on, and the profile in the end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TypeAlias

from privately.accounting.adaptive.chances import LARGEST, table
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.steps import play
from privately.accounting.roads import NotApplicable

Ranges: TypeAlias = tuple[tuple[Fraction, int], ...]
"""Each range, and the number of steps that have it."""

WORK = 3e5, 4e6, 1e7, 3e7
"""How many values are raised, roughly: first so many, then more."""
_LEAST_CELLS, _LEAST_PLACES, _FINEST, _WIDEST = 6, 50, 1 / 1024, 0.25
_MOST_PLACES, _MOST_KEPT = 40_000, 1_000_000
_PER_PLAY = 2e3
"""What a step of a game costs beside that, in the same measure."""
MOST_PLAYS = WORK[-1] / (3 * _PER_PLAY)
SPARE = 1e-7
"""What part of a value that counts may be neglected, in all."""
MOST_LOSS, _MOST_FITTED = 600.0, 12


@lru_cache(maxsize=8)
def in_every_order(ranges: Ranges, rare: float, work: float) -> Curve:
    """The profile of all steps, chosen adaptively, in any order; values below about `rare` need not be told apart.

    Theorem: a composition of n and m steps of two ranges that begins with one of either kind is worth at most the
        better of the two; so every order, even one that is chosen as it goes, is within the value of the game over
        the numbers of steps that are left.
    Reference: Dong-Durfee-Rogers 2020, section 5; Bellman 1957
    Proof: docs/theory/accounting/adaptive.md#games
    Checked-by: tests/accounting/adaptive/test_games.py::test_every_order_is_within,
        tests/accounting/adaptive/test_games.py::test_ranges_that_fit_no_lattice
    """
    step, times = step_of(ranges, rare, work), [count for _, count in ranges]
    cut = SPARE * rare / sum(times)
    layer = {(0,) * len(times): Curve.start(float(step))}
    tables = [table(size, step) for size, _ in ranges]
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


@lru_cache(maxsize=4)
def in_one_order(ranges: Ranges, rare: float, work: float) -> Curve:
    """Tests that the steps reach with the largest range last, which is likely the worst of all orders."""
    plays = sum(times for _, times in ranges)
    step = step_for([size for size, _ in ranges], reach_of(ranges, rare), work, plays, kept=1)
    curve, cut = Curve.start(float(step)), SPARE * rare / plays
    for size, times in sorted(ranges, reverse=True):
        chances = table(size, step)
        for _ in range(times):
            curve = play(curve, chances).trimmed(cut)
    return curve


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


def step_of(ranges: Ranges, rare: float, work: float) -> Fraction:
    """The step of the lattice for games in every order."""
    games = math.prod(times + 1 for _, times in ranges)
    kept = games / (max(times for _, times in ranges) + 1)
    return step_for([size for size, _ in ranges], reach_of(ranges, rare), work, plays(ranges), kept)


def step_for(sizes: Sequence[Fraction], reach: float, work: float, played: float, kept: float) -> Fraction:
    """A part of the largest range, where so many steps are played, and so many profiles are kept at a time."""
    largest = max(sizes)
    places = work / played - _PER_PLAY
    if places < _LEAST_PLACES or largest > LARGEST or reach > MOST_LOSS:
        raise NotApplicable("too many steps of games, too large a range, or too large losses")
    finest = max(reach / _MOST_PLACES, reach * kept / _MOST_KEPT, _FINEST * float(largest))
    step = min(max(reach / places, finest), _WIDEST)
    if float(min(sizes)) < _LEAST_CELLS * step or reach / step > 1.2 * places:
        raise NotApplicable("the lattice would be too coarse")
    return largest / _fitting([size / largest for size in sizes[:_MOST_FITTED]], math.ceil(float(largest) / step))


def _fitting(parts: Sequence[Fraction], least: int) -> int:
    """About so many cells that all parts of them are nearly whole: tests are off where ranges fit no lattice."""

    def misfit(count: int) -> Fraction:
        return max(abs(part * count - round(part * count)) for part in parts)

    return min(range(least, least + max(least // 4, 4)), key=misfit)


def reach_of(ranges: Ranges, rare: float) -> float:
    """About the largest loss that counts."""
    squares = sum(times * float(size) ** 2 for size, times in ranges)
    deviations = math.sqrt(-2 * math.log(max(rare * SPARE, 1e-300)))
    return min(sum(times * float(size) for size, times in ranges), squares / 8 + deviations * math.sqrt(squares) / 2)
