"""Privacy curves as numbers: epsilon and delta of the worst mechanism that a statement allows.

Proofs: docs/theory/conversions.md and docs/theory/guarantees.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from privately.rounding import (
    Enclosure,
    Interval,
    mills_ratio,
    normal_cdf,
    normal_density,
    round_down,
    solve_decreasing,
)

Bounds = Sequence[tuple[Fraction, Fraction]]
Score = Callable[[float, float], float]

GAUSSIAN = "exact: the Gaussian mechanism is the worst case"
CONCENTRATED = "upper: tight conversion at the best order; lower: the Gaussian mechanism"
_LISTED = "upper: tight conversion at the best order; lower: a Gaussian mechanism within the bounds"
_NOTHING = "nothing is revealed"
_NEVER = "no epsilon is enough"
_ORDER_DIGITS = 9
_LEAST_MU = Fraction(1, 10**40)


def response_delta(loss: Fraction, epsilon: Fraction) -> Enclosure:
    """delta of randomized response: (e^loss - e^epsilon) / (1 + e^loss) below the loss, 0 above it.

    Theorem: this is the largest delta at epsilon of any mechanism that is `loss`-DP.
    Reference: Kairouz-Oh-Viswanath 2015
    Proof: docs/theory/guarantees.md#curves
    Checked-by: tests/guarantees/test_curves.py::test_response_delta
    """
    if epsilon >= loss:
        return Enclosure.of(0)
    truth = 1 / (1 + Enclosure.of(-loss).exp())
    return (truth * (1 - Enclosure.of(epsilon - loss).exp())).clip(0, 1)


def response_epsilon(loss: Fraction, delta: Fraction) -> Enclosure:
    """epsilon of randomized response at 0 < delta < 1: ln(e^loss (1 - delta) - delta), at least 0."""
    inside = (1 - delta) - delta * Enclosure.of(-loss).exp()
    if inside.upper <= 0:
        return Enclosure.of(0)
    upper = loss + Enclosure(inside.upper, inside.upper).log()
    lower = loss + inside.log() if inside.lower > 0 else Enclosure.of(0)
    return Enclosure(min(lower.lower, upper.upper), upper.upper).nonnegative()


def gaussian_delta(mu: Fraction, epsilon: Fraction) -> Enclosure:
    """Phi(a) - e^epsilon Phi(b), a = -epsilon/mu + mu/2, b = -epsilon/mu - mu/2.

    Since e^epsilon phi(b) = phi(a), the second term is phi(a) R(-b), which cannot overflow.

    Theorem: this is the largest delta at epsilon of any mechanism that is mu-GDP.
    Reference: Balle-Wang 2018, Theorem 8; Dong-Roth-Su 2022
    Proof: docs/theory/conversions.md#gaussian-to-approx
    Checked-by: tests/guarantees/test_curves.py::test_gaussian_delta
    """
    if mu == 0:
        return Enclosure.of(0)
    a, minus_b = -epsilon / mu + mu / 2, epsilon / mu + mu / 2
    density = normal_density(a)
    if -a >= 4:
        return density * (mills_ratio(-a) - mills_ratio(minus_b)).nonnegative()
    if minus_b >= 4:
        return (normal_cdf(a) - density * mills_ratio(minus_b)).clip(0, 1)
    return (normal_cdf(a) - Enclosure.of(epsilon).exp() * normal_cdf(-minus_b)).clip(0, 1)


def gaussian_epsilon(mu: Fraction, delta: Fraction) -> Interval:
    """The epsilon at which the Gaussian curve passes 0 < delta < 1."""
    lower, upper = _gaussian_epsilon(mu, delta)
    return Interval(lower, upper, method=GAUSSIAN)


def _gaussian_epsilon(mu: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    if mu < _LEAST_MU:  # beyond the working precision: a larger mu bounds it from above
        return Fraction(0), _gaussian_epsilon(_LEAST_MU, delta)[1]
    at_zero = gaussian_delta(mu, Fraction(0))
    if at_zero.upper <= delta:
        return Fraction(0), Fraction(0)
    order = best_concentrated_order(mu**2 / 2, delta)
    ceiling = bound_to_epsilon(order, order * mu**2 / 2, delta).claim()
    if at_zero.lower <= delta:
        return Fraction(0), ceiling
    return solve_decreasing(lambda epsilon: gaussian_delta(mu, epsilon), delta, ceiling)


def bound_to_epsilon(order: Fraction, bound: Fraction, delta: Fraction) -> Enclosure:
    """bound + ln((a-1)/a) - (ln delta + ln a)/(a-1), at least 0.

    Theorem: a Renyi divergence of order a of at most `bound` gives (epsilon, delta)-DP with this epsilon.
    Reference: Canonne-Kamath-Steinke 2020
    Proof: docs/theory/conversions.md#renyi-to-approx
    Checked-by: tests/guarantees/test_curves.py::test_the_conversion_dominates_every_pair
    """
    logs = Enclosure.of(delta).log() + Enclosure.of(order).log()
    return (bound + Enclosure.of((order - 1) / order).log() - logs / (order - 1)).nonnegative()


def bound_to_delta(order: Fraction, bound: Fraction, epsilon: Fraction) -> Enclosure:
    """exp((a-1)(bound - epsilon)) (1 - 1/a)^(a-1) / a, at most 1."""
    exponent = (order - 1) * (bound - epsilon + Enclosure.of((order - 1) / order).log()) - Enclosure.of(order).log()
    return Enclosure(min(exponent.lower, Decimal(0)), min(exponent.upper, Decimal(0))).exp().clip(0, 1)


def concentrated_epsilon(rho: Fraction, delta: Fraction) -> Interval:
    """epsilon of rho-zCDP at 0 <= delta < 1."""
    if rho == 0:
        return Interval(0, 0, method=_NOTHING)
    if delta == 0:
        return Interval(math.inf, math.inf, method=_NEVER)
    order = best_concentrated_order(rho, delta)
    upper = bound_to_epsilon(order, order * rho, delta)
    lower = _gaussian_epsilon(gaussian_within(rho), delta)[0]
    return Interval(lower, upper.interval().upper, method=CONCENTRATED)


def concentrated_delta(rho: Fraction, epsilon: Fraction) -> Enclosure:
    """delta of rho-zCDP."""
    if rho == 0:
        return Enclosure.of(0)
    slope = _rough(rho)
    order = _best_order(lambda x: _log_delta(x, (1 + x) * slope, float(epsilon)), slope)
    upper = bound_to_delta(order, order * rho, epsilon).upper
    return Enclosure(min(gaussian_delta(gaussian_within(rho), epsilon).lower, upper), upper)


def renyi_epsilon(bounds: Bounds, delta: Fraction) -> Interval:
    """epsilon of Renyi bounds at 0 <= delta < 1."""
    rho = min(bound / order for order, bound in bounds)
    if rho == 0:
        return Interval(0, 0, method=_NOTHING)
    if delta == 0:
        return Interval(math.inf, math.inf, method=_NEVER)
    order = best_order_for_delta(bounds, delta)
    upper = bound_to_epsilon(order, bound_at(bounds, order), delta).interval().upper
    return Interval(_gaussian_epsilon(gaussian_within(rho), delta)[0], upper, method=_LISTED)


def renyi_delta(bounds: Bounds, epsilon: Fraction) -> Interval:
    """delta of Renyi bounds."""
    rho = min(bound / order for order, bound in bounds)
    if rho == 0:
        return Interval(0, 0, method=_NOTHING)
    order = best_listed_order(bounds, lambda x, bound: _log_delta(x, bound, float(epsilon)))
    upper = bound_to_delta(order, bound_at(bounds, order), epsilon).upper
    return Enclosure(min(gaussian_delta(gaussian_within(rho), epsilon).lower, upper), upper).interval(_LISTED)


def gaussian_within(rho: Fraction) -> Fraction:
    """A mu whose Gaussian mechanism is rho-zCDP: just below sqrt(2 rho)."""
    return round_down(Fraction(Enclosure.of(2 * rho).sqrt().lower), 40)


def bound_at(bounds: Bounds, order: Fraction) -> Fraction:
    """The bound at an order that need not be listed.

    Theorem: (a-1) D_a is convex in a and 0 at a = 1, so chords between upper bounds lie above it.
    Reference: van Erven-Harremoes 2014
    Proof: docs/theory/conversions.md#renyi-to-approx
    Checked-by: tests/guarantees/test_curves.py::test_the_interpolated_bound_is_above_the_divergence
    """
    moments = [(Fraction(1), Fraction(0)), *((a, (a - 1) * bound) for a, bound in bounds)]
    for (left, low), (right, high) in pairwise(moments):
        if order <= right:
            return (low + (order - left) / (right - left) * (high - low)) / (order - 1)
    raise ValueError("above the last listed order")


def best_concentrated_order(rho: Fraction, delta: Fraction) -> Fraction:
    """The order that makes rho-zCDP's epsilon least; searched in floating point, so only nearly the best."""
    log_delta, slope = _log(delta), _rough(rho)
    return _best_order(lambda x: _float_epsilon(x, (1 + x) * slope, log_delta), slope)


def best_order_for_delta(bounds: Bounds, delta: Fraction) -> Fraction:
    """The order up to the last listed one that makes epsilon least at delta > 0, nearly."""
    log_delta = _log(delta)
    return best_listed_order(bounds, lambda x, bound: _float_epsilon(x, bound, log_delta))


def best_listed_order(bounds: Bounds, score: Score) -> Fraction:
    """The order up to the last listed one that makes the score least, nearly."""
    points = [(Fraction(1), Fraction(0)), *bounds]
    scores = [math.inf, *(score(_excess(order), float(bound)) for order, bound in bounds)]
    place = scores.index(min(scores))
    candidates = [points[place][0], _search_between(points[place - 1], points[place], score)]
    if place + 1 < len(points):
        candidates.append(_search_between(points[place], points[place + 1], score))
    return min(candidates, key=lambda order: score(_excess(order), float(bound_at(bounds, order))))


def _search_between(left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction], score: Score) -> Fraction:
    """The best order above one listed order and up to the next, on a logarithmic scale of x = order - 1."""
    a, b = float(left[0] - 1), _excess(right[0])
    low, high = (float((order - 1) * bound) for order, bound in (left, right))

    def at(exponent: float) -> float:
        x = math.exp(exponent)
        return score(x, (low + (x - a) / (b - a) * (high - low)) / x) if b > a else math.inf

    x = _ternary(at, math.log(max(a, b * 1e-12)), math.log(b), 80)
    return min(max(_order(x), left[0] if a else Fraction(0)), right[0])


def _best_order(score: Callable[[float], float], rho: float) -> Fraction:
    centre = -math.log(rho) / 2
    return _order(_ternary(lambda t: score(math.exp(t)), min(centre, 0.0) - 25, max(centre, 0.0) + 25, 120))


def _order(exponent: float) -> Fraction:
    """1 + e^exponent, in few digits."""
    return 1 + Fraction(f"{math.exp(exponent):.{_ORDER_DIGITS - 1}e}")


def _ternary(score: Callable[[float], float], low: float, high: float, rounds: int) -> float:
    for _ in range(rounds):
        third = (high - low) / 3
        if score(low + third) <= score(high - third):
            high -= third
        else:
            low += third
    return (low + high) / 2


def _float_epsilon(x: float, bound: float, log_delta: float) -> float:
    """Of order 1 + x."""
    return bound - math.log1p(1 / x) - (log_delta + math.log1p(x)) / x


def _log_delta(x: float, bound: float, epsilon: float) -> float:
    """Of order 1 + x."""
    return x * (bound - epsilon - math.log1p(1 / x)) - math.log1p(x)


def _log(value: Fraction) -> float:
    return float(Enclosure.of(value).log().lower)


def _rough(rho: Fraction) -> float:
    """Good enough to choose an order by, and never 0."""
    return max(float(rho), 1e-300)


def _excess(order: Fraction) -> float:
    """order - 1, roughly, and never 0."""
    return max(float(order - 1), 1e-290)
