"""Ellipses around many laws at once: as around each of them."""

from __future__ import annotations

import math

import numpy as np

from privately.accounting.contour.ellipses import MOST_POINTS, Ellipses, log_below

EPSILON, RATE = np.array([0.01, 1.0, 300.0]), np.array([0.5, 1e-5, 0.9])


def test_laws_do_not_know_one_another() -> None:
    together = Ellipses(EPSILON, RATE)
    for s, reach in ((1.5, 3.0), (-40.0, 0.0)):
        for place in range(3):
            alone = Ellipses(EPSILON[place : place + 1], RATE[place : place + 1])
            assert (together.costs(s, reach)[place] == alone.costs(s, reach)[0]).all()
            quiet, n = np.full(3, 40.0), np.full(3, 32.0)
            assert together.fineness(s, reach, quiet)[place] == alone.fineness(s, reach, quiet[:1])[0]
            assert together.missing(s, reach, n)[place] == alone.missing(s, reach, n[:1])[0]


def test_numbers_of_points_are_even_and_few() -> None:
    fine = [Ellipses(EPSILON, RATE).fineness(2.0, 1.0, np.full(3, quiet)) for quiet in (5.0, 20.0, 40.0, 400.0)]
    for row in fine:
        assert (row % 2 == 0).all()
        assert row.min() >= 8
        assert row.max() <= 2 * MOST_POINTS
    assert (np.diff(np.array(fine), axis=0) >= 0).all()


def test_a_logarithm_from_below() -> None:
    radii = np.array([1.0001, 1.5, 3.0, 16.0])
    assert (log_below(radii) <= np.log(radii)).all()
    assert log_below(np.array([1.5])).item() >= 0.98 * math.log(1.5)
