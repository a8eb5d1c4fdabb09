"""Where the worst pair is, in floats: nothing here bounds anything.

y = ln q, z = ln(p/q); a row is an order t >= 1 with the bound on F(t). By symmetry p + q <= 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privately.accounting.elementary import Floats
from privately.accounting.questions import EpsilonAt, Question
from privately.accounting.roads import NotApplicable, nearly_log

_POINTS = 17
_HALVINGS = 58
_SHRINK, _STRETCH, _WIDEST = 0.22, 1.5, 3.0
_NARROW = 1e-11
_MOST_ROUNDS, _FARTHEST = 80, 1e6
_LARGEST_HALF = -1e-15
_LEAST_EXCESS, _MOST_EXCESS = math.log(1e-4), math.log(1e15)
_LITTLE, _SMALL, _TERMS = 1e-2, 0.1, 12
_ONE_MINUS = 1 - 2.0**-53


class NothingFound(NotApplicable):
    """No pair seems to reveal so much."""


@dataclass(frozen=True)
class Place:
    """About where the worst pair is, and which order holds it there; on either side of it maybe another one.

    -t stands for the order 1 - t: the same of the other direction.
    """

    log_q: float
    log_ratio: float
    order: float
    sides: tuple[float, float]
    score: float

    @property
    def log_p(self) -> float:
        return self.log_q + self.log_ratio

    @property
    def low(self) -> float:
        """The smaller loss."""
        p = min(math.exp(self.log_p), _ONE_MINUS)
        return math.log1p(-p) - math.log1p(-math.exp(self.log_q))


def apart(y: Floats, z: Floats, t: Floats) -> Floats:
    """F(t)."""
    q, rest = np.exp(y), np.log1p(-np.exp(y))
    p = np.minimum(np.exp(y + z), _ONE_MINUS)
    low = np.log1p(-p) - rest
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        small = np.log1p(q * np.expm1(t * z) + (1 - q) * np.expm1(t * low))
        large = np.logaddexp(y + t * z, rest + t * low)
        found: Floats = np.where(t == 1, p * z + (1 - p) * low, np.where(t * z > 1, large, small) / (t * (t - 1)))
        return found


def apart_a_little(y: Floats, z: Floats, t: Floats) -> Floats:
    """The same by a series, all of whose terms are small, for losses so small that all else would cancel."""
    q = np.exp(y)
    low = np.log1p(-np.minimum(np.exp(y + z), _ONE_MINUS)) - np.log1p(-q)
    mean = q * _bend(np.minimum(z, _SMALL), t) + (1 - q) * _bend(low, t)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(t == 1, mean, np.log1p(t * (t - 1) * mean) / (t * (t - 1)))
    return np.where(t * z < _SMALL, found, apart(y, z, t))


def _bend(loss: Floats, t: Floats) -> Floats:
    """(r^t - 1 - t(r-1))/(t(t-1)) at r = e^loss."""
    power, factor, series = loss**2 / 2, np.ones_like(t), np.zeros(np.broadcast(loss, t).shape)
    for k in range(3, _TERMS):
        series = series + factor * power
        power, factor = power * loss / k, factor * t + 1
    return series


def measured(bound: Floats) -> Callable[[Floats, Floats, Floats], Floats]:
    """How to measure F where it is compared with these bounds."""
    return apart_a_little if bound.min() < _LITTLE else apart


def reach(y: Floats, t: Floats, bound: Floats) -> Floats:
    """The largest z that each row (t, bound) allows at each y, by halving; rows may be others at each."""
    y, t = y[:, None], np.atleast_2d(t)
    cap = np.log1p(-np.exp(y)) - y
    high = np.minimum(np.where(t == 1, math.inf, (t - 1) * bound - y / t), cap)
    low = np.zeros_like(high)
    measure = measured(bound)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        inside = measure(y, middle, t) <= bound
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low


def score(y: Floats, z: Floats, question: Question) -> Floats:
    """What is to be largest: epsilon, or the logarithm of delta."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if isinstance(question, EpsilonAt):
            share = np.exp(nearly_log(question.delta) - y - z)
            return np.where(share < 1, z + np.log1p(-share), -math.inf)
        share = np.exp(float(question.epsilon) - z)
        return np.where(share < 1, y + z + np.log1p(-share), -math.inf)


Rows = Callable[[float, float], tuple[Floats, Floats]]
"""Orders around ln(t - 1), so far apart, and their bounds."""


def concentrated(rho: float) -> Rows:
    """zCDP: all orders, of which some are looked at."""

    def rows(middle: float, half: float) -> tuple[Floats, Floats]:
        excess = np.exp(np.linspace(middle - half, middle + half, _POINTS))
        orders = np.concatenate([[1.0], 1 + excess])
        return orders, np.full(orders.size, rho)

    return rows


def listed(orders: Floats, bounds: Floats) -> Rows:
    """Some orders, all of which are looked at."""
    return lambda *_: (orders, bounds)


def worst(rows: Rows, question: Question, log_q: float, excess: float) -> Place:
    """By ever finer grids of y and of orders, from about where the best order alone would have them."""
    y, order = min(log_q, _LARGEST_HALF - math.log(2)), min(max(excess, _LEAST_EXCESS), _MOST_EXCESS)
    y_half, order_half = 2.0 + abs(y) / 4, 1.5
    best, scores = 0, np.array([-math.inf])
    for _ in range(_MOST_ROUNDS):
        places = np.minimum(np.linspace(y - y_half, y + y_half, _POINTS), -math.log(2))
        orders, bounds = rows(order, order_half)
        z = reach(places, orders, bounds)
        least = z.min(axis=1)
        scores = score(places, least, question)
        best = int(np.argmax(scores))
        if scores[best] == -math.inf:
            y_half *= 2 * _STRETCH
            if y_half > _FARTHEST:
                break
            continue
        row = int(np.argmin(z[best]))
        y = float(places[best])
        at_end = best == 0 or (best == _POINTS - 1 and places[best] < -math.log(2))
        y_half *= _STRETCH if at_end else _SHRINK
        if row:
            order = math.log(orders[row] - 1)
            order_half = order_half * (_STRETCH if row in {1, _POINTS} else _SHRINK)
        else:  # the best order is below all others that were looked at
            order, order_half = max(order - order_half, _LEAST_EXCESS), order_half * _STRETCH
        order_half = min(order_half, _WIDEST)
        if y_half < _NARROW * max(1.0, abs(y)):
            break
    if scores[best] == -math.inf:
        raise NothingFound("no pair was found that reveals so much")
    return _place(y, y_half, rows(order, order_half), question)


def _place(y: float, half: float, rows: tuple[Floats, Floats], question: Question) -> Place:
    """With the orders that hold it; where p + q = 1 holds it, that is the same order of the other direction."""
    orders, bounds = rows
    sides = np.array([y, y - 1e3 * half, min(y + 1e3 * half, -math.log(2))])
    z = reach(sides, orders, bounds)
    cap = np.log1p(-np.exp(sides)) - sides
    here, left, right = (float(orders[row]) for row in np.argmin(z, axis=1))
    if z[2].min() >= cap[2] * (1 - 1e-12):
        right = -left
    least = z.min(axis=1)
    return Place(y, float(least[0]), here, (left, right), float(score(sides, least, question)[0]))
