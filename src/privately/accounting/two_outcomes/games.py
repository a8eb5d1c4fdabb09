"""Steps that statements allow, each chosen in the light of all before it: tests for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from privately.accounting.adaptive.curves import Curve
from privately.accounting.renyi.orders import best_excess, epsilon_score
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import AtOrders, Statement
from privately.accounting.two_outcomes.choices import table
from privately.accounting.two_outcomes.mixtures import mixtures, with_mixtures
from privately.accounting.two_outcomes.runs import with_runs
from privately.accounting.two_outcomes.steps import after_noise, start

MOST_TESTED, MOST_RUN = 100, 2000
"""From below more are played in runs of one choice, of one statement; still more not at all."""
_PART, _MOST_MIXED = 20, 24
_SPARE = 1e-4
_COARSE = ((3, 0.02), (8, 0.04), (24, 0.06), (40, 0.08))
_COARSE_TESTS, _COARSE_LISTED = 0.04, 0.02
_MOST_TESTS, _MOST_LISTED, _COARSEST, _MOST_LOSS = 2000, 4000, 0.25, 600.0
_FAR = 250.0
_LEAST_RARE = 1e-290


@lru_cache(maxsize=8)
def below(parts: tuple[tuple[Statement, int], ...], rare: float, noise: Fraction = Fraction(0)) -> Curve:
    """Tests for all of these steps, the last part first, and for normal noise of this mu^2 that is seen after all."""
    total = sum(times for _, times in parts)
    if total > (MOST_RUN if len(parts) == 1 else MOST_TESTED):
        raise NotApplicable("too many steps")
    listed = any(one.last < math.inf for one, _ in parts)
    coarse, most = (_COARSE_LISTED, _MOST_LISTED) if listed else (min(_coarse(total), _COARSE_TESTS), _MOST_TESTS)
    step, places = _lattice(parts, rare, coarse, most)
    curve = after_noise(step, places, noise) if noise else start(step, places)
    for statement, times in reversed(parts):
        chances = table(statement, step, places)
        mixed = mixtures(statement, step, places) if isinstance(statement, AtOrders) and total <= _MOST_MIXED else ()
        for length in _runs(times):
            curve = with_mixtures(curve, chances, mixed) if length == 1 else with_runs(curve, chances, length)
    return curve


def _runs(times: int) -> Iterator[int]:
    """One step after the other, then ever longer runs, each a small part of what follows."""
    done = 0
    while done < times:
        length = 1 if done < MOST_TESTED else min(done // _PART, times - done)
        yield length
        done += length


def _coarse(steps: int) -> float:
    return next((part for most, part in _COARSE if steps <= most), _COARSE[-1][1])


def _lattice(parts: Sequence[tuple[Statement, int]], rare: float, coarse: float, most: int) -> tuple[float, int]:
    """The step of the lattice, and how many places of it count."""
    rare_log = math.log(max(rare * _SPARE, _LEAST_RARE))

    def moment(c: float) -> float:
        return sum(times * statement.moments.rough(c) for statement, times in parts)

    c = min(float(best_excess(lambda c: epsilon_score(moment(c), c, rare_log))), *(one.last for one, _ in parts))
    reach = min(epsilon_score(moment(c), c, rare_log), max(_FAR, 1.25 * epsilon_score(moment(c), c, math.log(rare))))
    even = min(math.sqrt(2 * one.size) for one, _ in parts)
    step = max(coarse * even, reach / most)
    if step > _COARSEST * even or not 0 < reach < _MOST_LOSS:
        raise NotApplicable("too coarse a lattice")
    return step, math.ceil(reach / step) + 2
