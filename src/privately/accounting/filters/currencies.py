"""What a filter counts in: the kind of guarantee, whose change it protects, and the Renyi orders it tracks.

epsilon; epsilon and delta; rho; rho and delta; mu squared; or the bound at each order. These are what adds up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Protocol, TypeAlias, runtime_checkable

from privately.accounting.filters.sums import lowered
from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP, curves
from privately.guarantees.costs import costs, from_costs, root_up
from privately.guarantees.kinds import MAX_ORDERS
from privately.rounding import Enclosure, Number, round_down

Amounts: TypeAlias = tuple[Fraction, ...]
"""One number for each thing that adds up, in the order of `Currency.names`."""

KINDS: dict[str, type[Guarantee]] = {
    kind.__name__: kind for kind in (PureDP, ApproxDP, ZCDP, ApproxZCDP, RenyiDP, GaussianDP)
}
_NAMES: dict[type[Guarantee], tuple[str, ...]] = {
    PureDP: ("epsilon",),
    ApproxDP: ("epsilon", "delta"),
    ZCDP: ("rho",),
    ApproxZCDP: ("rho", "delta"),
    GaussianDP: ("mu",),
}
_CHOOSE_DELTA = "Choose the delta that it takes: cost.to(ApproxDP, delta=...)."


_COST = "give a guarantee, such as PureDP(epsilon='0.1'), or a Batch."


@runtime_checkable
class Priced(Protocol):
    """What knows its own cost in any currency, such as a Batch."""

    def cost(self, currency: Currency) -> Guarantee:
        """The guarantee to be charged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Currency:
    """In which all costs are counted. RenyiDP has its orders, the other kinds have none.

    >>> Currency.of(PureDP(epsilon=1)).price(PureDP(epsilon="0.1"))
    (Fraction(1, 10),)
    >>> Currency.of(GaussianDP(mu=1)).price(GaussianDP(mu="0.5"))
    (Fraction(1, 4),)
    """

    kind: type[Guarantee]
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    orders: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS.values():
            raise InvalidParameter("kind", f"give one of {', '.join(KINDS)}.")
        if not isinstance(self.neighbors, Neighbors):
            raise InvalidParameter("neighbors", f"{self.neighbors!r} is not a Neighbors, such as Neighbors.REPLACE.")
        object.__setattr__(self, "orders", exact_orders(self.orders))
        if (self.kind is RenyiDP) != bool(self.orders):
            raise InvalidParameter("orders", "RenyiDP lists the orders that it tracks; the other kinds have none.")

    @classmethod
    def of(cls, statement: Guarantee) -> Currency:
        """The one that a statement is written in."""
        if type(statement) not in KINDS.values():
            raise InvalidParameter("cap", "give a guarantee, such as PureDP(epsilon=1).")
        orders = tuple(order for order, _ in statement.parameters.get("bounds", ()))
        return cls(kind=type(statement), neighbors=statement.neighbors, orders=orders)

    @property
    def names(self) -> tuple[str | Fraction, ...]:
        """What the amounts are: names of parameters, or orders. The amount of mu is its square."""
        return self.orders or _NAMES[self.kind]

    def price(self, cost: Guarantee | Priced) -> Amounts:
        """What a mechanism with this guarantee costs, or NoSuchRule if nothing follows from it in this currency.

        Theorem: a guarantee implies what the proved conversions give; one about more neighbours also holds for fewer.
        Reference: those of the conversions
        Proof: docs/theory/accounting/filters.md#costs-of-another-kind
        Checked-by: tests/accounting/filters/test_currencies.py::test_prices_dominate_enumeration
        """
        if not isinstance(cost, Guarantee):
            if isinstance(cost, type) or not isinstance(cost, Priced):
                raise InvalidParameter("cost", _COST)
            cost = cost.cost(self)
            if not isinstance(cost, Guarantee):
                raise InvalidParameter("cost", _COST)
        if cost.neighbors != self.neighbors and not cost.neighbors.covers(self.neighbors):
            raise MixedNeighbors(self.neighbors, cost.neighbors, hint="Bring the cost to the neighbours of the filter.")
        return self._amounts(self._converted(cost))

    def statement(self, amounts: Amounts) -> Guarantee:
        """The guarantee with these amounts, rounded up where it must be."""
        return from_costs(self.kind, dict(zip(self.names, amounts, strict=True)), self.neighbors)

    def spendable(self, amounts: Amounts) -> Guarantee:
        """A guarantee that costs at most these amounts: rounded down where it must be."""
        if self.kind is GaussianDP:
            return GaussianDP(mu=root_down(amounts[0]), neighbors=self.neighbors)
        return self.statement(tuple(lowered(amount) for amount in amounts))

    def _amounts(self, cost: Guarantee) -> Amounts:
        if self.kind is RenyiDP:
            listed = dict(cost.parameters["bounds"])
            return tuple(listed[order] if order in listed else _between(cost, order) for order in self.orders)
        return tuple(costs(cost, self.kind).values())

    def _converted(self, cost: Guarantee) -> Guarantee:
        kind, start = self.kind, type(cost)
        if start is kind or (start, kind) == (PureDP, ApproxDP):
            return cost
        if kind is ApproxDP:
            raise NoSuchRule(premise=cost, wanted="ApproxDP without a delta", hint=_CHOOSE_DELTA)
        if (start, kind) == (ApproxDP, ApproxZCDP):
            return approx_to_approx_zcdp(cost)
        return cost.to(kind, orders=self.orders) if kind is RenyiDP else cost.to(kind)


def approx_to_approx_zcdp(cost: Guarantee) -> ApproxZCDP:
    """An (epsilon, delta) guarantee as approximate zCDP with the same delta.

    Theorem: (epsilon, delta)-DP implies delta-approximate rho-zCDP with rho = epsilon tanh(epsilon/2).
    Reference: Bun-Steinke 2016, section 8 (epsilon^2/2); Kairouz-Oh-Viswanath 2015 for the reduction
    Proof: docs/theory/accounting/filters.md#costs-of-another-kind
    Checked-by: tests/accounting/filters/test_currencies.py::test_prices_dominate_enumeration
    """
    numbers = cost.parameters
    pure = PureDP(epsilon=numbers["epsilon"], neighbors=cost.neighbors).to(ZCDP)
    return ApproxZCDP(rho=pure.parameters["rho"], delta=numbers["delta"], neighbors=cost.neighbors)


def root_down(square: Fraction) -> Fraction:
    """A rational whose square is at most `square`; exact for squares of rationals."""
    above = root_up(square)
    return above if above**2 == square else round_down(Fraction(Enclosure.of(square).sqrt().lower), 40)


def _between(cost: Guarantee, order: Fraction) -> Fraction:
    """The bound at an order that is not listed, by the chord between those that are; above the last, none."""
    bounds = cost.parameters["bounds"]
    if order > bounds[-1][0]:
        hint = f"List orders up to {float(order):g}."
        raise NoSuchRule(premise=cost, wanted=f"a bound at order {float(order):g}", hint=hint)
    return curves.bound_at(bounds, order)


def exact_orders(orders: Iterable[Number]) -> tuple[Fraction, ...]:
    """Orders from the least to the largest, each above 1 and listed once; InvalidParameter otherwise."""
    if isinstance(orders, str) or not isinstance(orders, Iterable):
        raise InvalidParameter("orders", "give a list of orders, such as [2, 4, 8].")
    listed = [(order, 0) for order in islice(orders, MAX_ORDERS + 1)]
    return tuple(order for order, _ in RenyiDP(bounds=listed).parameters["bounds"]) if listed else ()
