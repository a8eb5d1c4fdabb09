"""Pairs of two outcomes that a statement allows, of all kinds, as choices for one step of a game on a lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import AtOrders, Statement
from privately.accounting.two_outcomes.corners import even_loss
from privately.accounting.two_outcomes.edges import edge
from privately.accounting.two_outcomes.pairs import TwoOutcomes
from privately.accounting.two_outcomes.supports import Limit

_NEAR, _FAR, _FINE = 100, 60, 0.04
_APART, _BEYOND, _MOST_FAR = 0.05, 3.0, 300
_ROOM = 1e-9
_MARGIN, _LITTLE, _TRIES = 1e-5, 1e-9, 4
_DIGITS = 20
_AROUND = Fraction(1, 400)


@dataclass(frozen=True)
class Choice:
    """An allowed pair of two outcomes: their probabilities, and how many places of the lattice each loss is off 0."""

    p: float
    q: float
    up: int
    down: int
    limit: Limit
    """The order that holds it, and its bound."""

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """Of the outcome with the larger loss under P and under Q, then of the other one."""
        return self.p, self.q, 1 - self.p, 1 - self.q

    @property
    def mirrored(self) -> tuple[float, float, float, float]:
        """The same with both laws exchanged."""
        return 1 - self.q, 1 - self.p, self.q, self.p


@dataclass(frozen=True)
class Table:
    """The choices of one statement on a lattice with so many places."""

    step: float
    places: int
    choices: tuple[Choice, ...]


def table(statement: Statement, step: float, places: int, rare: int = _FAR) -> Table:
    """Choices of all kinds, from nearly even ones to rare large losses, so many of these; each shown to be allowed."""
    many = 2 * rare if statement.size > 1 else rare  # of large losses most are far from even
    even = np.concatenate([np.arange(_NEAR) * _FINE, _NEAR * _FINE * np.geomspace(1, places * step + 50, many)])
    if statement.last < math.inf:  # where the highest order holds them, losses are evenly apart
        apart = max(_APART, places * step / _MOST_FAR)
        even = np.union1d(even, np.arange(_NEAR * _FINE, places * step + _BEYOND, apart) * (statement.last + 1))
        even = np.union1d(even, even_loss(*statement.rows(0.0, 0.0))[0] - step)
    y = -np.logaddexp(0.0, step + even)
    z, at = edge(statement, y, _MARGIN)
    kept = np.flatnonzero((np.exp(y) + np.exp(y + z) < 1 - _ROOM) & (z < 2 * places * step))
    found = [_choice(statement, math.exp(y[k]), float(z[k]), step, at[k]) for k in kept]
    choices = tuple(one for one in found if one is not None)
    if not choices:
        raise NotApplicable("no choice of this statement is known on the lattice")
    return Table(step, places, choices)


def _choice(statement: Statement, q: float, z: float, step: float, order: float) -> Choice | None:
    pair = allowed_pair(statement, q, z, order)
    if pair is None:
        return None
    p, q = pair
    low, exact = math.log1p(-p) - math.log1p(-q), _exact(statement, order)
    return Choice(p, q, round(z / step), round(-low / step), Limit(exact, statement.bound(exact)))


def allowed_pair(statement: Statement, q: float, z: float, order: float) -> tuple[float, float] | None:
    """p = q e^z and q, or a little less of both, which the statement allows; None if it is not found to."""
    for _ in range(_TRIES):
        p = q * math.exp(z)
        try:
            excess, _ = statement.exceeded(TwoOutcomes(Decimal(p), Decimal(q)), _exact(statement, order), _AROUND)
        except NotApplicable:
            return None
        if excess <= 0:
            return p, q
        q *= 1 - _MARGIN
    return None


def _exact(statement: Statement, order: float) -> Fraction:
    return statement.order(order) if statement.last < math.inf else Fraction(order)


def even_pair(statement: AtOrders) -> FiniteLoss | None:
    """Randomized response of nearly the largest loss that is allowed, if one is found."""
    loss = even_loss(*statement.rows(0.0, 0.0))[0]
    for less in (_LITTLE, _MARGIN):
        p = round(Decimal(1 / (1 + math.exp(-loss * (1 - less)))), _DIGITS)
        try:
            excess, _ = statement.exceeded(TwoOutcomes(p, 1 - p), Fraction(0))
        except NotApplicable:
            continue
        if excess <= 0:
            more, less_likely, none = Fraction(p), 1 - Fraction(p), Fraction(0)
            both = (more, none), (less_likely, none)
            return FiniteLoss(epsilon=none, outcomes=(both, both[::-1]))
    return None
