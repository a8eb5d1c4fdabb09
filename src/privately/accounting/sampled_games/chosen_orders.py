"""Some orders of a rule, at many places at once: prices by the simplex method, and what they prove.

Prices are a row for each place: of 1, of r, and of each order. Payoffs are a row for each place, a column for each
ratio, and one for the ray beyond all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privately.accounting.elementary import Floats, Integers
from privately.accounting.sampled_games.rules import NOISE, ROUNDED, Bounded
from privately.accounting.sampled_games.simplex import LEAST_PIVOT, TIED

Booleans = NDArray[np.bool_]

_MOST_PIVOTS, _SMALL = 200, 200_000


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

    def prices(self, payoffs: Floats, enough: Floats, basis: Integers) -> Floats:
        """Nearly the best, by a search at all places at once, each from the same basis on.

        A basis has columns, then the ray, then orders that do not count; `enough` is what need not be gained.
        """
        many = payoffs.shape[0]
        costs = np.zeros((many, self._columns.shape[1]))
        costs[:, : payoffs.shape[1]] = payoffs * self._weights
        enough = np.maximum(enough, NOISE * costs.max(axis=1))
        found, left = np.zeros((many, self._all.shape[0])), np.arange(many)
        search = _Search(self._columns, costs, basis)
        for _ in range(_MOST_PIVOTS):
            prices = search.prices()
            found[left] = prices
            gains = search.costs - _product(prices, self._columns)
            entering = np.argmax(gains, axis=1)
            is_open = gains[np.arange(left.size), entering] > enough[left]
            left = left[is_open]
            if not left.size:
                break
            search.keep(is_open)
            has_moved = search.enter(entering[is_open])
            left = left[has_moved]
            search.keep(has_moved)
        return found


def _product(prices: Floats, columns: Floats) -> Floats:
    """In parts that are too small for several threads, which would cost more than they gain."""
    found, each = np.empty((prices.shape[0], columns.shape[1])), max(_SMALL // columns.size, 1)
    for start in range(0, prices.shape[0], each):
        np.matmul(prices[start : start + each], columns, out=found[start : start + each])
    return found


class _Search:
    """One basis for each place."""

    def __init__(self, columns: Floats, costs: Floats, basis: Integers) -> None:
        many, inverse = costs.shape[0], np.linalg.inv(columns[:, basis])
        self._columns, self.costs, self._basis = columns, costs, np.tile(basis, (many, 1))
        self._inverse, self._amounts = np.tile(inverse, (many, 1, 1)), np.tile(inverse.sum(axis=1), (many, 1))

    def keep(self, these: Booleans) -> None:
        """Leaves all other places alone."""
        if not these.all():
            self.costs, self._basis = self.costs[these], self._basis[these]
            self._inverse, self._amounts = self._inverse[these], self._amounts[these]

    def prices(self) -> Floats:
        """Of the rows."""
        costs = np.take_along_axis(self.costs, self._basis, axis=1)
        found: Floats = (costs[:, None, :] @ self._inverse)[:, 0]
        return found

    def enter(self, entering: Integers) -> Booleans:
        """One column at each place; False where only rounding would have it unbounded."""
        change = (self._inverse @ self._columns[:, entering].T[:, :, None])[:, :, 0]
        falls = change > LEAST_PIVOT * np.abs(change).max(axis=1, keepdims=True)
        limits = np.where(falls, np.maximum(self._amounts, 0.0) / np.where(falls, change, 1.0), np.inf)
        least = limits.min(axis=1, keepdims=True)
        bounded: Booleans = np.isfinite(least[:, 0])
        leaving = np.argmax(np.where(limits <= least * (1 + TIED), change, -np.inf), axis=1)
        who, least = np.arange(leaving.size), np.where(bounded[:, None], least, 0.0)
        row = self._inverse[who, leaving] / change[who, leaving][:, None]
        self._amounts -= least * change
        self._amounts[who, leaving] = least[:, 0]
        self._inverse -= change[:, :, None] * row[:, None, :]
        self._inverse[who, leaving] = row
        self._basis[who, leaving] = entering
        return bounded
