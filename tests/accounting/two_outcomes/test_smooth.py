"""Which lines are looked at: nothing is proved of them, but without good ones upper values are far off."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.smooth import Smooth, _steadied
from privately.accounting.two_outcomes.touching import touching
from privately.accounting.two_outcomes.waves import Lattice, Waves

from .test_before_normal import delta

LATTICE = Lattice(0.02, 120)


def smooth(v: float) -> Smooth:
    return Smooth.of(np.array([delta(v, k * LATTICE.step) for k in range(LATTICE.places)]), LATTICE.far, LATTICE.step)


def test_values_of_both_signs_and_beyond() -> None:
    found = smooth(0.2)
    for place in (-60, -3, 0, 50, 140):
        assert np.isclose(np.exp(found.logs[place + LATTICE.far]), delta(0.2, place * LATTICE.step), rtol=0.05)


def test_higher_orders_count_where_losses_are_larger() -> None:
    waves = Waves(touching(Concentrated(Fraction(1, 10)), 1e-8), LATTICE)
    kind, factor, after = smooth(0.2).best(waves.touched, LATTICE.places)
    orders = waves.orders[kind]
    assert orders[0] == 1
    assert (np.diff(orders[:100]) >= -0.05).all()
    assert (factor > 0).all()
    values = np.exp(after.logs[LATTICE.far : LATTICE.far + 100])
    assert all(delta(0.2, k * LATTICE.step) < values[k] < delta(0.5, k * LATTICE.step) for k in range(100))


def test_a_smooth_profile_follows_upper_values() -> None:
    before = smooth(0.2)
    upper = np.array([delta(0.21, k * LATTICE.step) for k in range(LATTICE.places)])
    after = before.fitted(upper)
    assert np.allclose(after.logs[LATTICE.far : LATTICE.far + 100], np.log(upper[:100]), atol=0.01)


def test_what_is_found_at_single_places_does_not_count() -> None:
    """A rising run of kinds stays as it is, up to its ends; some that are far off leave no trace."""
    even = np.arange(3, 303, 2)
    assert (_steadied(even) == even).all()
    rough = even.copy()
    rough[[40, 41, 90]] = 3, 300, 5
    assert np.abs(_steadied(rough) - even).max() <= 4
