"""The six kinds of statement, each with its privacy curve."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

from privately.errors import InvalidParameter
from privately.guarantees import curves
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.neighbors import Neighbors
from privately.rounding import LARGEST, Enclosure, Interval, Number, rational

_EXACT = "exact: randomized response is the worst case"
_NEVER = Interval(math.inf, math.inf, method="no epsilon is enough")
_ALWAYS = Interval(0, 0, method="nothing is revealed")
MAX_ORDERS = 1000


class PureDP(Guarantee):
    """P(S) <= e^epsilon Q(S) for all neighbours and events.

    >>> PureDP(epsilon="0.1").repeat(10)
    PureDP(epsilon=1)
    >>> PureDP(epsilon=1).delta(epsilon="0.5")
    Interval(0.287649136644, 0.287649136645)
    """

    __slots__ = ()

    def __init__(self, *, epsilon: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        self._freeze(neighbors, epsilon=_amount(epsilon, "epsilon"))

    def _epsilon(self, delta: Fraction) -> Interval:
        return _response_epsilon(self.parameters["epsilon"], delta)

    def _delta(self, epsilon: Fraction) -> Interval:
        return curves.response_delta(self.parameters["epsilon"], epsilon).interval(_EXACT)


class ApproxDP(Guarantee):
    """P(S) <= e^epsilon Q(S) + delta for all neighbours and events.

    >>> ApproxDP(epsilon=1, delta="1e-6").epsilon(delta="1e-7").upper
    inf
    """

    __slots__ = ()

    def __init__(self, *, epsilon: Number, delta: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        self._freeze(neighbors, epsilon=_amount(epsilon, "epsilon"), delta=_probability(delta))

    def _epsilon(self, delta: Fraction) -> Interval:
        floor = self.parameters["delta"]
        if delta < floor:
            return _NEVER
        return _response_epsilon(self.parameters["epsilon"], (delta - floor) / (1 - floor))

    def _delta(self, epsilon: Fraction) -> Interval:
        floor = self.parameters["delta"]
        inner = curves.response_delta(self.parameters["epsilon"], epsilon)
        return _lifted(inner, floor).interval(_EXACT)


class ZCDP(Guarantee):
    """Every Renyi divergence of order a > 1 is at most a rho.

    >>> ZCDP(rho="0.5").epsilon(delta="1e-5")
    Interval(4.37717809568, 4.72838698495)
    """

    __slots__ = ()

    def __init__(self, *, rho: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        self._freeze(neighbors, rho=_amount(rho, "rho"))

    def _epsilon(self, delta: Fraction) -> Interval:
        return curves.concentrated_epsilon(self.parameters["rho"], delta)

    def _delta(self, epsilon: Fraction) -> Interval:
        return curves.concentrated_delta(self.parameters["rho"], epsilon).interval(curves.CONCENTRATED)


class ApproxZCDP(Guarantee):
    """Zero-concentrated but for events of probability delta."""

    __slots__ = ()

    def __init__(self, *, rho: Number, delta: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        self._freeze(neighbors, rho=_amount(rho, "rho"), delta=_probability(delta))

    def _epsilon(self, delta: Fraction) -> Interval:
        floor = self.parameters["delta"]
        if delta < floor:
            return _NEVER
        return curves.concentrated_epsilon(self.parameters["rho"], (delta - floor) / (1 - floor))

    def _delta(self, epsilon: Fraction) -> Interval:
        inner = curves.concentrated_delta(self.parameters["rho"], epsilon)
        return _lifted(inner, self.parameters["delta"]).interval(curves.CONCENTRATED)


class RenyiDP(Guarantee):
    """The Renyi divergence of each listed order is at most the bound beside it.

    >>> RenyiDP(bounds={2: 1, 8: 4})
    RenyiDP(bounds={2: 1, 8: 4})
    """

    __slots__ = ()

    def __init__(
        self,
        *,
        bounds: Mapping[Any, Number] | Iterable[tuple[Number, Number]],
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        self._freeze(neighbors, bounds=_bounds(bounds))

    def _epsilon(self, delta: Fraction) -> Interval:
        return curves.renyi_epsilon(self.parameters["bounds"], delta)

    def _delta(self, epsilon: Fraction) -> Interval:
        return curves.renyi_delta(self.parameters["bounds"], epsilon)


class GaussianDP(Guarantee):
    """As hard to tell apart as two normal distributions at distance mu.

    >>> GaussianDP(mu=1).epsilon(delta="1e-5")
    Interval(4.37717809568, 4.37717809569)
    """

    __slots__ = ()

    def __init__(self, *, mu: Number, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> None:
        self._freeze(neighbors, mu=_amount(mu, "mu"))

    def _epsilon(self, delta: Fraction) -> Interval:
        mu = self.parameters["mu"]
        if mu == 0:
            return _ALWAYS
        return _NEVER if delta == 0 else curves.gaussian_epsilon(mu, delta)

    def _delta(self, epsilon: Fraction) -> Interval:
        return curves.gaussian_delta(self.parameters["mu"], epsilon).interval(curves.GAUSSIAN)


def _amount(value: Number, name: str) -> Fraction:
    return rational(value, name, minimum=0, maximum=LARGEST)


def _probability(value: Number) -> Fraction:
    return rational(value, "delta", minimum=0, maximum=1)


def _bounds(bounds: Any) -> tuple[tuple[Fraction, Fraction], ...]:
    pairs = bounds.items() if isinstance(bounds, Mapping) else bounds
    try:
        listed = [(order, bound) for order, bound in islice(pairs, MAX_ORDERS + 1)]
    except (TypeError, ValueError):
        raise InvalidParameter("bounds", "give a mapping from orders to bounds, such as {2: 0.5, 8: 2}.") from None
    if not 1 <= len(listed) <= MAX_ORDERS:
        raise InvalidParameter("bounds", f"list between 1 and {MAX_ORDERS} orders.")
    exact = sorted(
        (rational(order, "bounds.order", above=1, maximum=LARGEST), _amount(bound, "bounds.bound"))
        for order, bound in listed
    )
    if len({order for order, _ in exact}) < len(exact):
        raise InvalidParameter("bounds", "each order may be listed once.")
    return tuple(exact)


def _response_epsilon(loss: Fraction, delta: Fraction) -> Interval:
    if delta == 0:
        return Interval(loss, loss, method=_EXACT)
    return curves.response_epsilon(loss, delta).interval(_EXACT)


def _lifted(inner: Enclosure, floor: Fraction) -> Enclosure:
    return (floor + (1 - floor) * inner).clip(0, 1)
