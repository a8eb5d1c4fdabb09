"""Payoffs of sampled steps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privately.accounting.sampled_games.profiles import Lattice
from tests.accounting.sampled_games.examples import LATTICE, RATES, payoff, profile, way

SHORT = Lattice(0.05, -60, 62, beyond=90)


@pytest.mark.parametrize("lattice", [LATTICE, SHORT])
@pytest.mark.parametrize("rate", RATES)
def test_payoffs_are_above(rate: str, lattice: Lattice) -> None:
    """At columns, at 0 and beyond the last, and hardly more; less 1 - y below 1, whose mean is known."""
    one, known = way(rate, lattice), profile(lattice)
    for place in (-40, -7, 0, 5, 60):
        found, slope = one.payoffs(known, place)
        y = math.exp(place * known.lattice.step)
        far = [one.ratios[-1] * factor for factor in (2.0, 10.0)]
        ratios = np.array([0.0, *one.ratios[1:], *far])
        line = np.zeros(ratios.size)
        if place < 0:
            line = np.array([payoff(one, y, r, lambda at: 1 - at) for r in ratios.tolist()])
            if one.rate == 1:
                line[0] = -y
        truth = np.array([payoff(one, y, r) for r in ratios.tolist()]) - line
        assert (found >= truth[: found.size] * (1 - 1e-9) - 1e-13).all()
        led = place - one.jumps
        inside = 1 + np.flatnonzero((led >= known.lattice.first) & (led <= known.lattice.last))
        assert (found[inside] <= truth[inside] * (1 + 1e-6) + 1e-12).all()
        beyond = found[-1] + slope * (ratios[-2:] - ratios[-3])
        assert (beyond >= truth[-2:] * (1 - 1e-9) - 1e-13).all()


@pytest.mark.parametrize("rate", RATES)
def test_columns_are_the_ratios_of_samples(rate: str) -> None:
    one = way(rate)
    share, r = float(one.rate), one.ratios[1:]
    s = 1 - share + share * r
    assert np.allclose(np.log(s), one.jumps * one.lattice.step, atol=1e-9)
    assert (np.diff(one.ratios) > 0).all()


@pytest.mark.parametrize("rate", RATES)
def test_columns_beyond_the_lattice(rate: str) -> None:
    """As far as is said; at many places payoffs are those of all of them one by one."""
    one, known = way(rate, SHORT), profile(SHORT)
    assert one.jumps[-1] == SHORT.size - 1 + SHORT.beyond
    assert one.jumps[0] > -SHORT.size
    for places in (np.arange(-20, -10), np.arange(50, 60)):
        rows = one.all_payoffs(known, places)
        for row, place in zip(rows, places.tolist(), strict=True):
            found, slope = one.payoffs(known, place)
            assert np.array_equal(row, np.append(found, slope))
