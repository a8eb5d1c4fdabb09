"""Steps of bounded range among steps of zCDP, each chosen in the light of all before it: both ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from privately.accounting.adaptive import Asked, Beside, near, with_law
from privately.accounting.adaptive import pairs as laws
from privately.accounting.adaptive.curves import Curve
from privately.accounting.questions import NO_LOWER, DeltaAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.two_outcomes import wave_games
from privately.accounting.two_outcomes.choices import table
from privately.accounting.two_outcomes.ranged import chances_on, with_tests_of_a_range
from privately.accounting.two_outcomes.steps import start, with_tests
from privately.accounting.two_outcomes.wave_games import Parts, Step, lattice_of, rho_of
from privately.rounding import Interval

_RARE_CHOICES = 180
_FINE = Fraction(1, 10**5)


def in_order(parts: Parts) -> Parts:
    """The smallest first, as games are played."""
    return tuple(sorted(parts, key=lambda part: rho_of(part[0])))


@lru_cache(maxsize=8)
def below(parts: Parts, rare: float) -> Curve:
    """Tests for all of these steps in some orders: the largest last, ranges last, and zCDP last.

    Theorem: a composition has no order, so tests of any order are tests of it.
    Reference: none; by what a composition is
    Proof: docs/theory/accounting/two_outcomes.md#ranges-among-statements
    Checked-by: tests/accounting/two_outcomes/test_ranged_games.py::test_both_ends_are_around_every_strategy
    """
    lattice = lattice_of(parts, rare)
    players = {one: _player(one, lattice.step, lattice.places) for one, _ in parts}
    found: Curve | None = None
    for order in _orders(parts):
        curve = start(lattice.step, lattice.places)
        for one, times in reversed(order):
            for _ in range(times):
                curve = players[one](curve)
        found = curve if found is None else found.joined(curve)
    if found is None:
        raise NotApplicable("no steps")
    return found


def _player(step: Step, apart: float, places: int) -> Callable[[Curve], Curve]:
    """One such step before what follows."""
    if isinstance(step, Fraction):
        chances = chances_on(step, apart)
        return lambda curve: with_tests_of_a_range(curve, chances)
    choices = table(step, apart, places, _RARE_CHOICES)
    return lambda curve: with_tests(curve, choices)


def _orders(parts: Parts) -> list[Parts]:
    by_size = in_order(parts)
    ranges = tuple(part for part in by_size if isinstance(part[0], Fraction))
    others = tuple(part for part in by_size if part not in ranges)
    return list(dict.fromkeys([by_size, others + ranges, ranges + others]))


def lower_end(parts: Parts, beside: Beside, question: Question, asked: Asked, rare: float) -> Interval:
    """Of these steps after all others; nothing if it is not known."""
    try:
        curve = below(in_order(parts), rare)
        law = laws.below(curve, near(curve, None, question) if beside.is_nothing else None)
        return asked(tuple(with_law(one, law) for one in beside.below), _eased(question))
    except DEAD_ENDS:
        return NO_LOWER


def upper_end(parts: Parts, beside: Beside, question: Question, asked: Asked, rare: float) -> Interval:
    """Of these steps among all others; as much as there is if it is not known.

    Theorem: in any order, each step chosen in the light of all before, the profile is at most that of the pairs beside
        composed with the pair whose profile is the value of the game.
    Reference: Dong-Durfee-Rogers 2020, section 5; Zhu-Dong-Wang 2022, Theorem 10
    Proof: docs/theory/accounting/two_outcomes.md#ranges-among-statements
    Checked-by: tests/accounting/two_outcomes/test_ranged_games.py::test_both_ends_are_around_every_strategy,
        tests/accounting/two_outcomes/test_ranged_games.py::test_beside_others
    """
    try:
        curve = wave_games.above(in_order(parts), rare)
        most = laws.above(curve, near(curve, curve.upper, question) if beside.is_nothing else None)
        return asked(tuple(with_law(one, most.law, most.infinite) for one in beside.above), _eased(question))
    except DEAD_ENDS:
        return Interval(0, 1 if isinstance(question, DeltaAt) else math.inf)


def _eased(question: Question) -> Question:
    return replace(question, width=max(question.width, _FINE))
