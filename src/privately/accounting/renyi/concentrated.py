"""The rho of zero-concentrated privacy that an event costs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache

from privately.accounting.events import (
    ZCDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    FixedSizeSample,
    Gaussian,
    GaussianDP,
    Group,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Repeat,
    Sequence,
)
from privately.accounting.groups import grouped
from privately.accounting.renyi.curves import curves
from privately.accounting.roads import NotApplicable
from privately.accounting.terms import is_silent
from privately.errors import NoSuchRule
from privately.rounding import Enclosure, tidy

_APART, _SMALL = 1 + 2.0**-6, Fraction(1, 10**9)
"""Orders that are looked at, and responses of which only what all mechanisms keep is told."""


def rho(event: Event) -> Fraction:
    """A rho such that every mechanism which the event describes is rho-zCDP, or NoSuchRule.

    Theorem: the least rho is epsilon - 1 + e^-epsilon for Laplace noise, mu^2/2 for normal noise, epsilon
        tanh(epsilon/2) for all epsilon-DP mechanisms, and the divergence of order 1 for discrete Laplace noise and for
        randomized response with at most 2 + 4 e^(epsilon/2) categories; of more it is at most the largest D_b/a, over
        orders b that follow each other and the one before, a; it is at most a sum in sequence, the largest in parallel,
        k^2 times that of one change for k, and on a sample no more than without sampling.
    Reference: Harrison-Manurangsi 2025 for the noises; Bun-Steinke 2016 for the rest
    Proof: docs/theory/accounting/renyi.md#concentrated-privacy
    Checked-by: tests/accounting/renyi/test_concentrated.py::test_rho_bounds_every_order,
        tests/accounting/renyi/test_concentrated.py::test_rho_is_reached,
        tests/accounting/renyi/test_concentrated.py::test_many_categories_cost_the_largest_of_all_orders
    """
    if is_silent(event):
        return Fraction(0)
    match event:
        case Sequence(events=events):
            return tidy(sum((times * rho(part) for part, times in Counter(events).items()), Fraction(0)))
        case Repeat(event=inner, times=times):
            return times * rho(inner) if times else Fraction(0)
        case Parallel(events=events):
            return max(rho(part) for part in set(events))
        case Group(event=inner, size=size):
            return _group(inner, size)
        case PoissonSample(event=inner) | FixedSizeSample(event=inner):
            return _sample(event, inner)
    return _leaf(event)


def _group(inner: Event, size: int) -> Fraction:
    simple = size**2 * rho(inner)
    try:
        scaled = grouped(inner, size)
    except NoSuchRule:
        return simple
    return simple if isinstance(scaled, Group) else min(simple, rho(scaled))


def _sample(event: Event, inner: Event) -> Fraction:
    """No more than without sampling, nor than the largest loss allows."""
    try:
        found = curves(event)
    except NotApplicable:
        return rho(inner)
    loss = max(curve.moments.largest for curve in found)
    if isinstance(loss, float) or any(curve.infinite for curve in found):
        return rho(inner)
    try:
        return min(rho(inner), _pure(loss))
    except NoSuchRule:
        return _pure(loss)


def _leaf(event: Event) -> Fraction:
    match event:
        case Gaussian(noise_multiplier=multiplier) if multiplier:
            return tidy(1 / (2 * multiplier**2))
        case DiscreteGaussian(variance=variance, sensitivity=sensitivity) if variance:
            return tidy(sensitivity**2 / (2 * variance))
        case GaussianDP(mu=mu):
            return mu**2 / 2
        case ZCDP(rho=amount):
            return amount
        case Laplace(scale=scale) if scale:
            return _laplace(1 / scale)
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity) if scale:
            return _discrete_laplace(scale, sensitivity)
        case RandomizedResponse(epsilon=epsilon, categories=categories):
            return _response(epsilon, categories)
        case Pure(epsilon=epsilon):
            return _pure(epsilon)
        case Exponential(epsilon=epsilon):
            return min(epsilon**2 / 8, _pure(epsilon))
    raise NoSuchRule(premise=event, wanted="zCDP", hint="Only some orders, or only most outcomes, are bounded.")


def _pure(epsilon: Fraction) -> Fraction:
    fallen = Enclosure.of(-epsilon).exp()
    return _least(epsilon, epsilon * (1 - fallen) / (1 + fallen))


def _laplace(epsilon: Fraction) -> Fraction:
    return _least(epsilon, epsilon - 1 + Enclosure.of(-epsilon).exp())


def _discrete_laplace(scale: Fraction, sensitivity: int) -> Fraction:
    """(s - (1 - e^(-s/scale))/sinh(1/scale))/scale, s the sensitivity."""
    loss, ratio = sensitivity / scale, Enclosure.of(-1 / scale).exp()
    if ratio.upper >= 1:
        return tidy(loss**2 / 2)
    spread = 2 * ratio / (1 - ratio * ratio)
    return _least(loss, (sensitivity - (1 - Enclosure.of(-loss).exp()) * spread) / scale)


def _response(epsilon: Fraction, categories: int) -> Fraction:
    """epsilon (e^epsilon - 1)/(categories - 1 + e^epsilon), while there are not too many categories."""
    if categories - 2 > (4 * Enclosure.of(epsilon / 2).exp()).lower:
        return _pure(epsilon) if epsilon < _SMALL else min(_pure(epsilon), _many_categories(epsilon, categories))
    fallen = Enclosure.of(-epsilon).exp()
    return _least(epsilon, epsilon * (1 - fallen) / (1 + (categories - 1) * fallen))


@lru_cache(maxsize=64)
def _many_categories(epsilon: Fraction, categories: int) -> Fraction:
    """D/a is nowhere more than D of the next order that is looked at over the last one, nor than epsilon/a."""
    all_of_it, best, order = categories - 1 + Enclosure.of(epsilon).exp(), Fraction(0), Fraction(1)
    while epsilon > best * order:
        after = Fraction(float(order) * _APART)
        moment = Enclosure.of(after * epsilon).exp() + Enclosure.of((1 - after) * epsilon).exp() + (categories - 2)
        best, order = max(best, ((moment / all_of_it).log() / ((after - 1) * order)).claim()), after
    return best


def _least(epsilon: Fraction, found: Enclosure) -> Fraction:
    """The exact epsilon^2/2 where that is less than a bound of 15 digits."""
    return min(tidy(epsilon**2 / 2), found.claim())
