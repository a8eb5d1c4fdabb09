"""How a cost is shared among the uses of a question, and which mechanisms come of it.

Shares minimise the sum of squared errors, each relative to how far one unit can move the number and weighted by how
many estimates need it: the part of use i is in proportion to the cube root of its weight where epsilons add up, and to
the square root where squares of mu do (docs/theory/stability.md#allocation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from privately import mechanisms as m
from privately.errors import InvalidParameter
from privately.noise.samplers import NARROWEST, WIDEST, WIDEST_GAUSSIAN
from privately.plans.columns import LEFT_OUT_IF_NONE
from privately.query.listing import not_for_replacement
from privately.query.uses import Chosen, Listed, Noisy, TwoSided, Use
from privately.rounding import Enclosure, round_down

if TYPE_CHECKING:  # each is loaded when it is needed: most questions need one of them
    Choice: TypeAlias = m.Quantile | m.PermutedQuantile
    Mechanism: TypeAlias = m.Laplace | m.Gaussian | Choice | m.ThresholdedHistogram

Currency = Literal["epsilon", "mu squared"]

_DIGITS = 14
"""Shares are short, so that what is claimed of them need not be rounded up."""

_WIDEST_CHOICE = Fraction(2**38)
"""One row's epsilon is no less than its inverse: then scores of any quantile have a scale that can be drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a question may cost: an epsilon (Laplace noise), or a mu squared (normal noise). These add up.

    `delta` is for groups that nobody listed: how likely one that a single unit is in may be shown. `split` is the part
    of each use, where they are not shared as below, since each is to be as accurate as was asked.
    """

    currency: Currency
    amount: Fraction
    delta: Fraction | None = None
    split: tuple[Fraction, ...] | None = field(default=None, metadata=LEFT_OUT_IF_NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A use with the part of the cost that it has and the mechanisms that take it: one, or one per quantile."""

    use: Use
    share: Fraction
    mechanisms: tuple[Mechanism, ...]
    currency: Currency = "epsilon"


def shares(uses: Sequence[Use], budget: Budget) -> tuple[Fraction, ...]:
    """The parts of the budget, which add up to no more than it: epsilons exactly to it; roots of mu are rounded."""
    if budget.split is not None:
        return budget.split
    power = Fraction(1, 3) if budget.currency == "epsilon" else Fraction(1, 2)
    weights = [_power(weight_of(use, budget.currency), power) for use in uses]
    total = sum(weights, Fraction(0))
    parts = [round_down(budget.amount * weight / total, _DIGITS) for weight in weights]
    if budget.currency == "epsilon":
        parts[0] += budget.amount - sum(parts, Fraction(0))
    return tuple(parts)


def weight_of(use: Use, currency: Currency) -> int:
    """How much its error counts. Of k choices that share evenly, the errors have k^2/epsilon^2 each, or k/mu^2."""
    if isinstance(use, Chosen) and currency != "epsilon":
        return len(use.probabilities) ** 2
    return use.weight


def allocated(
    uses: Sequence[Use], groups: int, budget: Budget, *, choose: type[Choice] | None = None
) -> tuple[Drawn, ...]:
    """Mechanisms for all uses that together cost no more than the budget.

    Noise is the same for any number of groups, so where they are unknown beforehand 1 will do. Quantiles that an
    epsilon pays for are chosen by `choose`, by permute-and-flip unless told; those that a mu pays for by the one that
    costs it least.
    """
    parts = shares(uses, budget)
    return tuple(
        Drawn(use=use, share=part, mechanisms=_mechanisms(use, part, groups, budget, choose), currency=budget.currency)
        for use, part in zip(uses, parts, strict=True)
    )


def _mechanisms(
    use: Use, share: Fraction, groups: int, budget: Budget, choose: type[Choice] | None
) -> tuple[Mechanism, ...]:
    match use:
        case Noisy() | TwoSided():
            entries = groups if isinstance(use, Noisy) else 2 * groups
            return (_additive(use, share, entries, budget.currency),)
        case Chosen():
            return _choices(use, share, budget.currency, choose or m.PermutedQuantile)
        case Listed():
            return (_histogram(use, share, budget),)


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
        raise InvalidParameter("budget", "its noise cannot be drawn in steps as fine as these.", hint=hint)
    return max(scale, NARROWEST)


def _choices(use: Chosen, share: Fraction, currency: Currency, choose: type[Choice]) -> tuple[Mechanism, ...]:
    """A choice among the numbers of the bins for each probability.

    By the exponential mechanism a choice that costs epsilon in all is zCDP with rho = epsilon^2/8, which is as much as
    mu = epsilon/2.
    """
    count = len(use.probabilities)
    if currency == "epsilon":
        share_of_one = share / count
    else:
        choose = m.Quantile
        share_of_one = round_down(2 * Fraction(Enclosure.of(share / count).sqrt().lower), _DIGITS)
    each = 1 / _drawable(use.moves[0].value / share_of_one, _WIDEST_CHOICE)
    last = max(use.tally.bins - 1, 1)
    return tuple(choose(probability=p, epsilon=each, lower=0, upper=last, step=1) for p in use.probabilities)


def _histogram(use: Listed, share: Fraction, budget: Budget) -> m.ThresholdedHistogram:
    """The least noise for the share, and the least threshold for the delta.

    Where a unit is replaced, one leaves and one comes: twice the epsilon, and delta (1 + e^epsilon).
    """
    delta, replaced = budget.delta, use.moves[0].neighbors.change == "replace"
    if delta is None:
        raise InvalidParameter("delta", "is needed for groups that nobody listed.")
    if budget.currency != "epsilon" and replaced:
        raise not_for_replacement()
    if budget.currency != "epsilon":
        scale = Enclosure.of(use.keys / share).sqrt().claim()
        return _thresholded(_drawable(scale, WIDEST_GAUSSIAN), delta, use.keys, "rounded_gaussian")
    epsilon = share / 2 if replaced else share
    scale = _drawable(use.keys / epsilon, WIDEST)
    if replaced:
        both = 1 + Enclosure.of(use.keys / scale).exp()
        delta = round_down(Fraction((Enclosure.of(delta) / both).lower), _DIGITS)
    return _thresholded(scale, delta, use.keys, "discrete_laplace")


def _thresholded(
    scale: Fraction, delta: Fraction, keys: int, noise: Literal["discrete_laplace", "rounded_gaussian"]
) -> m.ThresholdedHistogram:
    from privately.mechanisms.thresholded_histogram import least_threshold

    threshold = least_threshold(scale, delta, keys, noise)
    return m.ThresholdedHistogram(scale=scale, threshold=threshold, keys=keys, noise=noise)


def _power(weight: int, power: Fraction) -> Fraction:
    found = (Enclosure.of(weight).log() * Enclosure.of(power)).exp()
    return round_down(Fraction(found.lower), 30)


__all__ = ["Budget", "Choice", "Currency", "Drawn", "Mechanism", "allocated", "shares", "weight_of"]
