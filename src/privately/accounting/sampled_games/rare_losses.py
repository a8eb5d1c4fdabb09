"""Steps of which few orders are bounded: one rare and large loss is about the worst that they reveal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.adaptive.pairs import Above, enclosing
from privately.accounting.elementary import Floats
from privately.accounting.events import PoissonSample, Renyi, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.golden import highest
from privately.accounting.losses import FiniteLoss
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.renyi import renyi_bounds
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.sampled_games.kinds import Kind
from privately.accounting.sampled_games.trials import mixed
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.choices import allowed_pair
from privately.accounting.two_outcomes.edges import edge
from privately.accounting.two_outcomes.road import answer
from privately.rounding import Enclosure, End

_LOGS, _MARGIN = -np.geomspace(0.75, 80.0, 400), 1e-7
_MOST_LOG = 600.0
_FIRST, _NEARER = 24, 16
_MOST_ORDERS, _NONE = 24, Fraction(0)
_FINE, _BEYOND, _AROUND, _MANY, _SOME = Fraction(1, 10**4), 1e-4, 1.0, 40, 12

Kinds = Sequence[tuple[Kind, int]]
Told = Callable[[Sequence[tuple[FiniteLoss, int]]], End]
"""The lower end of so many pairs of each kind, beside all that is beside them."""


def above(kinds: Kinds, question: Question) -> End:
    """An upper end by the listed orders, of which all steps together keep bounds like one statement.

    Theorem: in any order, each step chosen in the light of all before, bounds on the divergences of one order add up;
        so every pair that all steps lead to is allowed by the statement of these sums.
    Reference: Mironov 2017, Proposition 1
    Proof: docs/theory/accounting/sampled_games.md#rare-losses
    Checked-by: tests/accounting/sampled_games/test_rare_losses.py::test_no_strategy_is_above
    """
    return answer(_together(kinds), question).upper


def pair_above(kinds: Kinds, delta: float) -> Above:
    """A pair whose profile is nowhere below that of all steps; about so small deltas count.

    Theorem: the largest convex function that is not above upper values of a profile is that of a pair.
    Reference: Zhu-Dong-Wang 2022, section 3
    Proof: docs/theory/accounting/sampled_games.md#rare-losses
    Checked-by: tests/accounting/sampled_games/test_rare_losses.py::test_a_pair_for_all_steps
    """
    statement = _together(kinds)
    near, far = (float(answer(statement, EpsilonAt(Fraction(delta * part), _FINE)).upper) for part in (1.0, _BEYOND))
    close = np.linspace(max(near - _AROUND, 0.0), near + _AROUND, _MANY)
    places = np.unique(np.concatenate([np.linspace(0.0, near, _SOME), close, np.linspace(near, far, _SOME)]))
    known = [(e, answer(statement, DeltaAt(Fraction(e), _FINE)).upper) for e in places.tolist()]
    points = [(Fraction(Enclosure.of(Fraction(e)).exp().upper), Fraction(value)) for e, value in known]
    mirrored = [(1 / y, 1 - (1 - value) / y) for y, value in reversed(points)]
    return enclosing([*mirrored, *points])


def _together(kinds: Kinds) -> AtOrders:
    """The statement of all steps."""
    listed = [(kind.base, kind.rate, times) for kind, times in kinds if isinstance(kind.base, AtOrders)]
    orders = {order for base, _, _ in listed for order, _ in base.bounds}
    if len(listed) < len(kinds) or not 0 < len(orders) <= _MOST_ORDERS:
        raise NotApplicable("steps of which no orders are listed, or too many")
    steps = [
        Repeat(event=PoissonSample(event=Renyi(bounds=base.bounds), rate=rate), times=times)
        for base, rate, times in listed
    ]
    return AtOrders(tuple(renyi_bounds(Steps(events=steps), sorted(orders)).parameters["bounds"]))


def largest(kinds: Kinds, told: Told) -> End:
    """The largest lower end if all steps have pairs of two outcomes, whose larger losses are alike, and fixed.

    Theorem: steps whose pairs are allowed, and chosen beforehand, are steps that are chosen.
    Reference: none; by what a composition is
    Proof: docs/theory/accounting/sampled_games.md#rare-losses
    Checked-by: tests/accounting/sampled_games/test_rare_losses.py::test_lower_ends_are_reached
    """
    edges = [(_edge(kind), times) for kind, times in kinds]

    def tried(place: float) -> End:
        with suppress(*DEAD_ENDS):
            return told([(one.pair(math.exp(place)), times) for one, times in edges])
        return _NONE

    low = math.log(max(float(one.losses[0]) for one, _ in edges))
    high = math.log(max(float(one.losses[-1]) for one, _ in edges))
    return highest(tried, np.linspace(low, high, _FIRST).tolist(), _NEARER)


@dataclass(frozen=True)
class _Edge:
    """Pairs of two outcomes at the edge of what is allowed, by the larger loss that a sample makes of them."""

    kind: Kind
    logs: Floats
    """ln q of the larger loss."""
    losses: Floats

    def pair(self, loss: float) -> FiniteLoss:
        """Of about this loss, as it is on a sample from which the row is removed."""
        p, q = map(Fraction, self._chances(float(np.interp(loss, self.losses, self.logs))))
        outcomes = mixed(((p, q), (1 - p, 1 - q)), self.kind.rate)
        return FiniteLoss(epsilon=_NONE, outcomes=tuple(((a, _NONE), (b, _NONE)) for a, b in outcomes))

    def _chances(self, log_q: float) -> tuple[float, float]:
        (z,), (order,) = edge(self.kind.stated, np.array([log_q]), _MARGIN)
        found = allowed_pair(self.kind.stated, math.exp(log_q), float(z), float(order))
        if found is None:
            raise NotApplicable("no pair is known to be allowed")
        return found


@lru_cache(maxsize=8)
def _edge(kind: Kind) -> _Edge:
    z, _ = edge(kind.stated, _LOGS, _MARGIN)
    is_kept = (z > 0) & (z < _MOST_LOG) & (_LOGS + z < -_MARGIN)
    if not is_kept.any():
        raise NotApplicable("no pair is known to be allowed")
    return _Edge(kind, _LOGS[is_kept], np.log1p(float(kind.rate) * np.expm1(z[is_kept])))
