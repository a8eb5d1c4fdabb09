"""One step before normal noise: its bound, the integrals it is made of, and what normal noise gains."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from privately.accounting.two_outcomes import before_normal
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.before_normal import gained, grown, most, weight
from privately.accounting.two_outcomes.touching import touching

from . import brute

NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
CASES = [
    (0.05, 0.16),
    *(pytest.param(rho, v, marks=pytest.mark.slow) for rho, v in [(0.05, 2.0), (0.5, 5.0), (0.001, 0.02)]),
]

pairs = lru_cache(brute.pairs)


def integral(function: object, low: float, high: float) -> float:
    places = (low + high) / 2 + (high - low) / 2 * NODES
    return float((function(places) * WEIGHTS).sum() * (high - low) / 2)  # type: ignore[operator]


def revealed(loss: float, tau: float, v: float) -> float:
    """K by quadrature."""
    return integral(
        lambda s: (math.exp(loss) - np.exp(s)) * np.exp((tau - 0.5) * s - s * s / (2 * v)),
        0.0,
        loss,
    )


def mean(p: float, q: float, tau: float, v: float) -> float:
    """Of K over Q, for two outcomes."""
    high, low = math.log(p / q), math.log((1 - p) / (1 - q))
    return q * revealed(high, tau, v) + (1 - q) * revealed(low, tau, v)


def largest(rho: float, v: float, tau: float) -> float:
    """Of pairs that are found by plain search, and of their mirror images."""
    return max(max(mean(p, q, tau, v), mean(1 - q, 1 - p, tau, v)) for p, q in pairs(rho, 80))


def bound(rho: float, v: float, tau: float) -> float:
    lines = touching(Concentrated(Fraction(rho)), 1e-10)
    return float(most(lines, v, np.array([tau]))[0][0])


@pytest.mark.parametrize(("c", "loss", "v"), [(2.0, 0.3, 0.5), (-0.4, 0.3, 2.0), (3.0, -0.7, 1.0), (0.0, 1.5, 0.3)])
def test_integrals(c: float, loss: float, v: float) -> None:
    found, off = grown(np.array([c]), np.array([loss]), v)
    assert abs(found[0] - integral(lambda s: np.exp(c * s - s * s / (2 * v)), 0.0, loss)) < 1e-12
    assert 0 < off[0] < 1e-11


def test_integrals_that_are_out_of_range_are_not_known() -> None:
    assert grown(np.array([40.0]), np.array([0.3]), 4.0)[1][0] == math.inf


@pytest.mark.parametrize(("rho", "v"), CASES)
def test_no_pair_is_above(rho: float, v: float) -> None:
    """With a hundredth of rho missing one would be."""
    for z in (0.0, 1.0, 4.0):
        tau = 0.5 + z / math.sqrt(v)
        reached = largest(rho, v, tau)
        assert reached <= bound(rho, v, tau)
        assert reached > bound(0.99 * rho, v, tau)


@pytest.mark.parametrize(("rho", "v"), CASES)
def test_some_pair_is_next_to_it(rho: float, v: float) -> None:
    for z in (-0.2, 0.5, 3.0):
        tau = max(0.5 + z / math.sqrt(v), 0.0)
        assert bound(rho, v, tau) < largest(rho, v, tau) * 1.01


def delta(v: float, x: float) -> float:
    mu = math.sqrt(v)
    near, far = x / mu - mu / 2, x / mu + mu / 2
    return (math.erfc(near / math.sqrt(2)) - math.exp(x) * math.erfc(far / math.sqrt(2))) / 2


@pytest.mark.parametrize(("tau", "v", "more"), [(0.0, 0.3, 0.1), (2.0, 0.5, 0.05), (1.0, 4.0, 1.0)])
def test_what_normal_noise_gains(tau: float, v: float, more: float) -> None:
    density = math.exp(-((tau - 0.5) ** 2) * v / 2) / math.sqrt(2 * math.pi * v)
    true = (delta(v + more, tau * v) - delta(v, tau * v)) / density
    found = gained(v, np.array([tau]), more)[0]
    assert found <= true * (1 + 1e-12)
    assert found > true * (1 - 1e-4)
    assert weight(v, np.array([tau]))[0] == pytest.approx(delta(v, tau * v) / density, rel=1e-10)


def test_lines_of_another_rho() -> None:
    """Those for a larger rho hold for a smaller one, by its own mean of f, and are nearly as good next to it."""
    v, tau = 0.4, np.linspace(0.5, 8.0, 40)
    known = touching(Concentrated(Fraction(1, 10)), 1e-10)
    found, index = before_normal.lines(known, v, tau)
    same = found.most(tau, np.array([[known.rho]]))[0]
    assert (same <= most(known, v, tau)[0] * (1 + 1e-6)).all()
    less = touching(Concentrated(Fraction(1, 11)), 1e-10)
    other, exact = found.most(tau, np.array([[less.rho]]))[0], most(less, v, tau)[0]
    assert (other >= exact * (1 - 1e-4)).all()
    assert (other[:20] <= exact[:20] * 1.02).all()
    again, _ = before_normal.lines(known, v * 1.05, tau, index)
    assert (again.most(tau, np.array([[known.rho]]))[0] <= most(known, v * 1.05, tau)[0] * (1 + 1e-3)).all()


def test_several_gains() -> None:
    """Each from below, and next to what is found by itself."""
    v, tau, mores = 0.3, np.array([0.0, 0.5, 2.0, 9.0]), np.array([0.5, 0.25, 0.01, 1e-4])
    found = before_normal.gained_by(v, tau, mores)
    for row, more in zip(found, mores.tolist(), strict=True):
        s = np.linspace(0.0, more, 20_001)
        for value, t in zip(row.tolist(), tau.tolist(), strict=True):
            rate = (1 + s / v) ** -0.5 * np.exp(s / 2 * (t * t * v / (v + s) - 0.25)) / 2
            exact = float(np.sum((rate[1:] + rate[:-1]) / 2) * s[1])
            assert exact * (1 - 5e-3) <= value <= exact * (1 + 1e-8)
