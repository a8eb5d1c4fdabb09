"""Layers of several densities at once: as of each of them; that they are bounds is tested with the laws."""

from __future__ import annotations

import numpy as np

from privately.accounting.contour.layers import _fallen, spread_out


def test_laws_do_not_know_one_another() -> None:
    epsilon, rate, frequencies = np.array([0.3, 2.0, 6.0]), np.array([1e-4, 0.01, 0.3]), np.array([1.0, 20.0])
    shares = np.array([0.3, 0.01, 0.2]), np.array([0.2, 0.5, 0.1])
    for s in (2.0, -3.0):
        found = spread_out(epsilon, rate, s, shares, frequencies)
        assert found.shape == (3, 2)
        for place in range(3):
            one = slice(place, place + 1)
            alone = spread_out(epsilon[one], rate[one], s, (shares[0][one], shares[1][one]), frequencies)
            assert (found[one] == alone).all()


def test_how_far_even_densities_fall() -> None:
    """1 - |sin v|/v, at the place and everywhere beyond it."""
    turns = np.arange(1, 4000) / 400
    true = 1 - np.abs(np.sin(turns)) / turns
    beyond = np.minimum.accumulate(true[::-1])[::-1]
    assert (_fallen(turns) <= beyond).all()
    assert (_fallen(turns) >= 0.75 * beyond).all()


def test_what_floats_cannot_tell_is_nothing() -> None:
    shares = np.array([0.1]), np.array([0.2])
    assert not spread_out(np.array([8.0]), np.array([0.5]), 1e4, shares, np.array([1.0, 9.0])).any()
