"""One step that a statement allows, chosen in the light of all before it: which tests it makes possible.

Names are those of `adaptive.curves`: a profile V(y), and tests with their powers and prices.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, normal_tail
from privately.accounting.two_outcomes.choices import Table

NEVER = 10**9
"""The place of the largest loss: there is none."""
_SLACK = 16 * UNIT
_FARTHEST, _LITTLE = 36.0, 1e-12


def start(step: float, places: int) -> Curve:
    """Nothing is left: the larger of 1 - y and 0."""
    return Curve.start(step).widened(0, places - 1)


def after_noise(step: float, places: int, square: Fraction) -> Curve:
    """Nothing is left but normal noise of this mu^2, or a little less.

    Theorem: whoever rejects where normal noise is above w has the power P(N > w - mu) and the price P(N > w).
    Reference: Neyman-Pearson 1933
    Proof: docs/theory/accounting/two_outcomes.md#games
    Checked-by: tests/accounting/two_outcomes/test_steps.py::test_normal_noise_after_all
    """
    mu = math.sqrt(square) * (1 - _LITTLE)
    w = np.minimum(np.arange(float(places)) * (step / mu) + mu / 2, _FARTHEST)
    near = w - mu
    off = 6 * ERROR + 64 * UNIT * (1 + w * w + near * near)
    return replace(start(step, places), powers=normal_tail(near) * (1 - off), prices=normal_tail(w) * (1 + off))


def with_tests(curve: Curve, chances: Table) -> Curve:
    """Tests that are possible with one more step before it, the best choice at every place.

    Theorem: a choice that the statement allows, followed by any test at either outcome, is a test.
    Reference: none; by what a composition is
    Proof: docs/theory/accounting/two_outcomes.md#games
    Checked-by: tests/accounting/two_outcomes/test_steps.py::test_one_step_is_the_statement
    """
    size = chances.places
    before = curve.widened(size - 1, size)
    both = (
        one
        for choice in chances.choices
        for one in ((choice.weights, choice.up, choice.down), (choice.mirrored, choice.down, choice.up))
    )
    return best(curve, chances, (_tests(before, *one, size) for one in both), _SLACK)


def best(curve: Curve, chances: Table, tests: Iterable[tuple[Floats, Floats]], slack: float) -> Curve:
    """Of tests that are given by power and price at every place, the one worth most there, both rounded by `slack`."""
    size = chances.places
    y = exp(np.arange(float(size)) * chances.step)
    powers, prices, value = np.zeros(size), np.zeros(size), np.full(size, -1.0)
    for power, price in tests:
        worth = power - y * price
        is_more = worth > value
        value = np.where(is_more, worth, value)
        powers, prices = np.where(is_more, power, powers), np.where(is_more, price, prices)
    prices = np.minimum(prices * (1 + slack), 1.0)
    return replace(curve, first=0, top=NEVER, upper=np.ones(size), powers=powers * (1 - slack), prices=prices)


def _tests(
    before: Curve, weights: tuple[float, float, float, float], up: int, down: int, size: int
) -> tuple[Floats, Floats]:
    """At every place from 0 on, the test that follows the best ones after either outcome."""
    first, second, first_rest, second_rest = weights
    left, right = max(-before.first - up, 0), min(-before.first + down, before.upper.size - size)
    risen, fallen = slice(left, left + size), slice(right, right + size)
    return (
        first * before.powers[risen] + first_rest * before.powers[fallen],
        second * before.prices[risen] + second_rest * before.prices[fallen],
    )
