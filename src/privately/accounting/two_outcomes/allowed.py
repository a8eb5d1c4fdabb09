"""Which pairs a statement allows: zCDP, or divergences at listed orders, in both directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from privately.accounting.elementary import Floats
from privately.accounting.renyi.moments import Listed, Moments, Quadratic
from privately.accounting.two_outcomes import search
from privately.accounting.two_outcomes.pairs import WIDTH, TwoOutcomes, concentration
from privately.rounding import Enclosure


class Statement(Protocol):
    """What is allowed, in both directions."""

    def __hash__(self) -> int: ...

    @property
    def moments(self) -> Moments: ...
    @property
    def last(self) -> float:
        """No order above one more than this is bounded."""

    @property
    def rows(self) -> search.Rows: ...
    @property
    def size(self) -> float:
        """About the rho of normal noise within it."""

    @property
    def least(self) -> Fraction:
        """A rho for which normal noise is within it."""

    def repeated(self, times: int) -> Statement:
        """What so many steps of it keep together."""

    def bound(self, t: Fraction) -> Fraction:
        """On F(t)."""

    def order(self, t: float) -> Fraction:
        """Exactly."""

    def tangents(self) -> tuple[Floats, Floats]:
        """Some orders less 1, and bounds on the logarithmic moments there, but for few roundings."""

    def exceeded(self, pair: TwoOutcomes, order: Fraction, width: Fraction = WIDTH) -> tuple[Decimal, Fraction]:
        """By how much F is above its bound at some order, at most 0 if the pair is allowed; and at which."""


@dataclass(frozen=True)
class Concentrated:
    """zCDP."""

    rho: Fraction

    @property
    def moments(self) -> Moments:
        return Quadratic(self.rho)

    @property
    def last(self) -> float:
        return math.inf

    @property
    def rows(self) -> search.Rows:
        return search.concentrated(float(self.rho))

    @property
    def size(self) -> float:
        return float(self.rho)

    @property
    def least(self) -> Fraction:
        return self.rho

    def repeated(self, times: int) -> Concentrated:
        return Concentrated(self.rho * times)

    def bound(self, t: Fraction) -> Fraction:
        del t  # the same at all orders
        return self.rho

    def order(self, t: float) -> Fraction:
        return Fraction(t)

    def tangents(self) -> tuple[Floats, Floats]:
        excess = np.geomspace(1e-5, 100.0, 400) * (1 + 1 / math.sqrt(self.rho))
        return excess, excess * (excess + 1) * float(self.rho)

    def exceeded(self, pair: TwoOutcomes, order: Fraction, width: Fraction = WIDTH) -> tuple[Decimal, Fraction]:
        found = concentration(pair, order, width)
        return (Enclosure(found, found) - self.rho).upper, order


@dataclass(frozen=True)
class AtOrders:
    """Divergences at listed orders."""

    bounds: tuple[tuple[Fraction, Fraction], ...]

    @property
    def moments(self) -> Moments:
        return Listed(self.bounds)

    @property
    def last(self) -> float:
        return float(self.bounds[-1][0] - 1) * (1 - 2.0**-40)

    @property
    def rows(self) -> search.Rows:
        orders = np.array([float(order) for order, _ in self.bounds])
        return search.listed(orders, np.array([float(bound / order) for order, bound in self.bounds]))

    @property
    def size(self) -> float:
        return float(self.least)

    @property
    def least(self) -> Fraction:
        return min(bound / order for order, bound in self.bounds)

    def repeated(self, times: int) -> AtOrders:
        return AtOrders(tuple((order, bound * times) for order, bound in self.bounds))

    @cached_property
    def _limits(self) -> dict[Fraction, Fraction]:
        forward = {order: bound / order for order, bound in self.bounds}
        return forward | {1 - order: bound for order, bound in forward.items()}

    def bound(self, t: Fraction) -> Fraction:
        return self._limits[t]

    def tangents(self) -> tuple[Floats, Floats]:
        excess = np.array([float(order - 1) for order, _ in self.bounds])
        return excess, excess * np.array([float(bound) for _, bound in self.bounds])

    def order(self, t: float) -> Fraction:
        return min((order for order, _ in self.bounds), key=lambda order: abs(float(order) - t))

    def exceeded(self, pair: TwoOutcomes, order: Fraction, width: Fraction = WIDTH) -> tuple[Decimal, Fraction]:
        del order, width  # all of them are looked at
        return max(((pair.apart(t) - bound).upper, t) for t, bound in self._limits.items())
