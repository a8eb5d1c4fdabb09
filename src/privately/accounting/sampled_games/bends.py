"""What a step with the ratio s = e^l gains before normal noise, beyond a straight line in s.

v        mu^2 of the noise that follows, whose profile is G_v
tau      epsilon/v, at a place epsilon
K(s)     the integral of (s - e^x) e^((tau - 1/2) x - x^2/(2v)) over x from 0 to l
p        the density of the loss of the noise: s G_v(y/s) is a line in s and p K
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1
from privately.accounting.two_outcomes.before_normal import grown

_AT_ONCE = 1 << 14
_SHORT = 0.003
"""Of sqrt(v): for shorter losses x^2/(2v) is hardly anything, and differences would lose more."""


def gain(tau: Floats, v: float, loss: Floats) -> tuple[Floats, Floats]:
    """K, a row for each tau, and how far it may be off; infinitely if unknown.

    Theorem: K = s A - B, with A and B the integrals of e^(c x - x^2/(2v)) over x from 0 to l, c = tau -+ 1/2.
    Reference: Black-Scholes 1973, for the second derivative of G
    Proof: docs/theory/accounting/sampled_games.md#before-normal-noise
    Checked-by: tests/accounting/sampled_games/test_bends.py::test_gains_by_quadrature
    """
    ratio = exp(loss)
    (slope, across), (slope_off, across_off) = grown(np.stack([tau - 0.5, tau + 0.5])[:, :, None], loss, v)
    sizes = ratio * np.abs(slope) + np.abs(across)
    off = 2 * (ratio * slope_off + across_off) + 4 * ERROR * (1 + np.abs(loss)) * sizes
    return ratio * slope - across, off


def without_noise(tau: Floats, loss: Floats) -> tuple[Floats, Floats]:
    """The same without x^2/(2v), which is more, and e^(-l^2/(2v)) of it less."""
    ratio, c = exp(loss), np.stack([tau - 0.5, tau + 0.5])[:, :, None]
    powers = np.minimum(c * loss, 600.0)
    near, far = np.where(c == 0, loss, expm1(powers) / np.where(c == 0, 1.0, c))
    sizes = ratio * np.abs(near) + np.abs(far)
    off = (6 * ERROR + 16 * UNIT * np.abs(powers).max(axis=0)) * (1 + np.abs(loss)) * sizes
    return ratio * near - far, np.where(np.abs(powers).max(axis=0) < 600.0, off, np.inf)


def upper(tau: Floats, v: float, loss: Floats) -> Floats:
    """K or a little more."""
    found = np.empty((tau.size, loss.size))
    for rows in _some_rows(found):
        first, second = gain(tau[rows], v, loss), without_noise(tau[rows], loss)
        found[rows] = np.maximum(np.minimum(first[0] + first[1], second[0] + second[1]), 0.0)
    return found


def nearly(tau: Floats, v: float, loss: Floats) -> tuple[Floats, Floats]:
    """K or a little less, its logarithm convex in tau, and how far off it is."""
    found, doubt = np.empty((tau.size, loss.size)), np.empty((tau.size, loss.size))
    is_short, less = np.abs(loss) < _SHORT * np.sqrt(v), exp(-loss * loss / (2 * v))
    for rows in _some_rows(found):
        (value, off), (more, more_off) = gain(tau[rows], v, loss), without_noise(tau[rows], loss)
        found[rows] = np.where(is_short, more * less, value)
        doubt[rows] = np.where(is_short, more_off + 4 * ERROR * more, off)
    return found, doubt


def _some_rows(whole: Floats) -> Iterator[slice]:
    """As many at a time as take little memory."""
    many = max(_AT_ONCE // max(whole.shape[1], 1), 1)
    return (slice(begin, begin + many) for begin in range(0, len(whole), many))
