"""One step that zCDP allows, before normal noise: how much more it reveals at most.

v        mu^2 of the noise that follows, whose profile is G_v
tau      epsilon/v; 1/2 + tau is about the order that counts
l, r     the loss of the step, and e^l
K(r)     the integral of (r - e^s) e^((tau - 1/2) s - s^2/(2v)) over s from 0 to l
f(r)     the same without s^2/(2v), for an order t in place of 1/2 + tau; its mean is bounded
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log, log1p, normal_tail
from privately.accounting.two_outcomes.touching import Touching

FARTHEST = 36.0
_HALVINGS, _FEW, _CHORDS = 20, 3, 6
_PANELS = 16
_CLEARLY = 1e-11
_LARGEST_POWER = 600.0


@dataclass(frozen=True)
class _Ends:
    """All that a line needs to know where it touches, at the larger and the smaller loss; how far each may be off."""

    ratio: Floats
    growth: Floats
    """r - 1."""
    value: Floats
    slope: Floats
    f: Floats
    f_slope: Floats
    value_off: Floats
    slope_off: Floats
    f_off: Floats
    f_slope_off: Floats

    @classmethod
    def of(cls, tau: Floats, v: float, loss: Floats, order: Floats, share: Floats) -> _Ends:
        ratio, rest = exp(loss), 1 - share
        growth, fall = expm1(np.stack([loss, -loss]))
        (slope, across), (slope_off, across_off) = grown(np.stack([tau - 0.5, tau + 0.5])[:, None], loss, v)
        near, far = _power_sum(np.stack([order - 1, order])[:, None], loss)
        off = 4 * ERROR + 8 * UNIT * (1 + order * np.abs(loss))
        return cls(
            ratio,
            growth,
            ratio * slope - across,
            slope,
            share * (ratio * near - far) + rest * (growth - loss),
            share * near - rest * fall,
            2 * (ratio * slope_off + across_off) + 4 * ERROR * (ratio * np.abs(slope) + np.abs(across)),
            slope_off,
            off * (share * (ratio * np.abs(near) + np.abs(far)) + rest * (np.abs(growth) + np.abs(loss))),
            off * (share * np.abs(near) + rest * np.abs(fall)),
        )

    def above(self, factor: Floats, tilt: Floats) -> Floats:
        """K - tilt (r - 1) - factor f, rounded up."""
        parts = self.value, tilt * self.growth, factor * self.f
        size = np.abs(parts[0]) + np.abs(parts[1]) + np.abs(parts[2])
        return parts[0] - parts[1] - parts[2] + self.value_off + factor * self.f_off + (4 * ERROR + 8 * UNIT) * size


def grown(c: Floats, loss: Floats, v: float) -> tuple[Floats, Floats]:
    """The integral of e^(c s - s^2/(2v)) over s from 0 to the loss, and how far it may be off; infinitely if unknown.

    Theorem: it is sqrt(2 pi v) e^(a^2/2) (P(N > a - b) - P(N > a)), a = c sqrt(v) and b = loss/sqrt(v); with -a, -b the
        same of the other sign.
    Reference: completing the square
    Proof: docs/theory/accounting/two_outcomes.md#before-normal-noise
    Checked-by: tests/accounting/two_outcomes/test_before_normal.py::test_integrals
    """
    root = math.sqrt(v)
    size, shift = np.abs(c) * root, loss / root
    is_up = c >= 0
    reach = size + np.abs(shift)
    first, second = np.where(is_up, size - shift, size), np.where(is_up, size, size + shift)
    one, two = normal_tail(np.clip(np.stack(np.broadcast_arrays(first, second)), -FARTHEST, FARTHEST))
    scale = math.sqrt(2 * math.pi) * root * exp(np.minimum(size, FARTHEST) ** 2 / 2)
    off = np.where(reach < FARTHEST, scale * (one + two) * (6 * ERROR + 64 * UNIT * (1 + reach) ** 2), math.inf)
    return scale * (one - two), off


def _power_sum(c: Floats, loss: Floats) -> Floats:
    """The integral of e^(c s) over s from 0 to the loss."""
    return np.where(c == 0, loss, expm1(c * loss) / np.where(c == 0, 1.0, c))


def most(touching: Touching, v: float, tau: Floats, near: Floats | None = None) -> tuple[Floats, Floats]:
    """The largest mean of K over Q, of all pairs that are allowed, from above, and which lines tell it: about these.

    Theorem: it is at most a + C m if m bounds the mean of f, and K - b (r - 1) - C f <= a everywhere. K'' / f'' rises
        to one summit and falls, so if C is below it somewhere between two losses and above it at both, where the slope
        of K - b (r - 1) - C f is 0, the larger of its values there is its largest. Also K <= f for the order 1/2 + tau.
    Reference: duality of linear programs
    Proof: docs/theory/accounting/two_outcomes.md#before-normal-noise
    Checked-by: tests/accounting/two_outcomes/test_before_normal.py::test_no_pair_is_above,
        tests/accounting/two_outcomes/test_before_normal.py::test_some_pair_is_next_to_it
    """
    found = None if near is None else _search(touching, v, tau, 0.75 * near - 1, 1.1 * near + 1, halvings=_FEW)
    if found is None:
        found = _search(touching, v, tau, np.zeros(tau.size), np.full(tau.size, touching.last), halvings=_HALVINGS)
    value, index = found or (_one_order(tau, touching.rho), np.zeros(tau.size))
    return np.minimum(value, _one_order(tau, touching.rho)), index


def _search(
    touching: Touching, v: float, tau: Floats, low: Floats, high: Floats, *, halvings: int
) -> tuple[Floats, Floats] | None:
    """The least that lines between two places prove, and by which one; None if the best is clearly beyond."""
    low, high = np.maximum(low, 0.0), np.minimum(high, touching.last)
    (best, left), (other, right) = (_line(touching, v, tau, place) for place in (low, high))
    if halvings == _FEW and (((left > 0) & (low > 0)) | ((right < 0) & (high < touching.last))).any():
        return None
    best, middle, side = np.minimum(best, other), (low + high) / 2, np.zeros(tau.size)
    for turn in range(halvings + _CHORDS):
        middle = (low + high) / 2
        if turn >= halvings:
            with np.errstate(invalid="ignore", divide="ignore"):
                chord = (low * right - high * left) / (right - left)
            middle = np.where((chord > low) & (chord < high), chord, middle)
        found, uneven = _line(touching, v, tau, middle)
        best = np.minimum(best, found)
        is_low = uneven < 0
        left = np.where(is_low, uneven, np.where(side < 0, left / 2, left))
        right = np.where(is_low, np.where(side > 0, right / 2, right), uneven)
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        side = np.where(is_low, 1.0, -1.0)
    return best, middle


def _one_order(tau: Floats, rho: float) -> Floats:
    """The mean of f for the order 1/2 + tau; if that is below 1, for both directions of order 1."""
    found: Floats = mean_of((tau - 0.5) * (tau + 0.5), rho) * (1 + 8 * UNIT)
    return found


def mean_of(product: Floats, rho: float) -> Floats:
    """(e^(t(t-1) rho) - 1)/(t(t-1)), rounded up, or rho if t(t-1) is not above 0; it may be off by few roundings."""
    is_more = product > 0
    power, below = product * rho, np.where(is_more, product, 1.0)
    with np.errstate(over="ignore"):
        grows = expm1(np.minimum(power, _LARGEST_POWER)) / below * (1 + 4 * ERROR + 16 * UNIT * (1 + power))
    return np.where(is_more, np.where(power < _LARGEST_POWER, grows, math.inf), rho)


def _line(touching: Touching, v: float, tau: Floats, index: Floats) -> tuple[Floats, Floats]:
    """What the line that touches there proves, or infinity, and how much higher it is at the larger loss."""
    high, low, order, share = touching.at(index)
    ends = _Ends.of(tau, v, np.stack([high, low]), order, share)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        factor = (ends.slope[0] - ends.slope[1]) / (ends.f_slope[0] - ends.f_slope[1])
        tilt = ends.slope[1] - factor * ends.f_slope[1]
        slips = ends.slope_off + factor * ends.f_slope_off
        slips = slips + 8 * UNIT * (np.abs(ends.slope) + np.abs(factor * ends.f_slope))
        slip = slips.sum(axis=0) + 8 * UNIT * np.abs(tilt)
        tilt = tilt + slip * (1 + 8 * UNIT)  # so that no slope is above 0
        heights = ends.above(factor, tilt)
        mean = mean_of(order * (order - 1), touching.rho)
        highest = heights.max(axis=0) + 3 * slip * ends.ratio[0]
        value = highest + factor * mean * (1 + 4 * UNIT) + 8 * UNIT * np.abs(highest)
        is_line = _is_line(tau, v, factor, (high, low, order, share)) & np.isfinite(value)
        return np.where(is_line, value, math.inf), heights[0] - heights[1]


def _is_line(
    tau: Floats, v: float, factor: Floats, touched: tuple[Floats, Floats, Floats, Floats]
) -> NDArray[np.bool_]:
    """Whether K'' is certainly below factor f'' at both losses, and above it somewhere between."""
    high, low, order, share = touched
    known = np.isfinite(factor) & (factor > 0)
    height = log(np.where(known, factor, 1.0))

    summit = np.clip((tau + 0.5 - order) * v, low, high)
    loss = np.stack([high, low, np.zeros(tau.size), (low + high) / 2, summit])
    held = log(share * exp(np.minimum(order * loss, _LARGEST_POWER)) + (1 - share))
    over = (tau + 0.5) * loss - loss * loss / (2 * v) - held - height
    doubt = _CLEARLY * (1 + (order + tau) * (high - low) + (high - low) ** 2 / v)
    found: NDArray[np.bool_] = known & (over[:2].max(axis=0) < -doubt) & (over[2:].max(axis=0) > doubt)
    return found


def gained(v: float, tau: Floats, more: float) -> Floats:
    """What normal noise of mu^2 = v gains by `more`, in the measure of `most`, from below.

    Theorem: it is half the integral over s from 0 to `more` of (1 + s/v)^(-1/2) e^((s/2) (tau^2 v/(v+s) - 1/4)); of the
        exponent, the logarithm is above its tangent, and the rest above its chords.
    Reference: Black-Scholes 1973, for the derivative in v
    Proof: docs/theory/accounting/two_outcomes.md#before-normal-noise
    Checked-by: tests/accounting/two_outcomes/test_before_normal.py::test_what_normal_noise_gains
    """
    ends = np.linspace(0.0, more * (1 - 4 * UNIT), _PANELS + 1)
    bends = tau[:, None] ** 2 * (ends / (1 + ends / v) / 2) - ends / 8
    middle = (ends[1:] + ends[:-1]) / 2
    powers = (bends[:, 1:] + bends[:, :-1]) / 2 - log1p(middle / v) / 2
    size = 1 + np.abs(powers).max(axis=1) + (np.abs(bends).max(axis=1) + 1)
    total: Floats = exp(powers).sum(axis=1) * (ends[1] / 2)
    total *= 1 - 4 * ERROR - 64 * UNIT * size
    return total


def weight(v: float, tau: Floats) -> Floats:
    """G_v(e^(tau v)) in the measure of `most`, from below: it falls in tau."""
    root = math.sqrt(v)
    near, far = (tau - 0.5) * root, (tau + 0.5) * root
    if float(np.abs(far).max()) > FARTHEST:
        return np.zeros(tau.size)
    terms = [normal_tail(part) * exp(part * part / 2) for part in (near, far)]
    off = (6 * ERROR + 64 * UNIT * (1 + np.abs(far)) ** 2) * (terms[0] + terms[1])
    return np.maximum(terms[0] - terms[1] - off, 0.0) * (math.sqrt(2 * math.pi) * root)
