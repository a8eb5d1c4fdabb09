"""A profile of one direction on a lattice: values that are not below it.

Unlike those of `adaptive.curves` it need not be the same with both laws exchanged, so both sides of y = 1 are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1

_ROOT = math.sqrt(2.0)


@dataclass(frozen=True)
class Lattice:
    """y = e^(i step) at all whole i from first < 0 to last > 0."""

    step: float
    first: int
    last: int
    beyond: int = 0
    """So many places more to the left, at which nothing is kept, are known by the first one."""

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    @cached_property
    def losses(self) -> Floats:
        return self.around(0)

    def around(self, more: int) -> Floats:
        """i step, also for so many places on either side."""
        return np.arange(float(self.first - more), self.last + more + 1) * self.step

    @property
    def doubt(self) -> float:
        """The relative error of e^(i step) at places as far apart as any two, and of few operations with it."""
        return 8 * ERROR + 32 * UNIT * (self.size + self.beyond) * self.step


@dataclass(frozen=True)
class Profile:
    """V(y), the largest P(A) - y Q(A) over all tests A, is at most (1 - y)+ and the excess at each place.

    Theorem: a profile is convex, 1 at y = 0 and at least 1 - y, and falls. So with X(y) = V(y) - (1 - y), below the
        first place X is at most in proportion to y, and beyond the last V is at most its last value.
    Reference: Zhu-Dong-Wang 2022, section 3, for profiles
    Proof: docs/theory/accounting/sampled_games.md#profiles
    Checked-by: tests/accounting/sampled_games/test_profiles.py::test_wider_values_are_above
    """

    lattice: Lattice
    excess: Floats

    @classmethod
    def start(cls, lattice: Lattice) -> Profile:
        """Of nothing at all."""
        return cls(lattice, np.zeros(lattice.size))

    @classmethod
    def smooth(cls, lattice: Lattice, deviation: float) -> Profile:
        """About that of normal noise: more than nothing, which is all that is asked of it."""
        far = np.abs(lattice.losses)
        first, second = (
            np.array([math.erfc((x / deviation + sign * deviation / 2) / _ROOT) for x in far.tolist()]) / 2
            for sign in (-1, 1)
        )
        excess = np.maximum(first - exp(far) * second, 0.0) * exp(np.minimum(lattice.losses, 0.0))
        return cls(lattice, excess).held(excess)

    @property
    def mirrored(self) -> Profile:
        """With both laws exchanged: V(y) = y X(1/y), and X(y) = y V(1/y).

        Theorem: if (P, Q) has the profile V, then (Q, P) has 1 - y + y V(1/y).
        Reference: Zhu-Dong-Wang 2022, section 3, for profiles
        Proof: docs/theory/accounting/sampled_games.md#both-directions
        Checked-by: tests/accounting/sampled_games/test_profiles.py::test_exchanged_laws
        """
        lattice = Lattice(self.lattice.step, -self.lattice.last, -self.lattice.first)
        return Profile(lattice, self.excess[::-1] * exp(lattice.losses) * (1 + lattice.doubt))

    @cached_property
    def padded(self) -> tuple[Floats, Floats]:
        """V and X at all places and at as many more on either side, less one."""
        more = self.lattice.size - 1
        losses = self.lattice.around(more)
        left = self.excess[0] * exp(losses[:more] - losses[more])
        right = np.full(more, self.excess[-1])
        excess, off = np.concatenate([left, self.excess, right]), 1 + self.lattice.doubt
        beyond = expm1(losses)
        return (excess + np.maximum(-beyond, 0.0)) * off, (excess + np.maximum(beyond, 0.0)) * off

    @cached_property
    def farther(self) -> tuple[Floats, Floats]:
        """The same, and as many places before them as lie beyond the lattice.

        Theorem: as for a profile, below the first place.
        Reference: Zhu-Dong-Wang 2022, section 3, for profiles
        Proof: docs/theory/accounting/sampled_games.md#profiles
        Checked-by: tests/accounting/sampled_games/test_profiles.py::test_far_to_the_left
        """
        lattice, (values, raised) = self.lattice, self.padded
        nearest = lattice.first - lattice.size + 1
        losses = np.arange(float(nearest - lattice.beyond), nearest) * lattice.step
        left = self.excess[0] * exp(losses - lattice.losses[0])
        off = 1 + lattice.doubt
        return np.append((left - expm1(losses)) * off, values), np.append(left * off, raised)

    @property
    def values(self) -> Floats:
        """V at all places."""
        return np.minimum(self.padded[0][self.lattice.size - 1 :][: self.lattice.size], 1.0)

    @property
    def curve(self) -> OneWay:
        nothing = np.zeros(self.lattice.size)
        return OneWay(self.lattice.step, self.lattice.first, self.lattice.last + 1, self._falling(), nothing, nothing)

    def _falling(self) -> Floats:
        return np.minimum.accumulate(self.values)

    def held(self, excess: Floats) -> Profile:
        """With these in place of the excess, where V is at most 1 and falls with y, and X rises."""
        zero = -self.lattice.first
        least = np.minimum(excess, np.minimum(exp(self.lattice.losses), 1.0))
        left, right = np.minimum.accumulate(least[zero::-1])[::-1], np.minimum.accumulate(least[zero:])
        return replace(self, excess=np.concatenate([left[:-1], right]))


def convex(profile: Profile) -> Profile:
    """Not above it, and convex but for rounding: no profile below its values is above this.

    Below y = 1 it is what is left beyond 1 - y that is compared, which is 0 at y = 0.
    """
    profile = _below_chords(profile)
    losses, zero = profile.lattice.losses, -profile.lattice.first
    apart = exp(losses[:-1]) * expm1(np.full(1, profile.lattice.step))
    left = _hull(np.append(exp(losses[:1]), apart[:zero]), np.append([0.0], profile.excess[: zero + 1]))[1:]
    right = _hull(apart[zero:], np.minimum.accumulate(profile.excess[zero:]))
    return replace(profile, excess=np.concatenate([left, right[1:]]))


def _below_chords(profile: Profile) -> Profile:
    """With the value at y = 1 below chords from one side to the other, whose weights are y - 1 and 1 - 1/y."""
    zero, step, excess = -profile.lattice.first, profile.lattice.step, profile.excess
    places = np.array([1.0, 2.0, 4.0, 8.0])[: min(zero, profile.lattice.last)]
    up, down = expm1(places * step), -expm1(-places * step)
    far = places.astype(int)
    chords = ((excess[zero - far] + down) * up + excess[zero + far] * down) / (up + down)
    least = min(float(excess[zero]), float(chords.min()) * (1 + 16 * ERROR))
    return replace(profile, excess=np.concatenate([excess[:zero], [least], excess[zero + 1 :]]))


def _hull(apart: Floats, values: Floats) -> Floats:
    """The largest convex function that is not above the values, by how far apart they are; not below it by rounding.

    Any chord will do, so it does not matter if rounding chooses another; its values are sums of positive terms.
    """
    kept: list[int] = []
    at, heights = np.append([0.0], np.cumsum(apart)).tolist(), values.tolist()
    for k, height in enumerate(heights):
        while len(kept) > 1 and (
            (heights[kept[-1]] - heights[kept[-2]]) * (at[k] - at[kept[-2]])
            >= (height - heights[kept[-2]]) * (at[kept[-1]] - at[kept[-2]])
        ):
            kept.pop()
        kept.append(k)
    found, off = values.copy(), 1 + 8 * ERROR + 4 * UNIT * values.size
    for k, last in ((k, last) for k, last in pairwise(kept) if last > k + 1):
        cells = apart[k:last]
        behind, ahead = np.cumsum(cells), np.cumsum(cells[::-1])[::-1]
        chord = (values[k] * ahead[1:] + values[last] * behind[:-1]) / behind[-1]
        found[k + 1 : last] = np.minimum(chord * off, values[k + 1 : last])
    return found


class OneWay(Curve):
    """A profile of one direction, all of which is there."""

    def whole(self) -> Curve:
        return self

    @property
    def mirrored(self) -> OneWay:
        """The tests with both laws exchanged: what is not rejected."""
        powers = np.maximum(1 - self.prices[::-1], 0.0) * (1 - 2 * UNIT)
        prices = np.minimum((1 - self.powers[::-1]) * (1 + 2 * UNIT), 1.0)
        return replace(
            self, first=-self.last, top=1 - self.first, upper=np.ones(powers.size), powers=powers, prices=prices
        )
