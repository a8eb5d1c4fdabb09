"""One step of bounded range: what the best choice of it, at every loss so far, makes of a profile."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from privately.accounting.adaptive.chances import Table
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.raising import raised


def play(curve: Curve, chances: Table) -> Curve:
    """The profile with one more step, chosen best at every loss: the first to be played, as games go backwards.

    Theorem: V'(y) is the largest value at y of a chord of V from z to E z, over z from y/E to y. Chords of a function
        that is not below V, between lattice points, are not below; between two neighbours z the value is f - X e^s -
        Y e^-s, s the distance from the first, whose largest value is (sqrt X - sqrt Y)^2 above that at s = 0. From
        below, any tests may follow the two outcomes.
    Reference: Dong-Durfee-Rogers 2020, section 5, for the recursion
    Proof: docs/theory/accounting/adaptive.md#one-step
    Checked-by: tests/accounting/adaptive/test_steps.py::test_one_step_is_known_exactly,
        tests/accounting/adaptive/test_steps.py::test_two_steps_against_a_search
    """
    reach = chances.reach
    before = curve.widened(reach, 2 * reach)
    best = raised(before.upper, chances)
    start = best.starts
    chosen, end = np.arange(reach, reach + start.size) - start, start + chances.nearest
    powers = chances.ups[chosen] * before.powers[start] + chances.downs[chosen] * before.powers[end]
    prices = chances.cheap[chosen] * before.prices[start] + chances.dear[chosen] * before.prices[end]
    found = replace(
        before,
        first=0,
        top=curve.top + reach,
        upper=best.values,
        powers=powers * (1 - chances.slack),
        prices=np.minimum(prices * (1 + chances.slack), 1.0),
    )
    found.upper[found.top :] = 0.0
    return found
