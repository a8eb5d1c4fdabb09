"""What a ratio gains before normal noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privately.accounting.elementary import Floats
from privately.accounting.sampled_games.bends import gain, nearly, upper, without_noise
from tests.accounting.sampled_games.examples import normal

Z = np.array([-8.0, -3.0, -0.5, 0.0, 0.5, 2.0, 6.0, 11.0])
LOSSES = np.array([-0.2, -0.02, -1e-5, 1e-4, 0.003, 0.1, 0.5])


def by_quadrature(tau: float, v: float, loss: float) -> float:
    """By Simpson's rule."""
    x = np.linspace(0.0, loss, 4001)
    f = (math.exp(loss) - np.exp(x)) * np.exp((tau - 0.5) * x - x * x / (2 * v))
    return float((f[0] + 4 * f[1::2].sum() + 2 * f[2:-1:2].sum() + f[-1]) * (x[1] - x[0]) / 3)


def quadratures(tau: Floats, v: float) -> Floats:
    return np.array([[by_quadrature(one, v, loss) for loss in LOSSES.tolist()] for one in tau.tolist()])


@pytest.mark.parametrize("v", [0.004, 0.5])
def test_gains_by_quadrature(v: float) -> None:
    """Also where differences lose digits: then one or the other is as good as exact."""
    tau = Z / math.sqrt(v)
    exact = quadratures(tau, v)
    (value, off), (more, more_off) = gain(tau, v, LOSSES), without_noise(tau, LOSSES)
    assert (np.abs(value - exact) <= off + 1e-9 * exact).all()
    assert (more + more_off >= exact * (1 - 1e-9)).all()
    above, (below, doubt) = upper(tau, v, LOSSES), nearly(tau, v, LOSSES)
    assert (above >= exact * (1 - 1e-9)).all()
    assert (above <= exact * (1 + 1e-5)).all()
    assert (below - doubt <= exact * (1 + 1e-9)).all()
    assert (below >= exact * (1 - 1e-5)).all()


def test_a_gain_is_what_a_jump_is_worth() -> None:
    """By profiles alone: s G(y/s), less its line at s = 1."""
    mu, epsilon, loss = 0.7, 0.9, 0.4
    y, s, v, d = math.exp(epsilon), math.exp(loss), mu * mu, 1e-5
    density = math.exp(-((epsilon - v / 2) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
    slope = ((1 + d) * normal(y / (1 + d), mu) - (1 - d) * normal(y / (1 - d), mu)) / (2 * d)
    left = s * normal(y / s, mu) - normal(y, mu) - slope * (s - 1)
    assert left == pytest.approx(density * by_quadrature(epsilon / v, v, loss), rel=1e-6)


def test_what_is_out_of_range_is_unknown() -> None:
    assert np.isinf(gain(np.array([4000.0]), 0.01, np.array([3.0]))[1]).all()
    assert np.isinf(without_noise(np.array([4000.0]), np.array([3.0]))[1]).all()
