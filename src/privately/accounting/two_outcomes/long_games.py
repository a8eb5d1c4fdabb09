"""Many steps of one statement about listed orders, from above: the last are played, an even pair serves for each other.

F        what the last steps are worth at most: convex, straight between the places of a lattice, as in `sketches`
Even     randomized response whose losses are so many places, or one more, each in some share
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import ERROR, UNIT, Floats, exp
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.families import Family, families
from privately.accounting.two_outcomes.hulls import convex
from privately.accounting.two_outcomes.listed_games import Game, lattice_of, reach
from privately.accounting.two_outcomes.majorants import Powers, above, lowered
from privately.accounting.two_outcomes.sketches import Found, Lattice, Sketch, image
from privately.accounting.two_outcomes.steps import NEVER

_SPARE, _IGNORED = 1e-4, 1e-3
_PLACES, _FEWEST, _FINER = 12, 6, 2
"""Of the lattice on which steps are played, up to the loss of the even pair; and how much closer they are at last."""
_ALL_PLACES = 1200
"""If there are fewer in all, they are closer."""
_FEW, _MANY, _GROWN = 30, 100, 8.0
"""So many steps are played, within limits that let the logarithm of a moment grow so much."""
_ENOUGH, _MOST = 7e-4, 0.02
"""More than the even pair that is allowed, in squares of losses: so much is enough, and no more is taken."""
_MOST_WORK, _MOST_LOSS = 1.6e8, 600.0
_DOUBT = 4e-9
_HALVINGS, _WIDEST = 24, 1.01
_SMOOTH = 10**6
"""So many steps leave no kinks."""


@dataclass(frozen=True)
class Even:
    """Losses of `places`, or of one more in this share, on a lattice."""

    step: float
    places: int
    share: float

    @classmethod
    def at(cls, step: float, place: float) -> Even:
        """Between two places, if need be."""
        return cls(step, int(place), place - int(place))

    @property
    def square(self) -> float:
        """The mean square of the loss."""
        first, second = (place * self.step for place in (self.places, self.places + 1))
        return (1 - self.share) * first * first + self.share * second * second

    @property
    def law(self) -> FiniteLoss:
        """Losses that are not smaller, exactly."""
        outcomes = []
        for place, share in ((self.places, 1 - Fraction(self.share)), (self.places + 1, Fraction(self.share))):
            loss = place * self.step
            ratio = Fraction(float(exp(np.array(loss))) * (1 + 4 * ERROR + 8 * UNIT * (1 + loss)))
            more, less = share * ratio / (1 + ratio), share / (1 + ratio)
            outcomes += [(ratio, more, less), (1 / ratio, less, more)] if share else []
        none = Fraction(0)
        listed = sorted(outcomes, reverse=True)
        return FiniteLoss(epsilon=none, outcomes=tuple(((first, none), (second, none)) for _, first, second in listed))

    def before(self, values: Floats) -> Floats:
        """F with such a step before it, at its own places from 0 on, rounded down."""
        size, far = values.size, self.places + 1
        less = np.append(values * (1 - _DOUBT), np.full(far, values[-1] * (1 - _DOUBT)))
        back = np.arange(float(far), 0, -1)
        around = np.append(image(less[far:0:-1], back, self.step) * (1 - _DOUBT), less)
        found = np.zeros(size)
        for place, share in ((self.places, 1 - self.share), (self.places + 1, self.share)):
            more = 1 / (1 + math.exp(-place * self.step))
            risen, fallen = around[far - place : far - place + size], around[far + place : far + place + size]
            found += share * (more * risen + (1 - more) * fallen)
        return found * (1 - _DOUBT)


@dataclass(frozen=True)
class Long:
    """What all steps are worth at most: F, composed with so many of these pairs, and the rest."""

    curve: Curve
    even: Even
    many: int
    rest: Fraction


@lru_cache(maxsize=8)
def above_many(statement: AtOrders, times: int, rare: float) -> Long:
    """So many steps; values far below `rare` need not be told apart.

    Theorem: let F be convex, with V(y) = 1 - y + y V(1/y), above what the last steps are worth, and one step before F
        be worth at most F composed with a pair, and a constant. Then any number of steps before it are worth at most F
        composed with as many of these pairs, and as often the constant.
    Reference: none; the step of a mean is at most the mean of steps
    Proof: docs/theory/accounting/two_outcomes.md#many-steps-of-listed-orders
    Checked-by: tests/accounting/two_outcomes/test_long_games.py::test_no_strategy_is_above,
        tests/accounting/two_outcomes/test_long_games.py::test_a_pair_that_is_allowed_is_not_enough
    """
    spare = rare * _SPARE / times
    best: tuple[float, Long] | None = None
    with np.errstate(over="ignore", invalid="ignore"):  # a value that is out of all range is not taken
        even, known = _played(statement, times, spare)
        for played, lattice, values in known:
            found = enough(values, after(statement, lattice, values), lattice.step, even, spare)
            if found is None:
                continue
            more = (found.square / even**2 - 1) * (1 - played / times)
            if best is None or more < best[0]:
                nothing, many = np.zeros(values.size), times - played
                curve = Curve(lattice.step, 0, NEVER, values, nothing, nothing)
                best = more, Long(curve, found, many, Fraction(many * spare))
            if best[0] < _ENOUGH:
                break
    if best is None or best[0] > _MOST:
        raise NotApplicable("steps for which no even pair is enough")
    return best[1]


def _played(statement: AtOrders, times: int, spare: float) -> tuple[float, Iterator[tuple[int, Lattice, Floats]]]:
    """The loss of the even pair; and how many steps were played, and F on a closer lattice."""
    last = min(max(math.ceil(_GROWN / float(statement.tangents()[1].min())), _FEW), _MANY)
    excess = reach(statement, last, math.log(spare))[1]
    farthest = reach(statement, last, math.log(spare / 4) - statement.moments.rough(excess))[0]
    if last >= times or not 0 < farthest < _MOST_LOSS:
        raise NotApplicable("few steps, or losses that are too large")
    even, tried = families(statement, farthest)
    places = int(min(max(_PLACES, _ALL_PLACES * even / farthest), math.sqrt(_MOST_WORK / last) * even / farthest))
    if places < _FEWEST:
        raise NotApplicable("too coarse a lattice")
    lattice = lattice_of(statement, even / places, farthest, even)
    game = Game(statement, lattice, tried, spare * _IGNORED)

    def steps() -> Iterator[tuple[int, Lattice, Floats]]:
        found = Found.nothing(statement, lattice)
        for done in range(last):
            found = game.raised(found, done)
            if done + 1 in {last * 2 // 3, last}:
                sketch = Sketch.of(found, statement, lattice, done + 1)
                values = whole(sketch.between(lattice, game.powers.exponents, _FINER), lattice.step / _FINER)
                close = Lattice(lattice.step / _FINER, values.size, lattice.down * _FINER, lattice.order)
                yield done + 1, close, values

    return even, steps()


def whole(upper: Floats, step: float) -> Floats:
    """The largest convex function with V(y) = 1 - y + y V(1/y) that is not above these values from 0 on."""
    before = np.arange(upper.size - 1.0, 0, -1)
    falling = np.minimum.accumulate(np.minimum(np.append(image(upper[:0:-1], before, step), upper), 1.0))
    return convex(falling, step)[upper.size - 1 :]


def after(statement: AtOrders, lattice: Lattice, values: Floats) -> Floats:
    """Upper values of one step before F."""
    tried = families(statement, lattice.places * lattice.step)[1]
    return before(values, Powers(statement, lattice), [family for family in tried if family.is_tried(_SMOOTH)])


def before(values: Floats, powers: Powers, tried: Sequence[Family]) -> Floats:
    """Upper values of one step before F, by functions above it."""
    lattice, many = powers.lattice, powers.exponents.size
    sketch = Sketch.straight(values, lattice, many)
    found = Found(np.ones((values.size, 3)), np.zeros(values.size), np.zeros((values.size, many)))
    for family in tried:
        functions = above(sketch, powers, family.at(sketch, powers, lattice.places))
        lowered(found, powers, functions, family.offsets(lattice))
    return np.minimum.accumulate(found.upper)


def enough(values: Floats, raised: Floats, step: float, even: float, spare: float) -> Even | None:
    """The least even pair for which F with it before, and `spare`, is not below these values; if there is one."""
    if raised[-1] > values[-1] * (1 - _DOUBT) + spare * (1 - _DOUBT):
        return None

    def is_enough(place: float) -> bool:
        return bool((raised <= Even.at(step, place).before(values) + spare * (1 - _DOUBT)).all())

    low, high = even / step, even / step * _WIDEST
    if not is_enough(high):
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return Even.at(step, high)
