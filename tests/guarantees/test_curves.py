"""Every curve against mpmath, the interpolation between orders against true divergences, and the orders chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privately.guarantees import curves
from privately.rounding import Enclosure
from tests.rounding.truth import encloses, real, truth

Bounds = list[tuple[Fraction, Fraction]]

LOSSES = st.fractions(min_value=0, max_value=50, max_denominator=10**6) | st.sampled_from(
    [Fraction(1, 10**50), Fraction(10**4), Fraction(10**9)]
)
EPSILONS = st.fractions(min_value=0, max_value=50, max_denominator=10**6)
AMOUNTS = st.fractions(min_value=Fraction(1, 1000), max_value=30, max_denominator=10**6)
DELTAS = st.fractions(min_value=Fraction(1, 10**9), max_value=1 - Fraction(1, 10**9), max_denominator=10**12) | (
    st.integers(1, 1000).map(lambda exponent: Fraction(1, 10**exponent))
)
ORDERS = st.fractions(min_value=Fraction(1001, 1000), max_value=1000, max_denominator=1000)
BOUNDS = st.fractions(min_value=0, max_value=30, max_denominator=10**6)
FEWER = settings(max_examples=settings().max_examples // 4)
ABSOLUTE = Fraction(1, 10**55)


def near(found: Enclosure, value: Fraction) -> bool:
    return encloses(found, value) and Fraction(found.upper) - Fraction(found.lower) <= ABSOLUTE * max(
        Fraction(1), abs(value)
    )


# Closed forms


@given(LOSSES, EPSILONS)
def test_response_delta(loss: Fraction, epsilon: Fraction) -> None:
    def formula() -> Any:
        kept = 1 / (1 + mpmath.exp(-real(loss)))
        return max(kept * (1 - mpmath.exp(real(epsilon) - real(loss))), mpmath.mpf(0))

    assert near(curves.response_delta(loss, epsilon), truth(formula))


@given(LOSSES, DELTAS)
def test_response_epsilon(loss: Fraction, delta: Fraction) -> None:
    def formula() -> Any:
        inside = 1 - real(delta) - real(delta) * mpmath.exp(-real(loss))
        return max(real(loss) + mpmath.log(inside), mpmath.mpf(0)) if inside > 0 else 0

    assert near(curves.response_epsilon(loss, delta), truth(formula, 1100))


def gaussian_delta(mu: Fraction, epsilon: Fraction, digits: int = 200) -> Fraction:
    def formula() -> Any:
        middle, half = real(epsilon) / real(mu), real(mu) / 2
        upper, lower = (mpmath.erfc(x / mpmath.sqrt(2)) / 2 for x in (middle - half, middle + half))
        return upper - mpmath.exp(real(epsilon)) * lower

    return truth(formula, digits)


@given(AMOUNTS, EPSILONS)
@example(Fraction(1), Fraction(7, 2))  # minus_b = 4
@example(Fraction(1), Fraction(9, 2))  # a = -4
@example(Fraction(8), Fraction(0))
@example(Fraction(1, 1000), Fraction(50))
def test_gaussian_delta(mu: Fraction, share: Fraction) -> None:
    """The share is epsilon/mu: further out delta is too small to write down."""
    epsilon = share * mu
    assert encloses(curves.gaussian_delta(mu, epsilon), gaussian_delta(mu, epsilon), width=1e-40)


@FEWER
@given(st.integers(1, 300).map(lambda exponent: Fraction(1, 10**exponent)), EPSILONS)
def test_gaussian_delta_of_tiny_mu_is_enclosed(mu: Fraction, share: Fraction) -> None:
    assert encloses(curves.gaussian_delta(mu, share * mu), gaussian_delta(mu, share * mu, digits=900))


@given(ORDERS, BOUNDS, DELTAS)
def test_bound_to_epsilon(order: Fraction, bound: Fraction, delta: Fraction) -> None:
    def formula() -> Any:
        a = real(order)
        found = real(bound) + mpmath.log((a - 1) / a) - (mpmath.log(real(delta)) + mpmath.log(a)) / (a - 1)
        return max(found, mpmath.mpf(0))

    assert near(curves.bound_to_epsilon(order, bound, delta), truth(formula))


@given(ORDERS, BOUNDS, EPSILONS)
def test_bound_to_delta(order: Fraction, bound: Fraction, epsilon: Fraction) -> None:
    def formula() -> Any:
        a = real(order)
        found = mpmath.exp((a - 1) * (real(bound) - real(epsilon))) * (1 - 1 / a) ** (a - 1) / a
        return min(found, mpmath.mpf(1))

    assert encloses(curves.bound_to_delta(order, bound, epsilon), truth(formula), width=1e-50)


@given(ORDERS, BOUNDS, DELTAS)
def test_the_two_conversions_are_inverse(order: Fraction, bound: Fraction, delta: Fraction) -> None:
    epsilon = curves.bound_to_epsilon(order, bound, delta)
    if epsilon.lower > 0:
        again = curves.bound_to_delta(order, bound, Fraction(epsilon.upper))
        assert again.lower <= delta <= Fraction(again.upper) * (1 + Fraction(1, 10**45))


# The conversion is true, and tight


def normalised(weights: Sequence[int]) -> list[Fraction]:
    return [Fraction(weight, sum(weights)) for weight in weights]


LAWS = st.lists(st.integers(1, 100), min_size=3, max_size=3).map(normalised)


def divergence(p: Sequence[Fraction], q: Sequence[Fraction], order: Fraction) -> Fraction:
    def formula() -> Any:
        a = real(order)
        return mpmath.log(sum(real(x) ** a * real(y) ** (1 - a) for x, y in zip(p, q, strict=True))) / (a - 1)

    return max(truth(formula), Fraction(0))


def hockey_stick(p: Sequence[Fraction], q: Sequence[Fraction], epsilon: Fraction) -> Fraction:
    return truth(lambda: sum(max(real(x) - mpmath.exp(real(epsilon)) * real(y), 0) for x, y in zip(p, q, strict=True)))


@given(LAWS, LAWS, ORDERS, st.fractions(min_value=0, max_value=4, max_denominator=1000))
def test_the_conversion_dominates_every_pair(
    p: list[Fraction], q: list[Fraction], order: Fraction, epsilon: Fraction
) -> None:
    bound = divergence(p, q, order)
    assert Fraction(curves.bound_to_delta(order, bound, epsilon).upper) >= hockey_stick(p, q, epsilon)


@given(ORDERS, EPSILONS)
def test_the_conversion_is_attained(order: Fraction, epsilon: Fraction) -> None:
    """A point against one that hits it with probability e^-t, t = epsilon + ln(a/(a-1)): D_a = t and delta = 1/a."""
    bound = truth(lambda: real(epsilon) + mpmath.log(real(order) / (real(order) - 1)))
    assert near(curves.bound_to_delta(order, bound, epsilon), 1 / order)


@given(AMOUNTS)
def test_the_gaussian_is_within(rho: Fraction) -> None:
    mu = curves.gaussian_within(rho)
    assert 2 * rho * (1 - Fraction(1, 10**38)) <= mu**2 <= 2 * rho


# Between the listed orders

ORDER_LISTS = st.lists(ORDERS, min_size=2, max_size=5, unique=True).map(sorted)


@given(LAWS, LAWS, ORDER_LISTS, st.fractions(min_value=0, max_value=1, max_denominator=100))
def test_the_interpolated_bound_is_above_the_divergence(
    p: list[Fraction], q: list[Fraction], orders: list[Fraction], share: Fraction
) -> None:
    bounds = [(order, divergence(p, q, order)) for order in orders]
    order = 1 + (orders[-1] - 1) * max(share, Fraction(1, 1000))
    noise_of_the_oracle = Fraction(1, 10**100)
    assert curves.bound_at(bounds, order) + noise_of_the_oracle >= divergence(p, q, order)


def test_interpolating_the_divergence_itself_would_be_false() -> None:
    """The planted twin: a chord of D_a, not of (a-1) D_a, falls below the divergence."""
    p, q = normalised([9, 1]), normalised([1, 9])
    low, high, between = Fraction(2), Fraction(100), Fraction(10)
    at_low, at_high = divergence(p, q, low), divergence(p, q, high)
    twin = at_low + (between - low) / (high - low) * (at_high - at_low)
    assert twin < divergence(p, q, between) <= curves.bound_at([(low, at_low), (high, at_high)], between)


@given(ORDER_LISTS, st.data())
def test_listed_orders_keep_their_bounds(orders: list[Fraction], data: st.DataObject) -> None:
    bounds = [(order, data.draw(BOUNDS)) for order in orders]
    for order, bound in bounds:
        assert curves.bound_at(bounds, order) == bound
    below = (1 + orders[0]) / 2
    assert curves.bound_at(bounds, below) == bounds[0][1]


def test_above_the_last_order_nothing_is_known() -> None:
    with pytest.raises(ValueError, match="last listed order"):
        curves.bound_at([(Fraction(2), Fraction(1))], Fraction(3))


# The orders chosen


@FEWER
@given(st.integers(-250, 9), DELTAS)
def test_the_order_for_zcdp_is_nearly_the_best(exponent: int, delta: Fraction) -> None:
    """The slope of epsilon in a has the sign of (a-1)^2 rho + ln(delta a): one minimum, found here by bisection."""
    rho = Fraction(10) ** exponent

    def formula() -> Any:
        strength, log_delta = real(rho), mpmath.log(real(delta))
        low, high = mpmath.mpf(0), 1 - log_delta + mpmath.sqrt(-log_delta / strength)
        for _ in range(160):
            middle = (low + high) / 2
            rising = middle**2 * strength + log_delta + mpmath.log1p(middle) > 0
            low, high = (low, middle) if rising else (middle, high)
        order = 1 + high
        return order * strength + mpmath.log(high / order) - (log_delta + mpmath.log(order)) / high

    best = max(truth(formula, 320), Fraction(0))
    order = curves.best_concentrated_order(rho, delta)
    found = Fraction(curves.bound_to_epsilon(order, order * rho, delta).upper)
    assert found <= best + Fraction(1, 10**9) * max(best, Fraction(1))


@FEWER
@given(AMOUNTS, EPSILONS)
def test_the_order_for_delta_is_nearly_the_best(rho: Fraction, epsilon: Fraction) -> None:
    """The slope of ln delta in a is (2a-1) rho - epsilon + ln(1 - 1/a)."""

    def formula() -> Any:
        low, high = mpmath.mpf(0), 2 + (real(epsilon) + 1) / real(rho)
        for _ in range(160):
            middle = (low + high) / 2
            slope = (2 * middle + 1) * real(rho) - real(epsilon) + mpmath.log(middle / (1 + middle))
            low, high = (low, middle) if slope > 0 else (middle, high)
        order = 1 + high
        exponent = high * (order * real(rho) - real(epsilon) + mpmath.log(high / order)) - mpmath.log(order)
        return min(mpmath.exp(exponent), mpmath.mpf(1))

    best = truth(formula, 100)
    assert Fraction(curves.concentrated_delta(rho, epsilon).upper) <= best * (1 + Fraction(1, 10**7))


def score_everywhere(bounds: Bounds, score: Any) -> float:
    """The least score over a fine grid of orders between 1 and the last one."""
    corners = [(1.0, 0.0), *((float(a), float((a - 1) * bound)) for a, bound in bounds)]
    shares = [share for k in range(1, 301) for share in (k / 300, 10 ** (-8 * k / 300))]
    found = math.inf
    for (left, low), (right, high) in pairwise(corners):
        for share in shares:
            order = left + share * (right - left)
            found = min(found, score(order - 1, (low + share * (high - low)) / (order - 1)))
    return found


@FEWER
@given(AMOUNTS, ORDER_LISTS, st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(9, 10)))
@example(Fraction(1, 20), [Fraction(50), Fraction(60)], Fraction(1, 10))  # the best lies below the first
def test_the_listed_order_for_epsilon_is_nearly_the_best(
    rho: Fraction, orders: list[Fraction], delta: Fraction
) -> None:
    bounds = [(order, order * rho) for order in orders]
    order = curves.best_order_for_delta(bounds, delta)
    log_delta = math.log(delta)
    found = curves._float_epsilon(float(order - 1), float(curves.bound_at(bounds, order)), log_delta)
    best = score_everywhere(bounds, lambda x, bound: curves._float_epsilon(x, bound, log_delta))
    assert max(found, 0) <= max(best, 0) + 1e-9 * max(best, 1)


@FEWER
@given(AMOUNTS, ORDER_LISTS, st.fractions(min_value=0, max_value=20, max_denominator=1000))
@example(Fraction(1, 1000), [Fraction(60), Fraction(70)], Fraction(1, 25))
def test_the_listed_order_for_delta_is_nearly_the_best(
    rho: Fraction, orders: list[Fraction], epsilon: Fraction
) -> None:
    bounds = [(order, order * rho) for order in orders]

    def score(x: float, bound: float) -> float:
        return curves._log_delta(x, bound, float(epsilon))

    order = curves.best_listed_order(bounds, score)
    found = score(float(order - 1), float(curves.bound_at(bounds, order)))
    best = score_everywhere(bounds, score)
    assert min(found, 0) <= min(best, 0) + 1e-9 * max(abs(best), 1)


@given(ORDER_LISTS, DELTAS, st.data())
def test_a_chosen_order_never_lies_above_the_last(orders: list[Fraction], delta: Fraction, data: st.DataObject) -> None:
    bounds = [(order, data.draw(BOUNDS)) for order in orders]
    order = curves.best_order_for_delta(bounds, delta)
    assert 1 < order <= orders[-1]
    listed = min(curves.bound_to_epsilon(a, bound, delta).upper for a, bound in bounds)
    found = curves.bound_to_epsilon(order, curves.bound_at(bounds, order), delta).upper
    assert Fraction(found) <= Fraction(listed) * (1 + Fraction(1, 10**12))
