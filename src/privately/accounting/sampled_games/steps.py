"""Sampled steps before a profile, each chosen in the light of all before it: upper values."""

from __future__ import annotations

import numpy as np

from privately.accounting.elementary import Floats, Integers
from privately.accounting.sampled_games.blocks import Blocks
from privately.accounting.sampled_games.profiles import Profile
from privately.accounting.sampled_games.rules import Bounded, Rule
from privately.accounting.sampled_games.ways import Way

_MANY = 96


class Steps:
    """One after another, as the best choice changes little from one to the next; the second rule serves below 1."""

    def __init__(self, way: Way, rules: tuple[Rule, Rule], *, are_shared: bool = True) -> None:
        """By prices for many places at once, or by those of each by itself, which leave less to chance for jumps."""
        self._way = way
        self._rules = [Blocks(way, rule) if are_shared and isinstance(rule, Bounded) else rule for rule in rules]
        lattice, every = way.lattice, np.arange(way.lattice.first, way.lattice.last + 1)
        ends = [place for place in range(-lattice.first % _MANY, lattice.size, _MANY) if place]
        self._blocks: list[Integers] = np.split(every, ends)

    def raised(self, profile: Profile) -> Profile:
        """With one more step, from the last place to the first."""
        found = [self._most(profile, block) for block in self._blocks[::-1]]
        return profile.held(np.maximum(np.concatenate(found[::-1]), 0.0))

    def _most(self, profile: Profile, places: Integers) -> Floats:
        rule = self._rules[0 if places[0] >= 0 else 1]
        if isinstance(rule, Blocks):
            return rule.most(profile, places)
        return np.array([rule.most(*self._way.payoffs(profile, place)) for place in places[::-1].tolist()])[::-1]


def raised(profile: Profile, way: Way, rules: tuple[Rule, Rule]) -> Profile:
    """With one step."""
    return Steps(way, rules).raised(profile)
