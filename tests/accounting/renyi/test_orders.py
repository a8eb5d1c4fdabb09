"""The search for an order."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest

from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.renyi.closed_forms import bounded_range, laplace
from privately.accounting.renyi.moments import Largest, Listed, Moments, Quadratic, Sum
from privately.accounting.renyi.orders import best_excess, delta_score, epsilon_score
from privately.accounting.renyi.sampled import sampled_gaussian

SAMPLED = sampled_gaussian(SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 100), direction="remove"))
CURVES: list[Moments] = [
    Quadratic(Fraction(1, 2)),
    Quadratic(Fraction(1, 10**12)),
    Quadratic(Fraction(10**6)),
    Sum(((laplace(Fraction(1, 10)), 100),)),
    Sum(((SAMPLED, 1000),)),
    Sum(((bounded_range(Fraction(1)), 10), (Quadratic(Fraction(1, 9)), 1))),
    Largest([Quadratic(Fraction(1, 20)), Sum(((laplace(Fraction(1, 2)), 2),))]),
    Listed(((Fraction(2), Fraction(1)), (Fraction(9), Fraction(2)))),
]
DELTAS = [1e-3, 1e-9, 1e-100]


def scores(moments: Moments) -> list[Callable[[float], float]]:
    by_delta = [lambda c, d=d: epsilon_score(moments.rough(c), c, math.log(d)) for d in DELTAS]
    by_epsilon = [lambda c, e=e: delta_score(moments.rough(c), c, e) for e in (0.1, 3.0)]
    return [*by_delta, *by_epsilon]


@pytest.mark.parametrize("moments", CURVES)
def test_the_scores_have_one_valley(moments: Moments) -> None:
    places = [math.exp(k / 4) for k in range(-12, 36)]
    for score in scores(moments):
        values = [score(c) for c in places]
        steps = [after - before for before, after in pairwise(values) if not math.isinf(before)]
        signs = [step > 0 for step in steps if abs(step) > 1e-7]
        assert signs == sorted(signs)


@pytest.mark.parametrize("moments", CURVES)
def test_the_best_order_is_found(moments: Moments) -> None:
    for score in scores(moments):
        c = best_excess(score)
        least = min(score(math.exp(k / 20)) for k in range(-200, 700))
        assert score(float(c)) <= least + 1e-6 * abs(least) + 1e-9


@pytest.mark.parametrize("moments", CURVES)
def test_orders_are_short_floats(moments: Moments) -> None:
    for score in scores(moments):
        c = best_excess(score)
        assert c > 0
        assert Fraction(float(c)) == c
        assert c.numerator.bit_length() <= 21 or c.denominator == 1


def test_whole_orders_are_preferred() -> None:
    assert best_excess(lambda c: max(abs(c - 7) - 1e-6, 0.0)) == 7


def test_numbers_that_are_none_are_avoided() -> None:
    assert float(best_excess(lambda c: math.nan if c > 3 else abs(c - 2))) == pytest.approx(2, rel=1e-3)
    assert float(best_excess(lambda c: math.inf if c > 3 else -c)) == pytest.approx(3, rel=1e-3)


def test_the_scores_are_the_conversions() -> None:
    """At order 2 with divergence 1: epsilon = 1 - ln 2 - ln(2 delta)."""
    assert epsilon_score(1.0, 1.0, math.log(0.01)) == pytest.approx(1 - math.log(2) - math.log(0.02))
    assert delta_score(1.0, 1.0, 3.0) == pytest.approx(1 - 3 - math.log(4))


@pytest.mark.parametrize("last", [3.3, 254.0, 254.9, 1e5])
def test_a_score_that_jumps_is_searched_on_the_good_side(last: float) -> None:
    """As where sums are taken up to some order, and other bounds hold beyond."""

    def score(c: float) -> float:
        return 1 / c if c < last else 100 + c

    assert score(float(best_excess(score))) <= 1.001 / last + (last < 5) * 0.1
