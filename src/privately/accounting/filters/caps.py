"""Which cap, in another currency, promises a given (epsilon, delta): the largest one, but for the last digits.

It is searched for, and believed only when the rules derive the promise from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from privately.accounting.filters.currencies import exact_orders
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, RenyiDP, curves
from privately.guarantees.costs import implies
from privately.guarantees.rules.limits import moderate
from privately.rounding import LARGEST, Enclosure, Number, rational, round_down, solve_decreasing

_DIGITS = 14
_WIDEST, _FARTHEST = 60.0, 600.0
_CONVERTING = "there must be some left for the conversion"


def cap_for(
    promise: Guarantee,
    by: type[Guarantee],
    *,
    entries_delta: Number | None = None,
    orders: Iterable[Number] | None = None,
) -> Guarantee:
    """The cap in the currency `by` under which a filter promises this ApproxDP.

    Theorem: rho-zCDP implies (epsilon, d)-DP if rho <= (epsilon - g(a))/a for some order a, with
        g(a) = ln((a-1)/a) - (ln d + ln a)/(a-1), and this has a single maximum in a; d0-approximate zCDP needs it at
        d = (delta - d0)/(1 - d0), a single Renyi order a the bound epsilon - g(a), and mu-GDP its exact profile.
    Reference: Canonne-Kamath-Steinke 2020; Bun-Steinke 2016; Balle-Wang 2018
    Proof: docs/theory/accounting/filters.md#caps-for-an-epsilon-and-a-delta
    Checked-by: tests/accounting/filters/test_caps.py::test_the_cap_implies_the_promise,
        tests/accounting/filters/test_caps.py::test_little_more_would_not
    """
    if type(promise) is not ApproxDP:
        raise InvalidParameter("promise", "give an ApproxDP; a filter of any other kind promises its own cap.")
    if entries_delta is not None and by is not ApproxZCDP:
        raise InvalidParameter("entries_delta", "belongs to ApproxZCDP; leave it out.")
    if (orders is not None) != (by is RenyiDP):
        raise InvalidParameter("orders", "list them for RenyiDP, such as [8], and leave them out otherwise.")
    if by is ApproxDP:
        return promise
    if not 0 < promise.parameters["delta"] < 1:
        raise InvalidParameter("promise", f"delta must be above 0 and below 1; {_CONVERTING}.")
    if by is RenyiDP:
        return _renyi_cap(promise, exact_orders(orders or ()))
    return _first(promise, _candidates(promise, by, entries_delta))


def check_promise(cap: Guarantee, promise: Guarantee) -> None:
    """Passes if the promise follows from the cap by the rules; otherwise NoSuchRule."""
    if not isinstance(promise, Guarantee):
        raise InvalidParameter("promise", "give a guarantee, such as ApproxDP(epsilon=1, delta='1e-6').")
    if not (implies(cap, promise) or (type(promise) is ApproxDP and _derives(cap, promise))):
        raise NoSuchRule(premise=cap, wanted=promise, hint="Filter.promising(...) finds the largest cap that does.")


def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Nearly the largest rho whose zCDP gives (epsilon, delta) at some order."""
    order = _best_order(float(epsilon), float(Enclosure.of(delta).log().lower))
    return Fraction((_largest_bound(order, epsilon, delta) / order).lower)


def largest_mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Nearly the largest mu whose Gaussian profile passes (epsilon, delta) or below.

    Sought between the mu that zCDP would allow, which is smaller, and infinity.
    """
    ceiling = 1 / Fraction((2 * Enclosure.of(largest_rho(epsilon, delta))).sqrt().lower)

    def profile(inverse: Fraction) -> Enclosure:
        return curves.gaussian_delta(1 / inverse, epsilon) if inverse else Enclosure.of(1)

    return 1 / solve_decreasing(profile, delta, ceiling)[1]


def _candidates(promise: Guarantee, by: type[Guarantee], entries_delta: Number | None) -> Iterator[Guarantee]:
    """Caps of a kind with a single number to choose, from the largest down."""
    epsilon, delta, neighbors = promise.parameters["epsilon"], promise.parameters["delta"], promise.neighbors
    if by is ZCDP:
        return (ZCDP(rho=rho, neighbors=neighbors) for rho in _below(largest_rho(epsilon, delta)))
    if by is ApproxZCDP:
        kept = delta / 2 if entries_delta is None else rational(entries_delta, "entries_delta", minimum=0)
        if kept >= delta:
            raise InvalidParameter("entries_delta", f"must be below the delta of the promise; {_CONVERTING}.")
        rhos = _below(largest_rho(epsilon, (delta - kept) / (1 - kept)))
        return (ApproxZCDP(rho=rho, delta=kept, neighbors=neighbors) for rho in rhos)
    if by is GaussianDP:
        mus = _below(largest_mu(moderate(epsilon, "promise"), delta))
        return (GaussianDP(mu=mu, neighbors=neighbors) for mu in mus)
    raise NoSuchRule(premise=f"a cap of {getattr(by, '__name__', by)}", wanted=promise)


def _renyi_cap(promise: Guarantee, orders: Iterable[Fraction]) -> RenyiDP:
    """At each order the bound that alone gives (epsilon, delta)."""
    epsilon, delta = promise.parameters["epsilon"], promise.parameters["delta"]
    bounds = []
    for order in orders:
        largest = Fraction(_largest_bound(order, epsilon, delta).lower)
        if largest <= 0:
            raise InvalidParameter("orders", f"at order {float(order):g} no bound gives this epsilon and delta.")
        bounds.append((order, next(t for t in _below(largest) if _claims(order, t, delta) <= epsilon)))
    return RenyiDP(bounds=bounds, neighbors=promise.neighbors)


def _claims(order: Fraction, bound: Fraction, delta: Fraction) -> Fraction:
    return curves.bound_to_epsilon(order, bound, delta).claim()


def _largest_bound(order: Fraction, epsilon: Fraction, delta: Fraction) -> Enclosure:
    """epsilon - g(order)."""
    logs = Enclosure.of(delta).log() + Enclosure.of(order).log()
    return epsilon - Enclosure.of((order - 1) / order).log() + logs / (order - 1)


def _best_order(epsilon: float, log_delta: float) -> Fraction:
    """The order at which (epsilon - g(a))/a is largest, nearly; on a logarithmic scale of x = a - 1."""

    def rho(exponent: float) -> float:
        x = math.exp(exponent)
        return (epsilon + math.log1p(1 / x) + (log_delta + math.log1p(x)) / x) / (1 + x)

    low, high = -_WIDEST, min(max(_WIDEST, 5 - log_delta), _FARTHEST)
    for _ in range(200):
        third = (high - low) / 3
        if rho(low + third) >= rho(high - third):
            high -= third
        else:
            low += third
    return 1 + Fraction(f"{math.exp((low + high) / 2):.8e}")


def _below(value: Fraction) -> Iterator[Fraction]:
    """The value rounded down, then with more and more taken off, until it is almost gone."""
    start = round_down(min(value, Fraction(LARGEST)), _DIGITS)
    yield start
    for digits in range(_DIGITS, 0, -1):
        yield round_down(start * (1 - Fraction(3, 10**digits)), _DIGITS)


def _first(promise: Guarantee, caps: Iterator[Guarantee]) -> Guarantee:
    """The first cap from which the rules derive the promise."""
    found = next((cap for cap in caps if _derives(cap, promise)), None)
    if found is None:
        raise NoSuchRule(premise="any cap of this kind", wanted=promise)
    return found


def _derives(cap: Guarantee, promise: Guarantee) -> bool:
    """Whether the rules lead from the cap to the promise, an ApproxDP."""
    try:
        return implies(cap.to(ApproxDP, delta=promise.parameters["delta"]), promise)
    except InvalidParameter:  # no finite epsilon at this delta
        return False
