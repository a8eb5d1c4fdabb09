"""A pair that gains no less than any one sampled step before normal noise: normal noise itself and a few jumps.

It stands for any number of steps before as much noise or more; names as in `bends` and `before_normal`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import Floats, exp, log
from privately.accounting.losses import FiniteLoss
from privately.accounting.sampled_games.before_normal import Needed
from privately.accounting.sampled_games.bends import nearly
from privately.accounting.sampled_games.simplex import Simplex
from privately.accounting.two_outcomes.before_normal import gained

_NEAR, _FAR, _NEAREST, _FARTHEST, _BEYOND = 24, 24, 0.2, 5.0, 2.0
_MIRRORED, _UNEVEN, _NOTHING, _ENOUGH, _LEAST_COST, _NO_GAIN = 0.01, 0.003, 1e-18, 1e-6, 1e-6, 1e-8
_APART, _DOUBTED, _SLACK = 0.01, 1e-6, 1e-9
_TRIES, _NEARLY, _MORE, _MOST_MORE, _MOST = 4, 1.0001, 1 + 1e-6, 1.1, 0.9
_NONE, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Standing:
    """Normal noise of mu^2 = noise, jumps to these ratios with these Q-masses, and the rest at one ratio more.

    With the probability `spare` it reveals everything.
    """

    noise: float
    ratios: tuple[float, ...]
    masses: tuple[float, ...]
    spare: float

    def law(self, *, is_removed: bool) -> FiniteLoss | None:
        """The jumps; None if there are none."""
        if not self.ratios:
            return None
        pairs = [(Fraction(r) * Fraction(m), Fraction(m)) for r, m in zip(self.ratios, self.masses, strict=True)]
        pairs.append((1 - sum((p for p, _ in pairs), _NONE), 1 - sum((q for _, q in pairs), _NONE)))
        pairs.sort(key=lambda pair: pair[0] / pair[1], reverse=True)
        if not is_removed:
            pairs = [(q, p) for p, q in reversed(pairs)]
        return FiniteLoss(epsilon=_NONE, outcomes=tuple(((p, _NONE), (q, _NONE)) for p, q in pairs))


def standing(need: Needed, noise: float, order: float, *, is_removed: bool = True) -> Standing | None:
    """One with so much normal noise, of nearly the least moment of this order in one direction; None if none is found.

    Theorem: let one step before G_v be worth at most G_v with this pair, at all y. Then so it is before every G_w,
        w >= v, and before such noise and any other pair.
    Reference: none; the step of a mean is at most the mean of steps
    Proof: docs/theory/accounting/sampled_games.md#before-normal-noise
    Checked-by: tests/accounting/sampled_games/test_standing.py::test_it_stands_for_every_allowed_pair,
        tests/accounting/sampled_games/test_standing.py::test_too_small_a_pair_is_caught
    """
    losses = _candidates(need)
    masses, missing = _tried(need, noise, _costs(losses, order, is_removed=is_removed), losses)
    for _ in range(_TRIES):
        more = float(missing.max())
        if more <= 1:
            return _whole(need, noise, [*zip(exp(losses).tolist(), masses.tolist(), strict=True), *need.tail])
        if not more < _MOST_MORE:
            return None
        masses = masses * (more * _MORE)
        missing = lacking(need, noise, exp(losses), masses)
    return None


def _tried(need: Needed, noise: float, costs: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Masses, and what they lack between places: where that is much, more is asked for beside it."""
    raised, found = np.ones(need.tau.size), list[tuple[Floats, Floats]]()
    while len(found) < _TRIES:
        masses = _searched(need, raised, noise, costs, losses)
        missing = lacking(need, noise, exp(losses), masses)
        found.append((masses, missing))
        if missing.max() <= _NEARLY:
            break
        raised = raised * _at_places(need, np.clip(missing, 1.0, _MOST_MORE))
    return found[-1]


def _at_places(need: Needed, missing: Floats) -> Floats:
    """The largest of what is between each place and the next ones."""
    cells = np.clip(np.searchsorted(need.tau, _between(need)[1:-1], side="right") - 1, 0, need.tau.size - 2)
    most = np.ones(need.tau.size - 1)
    np.maximum.at(most, cells, missing)
    found: Floats = np.maximum(np.append(most, 1.0), np.append(1.0, most))
    return found


def _whole(need: Needed, noise: float, jumps: list[tuple[float, float]]) -> Standing | None:
    """If they leave enough of both laws for what stays where it is."""
    listed = [(ratio, mass) for ratio, mass in jumps if mass > 0]
    exact = [(Fraction(ratio) * Fraction(mass), Fraction(mass)) for ratio, mass in listed]
    if not max(sum((pair[k] for pair in exact), _NONE) for k in (0, 1)) < _ONE:
        return None
    return Standing(noise, tuple(r for r, _ in listed), tuple(m for _, m in listed), need.spare)


def lacking(need: Needed, noise: float, ratios: Floats, masses: Floats) -> Floats:
    """By what factor masses have to be larger, at all places and between, for the pair to gain as much as is needed.

    Theorem: what is needed is, in logarithms, below its chords, and what is gained below its own, but by no more than a
        quarter of the difference of slopes of the chords on both sides.
    Reference: none; both logarithms are convex in tau
    Proof: docs/theory/accounting/sampled_games.md#before-normal-noise
    Checked-by: tests/accounting/sampled_games/test_standing.py::test_too_small_a_pair_is_caught,
        tests/accounting/sampled_games/test_standing.py::test_between_places
    """
    tau = _between(need)
    by_noise, (by_jumps, off) = gained(need.v, tau, noise), _by_jumps(need.v, tau, noise, log(ratios[masses > 0]))
    jumps, off = by_jumps @ masses[masses > 0], off @ masses[masses > 0]
    total = by_noise + jumps
    doubt = float(np.max(off / total)) + _SLACK
    if not doubt < _DOUBTED:
        return np.full(tau.size - 2, math.inf)
    dips = _dips(tau, np.log(total))
    inside = slice(1, -1)
    wanted = np.exp(np.interp(tau[inside], need.tau, np.log(need.gains)) + dips + 8 * doubt)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (wanted - by_noise[inside]) / jumps[inside]
    return np.where(total[inside] >= wanted, 0.0, ratio)


def _dips(tau: Floats, logs: Floats) -> Floats:
    """How far a convex function may be below its chords beside each place but the first and the last."""
    slopes = np.diff(logs) / np.diff(tau)
    below = np.diff(tau)[1:-1] * np.maximum(slopes[2:] - slopes[:-2], 0.0) / 4
    found: Floats = np.maximum(np.append(below, 0.0), np.append(0.0, below))
    return found


def _between(need: Needed) -> Floats:
    """All places of what is needed, as many between any two, and one beyond on either side."""
    parts = [
        np.linspace(a, b, max(math.ceil((b - a) * math.sqrt(need.v) / _APART), 1), endpoint=False)
        for a, b in zip(need.tau[:-1].tolist(), need.tau[1:].tolist(), strict=True)
    ]
    apart = _APART / math.sqrt(need.v)
    return np.concatenate([[need.tau[0] - apart], *parts, [need.tau[-1], need.tau[-1] + apart]])


def _by_jumps(v: float, tau: Floats, noise: float, losses: Floats) -> tuple[Floats, Floats]:
    """What one unit of Q-mass gains at each loss, after the noise has been added to what follows; and how far off."""
    more = v + noise
    scale = math.sqrt(v / more) * exp(tau * tau * (v * noise / (2 * more)) - noise / 8)
    value, off = nearly(tau * (v / more), more, losses)
    return value * scale[:, None], (off + _SLACK / 4 * value) * scale[:, None]


def _candidates(need: Needed) -> Floats:
    """Losses of about the size of a step, and larger ones as far as noise and places reach."""
    step = math.sqrt(2 * float(np.interp(0.0, need.tau, need.gains)))
    near = step * np.geomspace(_NEAREST, _FARTHEST, _NEAR)
    last = max(float(need.tau[-1]) * need.v + _BEYOND * math.sqrt(need.v), 2 * float(near[-1]))
    far = np.geomspace(1.2 * near[-1], last, _FAR)
    return np.concatenate([-far[::-1], -near[::-1], near, far])


def _searched(need: Needed, raised: Floats, noise: float, costs: Floats, losses: Floats) -> Floats:
    """Q-masses by a linear program whose prices they are: no less than is needed at its places."""
    rest = need.gains * raised - gained(need.v, need.tau, noise)
    wide = rest > _ENOUGH * need.gains
    tau, rest = need.tau[wide], rest[wide]
    step = math.sqrt(2 * float(np.interp(0.0, need.tau, need.gains)))
    gains = _by_jumps(need.v, tau, noise, losses)[0].T / rest
    even, many, size = np.expm1(losses)[:, None] / step, losses.size, rest.size + 3
    most = gains.max(axis=1)
    gains[gains < _NO_GAIN * most[:, None]] = 0.0
    costs = np.maximum(costs / (step * step), _LEAST_COST * most)
    columns = np.concatenate([gains, even, -even, np.full((many, 1), -1.0)], axis=1) / costs[:, None]
    columns = np.concatenate([columns, np.eye(many)], axis=1)
    scales = 1 / np.maximum(np.abs(columns).max(axis=0), _NOTHING)
    wanted = np.concatenate([np.ones(rest.size), [-_UNEVEN, -_UNEVEN, -_MOST], np.zeros(many)])
    simplex = Simplex(columns * scales, np.ones(many), list(range(size, size + many)))
    prices = simplex.prices(wanted * scales, 1 / scales, _ENOUGH)
    found: Floats = np.maximum(prices, 0.0) / costs
    return found


def _costs(losses: Floats, order: float, *, is_removed: bool) -> Floats:
    """Of one unit of Q-mass: the moment, by that of a small loss, and a little of that of the other direction."""
    found = np.zeros(losses.size)
    for t, share in ((order, 1.0 if is_removed else _MIRRORED), (1 - order, _MIRRORED if is_removed else 1.0)):
        found += share * (np.exp(np.minimum(t * losses, 500.0)) - 1 - t * np.expm1(losses))
    return np.maximum(found / (order * (order - 1) / 2), _NOTHING)
