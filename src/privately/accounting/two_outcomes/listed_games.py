"""All steps of a statement about listed orders, each chosen in the light of all before it: upper values."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.renyi.orders import best_excess, epsilon_score
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.families import Family, families
from privately.accounting.two_outcomes.majorants import Powers, above, lowered
from privately.accounting.two_outcomes.sketches import Found, Lattice, Sketch
from privately.accounting.two_outcomes.steps import NEVER

MOST_STEPS = 100
"""More are played in blocks, whose pairs are composed."""
_WIDTH, _ERROR = 3e-4, 0.05
"""What the lattice may cost of epsilon, and about what it costs, times steps, the square of its step, and an order."""
_SPARE, _IGNORED = 1e-4, 1e-3
_MOST_WORK, _FARTHEST, _MOST_LOSS, _EVEN = 4e7, 300.0, 600.0, 4
_MORE = 8


@lru_cache(maxsize=8)
def above_steps(statement: AtOrders, times: int, rare: float) -> Curve:
    """Upper values for so many steps; values far below `rare` need not be told apart."""
    with np.errstate(over="ignore", invalid="ignore"):  # a value that is out of all range is not taken
        game = Game.of(statement, times, rare)
        found = Found.nothing(statement, game.lattice)
        for done in range(times):
            found = game.raised(found, done)
    upper = np.minimum.accumulate(np.minimum(found.upper, 1.0))
    nothing = np.zeros(upper.size)
    return Curve(game.lattice.step, 0, NEVER, upper, nothing, nothing)


def blocks(times: int) -> list[tuple[int, int]]:
    """Of how many steps, and how many of them: as few as can be, nearly alike."""
    many = -(-times // MOST_STEPS)
    short, longer = times // many, times % many
    return [part for part in ((short + 1, longer), (short, many - longer)) if part[1]]


class Game:
    """Steps on a lattice; values that are not above what is ignored need not be told apart."""

    def __init__(self, statement: AtOrders, lattice: Lattice, families: tuple[Family, ...], ignored: float) -> None:
        self.statement, self.lattice, self.families, self.ignored = statement, lattice, families, ignored
        self.powers = Powers(statement, lattice)
        self.helped = 4 * lattice.down
        """So far from 0 both directions counted in the last step."""

    @classmethod
    def of(cls, statement: AtOrders, times: int, rare: float) -> Game:
        """As fine as so many steps need."""
        epsilon, excess = reach(statement, times, math.log(rare))
        farthest = min(reach(statement, times, math.log(rare * _SPARE))[0], max(_FARTHEST, 1.25 * epsilon))
        if not 0 < farthest < _MOST_LOSS:
            raise NotApplicable("losses that are too large")
        even, tried = families(statement, farthest)
        step = math.sqrt(_WIDTH * max(epsilon, even) / (_ERROR * times * (excess + 1)))
        step = max(min(step, even / _EVEN), farthest / math.sqrt(_MOST_WORK / times))
        step = even / math.ceil(even / step) if even > step else step
        return cls(statement, lattice_of(statement, step, farthest, even), tried, rare * _SPARE * _IGNORED)

    def raised(self, before: Found, done: int) -> Found:
        """With one more step before so many."""
        sketch = Sketch.of(before, self.statement, self.lattice, done)
        found = Found.tails(self.statement, self.lattice, done + 1)
        count, helped = int(np.count_nonzero(found.upper > self.ignored)), 0
        near = min(self.helped + self.helped // 8 + _MORE, count)
        for family in self.families:
            if family.is_tried(done):
                tried = family.at(sketch, self.powers, near if family.is_even else count)
                last = lowered(found, self.powers, above(sketch, self.powers, tried), family.offsets(self.lattice))
                helped = max(helped, last if family.is_even else 0)
        self.helped = helped
        return found


def lattice_of(statement: AtOrders, step: float, farthest: float, even: float) -> Lattice:
    """Up to losses that are so large, for a statement with this even pair."""
    down = math.ceil(1.5 * even / step) + 3
    return Lattice(step, math.ceil(farthest / step) + 2, down, float(statement.bounds[0][0]))


def reach(statement: AtOrders, times: int, rare: float) -> tuple[float, float]:
    """The epsilon of so many steps by the best order alone, and that order less 1."""

    def moment(c: float) -> float:
        return times * statement.moments.rough(c)

    c = min(float(best_excess(lambda c: epsilon_score(moment(c), c, rare))), statement.last)
    return epsilon_score(moment(c), c, rare), c
