"""Pairs that are nearly the worst of those that a statement allows, at some places: a search, which proves nothing."""

from __future__ import annotations

import numpy as np

from privately.accounting.elementary import Integers
from privately.accounting.sampled_games.chosen_orders import ChosenOrders, near_orders
from privately.accounting.sampled_games.pairs import Law, merged
from privately.accounting.sampled_games.profiles import Profile
from privately.accounting.sampled_games.rules import ENOUGH, Bounded, orders
from privately.accounting.sampled_games.ways import Way
from privately.accounting.two_outcomes.allowed import Statement

_LOOKED, _AT_ONCE, _FINER = 150, 24, 6
_RARER, _BEYOND = 1e-6, 4
_MERGED = 1.0, 1.5


class Worst:
    """Of one kind of steps: at orders that are closer to each other next to those that count."""

    def __init__(self, way: Way, statement: Statement, rule: Bounded) -> None:
        self._way, self._rule = way, rule
        some = orders(statement, way.ratios, finer=_FINER)
        self._fine = Bounded(some, way.ratios, way.doubt, rule.little, is_search=True)

    def laws(self, profile: Profile, rare: float) -> list[Law]:
        """Where values are not rare: what is far beyond hardly counts."""
        lattice = profile.lattice
        last = int((profile.excess[-lattice.first :] >= _RARER * rare).sum())
        last = min(last + int(_BEYOND * float(self._way.rate) / lattice.step), lattice.last)
        places = np.unique(np.linspace(0, last, _LOOKED).astype(np.int64))
        parts = [places[max(stop - _AT_ONCE, 0) : stop] for stop in range(places.size, 0, -_AT_ONCE)]
        return [law for part in parts for law in self._part(profile, part)]

    def _part(self, profile: Profile, places: Integers) -> list[Law]:
        rule, fine, payoffs = self._rule, self._fine, self._way.all_payoffs(profile, places)
        counting = set[int]()
        for place in places[[-1, places.size // 2, 0]].tolist():
            rule.most(*self._way.payoffs(profile, place))
            counting |= set(rule.basis()[1].tolist())
        few = ChosenOrders(fine, near_orders(fine, rule, counting))
        enough = np.maximum(ENOUGH * payoffs[:, fine.even], fine.little)
        return few.laws(few.searched(payoffs, enough, few.begun(places.size)))


def few_laws(profile: Profile, way: Way, rule: Bounded, many: int) -> list[Law]:
    """At so many places by the orders of the rule alone; all low ratios are taken for one, in two ways."""
    found = []
    for place in np.unique(np.linspace(0, way.lattice.last, many).astype(int))[::-1].tolist():
        rule.most(*way.payoffs(profile, place))
        found.append(rule.law())
    return [merged(law, below) for law in found if law is not None for below in _MERGED]
