"""Several games in place of one, and one order of many."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.adaptive import groups
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import WORK, Ranges, in_one_order, plays
from privately.accounting.adaptive.groups import divided, in_groups
from privately.accounting.adaptive.pairs import Above, above
from privately.accounting.roads import NotApplicable
from tests.accounting.adaptive.brute import Floats, value

QUARTER, HALF, ONE = Fraction(1, 4), Fraction(1, 2), Fraction(1)
ALL: Ranges = ((QUARTER, 1), (HALF, 1), (ONE, 1))
LOSSES = np.array([-0.6, 0.0, 0.2, 0.7, 1.1, 1.4])
ORDERS = list(permutations([0.25, 0.5, 1.0]))


def masses(pair: Above) -> Floats:
    """Of all finite losses, under P and under Q."""
    return np.array([[float(one[0]), float(other[0])] for one, other in pair.law.outcomes])


def composed(curves: tuple[Curve, ...]) -> Floats:
    """The profile of the curves' pairs, side by side, by enumeration."""
    first, second, infinite = np.ones(1), np.ones(1), 0.0
    for pair in map(above, curves):
        first, second = (
            np.outer(total, part).ravel() for total, part in zip((first, second), masses(pair).T, strict=True)
        )
        infinite = 1 - (1 - infinite) * (1 - float(pair.infinite))
    return np.array([infinite + np.maximum(first - math.exp(loss) * second, 0).sum() for loss in LOSSES])


@pytest.fixture
def in_two(monkeypatch: pytest.MonkeyPatch) -> groups.Profiles:
    """The largest range by itself, and the two others together."""
    monkeypatch.setattr(groups, "divided", lambda ranges, most: (ranges[2:], ranges[:2]))
    in_groups.cache_clear()
    found = in_groups(ALL, 1e-6, WORK[0])
    in_groups.cache_clear()
    return found


def test_groups_cost_at_least_as_much_as_every_order(in_two: groups.Profiles) -> None:
    """And hardly more; fewer groups are less than some order is worth."""
    worst = np.max([value(np.exp(LOSSES), order, count=150) for order in ORDERS], axis=0)
    assert len(in_two.above) == 2
    assert (composed(in_two.above) >= worst * (1 - 1e-12)).all()
    assert composed(in_two.above) == pytest.approx(worst, abs=0.03)
    for one in in_two.above:
        assert (composed((one,)) < worst)[1:].any()


def test_one_order_is_reached(in_two: groups.Profiles) -> None:
    """That of the largest range last, which costs more than the others."""
    curve = in_two.below.whole()
    places = np.rint(LOSSES / curve.step).astype(int)
    at = np.exp(places * curve.step)
    reached = curve.lower()[places - curve.first]
    assert (reached <= value(at, [0.25, 0.5, 1.0], count=300) + 1e-6).all()
    assert reached == pytest.approx(value(at, [0.25, 0.5, 1.0], count=150), abs=1e-3)
    assert reached[1] > value(at, [1.0, 0.5, 0.25], count=150)[1] + 1e-3


def test_groups_hold_every_step_once() -> None:
    ranges = tuple((Fraction(k, 100), 3) for k in range(10, 21))
    found = divided(ranges, 2000)
    assert sorted(one for group in found for one in group) == sorted(ranges)
    assert sum(map(plays, found)) <= 2000
    assert all(min(one) > max(other) for one, other in pairwise(found))


def test_too_many_groups_are_refused() -> None:
    with pytest.raises(NotApplicable):
        divided(tuple((Fraction(k, 100), 150) for k in range(10, 21)), 2000)
    with pytest.raises(NotApplicable):
        in_one_order(((Fraction(1, 10), 10**5),), 1e-6, WORK[-1])


@pytest.mark.slow
def test_two_ranges_a_hundred_times_each() -> None:
    event = acc.Sequence(
        events=[acc.Repeat(event=acc.Exponential(epsilon=epsilon), times=100) for epsilon in ("0.1", "0.2")]
    )
    found = acc.epsilon(event, delta="1e-6")
    assert found.width <= found.lower / 1000
