"""One step of bounded range among steps that statements allow: upper values, and the tests it makes possible.

Names are those of `adaptive.curves` and `waves`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from privately.accounting.adaptive.chances import LARGEST, Table, table
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.raising import raised
from privately.accounting.adaptive.steps import play
from privately.accounting.elementary import Floats
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.hulls import convex
from privately.accounting.two_outcomes.smooth import Smooth
from privately.accounting.two_outcomes.steps import NEVER
from privately.accounting.two_outcomes.waves import Lattice, Wave, tails

_LEAST_CELLS, _WIDEST = 6, 0.25
_BACK, _TINY = 4, 1e-280


def concentrated(size: Fraction) -> Fraction:
    """The rho of a step of bounded range.

    Theorem: a range of epsilon implies (epsilon^2/8)-zCDP.
    Reference: Cesar-Rogers 2021, Theorem 6
    Proof: docs/theory/accounting/adaptive.md#one-step
    Checked-by: tests/accounting/two_outcomes/test_ranged.py::test_a_range_is_concentrated
    """
    return size * size / 8


def chances_on(size: Fraction, step: float) -> Table:
    """Of this range, on a lattice that is not too coarse for it."""
    if step > _WIDEST or not _LEAST_CELLS * step <= size <= LARGEST:
        raise NotApplicable("a range that is too small for the lattice, or too large")
    return table(size, Fraction(step))


def with_range(wave: Wave, chances: Table, size: Fraction, lattice: Lattice) -> Wave:
    """Upper values with one more step before it, of this range.

    Theorem: V'(y) is the largest value at y of a chord of V from z to E z. Chords of values that are not below V are
        not below; beyond the last place all steps together are one of zCDP, as their rho add up.
    Reference: Dong-Durfee-Rogers 2020, section 5; Bun-Steinke 2016, Lemma 7
    Proof: docs/theory/accounting/two_outcomes.md#ranges-among-statements
    Checked-by: tests/accounting/two_outcomes/test_ranged.py::test_no_pair_of_a_range_is_above
    """
    places, step = lattice.places, lattice.step
    total = math.nextafter(wave.total + math.nextafter(float(concentrated(size)), math.inf), math.inf)
    found = _raised(_extended(wave, chances.reach, step), chances, step)[:places]
    least = tails(total, np.arange(places + 0.0) * step)
    upper = convex(np.minimum.accumulate(np.minimum(found, least)), step)
    about = np.exp(wave.smooth.logs[lattice.far : lattice.far + places + chances.reach])
    about = _raised(np.minimum.accumulate(about), chances, step)[:places]
    smooth = Smooth.of(_like_noise(about, float(least[-1]), total, step), lattice.far, step)
    return Wave(upper, smooth, total)


def _like_noise(values: Floats, rare: float, total: float, step: float) -> Floats:
    """The same, but where they are too small to count they fall as those of normal noise do: none is nothing."""
    last = max(int(np.argmin(values > rare)) - 1, _BACK) if values[-1] <= rare else values.size - 1
    one, two = (math.log(max(float(values[k]), _TINY)) for k in (last - _BACK, last))
    beyond, slope = np.arange(values.size - last - 0.0), (two - one) / _BACK
    fall = slope * beyond - (step * beyond) ** 2 / (4 * total)
    return np.concatenate([values[:last], values[last] * np.exp(fall)])


def _extended(wave: Wave, more: int, step: float) -> Floats:
    """Upper values, with so many places more."""
    size = wave.upper.size
    beyond = np.full(more, wave.upper[-1])
    if wave.total:
        beyond = np.minimum(beyond, tails(wave.total, np.arange(size, size + more + 0.0) * step))
    return convex(np.concatenate([wave.upper, beyond]), step)


def _raised(upper: Floats, chances: Table, step: float) -> Floats:
    nothing = np.zeros(upper.size)
    around = Curve(step, 0, NEVER, upper, nothing, nothing).upper_around(chances.reach, chances.reach)
    return raised(around, chances).values


def with_tests_of_a_range(curve: Curve, chances: Table) -> Curve:
    """Tests that are possible with one more step of bounded range before them; as many places as before.

    Theorem: two outcomes of losses t and t - range, followed by any test at either of them, are a test.
    Reference: none; by what a composition is
    Proof: docs/theory/accounting/two_outcomes.md#ranges-among-statements
    Checked-by: tests/accounting/two_outcomes/test_ranged.py::test_tests_of_a_range_are_possible
    """
    size = curve.upper.size
    about = np.minimum.accumulate(np.clip(curve.lower(), 0.0, 1.0))
    found = play(replace(curve, upper=about), chances)
    return replace(found, top=NEVER, upper=np.ones(size), powers=found.powers[:size], prices=found.prices[:size])
