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
_HALVINGS, _FEW, _CHORDS, _CLOSE = 20, 3, 6, 3.0
_PANELS, _SHARED = 16, 48
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
    value, index = found or (by_one_order(tau, touching.rho), np.zeros(tau.size))
    return np.minimum(value, by_one_order(tau, touching.rho)), index


@dataclass(frozen=True)
class Lines:
    """Lines above K: a and C of each, and t(t - 1) of its f; a is infinite where there is none."""

    highest: Floats
    factor: Floats
    product: Floats

    def most(self, tau: Floats, rho: Floats) -> Floats:
        """The largest mean of K that they allow, for any rho: only the mean of f depends on it; a row for each."""
        value = self.highest + self.factor * mean_of(self.product, rho) * (1 + 4 * UNIT)
        return np.minimum(value + 8 * UNIT * np.abs(self.highest), by_one_order(tau, rho))


def lines(touching: Touching, v: float, tau: Floats, near: Floats | None = None) -> tuple[Lines, Floats]:
    """Those that are about the best for one rho, and which they are.

    Theorem: K - b (r - 1) - C f <= a says nothing of rho, so the mean of K is at most a + C m for the m of every rho.
    Reference: as for `most`
    Proof: docs/theory/accounting/two_outcomes.md#the-largest-last
    Checked-by: tests/accounting/two_outcomes/test_before_normal.py::test_lines_of_another_rho
    """
    found = None if near is None else _search(touching, v, tau, near - _CLOSE, near + _CLOSE, halvings=_FEW)
    index = (found or most(touching, v, tau))[1]
    highest, factor, product, is_line, _ = _touching_at(touching, v, tau, index)
    return Lines(np.where(is_line, highest, math.inf), np.where(is_line, factor, 0.0), product), index


def _search(
    touching: Touching, v: float, tau: Floats, low: Floats, high: Floats, *, halvings: int
) -> tuple[Floats, Floats] | None:
    """The least that lines between two places prove, and by which one; None if the best is clearly beyond."""
    low, high = np.maximum(low, 0.0), np.minimum(high, touching.last)
    (best, left), (other, right) = (_line(touching, v, tau, place) for place in (low, high))
    if halvings == _FEW and (((left > 0) & (low > 0)) | ((right < 0) & (high < touching.last))).any():
        return None
    index, best, side = np.where(other < best, high, low), np.minimum(best, other), np.zeros(tau.size)
    for turn in range(halvings + _CHORDS):
        middle = (low + high) / 2
        if turn >= halvings:
            with np.errstate(invalid="ignore", divide="ignore"):
                chord = (low * right - high * left) / (right - left)
            middle = np.where((chord > low) & (chord < high), chord, middle)
        found, uneven = _line(touching, v, tau, middle)
        index, best = np.where(found < best, middle, index), np.minimum(best, found)
        is_low = uneven < 0
        left = np.where(is_low, uneven, np.where(side < 0, left / 2, left))
        right = np.where(is_low, np.where(side > 0, right / 2, right), uneven)
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        side = np.where(is_low, 1.0, -1.0)
    return best, index


def by_one_order(tau: Floats, rho: float | Floats) -> Floats:
    """The mean of f for the order 1/2 + tau; if that is below 1, for both directions of order 1."""
    found: Floats = mean_of((tau - 0.5) * (tau + 0.5), rho) * (1 + 8 * UNIT)
    return found


def mean_of(product: Floats, rho: float | Floats) -> Floats:
    """(e^(t(t-1) rho) - 1)/(t(t-1)), rounded up, or rho if t(t-1) is not above 0; it may be off by few roundings."""
    is_more = product > 0
    power, below = product * rho, np.where(is_more, product, 1.0)
    with np.errstate(over="ignore"):
        grows = expm1(np.minimum(power, _LARGEST_POWER)) / below * (1 + 4 * ERROR + 16 * UNIT * (1 + power))
    return np.where(is_more, np.where(power < _LARGEST_POWER, grows, math.inf), rho)


def _line(touching: Touching, v: float, tau: Floats, index: Floats) -> tuple[Floats, Floats]:
    """What the line that touches there proves, or infinity, and how much higher it is at the larger loss."""
    highest, factor, product, is_line, uneven = _touching_at(touching, v, tau, index)
    with np.errstate(invalid="ignore", over="ignore"):
        value = highest + factor * mean_of(product, touching.rho) * (1 + 4 * UNIT) + 8 * UNIT * np.abs(highest)
    return np.where(is_line & np.isfinite(value), value, math.inf), uneven


def _touching_at(
    touching: Touching, v: float, tau: Floats, index: Floats
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_], Floats]:
    """a and C of the line that touches there, t(t - 1), whether it is one, and how uneven it is."""
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
        highest = heights.max(axis=0) + 3 * slip * ends.ratio[0]
        is_line = _is_line(tau, v, factor, (high, low, order, share)) & np.isfinite(highest)
        return highest, factor, order * (order - 1), is_line, heights[0] - heights[1]


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


def gained_by(v: float, tau: Floats, mores: Floats) -> Floats:
    """The same for several gains, a row for each; by panels that all of them share.

    Theorem: in each panel the exponent is above a straight line, as for `gained`; so is it in a part of one, and the
        mean of e^x is at least e to the mean.
    Reference: as for `gained`
    Proof: docs/theory/accounting/two_outcomes.md#before-normal-noise
    Checked-by: tests/accounting/two_outcomes/test_before_normal.py::test_several_gains
    """
    ends = float(mores.max()) * np.linspace(0.0, 1.0, _SHARED + 1) ** 2
    wide, middle = np.diff(ends), (ends[1:] + ends[:-1]) / 2
    bends = tau[:, None] ** 2 * (ends / (1 + ends / v) / 2) - ends / 8
    rise = np.diff(bends, axis=1) / wide - 1 / (2 * (v + middle))
    centre = (bends[:, 1:] + bends[:, :-1]) / 2 - log1p(middle / v) / 2
    size = 1 + np.abs(centre).max(axis=1) + np.abs(bends).max(axis=1) + np.abs(rise * wide).max(axis=1)
    centre = np.minimum(centre, _LARGEST_POWER - 64.0)
    whole = np.cumsum(exp(centre) * (wide / 2), axis=1)
    whole = np.concatenate([np.zeros((tau.size, 1)), whole], axis=1)
    panel = np.clip(np.searchsorted(ends, mores, side="right") - 1, 0, _SHARED - 1)
    part = np.maximum(mores - ends[panel], 0.0)
    power = np.minimum(centre[:, panel] + rise[:, panel] * ((part - wide[panel]) / 2), _LARGEST_POWER)
    rest = exp(power) * (part / 2)
    return np.asarray(((whole[:, panel] + rest) * (1 - 8 * ERROR - 128 * UNIT * size[:, None])).T)


def weight(v: float, tau: Floats) -> Floats:
    """G_v(e^(tau v)) in the measure of `most`, from below: it falls in tau."""
    root = math.sqrt(v)
    near, far = (tau - 0.5) * root, (tau + 0.5) * root
    if float(np.abs(far).max()) > FARTHEST:
        return np.zeros(tau.size)
    terms = [normal_tail(part) * exp(part * part / 2) for part in (near, far)]
    off = (6 * ERROR + 64 * UNIT * (1 + np.abs(far)) ** 2) * (terms[0] + terms[1])
    return np.maximum(terms[0] - terms[1] - off, 0.0) * (math.sqrt(2 * math.pi) * root)
