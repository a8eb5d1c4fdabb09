"""One sampled step of a statement before a profile: upper values, many places at a time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from privately.accounting.elementary import Floats, Integers
from privately.accounting.sampled_games.chosen_orders import ChosenOrders
from privately.accounting.sampled_games.profiles import Profile
from privately.accounting.sampled_games.rules import ENOUGH, Bounded
from privately.accounting.sampled_games.ways import Way

_MANY, _FEW = 96, 12


def all_most(profile: Profile, way: Way, rule: Bounded, start: int, stop: int) -> Floats:
    """What no allowed pair gains more than, at a run of places on one side of 1."""
    found, ends = np.empty(stop - start), [*range(stop, start, -_MANY), start]
    for last, first in pairwise(ends):
        found[first - start : last - start] = _block(profile, way, rule, first, last)
    return found


def _block(profile: Profile, way: Way, rule: Bounded, start: int, stop: int) -> Floats:
    """With the orders that count at its ends and in its middle; next to 1, where payoffs have kinks, with all."""
    many, found = len(rule.rows), []
    for place in (stop - 1, start, (start + stop) // 2):
        rule.most(*way.payoffs(profile, place))
        found.append(rule.basis())
    columns, orders = found[-1]
    counting = {order for _, some in found for order in some.tolist()}
    chosen = np.arange(many) if many <= _FEW or start <= 0 <= stop else _with_neighbours(counting, many)
    idle = np.flatnonzero(~np.isin(chosen, orders)) + rule.ratios.size + 1
    few, payoffs = ChosenOrders(rule, chosen), way.all_payoffs(profile, start, stop)
    enough = np.maximum(ENOUGH * payoffs[:, rule.even], rule.little)
    return few.most(payoffs, few.prices(payoffs, enough, np.concatenate([columns, idle])))


def _with_neighbours(orders: set[int], many: int) -> Integers:
    near = {order + k for order in orders for k in (-1, 0, 1)}
    return np.array(sorted(k for k in near if 0 <= k < many), dtype=np.int64)
