"""Profiles of one direction."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from privately.accounting.sampled_games.profiles import Lattice, OneWay, Profile, convex
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


def test_far_to_the_left() -> None:
    """Values are above; what is left there of the first place is needed."""
    short = Lattice(0.05, -12, 20, beyond=40)
    known = profile(short)
    y = np.exp((np.arange(-40.0, 0.0) + short.first - short.size + 1) * short.step)
    values, rest = (part[:40] for part in known.farther)
    truth = np.array([normal(at) for at in y.tolist()])
    assert (values >= truth * (1 - 1e-14)).all()
    assert (values <= 1 - y + known.excess[0]).all()
    assert (rest >= (truth - (1 - y)) * (1 - 1e-9) - 1e-15).all()
    assert np.allclose(rest, y * float(known.excess[0]) / float(np.exp(short.first * short.step)), rtol=1e-12)
    assert all(np.array_equal(one[40:], other) for one, other in zip(known.farther, known.padded, strict=True))


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


def test_exchanged_laws() -> None:
    """Twice is as before; of two outcomes, by plain sums."""
    p, q = 0.6, 0.35

    def of(y: float) -> float:
        return max(p - y * q, 0.0) + max((1 - p) - y * (1 - q), 0.0)

    def turned(y: float) -> float:
        return max(q - y * p, 0.0) + max((1 - q) - y * (1 - p), 0.0)

    known = profile(of=of)
    found = known.mirrored
    assert (found.lattice.first, found.lattice.last) == (-LATTICE.last, -LATTICE.first)
    truth = np.array([turned(y) for y in np.exp(found.lattice.losses).tolist()])
    assert np.allclose(found.values, truth, atol=1e-12)
    assert (found.mirrored.excess >= known.excess).all()
    assert np.allclose(found.mirrored.excess, known.excess, rtol=1e-11)
    tests = OneWay(0.1, -1, 3, np.ones(4), np.array([0.9, 0.5, 0.2, 0.0]), np.array([0.8, 0.3, 0.1, 0.0]))
    assert (tests.mirrored.first, tests.mirrored.last) == (-2, 1)
    assert np.allclose(tests.mirrored.powers, [1.0, 0.9, 0.7, 0.2])
    assert np.allclose(tests.mirrored.prices, [1.0, 0.8, 0.5, 0.1])


def test_a_smooth_profile_is_one() -> None:
    """Convex, and no more than can be told of y."""
    smooth = convex(Profile.smooth(LATTICE, 0.4))
    y = np.exp(LATTICE.losses)
    assert (smooth.excess >= 0).all()
    assert (smooth.excess <= np.minimum(y, 1.0)).all()
    values = smooth.excess + np.maximum(1 - y, 0.0)
    slopes = np.diff(values) / np.diff(y)
    assert (np.diff(slopes) >= -1e-9).all()
    assert values[-LATTICE.first] == pytest.approx(0.1585, abs=1e-3)


def test_a_bump_at_one_is_below_chords() -> None:
    """Which both hulls would leave, as both end there."""
    known, zero = profile(), -LATTICE.first
    bump = known.excess.copy()
    bump[zero] *= 1.3
    hull = convex(Profile(LATTICE, bump)).excess[zero]
    assert known.excess[zero] <= hull <= known.excess[zero] * 1.01
