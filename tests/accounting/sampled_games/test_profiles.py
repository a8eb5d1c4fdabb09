"""Profiles of one direction."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from privately.accounting.sampled_games.profiles import Lattice, Profile, convex
from tests.accounting.sampled_games.examples import LATTICE, normal, profile


def test_wider_values_are_above() -> None:
    """V and X of what is known, also where the window ends early."""
    short = Lattice(0.05, -12, 20)
    values, rest = profile(short).padded
    y = np.exp(short.around(short.size - 1))
    truth = np.array([normal(at) for at in y.tolist()])
    assert (values >= truth * (1 - 1e-14)).all()
    assert (rest >= (truth - (1 - y)) * (1 - 1e-9) - 1e-15).all()
    inside = slice(short.size - 1, 2 * short.size - 1)
    assert (values[inside] <= truth[inside] * (1 + 1e-9)).all()


def test_nothing_is_known_exactly() -> None:
    known = Profile.start(LATTICE).values
    assert np.allclose(known, np.maximum(-np.expm1(LATTICE.losses), 0.0), rtol=1e-12)
    exact = [1 - Decimal(loss).exp() for loss in LATTICE.losses.tolist()]
    assert all(Decimal(value) >= least for value, least in zip(known.tolist(), exact, strict=True))


def test_a_hull_is_between() -> None:
    known = profile()
    bumps = Profile(LATTICE, known.excess * (1 + 0.1 * (np.arange(LATTICE.size) % 7 == 3)))
    hull = convex(bumps)
    assert (hull.excess <= bumps.excess).all()
    assert (hull.excess >= known.excess * (1 - 1e-9)).all()
    assert (hull.excess < bumps.excess * 0.99).any()


def test_chords_of_a_hull_are_above_where_places_are_close() -> None:
    """Places are hardly apart as floats: the chord of two values is not below what it is exactly."""
    lattice, most, least = Lattice(3e-8, -40, 40), 0.4, 1e-9
    for ends in ((39, 40), (-39, -40)):
        excess = np.full(lattice.size, 0.5)
        excess[slice(40, None) if ends[1] > 0 else slice(41)] = most
        excess[40], excess[40 + ends[1]] = most, least
        hull = convex(Profile(lattice, excess)).excess
        with localcontext(prec=50):
            near, far, one = (Decimal(place * lattice.step).exp() for place in (*ends, 0))
            exact = Decimal(least) + (Decimal(most) - Decimal(least)) * (far - near) / (far - one)
        assert exact * (1 - Decimal(2) ** -51) <= Decimal(float(hull[40 + ends[0]])) <= exact * (1 + Decimal(10) ** -12)


def test_values_fall_and_the_rest_rises() -> None:
    known = profile()
    rough = known.held(known.excess * (1 + 0.5 * (np.arange(LATTICE.size) % 5 == 2)))
    zero = -LATTICE.first
    assert (np.diff(rough.excess[zero:]) <= 0).all()
    assert (np.diff(rough.excess[: zero + 1]) >= 0).all()
    assert (np.diff(rough.curve.upper) <= 0).all()
    assert (rough.excess >= known.excess * (1 - 1e-12)).all()
    cut = known.held(np.full(LATTICE.size, 2.0)).excess
    assert np.allclose(cut, np.minimum(np.exp(LATTICE.losses), 1.0), rtol=1e-12)
    assert np.array_equal(known.curve.whole().upper, known.curve.upper)
