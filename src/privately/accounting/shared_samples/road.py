"""epsilon and delta of events in which several mechanisms share a sample, between two lists of losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.ends import proved
from privately.accounting.events import Event
from privately.accounting.lattice.atoms import Atoms
from privately.accounting.lattice.planning import View, in_steps
from privately.accounting.lattice.road import delta_of, epsilon_of
from privately.accounting.losses import DIRECTIONS, Direction
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.shared_samples.lists import Parted, all_listed, parted
from privately.accounting.shared_samples.once import Asked, once
from privately.accounting.spreading import NO_LOSS, Curve, Listed, Side, far_two_of, is_far, two_of
from privately.accounting.terms import Terms, alternatives
from privately.errors import NoSuchRule
from privately.rounding import End, Interval

METHOD = "losses of one sample in cells"

_SIDES: tuple[Side, Side] = "lower", "upper"
_RARE, _FIRST_RARE = 2.0**-40, 1e-30
_LEAST_DELTA = Fraction(1, 10**100)
_MOST_STEPS = 10**6
_MOST_LAWS = 32
_FEW = 2
"""So many lists are added up exactly."""
_ROUGH, _LESS_RARE = Fraction(1, 100), 2.0**16
_WIDTH, _LOOSE = Fraction(1, 10**5), Fraction(1, 2000)
"""What the lattice is asked for, and from where on sums of lists are asked too, of whatever kind."""


def on_shared_samples(event: Event, question: Question, asked: Asked) -> Interval | None:
    """The answer for one sample, or for several mechanisms on each; None where there is none."""
    try:
        found = once(event, question, asked)
        return together(event, question) if found is None else found
    except (*DEAD_ENDS, NoSuchRule):
        return None


def together(event: Event, question: Question) -> Interval:
    """Between the lists of all that is run on each sample; NotApplicable where there is no such list.

    Theorem: the upper list of a sample costs at least as much as the sample, the lower one at most as much, and so do
        compositions with them.
    Reference: Zhu-Dong-Wang 2022, Theorems 10 and 11
    Proof: docs/theory/accounting/spreading.md#sampled-lists
    Checked-by: tests/accounting/shared_samples/test_road.py::test_answers_contain_exact_enumerations,
        tests/accounting/shared_samples/test_road.py::test_equal_noises_are_one
    """
    found = [_of(terms, direction, question) for terms in alternatives(event) for direction in DIRECTIONS]
    upper = max(one.upper for one in found)
    return Interval(max(one.lower for one in found), upper, method=METHOD)


def _of(terms: Terms, direction: Direction, question: Question) -> Interval:
    if sum(terms.values()) > _MOST_STEPS or len(terms) > _MOST_LAWS:
        raise NotApplicable("too many steps, or too many different ones")
    return between(lambda side, rare: parted(terms, direction, side, rare), question)


def between(
    parts: Callable[[Side, float], Parted], question: Question, narrow: Fraction = _WIDTH, least: float = _FIRST_RARE
) -> Interval:
    """Between the sums of what is listed on either side, when about so much may be left out; hardly more narrowly.

    For a delta that is asked for, that much is `least`.
    """
    if isinstance(question, EpsilonAt) and question.delta < _LEAST_DELTA:
        raise NotApplicable("delta is too small")
    rare = float(question.delta) * _RARE if isinstance(question, EpsilonAt) else least
    below, above = (_Sum(side, parts(side, rare), rare, narrow) for side in _SIDES)
    if not below.steps and not above.steps:
        return _without_finite_losses(below.parts.infinite, above.parts.infinite, question)
    lower: End = 0
    upper: End = math.inf
    ways = [_Sum.on_a_lattice, _Sum.in_cells]
    if above.steps <= _FEW:
        ways.reverse()
    for way in [*(() if above.is_far or below.is_far else ways), _Sum.far_apart]:
        upper = min(upper, above.end(question, way))
        lower = max(lower, below.end(question, way))
        if upper < math.inf and question.is_met(proved(lower, upper, method=METHOD), _LOOSE):
            break
    if upper == math.inf:
        raise NotApplicable("no upper end was found")
    return proved(lower, upper, method=METHOD)


def _without_finite_losses(least: Fraction, most: Fraction, question: Question) -> Interval:
    """Where all that is not infinite is 0."""
    if isinstance(question, DeltaAt):
        return Interval(least, most, method=METHOD)
    ends: list[End] = [0 if question.delta >= infinite else math.inf for infinite in (least, most)]
    return Interval(*ends, method=METHOD)


def at_most(parts: Callable[[Side, float], Parted], question: DeltaAt, delta: Fraction) -> End:
    """The delta of what is listed from above, soon; about so large a delta is of interest."""
    rare = float(delta) * _RARE
    above = _Sum("upper", parts("upper", rare), rare, question.width)
    if above.is_far:
        return above.end(question, _Sum.far_apart)
    return above.end(question, _Sum.on_a_lattice if above.steps > _FEW else _Sum.in_cells)


@dataclass(frozen=True)
class _Sum:
    """All terms in one direction, from one side; of the lists of an upper side about `rare` is left out."""

    side: Side
    parts: Parted
    rare: float
    narrow: Fraction

    @property
    def steps(self) -> int:
        return sum(times for _, times in self.parts.lists) + sum(self.parts.laws.values())

    @property
    def is_far(self) -> bool:
        """Whether there are losses that leave the floats; no lattice but one of masses under P alone takes them."""
        return any(is_far(found) for found, _ in self.parts.lists)

    def end(self, question: Question, way: Callable[[_Sum, Question], End]) -> End:
        """With infinite losses put back; what says nothing where there is no answer."""
        finite = 1 - self.parts.infinite
        if not finite:
            return 1 if isinstance(question, DeltaAt) else math.inf
        if isinstance(question, EpsilonAt):
            if question.delta > self.parts.infinite:
                with suppress(*DEAD_ENDS):
                    return way(self, EpsilonAt((question.delta - self.parts.infinite) / finite, question.width))
            return math.inf if self.side == "upper" else 0
        with suppress(*DEAD_ENDS):
            return self.parts.infinite + finite * Fraction(way(self, question))
        return 1 if self.side == "upper" else 0

    def on_a_lattice(self, question: Question) -> End:
        """Of the finite losses."""
        views: list[View] = [View.of(*in_steps(law, times)) for law, times in self.parts.laws.items()]
        for found, times in self.parts.lists:
            none = np.zeros(found.losses.size)
            atoms = Atoms(found.losses, none, found.masses, none, found.outside)
            views.append(Listed(None, atoms, times, -math.inf))
        width = max(question.width, self.narrow)
        if isinstance(question, EpsilonAt):
            answer = epsilon_of(views, question.delta, width)
        else:
            answer = delta_of(views, question.epsilon, width)
        return answer.upper if self.side == "upper" else answer.lower

    def in_cells(self, question: Question) -> End:
        """The same by adding up lists: cells follow the law, where no step of a lattice is right."""
        lists = [*self.parts.lists, *all_listed(self.parts.laws, self.side, self.rare)]
        curve = Curve(two_of(lists, self.side, self.rare), self.side)
        if isinstance(question, EpsilonAt):
            return curve.epsilon(question.delta)
        return curve.delta(question.epsilon)

    def far_apart(self, question: Question) -> End:
        """The same where losses leave the floats; one step or two as they are."""
        laws = self.parts.laws.items()
        lists = [*self.parts.lists, *((self.parts.listing(law, self.side, self.rare), times) for law, times in laws)]
        if len(lists) > _MOST_LAWS:
            raise NotApplicable("too many different laws")
        if self.steps <= _FEW:
            one, other, *_ = [*(found for found, times in lists for _ in range(times)), NO_LOSS]
        else:
            one, other = far_two_of(lists, self.side, self.rare * _LESS_RARE, is_rough=self.narrow >= _ROUGH)
        curve = Curve((one, other), self.side)
        return curve.epsilon(question.delta) if isinstance(question, EpsilonAt) else curve.delta(question.epsilon)
