"""What an event costs in a currency by sums alone: exact, immediate, and no tighter than adding up its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from typing import Any

from privately.accounting import events
from privately.accounting.filters.currencies import Amounts, Currency
from privately.accounting.filters.sums import added
from privately.errors import NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, PureDP, RenyiDP, rules

_STATEMENTS: dict[type[events.Event], tuple[Any, ...]] = {
    events.RandomizedResponse: (PureDP, "epsilon"),
    events.Pure: (PureDP, "epsilon"),
    events.Approx: (ApproxDP, "epsilon", "delta"),
    events.ZCDP: (ZCDP, "rho"),
    events.Renyi: (RenyiDP, "bounds"),
    events.GaussianDP: (GaussianDP, "mu"),
}
"""Events that are what a guarantee says, with the fields that they share with it."""

_CONCENTRATED = (events.Laplace, events.DiscreteLaplace, events.RandomizedResponse, events.Exponential)
"""Noises whose rho is less than what their epsilon implies."""

_MAY_LACK_NOISE = (events.Gaussian, events.Laplace, events.DiscreteGaussian, events.DiscreteLaplace)
_NO_NOISE = "Without noise no finite amount is enough."
_CHOOSE_DELTA = "Choose the delta that it takes: Batch(..., delta=...)."
_UNKNOWN = "The event is unknown: describe it by what it keeps, such as acc.Pure(epsilon=1), or spend its guarantee."


@singledispatch
def amounts_of(event: events.Event, currency: Currency) -> Amounts:
    """The amounts that every mechanism which the event describes stays within, or NoSuchRule.

    Theorem: what a leaf's guarantee costs; added up over a Sequence, multiplied in a Repeat, the largest of each amount
        in a Parallel, and what the rules give for a Group; a sampled event is amplified as PureDP or ApproxDP, and
        costs no more than without sampling.
    Reference: those of the rules; Harrison-Manurangsi 2025 for the rho of Laplace noise
    Proof: docs/theory/accounting/filters.md#batches
    Checked-by: tests/accounting/filters/test_event_costs.py::test_leaves,
        tests/accounting/filters/test_event_costs.py::test_combinations
    """
    statement = _leaf(event, currency.kind)
    try:
        return currency.price(statement)
    except NoSuchRule as fault:
        if currency.kind is not ApproxDP:
            raise
        raise NoSuchRule(premise=fault.premise, wanted=fault.wanted, hint=_CHOOSE_DELTA) from None


@amounts_of.register
def _(event: events.Sequence, currency: Currency) -> Amounts:
    return _columns(added, (amounts_of(part, currency) for part in event.events))


@amounts_of.register
def _(event: events.Repeat, currency: Currency) -> Amounts:
    if event.times == 0:
        return _nothing(currency)
    return tuple(event.times * amount for amount in amounts_of(event.event, currency))


@amounts_of.register
def _(event: events.Parallel, currency: Currency) -> Amounts:
    return _columns(max, (amounts_of(part, currency) for part in event.events))


@amounts_of.register
def _(event: events.Group, currency: Currency) -> Amounts:
    inner = replace(currency, neighbors=event.event.neighbors)
    return currency.price(inner.statement(amounts_of(event.event, inner)).group(event.size))


@amounts_of.register
def _(event: events.PoissonSample, currency: Currency) -> Amounts:
    def amplified() -> Guarantee:
        base = rules.suppose(_sampled_base(event.event, currency))
        return rules.poisson_sampling(base, rate=event.rate).conclusion

    return _sampled(event, currency, amplified)


@amounts_of.register
def _(event: events.FixedSizeSample, currency: Currency) -> Amounts:
    def amplified() -> Guarantee:
        base = rules.suppose(_sampled_base(event.event, currency))
        sizes = {"sample": event.size, "population": event.population}
        return rules.sampling_without_replacement(base, **sizes).conclusion

    return _sampled(event, currency, amplified)


def _sampled(
    event: events.PoissonSample | events.FixedSizeSample, currency: Currency, amplified: Callable[[], Guarantee]
) -> Amounts:
    """What amplification gives, or no sampling at all, which never costs less.

    Theorem: a sample keeps every guarantee of what is run on it; each amount may be the lesser of two that hold by
        themselves.
    Reference: van Erven-Harremoes 2014, Theorem 13; Balle-Barthe-Gaboardi 2018
    Proof: docs/theory/accounting/filters.md#batches
    Checked-by: tests/accounting/filters/test_event_costs.py::test_samples_cost_no_more_than_the_whole
    """
    if event.rate == 0:
        return _nothing(currency)
    found: list[Amounts] = []
    reason: NoSuchRule | None = None
    ways: tuple[Callable[[], Amounts], ...] = (
        lambda: currency.price(amplified()),
        lambda: amounts_of(event.event, currency),
    )
    for way in ways:
        try:
            found.append(way())
        except NoSuchRule as fault:
            reason = reason or fault
    if not found:
        raise reason or NoSuchRule(premise=event, wanted=currency.kind.__name__)
    if currency.kind in (ApproxDP, ApproxZCDP):  # its amounts hold together only
        return min(found, key=lambda amounts: (amounts[1], amounts[0]))
    return _columns(min, found)


def _nothing(currency: Currency) -> Amounts:
    return (Fraction(0),) * len(currency.names)


def _sampled_base(event: events.Event, currency: Currency) -> Guarantee:
    kind = ApproxDP if currency.kind in (ApproxDP, ApproxZCDP) else PureDP
    inner = Currency(kind=kind, neighbors=event.neighbors)
    return inner.statement(amounts_of(event, inner))


def _leaf(event: events.Event, kind: type[Guarantee]) -> Guarantee:
    """The leaf's guarantee from which the least follows in a currency of this kind."""
    if kind in (ZCDP, ApproxZCDP) and isinstance(event, _CONCENTRATED):
        return _concentrated(event)
    if isinstance(event, events.Approx) and not event.delta:
        return PureDP(epsilon=event.epsilon, neighbors=event.neighbors)
    stated = _STATEMENTS.get(type(event))
    if stated is not None:
        guarantee, *names = stated
        made: Guarantee = guarantee(**{name: getattr(event, name) for name in names}, neighbors=event.neighbors)
        return made
    match event:
        case events.Gaussian(noise_multiplier=deviation) if deviation:
            return GaussianDP(mu=1 / deviation, neighbors=event.neighbors)
        case events.DiscreteGaussian(variance=variance, sensitivity=sensitivity) if variance:
            return ZCDP(rho=sensitivity**2 / (2 * variance), neighbors=event.neighbors)
        case events.Laplace(scale=scale) if scale:
            return PureDP(epsilon=1 / scale, neighbors=event.neighbors)
        case events.DiscreteLaplace(scale=scale, sensitivity=sensitivity) if scale:
            return PureDP(epsilon=sensitivity / scale, neighbors=event.neighbors)
        case events.Exponential(epsilon=epsilon):
            if kind is RenyiDP:
                return ZCDP(rho=epsilon**2 / 8, neighbors=event.neighbors)
            return PureDP(epsilon=epsilon, neighbors=event.neighbors)
    hint = _NO_NOISE if isinstance(event, _MAY_LACK_NOISE) else _UNKNOWN
    raise NoSuchRule(premise=event, wanted=kind.__name__, hint=hint)


def _concentrated(event: events.Event) -> ZCDP:
    """With the least rho that is known of this noise, below that of all mechanisms with the same epsilon."""
    from privately.accounting.renyi.concentrated import rho  # here, as filters alone need no arrays

    return ZCDP(rho=rho(event), neighbors=event.neighbors)


def _columns(gather: Callable[[Amounts], Fraction], rows: Iterable[Amounts]) -> Amounts:
    return tuple(gather(column) for column in zip(*rows, strict=True))
