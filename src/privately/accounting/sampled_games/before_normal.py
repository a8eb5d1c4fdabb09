"""One sampled step before normal noise: how much it gains at most, at places, and how seldom it leads far beyond.

Names as in `bends`; z = epsilon/sqrt(v) = tau sqrt(v).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import ERROR, Floats, exp, log1p, normal_tail, normal_tail_one
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.bends import upper
from privately.accounting.sampled_games.kinds import Kind
from privately.accounting.sampled_games.large_jumps import last_jump, seldom
from privately.accounting.sampled_games.pairs import Law
from privately.accounting.sampled_games.ranges import Ranged
from privately.accounting.sampled_games.rules import Bounded, Rule, orders

_DOUBT, _UP = 16 * ERROR, 1 + 1e-9
_LEAST, _BEYOND, _RAY, _FAR = math.log(1 / 64), 3.0, 2.0, 0.08
_MOST_Z, _NEAR_Z, _BOTH = 16.0, (-1.0, 4.0), 2.0
_FINE, _COARSE, _MOST_RATE = 0.1, 0.2, 0.5
_FARTHEST = 30.0
_TAIL_APART, _MOST_TAIL, _CORNERS = 0.06, 400, 80


@dataclass(frozen=True)
class Needed:
    """The gains of the best step before G_v in the measure of its density, at places; a pair must not gain less."""

    v: float
    tau: Floats
    gains: Floats
    tail: tuple[tuple[float, float], ...]
    """y and Q-mass of jumps to y that are enough beyond the last place."""
    spare: float
    """The probability with which everything has to be revealed, for both ends."""


def needed(kind: Kind, v: float, spare: float, columns: int) -> Needed:
    """What one step gains at most before G_v.

    Theorem: one step before G_v is worth at most G_v + p L at the places, and the logarithm of the largest L is convex
        in tau. Beyond the last place it is worth at most what jumps of the tail are, and `spare`; below the first, less
        1 - y, at most y times `spare`.
    Reference: duality of linear programs
    Proof: docs/theory/accounting/sampled_games.md#before-normal-noise
    Checked-by: tests/accounting/sampled_games/test_before_normal.py::test_no_allowed_pair_gains_more,
        tests/accounting/sampled_games/test_before_normal.py::test_beyond_the_last_place
    """
    root = math.sqrt(v)
    far = math.sqrt(-2 * math.log(spare)) + root / 2
    high = min(last_jump(kind.base, kind.rate, spare / 8) / root + far, _MOST_Z)
    if kind.rate > _MOST_RATE or far + 1 > _MOST_Z:
        raise NotApplicable("too large a rate, or too rare a loss")
    tau = _places(far, max(high, far + 1)) / root
    gains = _most(kind, v, tau, _columns(kind, v, float(tau[-1]) * root, columns))
    tail, right = _tail(kind, v, far * root, float(tau[-1]) * v, spare)
    if not (right < spare / 2 and _at_first(v, -float(tau[0]), float(gains[0])) < spare):
        raise NotApplicable("losses that lead too far")
    return Needed(v, tau, gains, tail, spare)


def _places(low: float, high: float) -> Floats:
    """z from -low to high, with 0 among them."""
    coarse = np.arange(-math.ceil(low / _COARSE), math.ceil(high / _COARSE) + 1) * _COARSE
    fine = np.arange(round(_NEAR_Z[0] / _FINE), round(_NEAR_Z[1] / _FINE) + 1) * _FINE
    return np.unique(np.concatenate([coarse, fine]).round(9))


def _columns(kind: Kind, v: float, high: float, many: int) -> Floats:
    """Ratios r at which payoffs are known: 0, many where most of Q is, and some beyond."""
    size, root = 2 * max(kind.stated.size, 1e-12), math.sqrt(v)
    last = math.log1p(math.expm1((high + _BEYOND) * root) / float(kind.rate)) + _RAY
    first = max(-size / 2 - 4 * math.sqrt(size), _LEAST)
    top = min(1.5 * size + 3.5 * math.sqrt(size), last)
    if isinstance(kind.base, Fraction):
        first, top = -float(kind.base) * 1.01, min(float(kind.base) * 1.01, last)
    if -math.log1p(-float(kind.rate)) > _FARTHEST * root / 2 or top < -first / 4:
        raise NotApplicable("steps that are large beside the noise")
    apart = (top - first) / many
    above = np.concatenate(
        [np.arange(0.0, top - apart / 2, apart), np.arange(top, max(last, top + 2 * _FAR), max(_FAR, apart))]
    )
    return np.concatenate([[0.0], exp(np.concatenate([np.arange(-apart, first, -apart)[::-1], above]))])


def _most(kind: Kind, v: float, tau: Floats, ratios: Floats) -> Floats:
    payoffs, steep = _payoffs(kind, v, tau, ratios)
    rules, z = _rules(kind, ratios), tau * math.sqrt(v)
    found = np.empty(tau.size)
    for k in range(tau.size - 1, -1, -1):
        asked = rules if abs(z[k]) < _BOTH else rules[:1] if z[k] > 0 else rules[-1:]
        found[k] = min(rule.most(payoffs[k], steep[k]) for rule in asked) * _UP
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise NotApplicable("gains that are out of range")
    return found


def _payoffs(kind: Kind, v: float, tau: Floats, ratios: Floats) -> tuple[Floats, list[float]]:
    """K at all columns, and how steep it is beyond, a row for each tau; not below the truth."""
    rate, root = float(kind.rate), math.sqrt(v)
    tilt = ((tau - 0.5) * root).tolist()
    steep = [rate * math.sqrt(2 * math.pi) * root * math.exp(a * a / 2) * normal_tail_one(-a) * _UP for a in tilt]
    last = math.expm1((float(tau[-1]) * root + _BEYOND) * root) / rate
    near = np.minimum(ratios - 1, last)
    payoffs = (upper(tau, v, log1p(rate * near)) + np.array(steep)[:, None] * (ratios - 1 - near)) * _UP
    if not np.isfinite(payoffs).all():
        raise NotApplicable("gains that are out of range")
    return payoffs, steep


def worst(kind: Kind, v: float, z: Floats, columns: int) -> list[Law]:
    """About the laws that gain most at these places; a search, which proves nothing."""
    ratios = _columns(kind, v, float(z[-1]), columns)
    payoffs, steep = _payoffs(kind, v, z / math.sqrt(v), ratios)
    rules, found = _rules(kind, ratios), list[Law | None]()
    for k, place in enumerate(z.tolist()):
        rule = rules[0 if place > 0 else -1]
        rule.most(payoffs[k], steep[k])
        found.append(rule.law() if isinstance(rule, Bounded) else None)
    return [law for law in found if law is not None]


def _rules(kind: Kind, ratios: Floats) -> tuple[Rule, ...]:
    if isinstance(kind.base, Fraction):
        return (Ranged(kind.base, ratios, _DOUBT),)
    return tuple(Bounded(orders(kind.base, ratios, is_low=low), ratios, _DOUBT) for low in (False, True))


def _at_first(v: float, tau: float, gain: float) -> float:
    """What a step before G_v is worth at the first place, less 1 - y and in units of y."""
    root = math.sqrt(v)
    a = (tau - 0.5) * root
    return (normal_tail_one(a) + math.exp(-a * a / 2) / (math.sqrt(2 * math.pi) * root) * gain) * (1 + 1e-6)


def _tail(
    kind: Kind, v: float, near: float, last: float, spare: float
) -> tuple[tuple[tuple[float, float], ...], float]:
    """Jumps that are enough beyond the last place, and what they leave; none if there is little to begin with."""
    corners, weights, noise = _corners(v, near)
    end = max(last_jump(kind.base, kind.rate, spare / 8) + near, last) + _TAIL_APART
    y = np.exp(np.linspace(last, end, min(math.ceil((end - last) / _TAIL_APART), _MOST_TAIL) + 1))
    y[0] *= 1 - 1e-9
    worth = np.zeros(y.size)
    for corner, weight in zip(corners.tolist(), weights.tolist(), strict=True):
        alpha = 1 + (y / corner * (1 - 1e-12) - 1) / float(kind.rate)
        worth += weight * float(kind.rate) * seldom(kind.base, alpha * (1 - 1e-12))
    worth *= 1 + 1e-9
    if worth[0] + noise < spare / 2:
        return (), float(worth[0]) + noise
    kept = _hull(y, worth)
    y, worth = y[kept], worth[kept]
    slopes = np.append(np.diff(worth) / np.diff(y), 0.0)
    jumps = tuple(zip(y[1:].tolist(), (np.diff(slopes) * (1 + 1e-6)).tolist(), strict=True))
    held = np.zeros(y.size)
    for at, mass in jumps:
        held += mass * np.maximum(at - y, 0.0)
    return jumps, max(float((worth - held * (1 - 1e-9)).max()), 0.0) + noise


def _corners(v: float, near: float) -> tuple[Floats, Floats, float]:
    """B and w for which G_v(x) is at most the sum of w (1 - x/B)+ and a constant, the last of these.

    Theorem: G_v is convex, so it is below its chords between any places, and falls.
    Reference: none
    Proof: docs/theory/accounting/sampled_games.md#before-normal-noise
    Checked-by: tests/accounting/sampled_games/test_before_normal.py::test_corners_are_above
    """
    root = math.sqrt(v)
    z = np.linspace(-near / root, near / root, _CORNERS)
    x = np.concatenate([[0.0], exp(z * root)])
    tails = normal_tail(z - root / 2), x[1:] * normal_tail(z + root / 2)
    values = np.concatenate([[1.0], np.minimum(tails[0] - tails[1] + 1e-12 * (tails[0] + tails[1]), 1.0)])
    values[-1] = tails[0][-1] * (1 + 1e-9)
    kept = _hull(x, values)
    slopes = np.append(np.diff(values[kept]) / np.diff(x[kept]), 0.0)
    corners = x[kept][1:]
    return corners, np.maximum(np.diff(slopes), 0.0) * corners * (1 + 1e-9), float(values[-1]) * (1 + 1e-9)


def _hull(y: Floats, values: Floats) -> list[int]:
    """The corners of the largest convex function that is not above."""
    hull: list[int] = []
    for k in range(y.size):
        while len(hull) > 1 and (values[hull[-1]] - values[hull[-2]]) * (y[k] - y[hull[-2]]) >= (
            values[k] - values[hull[-2]]
        ) * (y[hull[-1]] - y[hull[-2]]):
            hull.pop()
        hull.append(k)
    return hull
