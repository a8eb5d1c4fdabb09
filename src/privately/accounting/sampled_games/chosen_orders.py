"""Some orders of a rule, at many places at once: prices by the simplex method, and what they prove.

Prices are a row for each place: of 1, of r, and of each order. Payoffs are a row for each place, a column for each
ratio, and one for the ray beyond all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privately.accounting.elementary import Floats, Integers
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.pairs import Law
from privately.accounting.sampled_games.rules import LOWEST, NOISE, ROUNDED, Bounded
from privately.accounting.sampled_games.simplex import LEAST_PIVOT, TIED

Booleans = NDArray[np.bool_]

_MOST_PIVOTS, _SMALL, _FEW = 200, 200_000, 12
_HALF, _LITTLE, _WITHIN = 0.5, 1e-9, 0.5


@dataclass(frozen=True)
class Found:
    """Of a search: prices, and the bases with their amounts, a row for each place."""

    prices: Floats
    bases: Integers
    amounts: Floats
    inverses: Floats

    @classmethod
    def nothing(cls, many: int, size: int) -> Found:
        """To be filled."""
        shape = many, size
        return cls(np.zeros(shape), np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros((many, size, size)))


@dataclass(frozen=True)
class ChosenOrders:
    """These orders of a rule."""

    rule: Bounded
    orders: Integers

    @cached_property
    def _all(self) -> Floats:
        """A column for each ratio and the ray: what 1, r and each order have there."""
        rule, rows = self.rule, np.ones((2 + self.orders.size, self.rule.ratios.size + 1))
        rows[0, -1] = 0.0
        rows[1, :-1] = rule.ratios
        rows[2:, :-1], rows[2:, -1] = rule.rows[self.orders], rule.slopes[self.orders]
        return rows

    @cached_property
    def _weights(self) -> Floats:
        """What columns are multiplied by in a search, so that their largest entry is 1."""
        found: Floats = 1 / np.abs(self._all).max(axis=0)
        return found

    @cached_property
    def _columns(self) -> Floats:
        """Of the linear program: after those of ratios, one for each order that does not count."""
        idle = np.concatenate([np.zeros((2, self.orders.size)), np.eye(self.orders.size)])
        return np.concatenate([self._all * self._weights, idle], axis=1)

    @cached_property
    def _runs(self) -> tuple[Integers, Integers]:
        """Which price counts most at each column, and where a run of the same begins."""
        strongest = np.argmax(self._all, axis=0)
        starts = np.flatnonzero(np.append(True, np.diff(strongest) != 0))
        return strongest[starts], starts

    def most(self, payoffs: Floats, prices: Floats) -> Floats:
        """No allowed pair has a larger mean payoff, whatever the prices are.

        Theorem: as for `Bounded`, whose bounds hold for any prices that are not negative.
        Reference: duality of linear programs
        Proof: docs/theory/accounting/sampled_games.md#many-places-at-once
        Checked-by: tests/accounting/sampled_games/test_chosen_orders.py::test_any_prices_prove_as_one_place_does
        """
        doubt, slope = self.rule.doubt, payoffs[:, -1]
        prices = np.concatenate([prices[:, :2], np.maximum(prices[:, 2:], 0.0)], axis=1)
        prices[:, 1:] += self._more(payoffs - _product(prices, self._all))[:, 1:]
        prices[:, 1] += doubt * np.abs(prices[:, 1])
        prices[:, 2:] *= 1 + doubt
        lower = prices.copy()
        lower[:, 0] = 0.0
        lower[:, 1] -= doubt / 4 * np.abs(prices[:, 1])
        beyond = slope - lower[:, 1] - (lower[:, 2:] @ self._all[2:, -1]) * (1 - ROUNDED)
        prices[:, 1] += np.maximum(beyond, 0.0) * (1 + doubt)
        lower[:, 1] = prices[:, 1] - doubt / 4 * np.abs(prices[:, 1])
        a, others = (payoffs - _product(lower, self._all))[:, :-1].max(axis=1), prices[:, 1:]
        found = a + others.sum(axis=1) + ROUNDED * (np.abs(a) + np.abs(others).sum(axis=1))
        return np.where(np.isfinite(found), found, np.inf)

    def _more(self, missing: Floats) -> Floats:
        """What is missing is made good by what counts most in that column."""
        strongest, starts = self._runs
        most = np.maximum.reduceat(np.maximum(missing, 0.0) * self._weights, starts, axis=1)
        found = np.zeros((missing.shape[0], self._all.shape[0]))
        np.maximum.at(found.T, strongest, most.T)
        return found

    def begun(self, many: int, basis: Integers | None = None) -> Found:
        """The same basis at all places: of columns, then the ray, then orders that do not count; or one that is plain.

        That serves as well where the other is none.
        """
        even, size = self.rule.even, self.rule.ratios.size + 1
        plain = np.append([even, even + 1], np.arange(self.orders.size) + size)
        for one in (plain,) if basis is None or basis.size != plain.size else (basis, plain):
            found = replace(Found.nothing(many, one.size), bases=np.tile(one, (many, 1)))
            try:
                return self.anew(found)
            except np.linalg.LinAlgError:
                continue
        raise NotApplicable("no basis")

    def anew(self, found: Found) -> Found:
        """The same bases, without what rounding has done to them."""
        inverses: Floats = np.linalg.inv(self._columns.T[found.bases].transpose(0, 2, 1)).astype(np.float64)
        return replace(found, inverses=inverses, amounts=inverses.sum(axis=2))

    def searched(self, payoffs: Floats, enough: Floats, known: Found) -> Found:
        """Prices that are nearly the best, by a search at all places at once, each from its own basis on.

        `enough` is what need not be gained.
        """
        many, size = payoffs.shape[0], self._all.shape[0]
        costs = np.zeros((many, self._columns.shape[1]))
        costs[:, : payoffs.shape[1]] = payoffs * self._weights
        enough = np.maximum(enough, NOISE * costs.max(axis=1))
        search, left, found = _Search(self._columns, costs, known), np.arange(many), Found.nothing(many, size)
        for _ in range(_MOST_PIVOTS):
            prices = search.prices()
            gains = search.costs - _product(prices, self._columns)
            entering = np.argmax(gains, axis=1)
            is_open = gains[np.arange(left.size), entering] > enough[left]
            search.put(found, left, prices, ~is_open)
            left = left[is_open]
            if not left.size:
                return found
            search.keep(is_open)
            search.enter(entering[is_open])
        search.put(found, left, search.prices(), np.ones(left.size, dtype=bool))
        return found

    def laws(self, found: Found) -> list[Law]:
        """The ratios and their probabilities under Q at each place, but where some are beyond bounds."""
        ratios, ray, laws = self.rule.ratios, self.rule.ratios.size, []
        for basis, amounts in zip(found.bases, found.amounts, strict=True):
            kept = np.flatnonzero((basis <= ray) & (amounts > 0))
            columns = np.sort(basis[kept])
            if columns.size > 1 and columns[-1] < ray:
                weights = (amounts[kept] * self._weights[basis[kept]])[np.argsort(basis[kept])]
                laws.append((ratios[columns], weights))
        return laws


def near_orders(fine: Bounded, coarse: Bounded, found: set[int]) -> Integers:
    """Those of the former that are about as near as the next ones to what was found among the latter."""
    if fine.orders.size <= _FEW:
        return np.arange(fine.orders.size)
    apart = _excess(coarse.orders)
    ratio = float(apart[2] / apart[1]) ** _WITHIN * (1 + _LITTLE)
    excess, is_high, near = _excess(fine.orders), fine.orders > _HALF, np.zeros(fine.orders.size, dtype=bool)
    for t, c in zip(coarse.orders[sorted(found)].tolist(), apart[sorted(found)].tolist(), strict=True):
        near |= (is_high == (t > _HALF)) & (excess >= c / ratio) & (excess <= max(c, LOWEST) * ratio)
    return np.flatnonzero(near)


def _excess(orders: Floats) -> Floats:
    """Above 1, or below 0."""
    return np.maximum(orders - 1, -orders)


def _product(prices: Floats, columns: Floats) -> Floats:
    """In parts that are too small for several threads, which would cost more than they gain."""
    found, each = np.empty((prices.shape[0], columns.shape[1])), max(_SMALL // columns.size, 1)
    for start in range(0, prices.shape[0], each):
        np.matmul(prices[start : start + each], columns, out=found[start : start + each])
    return found


class _Search:
    """One basis for each place that is left."""

    def __init__(self, columns: Floats, costs: Floats, known: Found) -> None:
        self._columns, self.costs, self._bases = columns, costs, known.bases.copy()
        self._inverses, self._amounts = known.inverses.copy(), known.amounts.copy()

    def keep(self, these: Booleans) -> None:
        """Leaves all other places alone."""
        if not these.all():
            self.costs, self._bases = self.costs[these], self._bases[these]
            self._inverses, self._amounts = self._inverses[these], self._amounts[these]

    def put(self, found: Found, places: Integers, prices: Floats, these: Booleans) -> None:
        """What is found at some of these places."""
        at = places[these]
        found.prices[at], found.bases[at] = prices[these], self._bases[these]
        found.amounts[at], found.inverses[at] = self._amounts[these], self._inverses[these]

    def prices(self) -> Floats:
        """Of the rows."""
        costs = np.take_along_axis(self.costs, self._bases, axis=1)
        found: Floats = (costs[:, None, :] @ self._inverses)[:, 0]
        return found

    def enter(self, entering: Integers) -> None:
        """One column at each place; none where only rounding would have it unbounded."""
        change = (self._inverses @ self._columns[:, entering].T[:, :, None])[:, :, 0]
        falls = change > LEAST_PIVOT * np.abs(change).max(axis=1, keepdims=True)
        limits = np.where(falls, np.maximum(self._amounts, 0.0) / np.where(falls, change, 1.0), np.inf)
        least = limits.min(axis=1)
        leaving = np.argmax(np.where(limits <= least[:, None] * (1 + TIED), change, -np.inf), axis=1)
        who = np.flatnonzero(np.isfinite(least))
        at, change, least = leaving[who], change[who], least[who]
        row = self._inverses[who, at] / change[np.arange(who.size), at][:, None]
        self._amounts[who] -= least[:, None] * change
        self._amounts[who, at] = least
        self._inverses[who] -= change[:, :, None] * row[:, None, :]
        self._inverses[who, at] = row
        self._bases[who, at] = entering[who]
