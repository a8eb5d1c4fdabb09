"""The search for a good order. Any order gives a bound that holds; only how good it is depends on the search."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from privately.accounting.golden import valley

_LOWEST, _HIGHEST = -20.0, 50.0
_NARROW = 2e-4
_BITS = 20
_MANY_DIGITS = 1e6


def best_excess(score: Callable[[float], float]) -> Fraction:
    """A short c > 0 at which the score is nearly least, by golden sections of ln c; whole if that is as good.

    Theorem: for convex K, K(c)/c + ln(c/(1+c)) - (ln delta + ln(1+c))/c falls and then rises, and so does
        K(c) - c epsilon + c ln(c/(1+c)) - ln(1+c), which is convex.
    Reference: Kiefer 1953 for the search
    Proof: docs/theory/accounting/renyi.md#the-best-order
    Checked-by: tests/accounting/renyi/test_orders.py::test_the_scores_have_one_valley
    """

    def at(place: float) -> float:
        found = score(math.exp(place))
        return math.inf if math.isnan(found) else found

    low, high = valley(at, _LOWEST, _HIGHEST, _NARROW)
    found = math.exp((low + high) / 2)
    if at(math.log(_short(found))) > at(low):  # beyond the last order of which anything good is known
        found = math.exp(low)
    whole = float(round(found)) if found < _MANY_DIGITS else 0.0
    return _short(whole if whole and score(whole) <= at(math.log(found)) else found)


def epsilon_score(moment: float, c: float, log_delta: float) -> float:
    """About the epsilon that follows at order 1 + c."""
    return moment / c - math.log1p(1 / c) - (log_delta + math.log1p(c)) / c


def delta_score(moment: float, c: float, epsilon: float) -> float:
    """About the logarithm of the delta that follows at order 1 + c."""
    return moment - c * (epsilon + math.log1p(1 / c)) - math.log1p(c)


def _short(c: float) -> Fraction:
    """Of few bits, so that the order is short and c a float."""
    fraction, exponent = math.frexp(c)
    return Fraction(round(fraction * 2**_BITS)) * Fraction(2) ** (exponent - _BITS)
