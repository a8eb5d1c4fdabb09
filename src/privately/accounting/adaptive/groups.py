"""Steps of so many ranges that their orders are too many for one game: several games, and the pairs of all composed.

Games are of every order, or of a budget; whichever is likely narrower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from privately.accounting.adaptive.budgets import ticks_for, within_budget
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import (
    MOST_PLAYS,
    WORK,
    Ranges,
    in_every_order,
    in_one_order,
    plays,
)
from privately.accounting.roads import NotApplicable

_SHARE = 0.5
"""Of all work, for the games together; the rest is for one order of all steps."""
_HALVINGS, _MOST_GROUPS = 10, 6
_PER_GROUP, _PER_SPREAD = 0.6, 1.0
"""What a group costs more, in steps of its largest range, and what a budget does if most ranges are tiny."""
_SMALL, _MOST_BUDGETS, _FIRST_SHARE = Fraction(7, 25), 3, 0.75


@dataclass(frozen=True)
class Profiles:
    """Curves whose pairs, composed, cost at least as much as all steps, and one whose tests they reach."""

    above: tuple[Curve, ...]
    below: Curve


def profiles(ranges: Ranges, rare: float, work: float) -> Profiles:
    """Of all steps, in any order: of one game, or of several where one would take too long."""
    if plays(ranges) <= MOST_PLAYS:
        whole = in_every_order(ranges, rare, work)
        return Profiles((whole,), whole)
    if sum(times for _, times in ranges) > 2 * MOST_PLAYS:
        raise NotApplicable("too many steps of games")
    if _by_groups(ranges) <= _by_budgets(ranges):
        return in_groups(ranges, rare, work)
    if work < WORK[-1]:
        raise NotApplicable("a clock would be too coarse")
    return in_budgets(ranges, rare, work)


def _by_groups(ranges: Ranges) -> float:
    """How much more groups cost, roughly, as the square of a range."""
    try:
        groups = divided(ranges, _SHARE * MOST_PLAYS)
    except NotApplicable:
        return math.inf
    return _PER_GROUP * sum(float(max(group)[0]) ** 2 for group in groups[1:])


def _by_budgets(ranges: Ranges) -> float:
    groups = by_size(ranges)
    return _PER_GROUP * sum(float(max(group)[0]) ** 2 for group in groups[1:]) + sum(map(_spread, groups))


def _spread(ranges: Ranges) -> float:
    largest = float(max(ranges)[0]) ** 2
    squares, fourth = (sum(times * float(size) ** power for size, times in ranges) for power in (2, 4))
    return _PER_SPREAD * (largest - fourth / squares) + squares / ticks_for(squares / largest, WORK[-1]) ** 2


@lru_cache(maxsize=4)
def in_budgets(ranges: Ranges, rare: float, work: float) -> Profiles:
    """From above the game of a budget for steps of similar ranges; from below one order of all steps."""
    groups, above, left = by_size(ranges), list[Curve](), work
    for group in groups:
        part = left if group is groups[-1] else _FIRST_SHARE * left
        left -= part
        is_short = plays(group) <= MOST_PLAYS / _MOST_GROUPS
        above.append(in_every_order(group, rare, part) if is_short else within_budget(group, rare, 2 * part))
    return Profiles(tuple(above), in_one_order(ranges, rare, _SHARE * work))


def by_size(ranges: Ranges) -> list[Ranges]:
    """Groups of ranges none of which is much smaller than the largest of its group, but for the last group."""
    groups = list[list[tuple[Fraction, int]]]()
    for one in sorted(ranges, reverse=True):
        if groups and (one[0] >= _SMALL * groups[-1][0][0] or len(groups) == _MOST_BUDGETS):
            groups[-1].append(one)
        else:
            groups.append([one])
    return [tuple(group) for group in groups]


@lru_cache(maxsize=4)
def in_groups(ranges: Ranges, rare: float, work: float) -> Profiles:
    """From above a game for every group; from below one order of all steps.

    Theorem: divided into groups in any way, steps of bounded range cost at most as much, in every order of all of them
        and however they are chosen, as the pairs of the groups' games composed.
    Reference: Dong-Durfee-Rogers 2020, section 5, for one game; a chord of a mean is the mean of chords
    Proof: docs/theory/accounting/adaptive.md#groups
    Checked-by: tests/accounting/adaptive/test_groups.py::test_groups_cost_at_least_as_much_as_every_order,
        tests/accounting/adaptive/test_groups.py::test_one_order_is_reached
    """
    groups = divided(ranges, _SHARE * MOST_PLAYS)
    each = _SHARE * work / sum(plays(group) for group in groups)
    above = tuple(in_every_order(group, rare, each * plays(group)) for group in groups)
    return Profiles(above, in_one_order(ranges, rare, (1 - _SHARE) * work))


def divided(ranges: Ranges, most: float) -> tuple[Ranges, ...]:
    """Few groups of ranges that are close to each other, whose games have at most so many steps in all.

    Every group costs about as much more as half a step of its largest range.
    """
    limit = most
    for _ in range(_HALVINGS if len(ranges) <= most else 0):
        groups = _greedy(ranges, limit)
        if len(groups) > _MOST_GROUPS:
            break
        if sum(plays(group) for group in groups) <= most:
            return groups
        limit /= 2
    raise NotApplicable("too many steps of games")


def _greedy(ranges: Ranges, limit: float) -> tuple[Ranges, ...]:
    groups: list[Ranges] = []
    for one in sorted(ranges, reverse=True):
        if groups and plays((*groups[-1], one)) <= limit:
            groups[-1] = (*groups[-1], one)
        else:
            groups.append((one,))
    return tuple(groups)
