"""Filters with a fault each, which tests must refute."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from privately.accounting.filters import Currency
from privately.errors import BudgetExhausted
from privately.guarantees import Guarantee
from tests.accounting.filters.interactions import Dish
from tests.guarantees.enumeration import Pair
from tests.guarantees.rules.refutation import hockey_stick


@dataclass(frozen=True)
class FalseFilter:
    """A filter with a fault: what it adds up and when it looks is told by the kind of fault."""

    cap: Guarantee
    total: tuple[Fraction, ...] = ()
    spent: tuple[Guarantee, ...] = ()

    @property
    def limit(self) -> tuple[Fraction, ...]:
        return Currency.of(self.cap).price(self.cap)

    def after(self, cost: Guarantee) -> tuple[Fraction, ...]:
        total = self.total or (Fraction(0),) * len(self.limit)
        return tuple(a + b for a, b in zip(total, Currency.of(self.cap).price(cost), strict=True))

    def allows(self, cost: Guarantee) -> bool:
        return all(total <= limit for total, limit in zip(self.after(cost), self.limit, strict=True))

    def spend(self, cost: Guarantee) -> FalseFilter:
        if not self.allows(cost):
            raise BudgetExhausted(asked=cost, left=self.cap)
        return replace(self, total=self.after(cost), spent=(*self.spent, cost))


class Late(FalseFilter):
    """Looks at the cap after answering."""

    def allows(self, cost: Guarantee) -> bool:
        return not self.total or all(total < limit for total, limit in zip(self.total, self.limit, strict=True))


class LastForgotten(FalseFilter):
    """Does not look at the last order, or at delta."""

    def allows(self, cost: Guarantee) -> bool:
        return all(total <= limit for total, limit in list(zip(self.after(cost), self.limit, strict=True))[:-1])


class AnyOrder(FalseFilter):
    """Is content with one order within its cap."""

    def allows(self, cost: Guarantee) -> bool:
        return any(total <= limit for total, limit in zip(self.after(cost), self.limit, strict=True))


class Largest(FalseFilter):
    """Takes the largest cost for the sum."""

    def after(self, cost: Guarantee) -> tuple[Fraction, ...]:
        return Currency.of(self.cap).price(cost)


class Unsquared(FalseFilter):
    """Adds mu up, and holds it against the square of the cap."""

    def after(self, cost: Guarantee) -> tuple[Fraction, ...]:
        return ((self.total or (Fraction(0),))[0] + cost.parameters["mu"],)


class Averaged(FalseFilter):
    """Refunds what turned out cheaper: charges half of each cost."""

    def after(self, cost: Guarantee) -> tuple[Fraction, ...]:
        total = self.total or (Fraction(0),) * len(self.limit)
        return tuple(a + b / 2 for a, b in zip(total, Currency.of(self.cap).price(cost), strict=True))


@dataclass(frozen=True)
class Natural:
    """Composes all that was run exactly, as if it had been fixed beforehand, and accepts delta at e^epsilon = ratio."""

    ratio: Fraction
    delta: Fraction
    menu: tuple[Dish, ...]
    joint: Pair = ({(): Fraction(1)}, {(): Fraction(1)})

    def spend(self, cost: Guarantee) -> Natural:
        pair = next(one.pair for one in self.menu if one.cost is cost)
        first, second = (
            {(*before, now): mass * then for before, mass in law.items() for now, then in new.items()}
            for law, new in zip(self.joint, pair, strict=True)
        )
        if max(hockey_stick(first, second, self.ratio), hockey_stick(second, first, self.ratio)) > self.delta:
            raise BudgetExhausted(asked=cost, left=self.delta)
        return replace(self, joint=(first, second))
