"""What is beside samples of statements: of the same direction, with all infinite losses, and of one part only."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.accounting.sampled_games import composed, games
from privately.accounting.sampled_games.kinds import Kind
from privately.accounting.sampled_games.profiles import Profile
from privately.accounting.which_road import of_worst_soon

NARROW = Fraction(1, 10**6)
RANGE = acc.PoissonSample(event=acc.Exponential(epsilon=1), rate="0.2")
PURE = acc.PoissonSample(event=acc.Pure(epsilon=2), rate="0.3")
Outcomes = list[tuple[float, float]]


def _two(larger: float, smaller: float) -> Outcomes:
    """Outcomes with these losses."""
    q = -math.expm1(smaller) / (math.exp(larger) - math.exp(smaller))
    return [(q * math.exp(larger), q), ((1 - q) * math.exp(smaller), 1 - q)]


def _sampled(pair: Outcomes, rate: float, direction: str) -> Outcomes:
    if direction == "remove":
        return [((1 - rate) * q + rate * p, q) for p, q in pair]
    return [(p, (1 - rate) * p + rate * q) for p, q in pair]


def _delta(direction: str, epsilon: float) -> float:
    """One of both steps, the same pair of a range 1 whatever the other reveals, by plain sums."""
    pure, y = _sampled(_two(2.0, -2.0), 0.3, direction), math.exp(epsilon)
    best = 0.0
    for larger in np.linspace(0.005, 0.995, 199).tolist():
        ranged = _sampled(_two(larger, larger - 1), 0.2, direction)
        best = max(best, sum(max(a * c - y * b * d, 0.0) for (a, b), (c, d) in product(pure, ranged)))
    return best


@pytest.mark.parametrize("epsilon", ["1", "1.25"])
def test_both_are_of_one_direction(epsilon: str) -> None:
    """A row that is removed from one sample and added to the other would cost more at 1, and nothing at 1.25."""
    event = acc.Sequence(events=[RANGE, PURE])
    found = composed(event, DeltaAt(Fraction(epsilon), NARROW), of_worst_soon)
    least = max(_delta(direction, float(epsilon)) for direction in ("remove", "add"))
    assert found is not None
    assert least * 0.99 <= found.lower
    assert least <= found.upper <= least * 1.02


@pytest.mark.parametrize("epsilon", ["0", "0.2"])
def test_three_steps_are_no_less_than_one_pair_thrice(epsilon: str) -> None:
    """By plain sums, in both directions; later steps that heed earlier ones gain little."""
    least, y = 0.0, math.exp(float(epsilon))
    for direction, larger in product(("remove", "add"), np.linspace(0.01, 0.99, 99).tolist()):
        steps = product(_sampled(_two(larger, larger - 1), 0.2, direction), repeat=3)
        least = max(least, sum(max(a * c * e - y * b * d * f, 0.0) for (a, b), (c, d), (e, f) in steps))
    found = composed(acc.Repeat(event=RANGE, times=3), DeltaAt(Fraction(epsilon), NARROW), of_worst_soon)
    assert found is not None
    assert least <= found.upper <= least * 1.1


def test_what_lies_beyond_the_lattice_is_an_infinite_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    known = games.above

    def cut(kind: Kind, times: int, rare: float, level: int) -> games.Played:
        played = known(kind, times, rare, level)
        return replace(played, profile=Profile(played.way.lattice, np.full(played.way.lattice.size, 0.01)))

    monkeypatch.setattr(games, "above", cut)
    found = composed(RANGE, DeltaAt(Fraction(3), NARROW), of_worst_soon)
    assert found is not None
    assert found.upper >= Fraction(1, 100)


def test_several_parts_are_left_alone() -> None:
    larger = acc.PoissonSample(event=acc.Exponential(epsilon=2), rate="0.1")
    assert composed(acc.Parallel(events=[RANGE, larger]), EpsilonAt(Fraction(1, 10**4), NARROW), of_worst_soon) is None
