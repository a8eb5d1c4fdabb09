"""Filters: a cap fixed beforehand, and costs chosen as one goes along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privately.accounting.filters.caps import cap_for, check_promise
from privately.accounting.filters.currencies import Amounts, Currency, Priced
from privately.accounting.filters.states import VERSION, check_canonical, decoded, encoded, members
from privately.accounting.filters.tallies import Tally
from privately.errors import BudgetExhausted, InvalidParameter
from privately.guarantees import ApproxDP, ApproxZCDP, Guarantee
from privately.rounding import Number

_CRUMB = Fraction(1, 2**20)
_FLOATS = 'Floats are taken exactly, and 0.1 is a little more than "0.1".'
_set = object.__setattr__


@dataclass(frozen=True, slots=True, init=False)
class Filter:
    """Answers questions whose costs are chosen in the light of earlier answers, and never spends more than its cap.

    `cap` is what the entries together may cost, and its kind the currency in which all are counted, fixed from the
    start. `promise` is what holds for all answers together: the cap, or an (epsilon, delta) that follows from it.

    >>> from privately.guarantees import PureDP
    >>> budget = Filter(cap=PureDP(epsilon=1))
    >>> for _ in range(10):
    ...     budget = budget.spend(PureDP(epsilon="0.1"))
    >>> budget.spent, budget.remaining, budget.entries
    (PureDP(epsilon=1), PureDP(epsilon=0), 10)
    >>> budget.spend(PureDP(epsilon="1e-100"))
    Traceback (most recent call last):
    privately.errors.BudgetExhausted: asked PureDP with epsilon 1e-100, ... but only PureDP with epsilon 0, ...
    """

    cap: Guarantee
    promise: Guarantee
    tally: Tally

    def __init__(self, *, cap: Guarantee, promise: Guarantee | None = None) -> None:
        currency = Currency.of(cap)
        promised = cap if promise is None else promise
        check_promise(cap, promised)
        self._put(cap, promised, Tally.empty(currency, currency.price(cap)))

    @classmethod
    def promising(
        cls,
        promise: ApproxDP,
        *,
        by: type[Guarantee],
        entries_delta: Number | None = None,
        orders: Iterable[Number] | None = None,
    ) -> Filter:
        """A filter that promises (epsilon, delta) and counts in `by`: ApproxDP, ZCDP, ApproxZCDP, GaussianDP, RenyiDP.

        `entries_delta` is the part of delta that is kept for the entries' own deltas, under ApproxZCDP (a half, unless
        told). `orders` are those that RenyiDP tracks; each must stay within its cap, so that more of them allow less.

        >>> from privately.guarantees import GaussianDP
        >>> Filter.promising(ApproxDP(epsilon=1, delta="1e-6"), by=GaussianDP).cap
        GaussianDP(mu=0.236704...)
        """
        return cls(cap=cap_for(promise, by, entries_delta=entries_delta, orders=orders), promise=promise)

    @property
    def spent(self) -> Guarantee:
        """What the entries so far have cost together; what a filter capped here would have promised."""
        return self.tally.currency.statement(self.tally.amounts)

    @property
    def remaining(self) -> Guarantee:
        """What may still be spent, in one entry or several; it always fits."""
        return self.tally.currency.spendable(self.tally.rest)

    @property
    def entries(self) -> int:
        """How many costs were accepted."""
        return self.tally.entries

    def fits(self, cost: Guarantee | Priced) -> bool:
        """Whether `spend` would accept this cost. Asking is free: nothing but earlier answers decides it."""
        return self.tally.plus(cost) is not None

    def spend(self, cost: Guarantee | Priced) -> Filter:
        """The filter after one more entry, kept before the answer is drawn; or BudgetExhausted, and nothing is spent.

        The cost is a guarantee of the mechanism about to be run, of this kind or one that converts to it. It may
        depend on earlier answers, and on nothing else that is private.

        Theorem: let the mechanisms and their costs be chosen in any way from the answers before them, each mechanism
            with fresh randomness and each cost accepted before its answer is drawn. Then all answers together satisfy
            the cap: PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP, and RenyiDP with every tracked order in its cap.
        Reference: Rogers-Roth-Ullman-Vadhan 2016 (epsilon and delta); Feldman-Zrnic 2021 (Renyi);
            Whitehouse-Ramdas-Rogers-Wu 2023 (approximate zCDP); Smith-Thakurta 2022, Koskela-Tobaben-Honkela 2023 (mu)
        Proof: docs/theory/accounting/filters.md#the-filter-theorem
        Checked-by: tests/accounting/filters/test_filter.py::test_every_strategy_stays_within_the_cap,
            tests/accounting/filters/test_filter.py::test_false_filters_are_refuted
        """
        tally = self.tally.plus(cost)
        if tally is None:
            raise BudgetExhausted(asked=cost, left=self.remaining, hint=self._hint(self.price(cost)))
        return self.with_tally(tally)

    def price(self, cost: Guarantee | Priced) -> Amounts:
        """What a cost amounts to in this filter's currency: exactly what `spend` would add."""
        return self.tally.currency.price(cost)

    def spend_amounts(self, amounts: Amounts) -> Filter:
        """As `spend`, for amounts that `price` gave, now or long ago; for whoever keeps records of them."""
        if not isinstance(amounts, tuple) or any(type(amount) is not Fraction for amount in amounts):
            raise InvalidParameter("amounts", "are not what price gives: a tuple of Fractions.")
        tally = self.tally.plus_amounts(amounts)
        if tally is None:
            asked = self.tally.currency.statement(amounts)
            raise BudgetExhausted(asked=asked, left=self.remaining, hint=self._hint(amounts))
        return self.with_tally(tally)

    def interleaves(self, cost: Guarantee | Priced) -> bool:
        """Whether an interactive mechanism with this cost may stay open while other entries are made and answered.

        Theorem: with interactive mechanisms whose questions are interleaved in any way, the cap holds as in `spend`; in
            ApproxZCDP this is claimed if those that stay open have delta 0.
        Reference: Vadhan-Wang 2021; Lyu 2022; Vadhan-Zhang 2023; Haney et al. 2023
        Proof: docs/theory/accounting/filters.md#interleaved-mechanisms
        Checked-by: tests/accounting/filters/test_filter.py::test_interleaving
        """
        amounts = self.tally.currency.price(cost)
        return self.tally.currency.kind is not ApproxZCDP or amounts[1] == 0

    def to_state(self) -> dict[str, Any]:
        """All there is to know, as JSON data: exact numbers as texts, always written in the same way."""
        statements = {"cap": encoded(self.cap), "promise": encoded(self.promise)}
        return {"what": "filter", "version": VERSION, **statements, **self.tally.to_state()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Filter:
        """The filter that `to_state` wrote, checked; anything else is an InvalidParameter, or a NoSuchRule."""
        found = members(state, "filter", ("cap", "promise", "spent", "entries"))
        new = cls(cap=decoded(found["cap"], "cap"), promise=decoded(found["promise"], "promise"))
        restored = object.__new__(cls)
        restored._put(new.cap, new.promise, new.tally.restored(found["spent"], found["entries"]))
        check_canonical(state, restored.to_state())
        return restored

    def _put(self, cap: Guarantee, promise: Guarantee, tally: Tally) -> None:
        _set(self, "cap", cap)
        _set(self, "promise", promise)
        _set(self, "tally", tally)

    def with_tally(self, tally: Tally) -> Filter:
        """The same filter at another total, for whoever adds up many entries at once."""
        following = object.__new__(Filter)
        _set(following, "cap", self.cap)
        _set(following, "promise", self.promise)
        _set(following, "tally", tally)
        return following

    def _hint(self, amounts: Amounts) -> str:
        """Where it misses by a crumb of the cost, floats may be to blame."""
        pairs = zip(amounts, self.tally.rest, strict=True)
        return _FLOATS if all(amount - rest <= amount * _CRUMB for amount, rest in pairs) else ""
