"""Sums of normal losses: one normal loss, whose mu^2 is the sum of all."""

from __future__ import annotations

import math
from fractions import Fraction

from privately.guarantees.curves import best_concentrated_order, bound_to_epsilon, gaussian_delta
from privately.rounding import Enclosure, round_down, round_up

_DIGITS = 45
_MARGIN = Fraction(1, 10**12)
_LEAST_SQUARE = Fraction(1, 10**78)


def profile(mu_squared: Fraction, epsilon: Fraction) -> Enclosure:
    """delta at epsilon.

    Theorem: it rises with mu; so the values at two rational numbers on either side of the root enclose it.
    Reference: Dong-Roth-Su 2022
    Proof: docs/theory/accounting/closed_forms.md#normal-losses
    Checked-by: tests/accounting/closed_forms/test_gaussian.py::test_contains_the_truth_down_to_a_googolth
    """
    low, high = _roots(mu_squared)
    upper = gaussian_delta(high, epsilon)
    lower = upper if low == high else gaussian_delta(low, epsilon)
    return Enclosure(lower.lower, upper.upper)


def inverse(mu_squared: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """epsilon at 0 < delta < 1: guessed with floats, then checked on either side."""
    low, high = _roots(max(mu_squared, _LEAST_SQUARE))
    at_zero = gaussian_delta(high, Fraction(0))
    if at_zero.upper <= delta:
        return Fraction(0), Fraction(0)
    guess = Fraction(_guess(float(mu_squared), float(Enclosure.of(delta).log().lower)))
    margin = _MARGIN
    lower = upper = None
    while lower is None or upper is None:
        left, right = guess * (1 - margin), guess * (1 + margin)
        if upper is None and gaussian_delta(high, right).upper <= delta:
            upper = right
        if lower is None and (left <= 0 or gaussian_delta(low, left).lower >= delta):
            lower = left
        margin *= 100
        if margin > 1:
            lower, upper = lower or Fraction(0), upper or _ceiling(high, delta)
    return (lower if mu_squared >= _LEAST_SQUARE else Fraction(0)), upper


def _ceiling(mu: Fraction, delta: Fraction) -> Fraction:
    order = best_concentrated_order(mu**2 / 2, delta)
    return bound_to_epsilon(order, order * mu**2 / 2, delta).claim()


def _roots(square: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals of few digits on either side of the square root; equal where it is one."""
    numerator, denominator = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if numerator**2 == square.numerator and denominator**2 == square.denominator:
        exact = Fraction(numerator, denominator)
        return exact, exact
    root = Enclosure.of(square).sqrt()
    return round_down(Fraction(root.lower), _DIGITS), round_up(Fraction(root.upper), _DIGITS)


def _guess(mu_squared: float, log_delta: float) -> float:
    """epsilon, roughly, by false position on a = epsilon/mu - mu/2."""
    mu = math.sqrt(mu_squared)

    def excess(a: float) -> float:
        return _log_delta(a, mu) - log_delta

    low, high = -mu / 2, 1.0
    while excess(high) > 0:
        low, high = high, 2 * high + 1
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        if high - low <= 4e-16 * max(abs(high), 1e-3 * mu):
            break
    return max(mu * ((low + high) / 2 + mu / 2), 1e-300)


def _log_delta(a: float, mu: float) -> float:
    """ln(Phi(-a) - e^epsilon Phi(-a - mu)), with e^epsilon phi(a + mu) = phi(a)."""
    first, second = _mills(a), _mills(a + mu)
    if mu < 1e-4:  # the difference as an integral of -R' = 1 - x R
        middle = a + mu / 2
        return -a * a / 2 - 0.9189385332046727 + math.log(max(mu * (1 - middle * _mills(middle)), 1e-300))
    return -a * a / 2 - 0.9189385332046727 + math.log(max(first - second, 1e-300))


def _mills(x: float) -> float:
    """Phi(-x)/phi(x)."""
    if x < 3:
        return math.sqrt(math.pi / 2) * math.exp(x * x / 2) * math.erfc(x / math.sqrt(2)) if x > -37 else math.inf
    tail = 0.0
    for k in range(int(80 + 900 / (x * x)), 0, -1):
        tail = k / (x + tail)
    return 1 / (x + tail)
