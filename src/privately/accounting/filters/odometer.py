"""Odometers: the running total of costs chosen as one goes along, without a cap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privately.accounting.filters.currencies import Currency, Priced, exact_orders
from privately.accounting.filters.states import (
    VERSION,
    check_canonical,
    decoded_neighbors,
    encoded_neighbors,
    kind_named,
    members,
)
from privately.accounting.filters.tallies import Tally
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP
from privately.guarantees.rules.routes import ORDERS
from privately.rounding import LARGEST, Enclosure, Number, rational

_set = object.__setattr__


@dataclass(frozen=True, slots=True, init=False)
class Odometer:
    """Counts what has been spent, and stops nobody.

    `spent` is no guarantee of the whole, since how far it has come depends on the answers. What it means: for every
    cap fixed beforehand, all that happened before the total would have passed that cap satisfies it. Where a
    guarantee is wanted, use a Filter.

    >>> odometer = Odometer(kind=PureDP).spend(PureDP(epsilon="0.1")).spend(PureDP(epsilon="0.2"))
    >>> odometer.spent, odometer.entries
    (PureDP(epsilon=0.3), 2)
    """

    tally: Tally

    def __init__(
        self,
        *,
        kind: type[Guarantee],
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
        orders: Iterable[Number] = (),
    ) -> None:
        currency = Currency(kind=kind, neighbors=neighbors, orders=exact_orders(orders))
        most = Fraction(LARGEST**2 if kind is GaussianDP else LARGEST)
        _set(self, "tally", Tally.empty(currency, (most,) * len(currency.names)))

    @property
    def spent(self) -> Guarantee:
        """The running total, as a statement of the odometer's kind; see above for what it means."""
        return self.tally.currency.statement(self.tally.amounts)

    @property
    def entries(self) -> int:
        """How many costs were counted."""
        return self.tally.entries

    def spend(self, cost: Guarantee | Priced) -> Odometer:
        """The odometer after one more entry.

        Theorem: for every cap fixed beforehand, the answers to the entries before the first that takes the total
            above the cap satisfy the cap, though parameters are chosen in the light of answers.
        Reference: Rogers-Roth-Ullman-Vadhan 2016 for the notion
        Proof: docs/theory/accounting/filters.md#odometers
        Checked-by: tests/accounting/filters/test_odometer.py::test_what_happened_below_a_cap_satisfies_it
        """
        tally = self.tally.plus(cost)
        if tally is None:
            raise InvalidParameter("cost", f"brings a total above {LARGEST}, where a guarantee says nothing.")
        return self._with(tally)

    def loss_bound(self, *, delta: Number) -> Fraction:
        """What the privacy loss ln(P/Q) of the answers so far is at most, but for a probability of delta.

        The probability is that of ever being above, at any time, so this may be read as often as one likes, and
        one may stop when one likes; but delta must have been fixed before the first answer.

        Theorem: if the entries' Renyi divergences of order a add up to T, then with probability at least 1 - d the
            loss is at most T + ln(1/d)/(a-1) at all times; with k orders, each gets d = delta/k. PureDP: the total.
        Reference: Ville 1939; Whitehouse-Ramdas-Rogers-Wu 2023 and Lecuyer 2021 for odometers of this sort
        Proof: docs/theory/accounting/filters.md#odometers
        Checked-by: tests/accounting/filters/test_odometer.py::test_the_loss_stays_below_its_bound
        """
        if self.tally.currency.kind is PureDP:
            rational(delta, "delta", minimum=0, maximum=1)
            return self.tally.amounts[0]
        each = rational(delta, "delta", above=0, maximum=1)
        bounds = self._renyi_totals()
        surprise = -Enclosure.of(each / len(bounds)).log()
        return min((bound + surprise / (order - 1)).claim() for order, bound in bounds)

    def to_state(self) -> dict[str, Any]:
        """All there is to know, as JSON data."""
        currency = self.tally.currency
        return {
            "what": "odometer",
            "version": VERSION,
            "kind": currency.kind.__name__,
            "neighbors": encoded_neighbors(currency.neighbors),
            "orders": [str(order) for order in currency.orders],
            **self.tally.to_state(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Odometer:
        """The odometer that `to_state` wrote, checked; anything else is an InvalidParameter."""
        found = members(state, "odometer", ("kind", "neighbors", "orders", "spent", "entries"))
        kind, neighbors = kind_named(found["kind"], "kind"), decoded_neighbors(found["neighbors"], "neighbors")
        new = cls(kind=kind, neighbors=neighbors, orders=found["orders"])
        restored = new._with(new.tally.restored(found["spent"], found["entries"]))
        check_canonical(state, restored.to_state())
        return restored

    def _with(self, tally: Tally) -> Odometer:
        following = object.__new__(Odometer)
        _set(following, "tally", tally)
        return following

    def _renyi_totals(self) -> list[tuple[Fraction, Fraction]]:
        """The orders, which were fixed beforehand, and what has been spent at each."""
        currency, totals = self.tally.currency, self.tally.amounts
        if currency.kind is RenyiDP:
            return list(zip(currency.orders, totals, strict=True))
        if currency.kind in (ZCDP, GaussianDP):
            rho = totals[0] / 2 if currency.kind is GaussianDP else totals[0]
            return [(order, order * rho) for order in exact_orders(ORDERS)]
        hint = "Count in PureDP, ZCDP, GaussianDP or RenyiDP."
        raise NoSuchRule(premise=f"{currency.kind.__name__} spent so far", wanted="a bound on the loss", hint=hint)
