"""Which pairs one step may be, and how much the best of them gains: of bounded divergences.

r = dP/dQ; payoffs are convex, known at columns r_0 = 0 < r_1 < ..., and rise no faster than `slope` beyond the last.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, Integers, exp, log
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.simplex import Simplex
from privately.accounting.two_outcomes.allowed import Statement
from privately.accounting.two_outcomes.supports import Limit

_LARGEST_POWER = 600.0
ROUNDED = 128 * UNIT
ENOUGH, NOISE = 1e-8, 1e-14
_HALF, _LEAST_LAST = 0.5, 1.1
LOWEST, _MANY, _FEWER, _MUCH = 0.25, 60, 8, 1e12


class Rule(Protocol):
    """What is allowed, at the columns of a lattice."""

    def most(self, payoffs: Floats, slope: float) -> float:
        """No allowed pair has a larger mean payoff over Q."""


class Bounded:
    """Divergences at some orders.

    Theorem: if a + b r + sum C_t f_t(r) is not below the payoff for any r, all C_t >= 0, then no pair whose f_t have
        means of at most m_t has a mean payoff above a + b + sum C_t m_t. A convex payoff need be compared at columns
        only, with lines below f_t between them.
    Reference: duality of linear programs
    Proof: docs/theory/accounting/sampled_games.md#divergences
    Checked-by: tests/accounting/sampled_games/test_rules.py::test_no_allowed_pair_gains_more
    """

    def __init__(
        self, limits: list[Limit], ratios: Floats, doubt: float, little: float = 0.0, *, is_search: bool = False
    ) -> None:
        """Less than a little need not be told apart.

        A search is for pairs whose ratios are columns: it bounds nothing, and what it finds is nearly allowed.
        """
        self.finer: Bounded | None = None
        """The same with more orders, which serve where many places are bounded at once."""
        known = _at_columns if is_search else _lowered
        highest, lowest = (_LARGEST_POWER / max(abs(math.log(ratios[k])), 1.0) for k in (-1, 1))
        kept = [limit for limit in limits if -lowest < limit.t < highest]
        if not kept or ratios[-1] <= _LEAST_LAST:
            raise NotApplicable("no order is bounded on this lattice")
        self.ratios, self.doubt, self.little = ratios, 4 * doubt, little
        self.orders = np.array([float(limit.t) for limit in kept])
        lowered = [known(limit, ratios, doubt) for limit in kept]
        self.rows = np.array([f for f, _ in lowered])
        self.slopes = np.array([slope for _, slope in lowered])
        self._simplex = self._program()

    def _program(self) -> Simplex:
        """Columns are scaled to 1, which helps where powers are high."""
        many, size = len(self.rows), self.ratios.size
        columns = np.zeros((many + 2, size + 1 + many))
        columns[0, :size], columns[1, :size], columns[1, size] = 1.0, self.ratios, 1.0
        columns[2:, :size], columns[2:, size], columns[2:, size + 1 :] = self.rows, self.slopes, np.eye(many)
        self._scales = 1 / np.abs(columns).max(axis=0)
        self._strongest = np.argmax(columns[:, : size + 1], axis=0)
        self.even = even = int(np.argmin(np.abs(self.ratios - 1)))
        return Simplex(columns * self._scales, np.ones(many + 2), [even, even + 1, *range(size + 1, size + 1 + many)])

    def most(self, payoffs: Floats, slope: float) -> float:
        costs = np.concatenate([payoffs, [slope], np.zeros(len(self.rows))])
        costs *= self._scales
        enough = max(ENOUGH * float(payoffs[self.even]), NOISE * float(costs.max()), self.little)
        prices = self._simplex.prices(costs, 1.0, enough)
        b, factors = self._mended(prices, payoffs, slope)
        b, factors = b + self.doubt * abs(b), factors * (1 + self.doubt)
        missing = slope - b * (1 - math.copysign(self.doubt / 4, b)) - float(factors @ self.slopes) * (1 - ROUNDED)
        b += max(missing, 0.0) * (1 + self.doubt)
        gaps = payoffs - b * (1 - math.copysign(self.doubt / 4, b)) * self.ratios - factors @ self.rows
        a, more = float(gaps.max()), float(factors.sum())
        found = a + b + more + ROUNDED * (abs(a) + abs(b) + more)
        return found if math.isfinite(found) else math.inf

    def _mended(self, prices: Floats, payoffs: Floats, slope: float) -> tuple[float, Floats]:
        """Where the search has left something missing, it is made good by what counts most in that column."""
        b, factors = float(prices[1]), np.maximum(prices[2:], 0.0)
        missing = payoffs - float(prices[0]) - b * self.ratios - factors @ self.rows
        missing = np.append(missing, slope - b - float(factors @ self.slopes))
        more = np.zeros(prices.size)
        np.maximum.at(more, self._strongest, np.maximum(missing, 0.0) * self._scales[: missing.size])
        return b + float(more[1]), factors + more[2:]

    def basis(self) -> tuple[Integers, Integers]:
        """Of the last search: the columns, or the ray after them, and the orders that count."""
        basis, size = np.array(self._simplex.basis), self.ratios.size + 1
        return basis[basis < size], np.setdiff1d(np.arange(len(self.rows)), basis[basis >= size] - size)

    def law(self) -> tuple[Floats, Floats] | None:
        """The ratios and probabilities under Q that the last search has found best; None if some are beyond bounds."""
        found, basis = self._simplex.amounts, np.array(self._simplex.basis)
        weights = np.zeros(self.ratios.size + 1)
        is_ratio = basis <= self.ratios.size
        weights[basis[is_ratio]] = np.maximum(found, 0.0)[is_ratio] * self._scales[basis[is_ratio]]
        kept = np.flatnonzero(weights[:-1] > 0)
        return None if weights[-1] > 0 or kept.size < 2 else (self.ratios[kept], weights[kept])


def _lowered(limit: Limit, ratios: Floats, doubt: float) -> tuple[Floats, float]:
    """f at all columns, so that it is above the chords between these values, and its last slope; in units of its mean.

    Lines below f are its tangents, in the middle of a cell or, where that would be far below, at the end nearer to 1.
    """
    mean = float(limit.most.upper) * (1 + 4 * UNIT)
    left, right = ratios[1:-1], ratios[2:]
    middle = np.sqrt(left * right)
    is_low = _tangent(limit, middle, left, 0.0) < _HALF * _tangent(limit, left, left, 0.0)
    is_low_ahead = _tangent(limit, middle, right, 0.0) < _HALF * _tangent(limit, right, right, 0.0)
    at = np.where((left > 1) & is_low, left, np.where((right < 1) & is_low_ahead, right, middle))
    found = np.empty(ratios.size)
    found[2:], found[1] = _tangent(limit, at, right, doubt), math.inf
    found[1:-1] = np.minimum(found[1:-1], _tangent(limit, at, left, doubt))
    first = ratios[:2]
    found[0], near = _tangent(limit, first[1:] / (2 if limit.t > 0 else 1), first, doubt).tolist()
    found[1] = min(found[1], near)
    last = ratios[-1:]
    steep, size = _slope(limit, last)
    lowered: Floats = (found - ROUNDED * np.abs(found)) / mean
    return lowered, float((steep - doubt * size)[0]) / mean * (1 - ROUNDED)


def _at_columns(limit: Limit, ratios: Floats, doubt: float) -> tuple[Floats, float]:
    """f at all columns, and its last slope, in units of its mean."""
    mean = float(limit.most.upper)
    inside = _tangent(limit, ratios[1:], ratios[1:], 0.0)
    nothing = 1 / float(limit.t) if limit.t > 0 else _MUCH
    return np.append([nothing], inside) / mean, float(_slope(limit, ratios[-1:])[0][0]) * (1 - doubt) / mean


def _tangent(limit: Limit, at: Floats, where: Floats, doubt: float) -> Floats:
    """The line that touches f at some r, at others; with its errors taken away, if these are in doubt."""
    t, powers = float(limit.t), log(at)
    if limit.t == 1:
        f, size = at * (powers - 1) + 1, at * (np.abs(powers) + 1) + 1
    elif limit.t == 0:
        f, size = at - 1 - powers, at + 1 + np.abs(powers)
    else:
        grown, scale = exp(t * powers), t * (t - 1)
        f, size = (grown - 1 - t * (at - 1)) / scale, (grown + 1 + abs(t) * (at + 1)) / abs(scale)
    slope, steep = _slope(limit, at)
    found: Floats = f + slope * (where - at)
    return found - (doubt + _powered(t, powers)) * (size + steep * (where + at)) if doubt else found


def _slope(limit: Limit, at: Floats) -> tuple[Floats, Floats]:
    """Of f, and the size of what it is computed from, with the error of powers in units of a doubt."""
    t, powers = float(limit.t), log(at)
    if limit.t == 1:
        return powers, np.abs(powers) + 1
    grown = exp((t - 1) * powers)
    return (grown - 1) / (t - 1), (grown + 1) / abs(t - 1) * (1 + np.abs((t - 1) * powers))


def _powered(t: float, powers: Floats) -> Floats:
    """The relative error of a power, by that of the logarithm."""
    found: Floats = 8 * ERROR * (1 + (abs(t) + 1) * np.abs(powers))
    return found


def orders(statement: Statement, ratios: Floats, *, is_low: bool = False, finer: int = 1) -> list[Limit]:
    """Those that are listed, in both directions, or for zCDP many, most of them above 1, or for low ratios below 0."""
    if statement.last < math.inf:
        excess, _ = statement.tangents()
        listed = [statement.order(1 + c) for c in excess.tolist()]
        return [Limit(t, statement.bound(t)) for a in listed for t in (a, 1 - a)]
    far = max(-math.log(ratios[1]) if is_low else math.log(ratios[-1]), 1.0) / (2 * statement.size) + 2
    above = [Fraction(c) for c in np.geomspace(LOWEST, max(far, 2.0), (_MANY - 1) * finer + 1).tolist()]
    found = [Fraction(1), *(1 + c for c in above), *(-c for c in (Fraction(0), *above[:: _FEWER * finer]))]
    return [Limit(t, statement.bound(t)) for t in (1 - t if is_low else t for t in found)]
