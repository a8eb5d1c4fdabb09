"""How a cost is shared among the uses of a question, and which mechanisms come of it.

Shares minimise the sum of squared errors, each relative to how far one unit can move the number and weighted by how
many estimates need it: the part of use i is in proportion to the cube root of its weight where epsilons add up, and to
the square root where squares of mu do (docs/theory/stability.md#allocation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from privately import mechanisms as m
from privately.errors import InvalidParameter, NotSupported
from privately.noise.samplers import NARROWEST, WIDEST, WIDEST_GAUSSIAN
from privately.query.uses import Chosen, Noisy, TwoSided, Use
from privately.rounding import Enclosure, round_down

Currency = Literal["epsilon", "mu squared"]

_DIGITS = 14
"""Shares are short, so that what is claimed of them need not be rounded up."""

_WIDEST_CHOICE = Fraction(2**38)
"""One row's epsilon is no less than its inverse: then scores of any quantile have a scale that can be drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a question may cost: an epsilon (Laplace noise), or a mu squared (normal noise). These add up."""

    currency: Currency
    amount: Fraction


Mechanism: TypeAlias = m.Laplace | m.Gaussian | m.Quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A use with the part of the cost that it has and the mechanisms that take it: one, or one per quantile."""

    use: Use
    share: Fraction
    mechanisms: tuple[Mechanism, ...]


def shares(uses: Sequence[Use], budget: Budget) -> tuple[Fraction, ...]:
    """The parts of the budget, which add up to no more than it: epsilons exactly to it; roots of mu are rounded."""
    power = Fraction(1, 3) if budget.currency == "epsilon" else Fraction(1, 2)
    weights = [_power(use.weight, power) for use in uses]
    total = sum(weights, Fraction(0))
    parts = [round_down(budget.amount * weight / total, _DIGITS) for weight in weights]
    if budget.currency == "epsilon":
        parts[0] += budget.amount - sum(parts, Fraction(0))
    return tuple(parts)


def allocated(uses: Sequence[Use], groups: int, budget: Budget) -> tuple[Drawn, ...]:
    """Mechanisms for all uses that together cost no more than the budget."""
    parts = shares(uses, budget)
    return tuple(
        Drawn(use=use, share=part, mechanisms=_mechanisms(use, part, groups, budget.currency))
        for use, part in zip(uses, parts, strict=True)
    )


def _mechanisms(use: Use, share: Fraction, groups: int, currency: Currency) -> tuple[Mechanism, ...]:
    match use:
        case Noisy() | TwoSided():
            entries = groups if isinstance(use, Noisy) else 2 * groups
            return (_additive(use, share, entries, currency),)
        case Chosen():
            return _choices(use, share, currency)


def _additive(use: Noisy | TwoSided, share: Fraction, entries: int, currency: Currency) -> Mechanism:
    one, two = use.moves
    if currency == "epsilon":
        return m.Laplace(scale=_drawable(one.value / share, WIDEST), dimension=entries)
    deviation = Enclosure.of(two.value**2 / share).sqrt().claim()
    return m.Gaussian(standard_deviation=_drawable(deviation, WIDEST_GAUSSIAN), dimension=entries)


def _drawable(scale: Fraction, widest: Fraction) -> Fraction:
    """A scale that can be drawn: at least the narrowest, which costs less than was asked."""
    if scale > widest:
        hint = "Ask for more, declare tighter bounds, or a coarser step."
        raise InvalidParameter("budget", "is so small that noise would drown every number.", hint=hint)
    return max(scale, NARROWEST)


def _choices(use: Chosen, share: Fraction, currency: Currency) -> tuple[Mechanism, ...]:
    """A choice among the numbers of the bins for each probability."""
    if currency != "epsilon":
        raise NotSupported(
            "quantiles with normal noise.", hint="Ask for them with epsilon=..., or in a question apart."
        )
    each = 1 / _drawable(len(use.probabilities) * use.moves[0].value / share, _WIDEST_CHOICE)
    last = max(use.tally.bins - 1, 1)
    return tuple(m.Quantile(probability=p, epsilon=each, lower=0, upper=last, step=1) for p in use.probabilities)


def _power(weight: int, power: Fraction) -> Fraction:
    found = (Enclosure.of(weight).log() * Enclosure.of(power)).exp()
    return round_down(Fraction(found.lower), 30)


__all__ = ["Budget", "Currency", "Drawn", "Mechanism", "allocated", "shares"]
