"""Several steps that a statement allows, all by the same choice: which tests they make possible.

Names are those of `steps`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import UNIT, Floats
from privately.accounting.two_outcomes.choices import Choice, Table
from privately.accounting.two_outcomes.steps import best

_CHOICES, _RARE = 48, 1e-14


def with_runs(curve: Curve, chances: Table, times: int) -> Curve:
    """Tests that are possible with so many more steps before it, of one choice each time, the best at every place.

    Theorem: steps of one choice, followed by any test for each number of larger losses among them, are a test.
    Reference: none; by what a composition is
    Proof: docs/theory/accounting/two_outcomes.md#games
    Checked-by: tests/accounting/two_outcomes/test_runs.py::test_as_many_steps_of_one_pair
    """
    size = chances.places
    before = curve.widened(size - 1, size)
    tests = (
        _tests(before, choice, chances.step, times, mirrored=mirrored)
        for choice in chances.choices[:: -(-len(chances.choices) // _CHOICES)]
        for mirrored in (False, True)
    )
    return best(curve, chances, tests, (16 + 4 * times) * UNIT)


def _tests(before: Curve, choice: Choice, step: float, times: int, *, mirrored: bool) -> tuple[Floats, Floats]:
    """At every place from 0 on; what hardly ever happens is never followed by a rejection."""
    size = -before.first + 1
    power, price = np.zeros(size), np.zeros(size)
    for first, second, loss in _outcomes(choice, times, mirrored=mirrored):
        if first > _RARE:
            start = min(max(size - 1 - round(loss / step), 0), before.upper.size - size)
            there = slice(start, start + size)
            power += first * before.powers[there]
            price += second * before.prices[there]
    return power, price


def _outcomes(choice: Choice, times: int, *, mirrored: bool) -> Iterator[tuple[float, float, float]]:
    """Probabilities under both laws, each within one rounding, and about the loss."""
    p, q = choice.p, choice.q
    up, down = math.log(p / q), math.log1p(-p) - math.log1p(-q)
    laws = [one.as_integer_ratio() for one in (p, q)]
    for count in range(times + 1):
        first, second = (
            math.comb(times, count) * shown**count * (whole - shown) ** (times - count) / whole**times
            for shown, whole in laws
        )
        loss = count * up + (times - count) * down
        yield (second, first, -loss) if mirrored else (first, second, loss)
