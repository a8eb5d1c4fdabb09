"""One sampled step of a statement before a profile: upper values, many places at a time."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from privately.accounting.elementary import Floats, Integers
from privately.accounting.sampled_games.chosen_orders import ChosenOrders, Found, near_orders
from privately.accounting.sampled_games.profiles import Profile
from privately.accounting.sampled_games.rules import ENOUGH, Bounded
from privately.accounting.sampled_games.ways import Way

_LATER, _LEAST, _MORE = 0.25, 3, 13


@dataclass
class _Known:
    """Of a block: the orders that count, what was best at the last step, and when orders are looked for again."""

    few: ChosenOrders
    counting: set[int]
    found: Found
    steps: int = 1
    again: int = 2


@dataclass
class Blocks:
    """Steps of one rule, at blocks of places on one side of 1; what was best before a step hardly changes."""

    way: Way
    rule: Bounded
    _known: dict[tuple[int, int], _Known] = field(default_factory=dict)

    def most(self, profile: Profile, places: Integers) -> Floats:
        """What no allowed pair gains more than, at the places of one block, from left to right."""
        payoffs = self.way.all_payoffs(profile, places)
        few, found = self._searched(profile, places, payoffs)
        return few.most(payoffs, found.prices)

    def _searched(self, profile: Profile, places: Integers, payoffs: Floats) -> tuple[ChosenOrders, Found]:
        key = int(places[0]), places.size
        known = self._known.get(key)
        if known is None or known.steps >= known.again:
            known = self._known[key] = self._looked(profile, places, known)
        enough = np.maximum(ENOUGH * payoffs[:, self.rule.even], self.rule.little)
        known.found, known.steps = known.few.searched(payoffs, enough, known.found), known.steps + 1
        return known.few, known.found

    def _looked(self, profile: Profile, places: Integers, known: _Known | None) -> _Known:
        """The orders that count at some places, more of them next to 1, where kinks are, and the orders beside."""
        rule, fine, bases = self.rule, self.rule.finer or self.rule, []
        is_near = bool(places[0] <= 0 <= places[-1] + 1)
        for place in np.linspace(0, places.size - 1, _MORE if is_near else _LEAST).astype(int)[::-1].tolist():
            rule.most(*self.way.payoffs(profile, int(places[place])))
            bases.append(rule.basis())
        counting = {order for _, some in bases for order in some.tolist()}
        if known is not None:
            known.again = known.steps + 1 + int(_LATER * known.steps)
            if counting <= {order + k for order in known.counting for k in (-1, 0, 1)}:
                with suppress(np.linalg.LinAlgError):
                    known.found = known.few.anew(known.found)
                    return known
        columns, orders = bases[len(bases) // 2]
        few = ChosenOrders(fine, near_orders(fine, rule, counting))
        places_of = [int(np.argmin(np.abs(fine.orders[few.orders] - t))) for t in rule.orders[orders].tolist()]
        idle = np.setdiff1d(np.arange(few.orders.size), places_of) + rule.ratios.size + 1
        found = few.begun(places.size, np.concatenate([columns, idle]))
        return _Known(few, counting, found) if known is None else _Known(few, counting, found, known.steps, known.again)
