"""Some steps that zCDP allows, or of bounded range, of few kinds, each chosen in the light of all before it.

Their profile from above.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Protocol, TypeAlias

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.hulls import convex
from privately.accounting.two_outcomes.ranged import chances_on, concentrated, with_range
from privately.accounting.two_outcomes.single import between, profile
from privately.accounting.two_outcomes.smooth import Smooth
from privately.accounting.two_outcomes.steps import NEVER
from privately.accounting.two_outcomes.touching import Touching, touching
from privately.accounting.two_outcomes.waves import Lattice, Wave, Waves, raised, tails

Step: TypeAlias = Concentrated | Fraction
"""What zCDP allows, or a range."""
Parts: TypeAlias = tuple[tuple[Step, int], ...]
"""Steps, each so many times."""

MOST_STEPS = 50
_SPARE = 1e-4
_FINEST, _FINE, _COARSE = 0.03, 0.04, 0.06
_WORK, _MOST_PLACES = 900_000, 2500
_MOST_LOSS = 250.0
_APART, _CLOSE = 0.5, 0.2


@lru_cache(maxsize=8)
def above(parts: Parts, rare: float) -> Curve:
    """Upper values; those far below `rare` need not be told apart.

    Theorem: of all steps that are left any may be the next, so the value of what is left is the largest, over the
        kinds, of one step before the value of the rest.
    Reference: Dong-Durfee-Rogers 2020, section 5, for games of this kind
    Proof: docs/theory/accounting/two_outcomes.md#games
    Checked-by: tests/accounting/two_outcomes/test_wave_games.py::test_no_strategy_is_above,
        tests/accounting/two_outcomes/test_wave_games.py::test_every_order_is_within
    """
    lattice = lattice_of(parts, rare)
    rarest = rare * _SPARE / sum(times for _, times in parts)
    apart = _CLOSE if has_ranges(parts) else _APART
    kinds = [_kind(one, lattice, rarest, apart) for one, _ in parts]
    known: dict[tuple[int, ...], Wave] = {}
    for level in _levels([times for _, times in parts]):
        now = {}
        for left in level:
            if sum(left) == 1:
                now[left] = kinds[left.index(1)].alone()
                continue
            tries = [kinds[k].before(known[_less(left, k)]) for k, many in enumerate(left) if many]
            now[left] = _worst(tries, lattice.step)
        known = now
    ((_, found),) = known.items()
    nothing = np.zeros(lattice.places)
    return Curve(lattice.step, 0, NEVER, found.upper, nothing, nothing)


class _Kind(Protocol):
    """A step on a lattice."""

    def alone(self) -> Wave:
        """The last one."""

    def before(self, wave: Wave) -> Wave:
        """With all that follow."""


class _Allowed:
    """By zCDP."""

    def __init__(self, statement: Concentrated, lattice: Lattice, rarest: float, apart: float) -> None:
        self.statement, self.lines, self.apart = statement, touching(statement, rarest), apart
        self.waves = Waves(self.lines, lattice)

    def alone(self) -> Wave:
        return alone(self.statement, self.waves, self.lines, self.apart)

    def before(self, wave: Wave) -> Wave:
        return raised(wave, self.waves)


class _Ranged:
    """Of bounded range."""

    def __init__(self, size: Fraction, lattice: Lattice) -> None:
        self.size, self.lattice, self.chances = size, lattice, chances_on(size, lattice.step)

    def alone(self) -> Wave:
        nothing = np.zeros(self.lattice.places)
        return self.before(Wave(nothing, Smooth.of(nothing, self.lattice.far, self.lattice.step), 0.0))

    def before(self, wave: Wave) -> Wave:
        return with_range(wave, self.chances, self.size, self.lattice)


def _kind(step: Step, lattice: Lattice, rarest: float, apart: float) -> _Kind:
    return _Ranged(step, lattice) if isinstance(step, Fraction) else _Allowed(step, lattice, rarest, apart)


def has_ranges(parts: Parts) -> bool:
    return any(isinstance(one, Fraction) for one, _ in parts)


def rho_of(step: Step) -> Fraction:
    """How much of zCDP a step is at most."""
    return concentrated(step) if isinstance(step, Fraction) else step.rho


def _levels(times: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """All that may be left, by how many steps that are."""
    states = sorted(product(*(range(n + 1) for n in times)), key=sum)
    for many in range(1, sum(times) + 1):
        yield [left for left in states if sum(left) == many]


def _less(left: tuple[int, ...], kind: int) -> tuple[int, ...]:
    return tuple(many - (k == kind) for k, many in enumerate(left))


def alone(statement: Concentrated, waves: Waves, lines: Touching, apart: float = _APART) -> Wave:
    """One step."""
    lattice = waves.lattice
    places, values = profile(statement, lines, apart)
    epsilon = np.arange(lattice.places + 0.0) * lattice.step
    y = Curve(lattice.step, 0, NEVER, epsilon, epsilon, epsilon).values(upward=False)
    upper = np.minimum(between(y, places, values), tails(waves.rho, epsilon))
    upper = convex(np.minimum.accumulate(np.minimum(upper, 1.0)), lattice.step)
    return Wave(upper, Smooth.of(upper, lattice.far, lattice.step), waves.rho)


def _worst(tries: Sequence[Wave], step: float) -> Wave:
    """Whichever is worth more at every place; of the smallest step first, about the best order, the smooth values."""
    if len(tries) == 1:
        return tries[0]
    upper = convex(np.max([one.upper for one in tries], axis=0), step)
    return Wave(upper, tries[0].smooth.fitted(upper), max(one.total for one in tries))


def lattice_of(parts: Parts, rare: float) -> Lattice:
    """As fine as the work allows."""
    steps = sum(times for _, times in parts)
    total = math.fsum(float(rho_of(one)) * times for one, times in parts)
    rare_log = math.log(max(rare * _SPARE, 1e-290))
    reach = total + 2 * math.sqrt(-rare_log * total)  # the conversion of one order
    work = sum(
        many * math.prod(n + 1 for k, (_, n) in enumerate(parts) if k != kind) for kind, (_, many) in enumerate(parts)
    )
    even = math.sqrt(2 * total / steps)
    coarse = max(_FINEST if has_ranges(parts) else _FINE, work * reach / (even * _WORK))
    places = math.ceil(reach / (coarse * even)) + 2
    if steps > MOST_STEPS or coarse > _COARSE or places > _MOST_PLACES or not 0 < reach < _MOST_LOSS:
        raise NotApplicable("too many steps for a lattice")
    return Lattice(coarse * even, places)
