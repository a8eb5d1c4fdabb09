"""Very many sampled steps of one kind, each chosen in the light of all before it: a pair for all of them.

At the end of the game stands a little normal noise that nobody has added. Before it each step gains no more than a pair
that stands for it, which has normal noise in it too; so more and more noise follows, and the pairs become smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.before_normal import needed
from privately.accounting.sampled_games.kinds import SPARE, Kind
from privately.accounting.sampled_games.standing import Standing, standing

LEAST, MANY = 3000, 5000
"""So many steps at least; and so many that games on lattices say less."""
_FIRST, _FIRST_STEPS = 2e-4, 4.0
"""How much noise there is at the end, of all and in steps."""
_SHARE, _GROWTH, _COLUMNS = 0.8, 0.5, 500


@dataclass(frozen=True)
class LongRun:
    """Normal noise, and pairs that stand for so many steps each."""

    noise: Fraction
    pairs: tuple[tuple[Standing, int], ...]

    @property
    def infinite(self) -> Fraction:
        """The probability with which everything is revealed."""
        return min(sum((Fraction(one.spare) * times for one, times in self.pairs), Fraction(0)), Fraction(1))

    def laws(self, *, is_removed: bool) -> list[tuple[FiniteLoss, int]]:
        found = [(one.law(is_removed=is_removed), times) for one, times in self.pairs]
        return [(law, times) for law, times in found if law is not None]


@lru_cache(maxsize=8)
def above(kind: Kind, times: int, rare: float, order: float, *, is_removed: bool = True) -> LongRun:
    """So many steps; values far below `rare` need not be told apart, and moments of this order count, in one direction.

    What is found holds for both.

    Theorem: let a pair with normal noise u stand for a step before G_v. Then m steps before G_w, w >= v, and any other
        pair are worth at most G_(w + mu) with the other pair and m times the rest of the pair.
    Reference: none; the step of a mean is at most the mean of steps
    Proof: docs/theory/accounting/sampled_games.md#long-runs
    Checked-by: tests/accounting/sampled_games/test_long_runs.py::test_no_strategy_is_above,
        tests/accounting/sampled_games/test_long_runs.py::test_steps_that_are_left_out_are_missed
    """
    spare, step = SPARE * rare / times, square(kind)
    v = max(_FIRST * times, _FIRST_STEPS) * step
    noise, left, pairs = Fraction(v), times, list[tuple[Standing, int]]()
    while left:
        found = _next(kind, v, spare, order, is_removed=is_removed)
        if found is None and not pairs:
            raise NotApplicable("no pair is found that stands for a step")
        one = found or pairs[-1][0]
        many = min(left, max(int(_GROWTH * v / one.noise), 1))
        pairs.append((one, many))
        noise += many * Fraction(one.noise)
        v, left = float(noise) * (1 - 2.0**-52), left - many
    return LongRun(noise, tuple(pairs))


def square(kind: Kind) -> float:
    """About the variance of one step."""
    return float(kind.rate) ** 2 * math.expm1(min(kind.moments.rough(min(1.0, kind.stated.last)), 3.0))


def _next(kind: Kind, v: float, spare: float, order: float, *, is_removed: bool) -> Standing | None:
    need = _needed(kind, v, spare, _COLUMNS)
    noise = 2 * _SHARE * float(np.interp(0.0, need.tau, need.gains))
    return standing(need, noise, order, is_removed=is_removed)


_needed = lru_cache(maxsize=128)(needed)
"""Both directions ask for the same."""
