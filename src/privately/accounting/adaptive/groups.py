"""Steps of so many ranges that their orders are too many for one game: several games, and the pairs of all composed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import (
    MOST_PLAYS,
    Ranges,
    in_every_order,
    in_one_order,
    plays,
)
from privately.accounting.roads import NotApplicable

_SHARE = 0.5
"""Of all work, for the games together; the rest is for one order of all steps."""
_HALVINGS, _MOST_GROUPS = 10, 6


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
    return in_groups(ranges, rare, work)


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
    for _ in range(_HALVINGS):
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
