"""Batches: events whose parameters were fixed together beforehand, which enter a filter as one entry."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

from privately.accounting.events import Event, Sequence
from privately.accounting.filters.currencies import Amounts, Currency
from privately.accounting.filters.event_costs import amounts_of
from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import ApproxDP, ApproxZCDP, Guarantee, RenyiDP
from privately.rounding import Interval, Number, rational, round_up

Epsilon: TypeAlias = Callable[[Event, Fraction], Interval]
"""The least epsilon at a delta, between two ends."""

Divergences: TypeAlias = Callable[[Event, tuple[Fraction, ...]], RenyiDP]
"""Bounds on the Renyi divergences at these orders."""

_set = object.__setattr__


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluators:
    """The accountant, as far as batches need it."""

    epsilon: Epsilon
    divergences: Divergences


@dataclass(frozen=True, slots=True, init=False)
class Batch:
    """Events that are composed tightly and enter a filter as one entry.

    Which events they are, with all parameters, is fixed before the first of them is answered; the questions
    themselves may depend on the answers. `delta` is what the batch may take of a filter's delta, under ApproxDP and
    ApproxZCDP; without it, or where it gains nothing, costs are added up event by event.

    >>> from privately.accounting.events import Gaussian, Repeat
    >>> from privately.guarantees import GaussianDP
    >>> batch = Batch(events=[Repeat(event=Gaussian(noise_multiplier=10), times=25)])
    >>> batch.cost(Currency.of(GaussianDP(mu=1)))
    GaussianDP(mu=0.5)
    """

    event: Event
    delta: Fraction | None

    evaluators: ClassVar[Evaluators | None] = None

    def __init__(self, *, events: Iterable[Event], delta: Number | None = None) -> None:
        _set(self, "event", Sequence(events=events))
        _set(self, "delta", None if delta is None else rational(delta, "delta", minimum=0, maximum=1))

    def cost(self, currency: Currency) -> Guarantee:
        """What a filter of this currency must charge for the whole batch.

        Theorem: every mechanism which the events describe satisfies the result, though its questions are chosen in
            the light of answers; so the filter may take it for a single mechanism.
        Reference: Rogers-Roth-Ullman-Vadhan 2016 for the filter; the accountant's own for the batch
        Proof: docs/theory/accounting/filters.md#batches
        Checked-by: tests/accounting/filters/test_batches.py::test_the_cost_in_every_currency
        """
        if self.delta is not None and currency.kind in (ApproxDP, ApproxZCDP):
            return currency.statement(self._lesser(currency, self.delta))
        if currency.kind is RenyiDP and self.evaluators is not None:
            return self.evaluators.divergences(self.event, currency.orders)
        return currency.statement(amounts_of(self.event, currency))

    def _lesser(self, currency: Currency, delta: Fraction) -> Amounts:
        """What the accountant says at this delta, or the sums where neither of them is larger.

        Theorem: the batch satisfies the sums, and it satisfies what the accountant says at any delta; so the filter may
            count either, whole. Which one follows from the events and the delta alone, before any answer.
        Reference: Rogers-Roth-Ullman-Vadhan 2016 for the filter; the accountant's own and those of the rules
        Proof: docs/theory/accounting/filters.md#a-batch-with-a-delta
        Checked-by: tests/accounting/filters/test_batches.py::test_a_delta_never_makes_both_amounts_larger,
            tests/accounting/filters/test_batches.py::test_either_cost_is_counted_whole,
            tests/accounting/filters/test_batches.py::test_the_lesser_of_each_amount_would_be_false
        """
        sums = self._sums_within(currency, delta)
        try:
            tight = currency.price(self._tight(delta))
        except (NoSuchRule, InvalidParameter):
            if sums is None or self.evaluators is None:
                raise
            return sums
        return tight if sums is None or sums[0] > tight[0] else sums

    def _sums_within(self, currency: Currency, delta: Fraction) -> Amounts | None:
        """Event by event; None if that takes more than this delta, or gives nothing."""
        try:
            sums = amounts_of(self.event, currency)
        except (NoSuchRule, InvalidParameter, MixedNeighbors):  # InvalidParameter: a number on the way is too large
            return None
        return sums if sums[1] <= delta else None

    def _tight(self, delta: Fraction) -> ApproxDP:
        if self.evaluators is None:
            raise NoSuchRule(premise="a batch", wanted="its epsilon at a delta", hint="Load privately.accounting.")
        upper = self.evaluators.epsilon(self.event, delta).upper
        if math.isinf(upper):
            raise NoSuchRule(premise=self.event, wanted=f"a finite epsilon at delta {float(delta):g}")
        return ApproxDP(epsilon=round_up(Fraction(upper)), delta=delta, neighbors=self.event.neighbors)


def use_evaluators(*, epsilon: Epsilon, divergences: Divergences) -> None:
    """Hands the accountant to the batches. Done by the package."""
    Batch.evaluators = Evaluators(epsilon=epsilon, divergences=divergences)
