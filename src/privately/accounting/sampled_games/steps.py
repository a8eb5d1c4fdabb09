"""One sampled step before a profile, chosen in the light of all before it: upper values."""

from __future__ import annotations

import numpy as np

from privately.accounting.sampled_games.blocks import all_most
from privately.accounting.sampled_games.profiles import Profile
from privately.accounting.sampled_games.rules import Bounded, Rule
from privately.accounting.sampled_games.ways import Way


def raised(profile: Profile, way: Way, rules: tuple[Rule, Rule]) -> Profile:
    """With one more step, from the last place to the first, as the best choice changes little from one to the next.

    The second rule serves places below 1.
    """
    lattice = profile.lattice
    if isinstance(rules[0], Bounded) and isinstance(rules[1], Bounded):
        halves = (rules[1], lattice.first, 0), (rules[0], 0, lattice.last + 1)
        found = np.concatenate([all_most(profile, way, *half) for half in halves])
        return profile.held(np.maximum(found, 0.0))
    found = np.empty(lattice.size)
    for place in range(lattice.last, lattice.first - 1, -1):
        found[place - lattice.first] = rules[0 if place >= 0 else 1].most(*way.payoffs(profile, place))
    return profile.held(np.maximum(found, 0.0))
