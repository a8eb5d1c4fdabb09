"""A pair of laws on the lattice that reveals no less than any one step before a profile: many steps at once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import UNIT, Floats, Integers, exp
from privately.accounting.sampled_games.profiles import Profile
from privately.accounting.sampled_games.simplex import Simplex
from privately.rounding import Enclosure

_ENOUGH, _MORE = 1e-6, 1 + 4e-6
_NOTHING, _MOST, _BALANCED = 1e-18, 0.9, 1e5


@dataclass(frozen=True)
class Jumps:
    """Losses of whole places with these P-masses, and the rest: of P at infinite loss, of Q where P has nothing."""

    places: Integers
    masses: Floats
    infinite: float
    hidden: float
    """At least what is left of Q."""
    exact: tuple[Fraction, ...]
    """The masses, which floats are near."""

    def before(self, profile: Profile, *, upward: bool) -> Floats:
        """The excess of what follows with these losses added, rounded to one side."""
        size, sign = profile.lattice.size, 1 if upward else -1
        values, raised = profile.padded
        zero = np.arange(size) + size - 1
        losses = profile.lattice.losses
        found = np.zeros((2, size))
        for place, mass in zip(self.places.tolist(), self.masses.tolist(), strict=True):
            found[0] += mass * values[zero - place]
            found[1] += mass * raised[zero - place]
        off = 1 + sign * (4 * profile.lattice.doubt + 4 * UNIT * self.masses.size)
        infinite, hidden = (self.infinite, self.hidden) if upward else (self.infinite, 0.0)
        excess: Floats = np.where(losses >= 0, found[0] + infinite, found[1] + hidden * exp(losses)) * off
        return excess


def fitted(profile: Profile, after: Profile, order: float, spare: float, places: Integers) -> Jumps | None:
    """Jumps that are enough for one step, of nearly the least moment of this order; None if none are found.

    Theorem: let W be convex and one step before it be worth at most W with these jumps and `spare` at all places, and
        at both ends no more than W and `spare`. Then any number of steps before it are worth at most W with as many of
        these jumps, and as often `spare`.
    Reference: none; the step of a mean is at most the mean of steps
    Proof: docs/theory/accounting/sampled_games.md#many-steps
    Checked-by: tests/accounting/sampled_games/test_jumps.py::test_jumps_are_enough_for_every_step
    """
    ends = [(float(after.excess[k]), float(profile.excess[k])) for k in (0, -1)]
    if any(value > before * (1 - _ENOUGH) + spare for value, before in ends) or not _is_convex_at_one(profile):
        return None
    masses = _searched(profile, after, order, spare, places)
    found = _exact(places, masses, profile.lattice.step) if np.isfinite(masses).all() else None
    if found is None or max(found.hidden, found.infinite) > _ENOUGH:
        return None
    if (after.excess > found.before(profile, upward=False) + spare * (1 - _ENOUGH)).any():
        return None
    return found


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
    both = np.stack(profile.padded)
    row = (losses < 0).astype(np.intp)
    slopes = np.gradient(chosen, y)
    back = np.append(np.expm1(-places * lattice.step), -1.0)
    level = np.array([both[row, zero - place] for place in places.tolist()] + [np.where(losses >= 0, 1.0, 0.0)])
    gains = np.maximum(level - chosen - back[:, None] * (y * slopes), 0.0)
    needed = after.excess - profile.excess - spare / 2
    kept = needed > 0
    excess = np.exp(np.minimum((order - 1) * places * lattice.step, 600.0)) + (order - 1) * back[:-1] - 1
    costs = np.append(np.maximum(excess, _NOTHING), 1 / spare)
    many, wide = costs.size, int(kept.sum())
    columns = np.concatenate(
        [gains[:, kept] / needed[kept], back[:, None], -back[:, None], np.full((many, 1), -1.0)], axis=1
    )
    columns = np.concatenate([columns / costs[:, None], np.eye(many)], axis=1)
    scales = 1 / np.maximum(np.abs(columns).max(axis=0), _NOTHING)
    wanted = np.concatenate([np.ones(wide), [0.0, 0.0, -_MOST], np.zeros(many)])
    simplex = Simplex(columns * scales, np.ones(many), list(range(wide + 3, wide + 3 + many)))
    scores = 1 / scales
    scores[wide : wide + 2] *= _BALANCED
    prices = simplex.prices(wanted * scales, scores, _ENOUGH)
    masses: Floats = np.maximum(prices, 0.0) / costs * _MORE
    return masses


def _exact(places: Integers, masses: Floats, step: float) -> Jumps | None:
    """As a pair of laws: Q of no more than 1, for which some of what is left is moved up by the first jump."""
    kept = [(place, Fraction(mass)) for place, mass in zip(places.tolist(), masses.tolist(), strict=False) if mass > 0]
    infinite = Fraction(masses[-1])
    up = min((place for place, _ in kept if place > 0), default=1)
    back = {place: (Enclosure.of(-place * Fraction(step)).exp() - 1) for place, _ in [*kept, (up, 0)]}
    balance = sum((mass * back[place] for place, mass in kept), Enclosure.of(0)) - infinite
    found = dict(kept)
    if balance.upper > 0:
        found[up] = found.get(up, Fraction(0)) + Fraction((balance / -back[up]).upper)
    found[0] = 1 - infinite - sum(found.values(), Fraction(0))
    if found[0] < 0:
        return None
    left = -(sum((mass * back[place] for place, mass in found.items() if place), Enclosure.of(0)) - infinite)
    listed = sorted(found.items())
    hidden = max(float(left.upper), 0.0) * (1 + 4 * UNIT)
    exact = tuple(mass for _, mass in listed)
    floats = np.array([float(mass) for mass in exact])
    return Jumps(np.array([place for place, _ in listed]), floats, float(infinite), hidden, exact)


def applied(profile: Profile, jumps: Jumps, times: int, spare: float) -> Profile:
    """With so many steps of them before it."""
    for _ in range(times):
        profile = profile.held(jumps.before(profile, upward=True))
    return profile.held(profile.excess + times * spare)
