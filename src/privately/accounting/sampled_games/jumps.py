"""A pair of laws on the lattice that reveals no less than any one step before a profile: many steps at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import UNIT, Floats, Integers, exp
from privately.accounting.losses import FiniteLoss
from privately.accounting.sampled_games.profiles import Profile
from privately.accounting.sampled_games.simplex import Simplex
from privately.rounding import Enclosure

_ENOUGH, _MORE, _MOST_MORE = 1e-6, 1 + 4e-6, 1.05
_MIRRORED = 0.1
_NOTHING, _MOST, _BALANCED = 1e-18, 0.9, 1e5
_DIGITS, _NONE = 2**90, Fraction(0)
_HALF, _TRIES, _ROWS = 0.5, 3, 400


@dataclass(frozen=True)
class Jumps:
    """Losses of whole places with these P-masses, and the rest: of P at infinite loss, of Q where P has nothing."""

    places: Integers
    masses: Floats
    infinite: float
    hidden: tuple[float, float]
    """What is left of Q is between these."""
    exact: tuple[Fraction, ...]
    """The masses, which floats are near."""

    def before(self, profile: Profile, *, upward: bool) -> Floats:
        """The excess of what follows with these losses added, rounded to one side."""
        size, sign = profile.lattice.size, 1 if upward else -1
        values, raised = profile.padded
        middle, losses = -profile.lattice.first, profile.lattice.losses
        found = np.zeros(size)
        for place, mass in zip(self.places.tolist(), self.masses.tolist(), strict=True):
            begin = size - 1 - place
            found[:middle] += mass * raised[begin : begin + middle]
            found[middle:] += mass * values[begin + middle : begin + size]
        off = 1 + sign * (4 * profile.lattice.doubt + 4 * UNIT * self.masses.size)
        rest = np.where(losses >= 0, self.infinite, self.hidden[1 if upward else 0] * exp(losses))
        excess: Floats = (found + rest) * off
        return excess

    def law(self, step: float, *, is_removed: bool) -> tuple[FiniteLoss, Fraction]:
        """A pair that reveals at least as much, in one direction, and its mass at infinite loss.

        Masses of Q are rounded down, and what they lose is where P has nothing: to take both for one is to forget.
        """
        masses = []
        for place, mass in zip(self.places.tolist()[::-1], self.exact[::-1], strict=True):
            least = Fraction((Enclosure.of(-place * Fraction(step)).exp() * mass).lower)
            masses.append((mass, Fraction(int(least * _DIGITS), _DIGITS)))
        if not is_removed:
            masses = [(second, first) for first, second in reversed(masses)]
        outcomes = tuple(((p, _NONE), (q, _NONE)) for p, q in masses if min(p, q) > 0)
        infinite = 1 - sum((p for (p, _), _ in outcomes), _NONE)
        return FiniteLoss(epsilon=_NONE, outcomes=outcomes), infinite


def fitted(profile: Profile, after: Profile, order: float, spare: float, places: Integers) -> Jumps | None:
    """Jumps that are enough for one step, of nearly the least moment of this order; None if none are found.

    With the probability `spare` everything is revealed.

    Theorem: let W be convex, J a pair of laws that reveals everything with a probability of at least `spare`, and one
        step before W be worth at most W with J at all places, and at both ends no more than W and half of `spare`,
        times y below 1. Then any number of steps before it are worth at most W with as many of J.
    Reference: none; the step of a mean is at most the mean of steps
    Proof: docs/theory/accounting/sampled_games.md#many-steps
    Checked-by: tests/accounting/sampled_games/test_jumps.py::test_jumps_are_enough_for_every_step
    """
    if not (_are_ends_held(profile, after, spare) and _is_convex_at_one(profile)):
        return None
    masses = _searched(profile, after, order, spare, places)
    needed = after.excess - profile.excess
    for _ in range(_TRIES):
        found = _exact(places, masses, profile.lattice.step, Fraction(spare)) if np.isfinite(masses).all() else None
        if found is None:
            return None
        reached = found.before(profile, upward=False)
        missing = after.excess - reached
        if not (missing > 0).any():
            return found
        worst = missing > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            more = 1 + float((missing[worst] / (needed - missing)[worst]).max())
        if not 1 < more < _MOST_MORE:
            return None
        masses = masses * (more * _MORE)
    return None


def _are_ends_held(profile: Profile, after: Profile, spare: float) -> bool:
    least = exp(profile.lattice.losses[:1])
    for k, size in ((0, float(least[0])), (-1, 1.0)):
        value, before = float(after.excess[k]), float(profile.excess[k])
        if value > before + _HALF * spare * size * (1 - _ENOUGH) or before > _HALF * size:
            return False
    return True


def _is_convex_at_one(profile: Profile) -> bool:
    """On either side of y = 1 it is."""
    zero, step = -profile.lattice.first, profile.lattice.step
    before, at, after = profile.excess[zero - 1 : zero + 2].tolist()
    return bool((at - before) / -np.expm1(-step) - 1 < (after - at) / np.expm1(step))


def _searched(profile: Profile, after: Profile, order: float, spare: float, places: Integers) -> Floats:
    """The masses of jumps, and last that of an infinite loss, by a linear program whose prices they are.

    Both sides are compared less the tangent of what follows, as both have the same mean.
    """
    lattice = profile.lattice
    size, losses, y = lattice.size, lattice.losses, exp(lattice.losses)
    zero = np.arange(size) + size - 1
    chosen = np.where(losses >= 0, profile.padded[0][zero], profile.padded[1][zero])
    needed = after.excess - profile.excess - spare / 2 * np.maximum(np.minimum(y, 1.0) - profile.excess, 0.0)
    kept = np.flatnonzero(needed > 0)
    kept = kept[:: max(kept.size // _ROWS, 1)]
    slopes = (y * np.gradient(chosen, y))[kept]
    row = (losses < 0).astype(np.intp)[kept]
    back = np.append(np.expm1(-places * lattice.step), -1.0)
    both = np.stack(profile.padded)
    level = np.array([both[row, zero[kept] - place] for place in places.tolist()] + [np.where(row == 0, 1.0, 0.0)])
    gains = np.maximum(level - chosen[kept] - back[:, None] * slopes, 0.0)
    costs = np.append(_costs(places.astype(np.float64) * lattice.step, order), 1 / spare)
    many, wide = costs.size, kept.size
    columns = np.concatenate([gains / needed[kept], back[:, None], -back[:, None], np.full((many, 1), -1.0)], axis=1)
    columns = np.concatenate([columns / costs[:, None], np.eye(many)], axis=1)
    scales = 1 / np.maximum(np.abs(columns).max(axis=0), _NOTHING)
    wanted = np.concatenate([np.ones(wide), [0.0, 0.0, -_MOST], np.zeros(many)])
    simplex = Simplex(columns * scales, np.ones(many), list(range(wide + 3, wide + 3 + many)))
    scores = 1 / scales
    scores[wide : wide + 2] *= _BALANCED
    prices = simplex.prices(wanted * scales, scores, _ENOUGH)
    masses: Floats = np.maximum(prices, 0.0) / costs * _MORE
    return masses


def _costs(losses: Floats, order: float) -> Floats:
    """The moment of P, and a little of that of Q, which keeps low losses from being taken for nothing."""
    c, most = order - 1, 600.0 / order
    up, down = np.minimum(losses, most), np.minimum(-losses, most)
    first = np.exp(c * up) + c * np.expm1(-up) - 1
    second = np.exp(order * down) - c * np.expm1(down) - np.exp(down)
    found: Floats = np.maximum(first + _MIRRORED * second, _NOTHING)
    return found


def _exact(places: Integers, masses: Floats, step: float, spare: Fraction) -> Jumps | None:
    """As a pair of laws: Q of no more than 1 and hardly less, by some of what stays that is moved to a small jump."""
    kept = [(place, Fraction(mass)) for place, mass in zip(places.tolist(), masses.tolist(), strict=False) if mass > 0]
    infinite = Fraction(masses[-1])
    up = min((place for place, _ in kept if place > 0), default=1)
    down = max((place for place, _ in kept if place < 0), default=None)
    back = {place: (Enclosure.of(-place * Fraction(step)).exp() - 1) for place, _ in [*kept, (up, 0)]}
    balance = sum((mass * back[place] for place, mass in kept), Enclosure.of(0)) - infinite
    found = dict(kept)
    if balance.upper > 0:
        found[up] = found.get(up, _NONE) + Fraction((balance / -back[up]).upper)
    elif down is not None:
        found[down] += Fraction((-balance / back[down]).lower)
    infinite += spare
    found[0] = 1 - infinite - sum(found.values(), Fraction(0))
    if found[0] < 0:
        return None
    left = -(sum((mass * back[place] for place, mass in found.items() if place), Enclosure.of(0)) - infinite)
    hidden = max(float(left.lower), 0.0) * (1 - 4 * UNIT), max(float(left.upper), 0.0) * (1 + 4 * UNIT)
    listed = sorted(found.items())
    exact = tuple(mass for _, mass in listed)
    floats = np.array([float(mass) for mass in exact])
    return Jumps(np.array([place for place, _ in listed]), floats, float(infinite), hidden, exact)


def applied(profile: Profile, jumps: Jumps, times: int) -> Profile:
    """With so many steps of them before it."""
    for _ in range(times):
        profile = profile.held(jumps.before(profile, upward=True))
    return profile
