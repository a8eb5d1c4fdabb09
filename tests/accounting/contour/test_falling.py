"""Bounds cell by cell: masses between points, and how the integrand changes in size off the real line."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privately.accounting.contour.falling import at_most, cells, falls, lifted, tangents
from privately.accounting.roads import NotApplicable


def test_masses_between_points() -> None:
    """Of the normal law itself, where the logarithmic slope is -x."""
    step = 0.25
    x = np.arange(-6.0, 6.01, step)
    shares = step * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    least, dip = cells(x, np.zeros_like(x), shares, step)
    most = at_most(shares, dip)
    truth = np.diff([math.erf(place / math.sqrt(2)) / 2 for place in x])
    assert np.all(least <= truth)
    assert np.all(truth <= most)
    assert least.sum() > 0.85
    assert most.sum() < 1.15


def test_what_lies_between_two_laws_has_no_mass() -> None:
    x = np.array([-0.5, 0.0, 0.5, -0.25, 0.0, 0.25])
    inside = np.array([1.0, 1.0, 0.0, 1.0, 1.0])
    shares = np.full(6, 0.3)
    least, dip = cells(x, np.zeros(6), shares, 0.25, inside)
    most = at_most(shares, dip, inside)
    assert np.flatnonzero(least).tolist() == np.flatnonzero(most).tolist() == [0, 1, 3, 4]


def test_coarse_points_are_refused() -> None:
    x = np.array([-4.0, 4.0])
    with pytest.raises(NotApplicable):
        cells(x, np.array([-20.0, 20.0]) + x, np.array([0.5, 0.5]), 8.0)


@pytest.mark.parametrize("removes", [True, False])
def test_sizes_off_the_real_line(removes: bool) -> None:
    """u + v e^(i theta): its angle and its size, against cmath, at the worse end of every cell."""
    c = 7.0
    share = np.linspace(0.01, 0.97, 25)
    k, w = np.array([[0.05], [0.3], [0.9]]), np.array([[1.0], [4.0], [4.0]])
    found = lifted(share, k, w, c, removes=removes)
    theta = 2 * np.arctan(k)
    whole = 1 - share + share * np.exp(1j * theta)
    sizes = 1.0 if removes else np.abs(whole) ** -c
    truth = sizes * np.exp(-w * np.angle(whole)) - 1
    assert np.all(
        found >= np.maximum(truth[:, :-1], truth[:, 1:]) - 1e-12 if removes else found >= truth[:, :-1] - 1e-12
    )
    assert np.all(found >= truth[:, 1:] - 1e-12)
    if removes:
        assert np.all(found <= truth[:, :-1] + 0.1)


def test_one_try_or_two() -> None:
    near, one = tangents(np.array([0.01, 0.1]))
    far, two = tangents(np.array([[0.01, 0.5], [0.1, 2.0]]))
    assert (one, near.shape) == (1, (2,))
    assert (two, far.shape) == (2, (4, 2))


@pytest.mark.parametrize("mu", [1.0, np.array([1.0, 2.0])])
def test_the_best_of_all_tries(mu: float | np.ndarray) -> None:
    """-ln(1 - gain) - y^2/2, from below; a column for each law, or none."""
    k = np.array([0.1, 0.2, 0.05, 0.1])
    gain = np.array([0.3, 0.5, 0.1, 0.6])
    if isinstance(mu, np.ndarray):
        k, gain = np.stack([k, k], axis=1), np.stack([gain, gain], axis=1)
    found = falls(gain, k, mu=mu, missing=0.0, weight=0.0, tries=2)
    y = 2 * np.arctan(k) / mu
    truth = (-np.log1p(-gain) - y * y / 2).reshape(2, 2, *found.shape[1:]).max(axis=0)
    assert np.all(found <= truth)
    assert found == pytest.approx(truth, rel=1e-2)
    once = falls(gain, k, mu=mu, missing=0.0, weight=0.0, tries=1)
    assert np.all(once <= -np.log1p(-gain) - y * y / 2 + 1e-12)
    less = falls(gain, k, mu=mu, missing=0.01, weight=3.0, tries=2)
    assert np.all(less < found)
