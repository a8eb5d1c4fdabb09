"""A budget of ticks in place of the steps that are left."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from privately.accounting.adaptive import budgets
from privately.accounting.adaptive.budgets import Clock, Ticks, within_budget
from privately.accounting.adaptive.games import WORK, Ranges
from privately.accounting.adaptive.raising import Raised, raised
from tests.accounting.adaptive.brute import Floats, value

RANGES: Ranges = ((Fraction(11, 20), 1), (Fraction(7, 10), 1), (Fraction(1), 1))
LOSSES = np.array([0.0, 0.3, 0.8, 1.2, 1.6])


@pytest.fixture(autouse=True)
def _few_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    within_budget.cache_clear()
    monkeypatch.setattr(budgets, "MOST_TICKS", 8)


def worst() -> Floats:
    orders = permutations([0.55, 0.7, 1.0])
    return np.asarray(np.max([value(np.exp(LOSSES), order, count=120) for order in orders], axis=0))


def reached() -> Floats:
    within_budget.cache_clear()
    curve = within_budget(RANGES, 1e-6, WORK[1])
    return np.asarray(curve.upper[np.floor(LOSSES / curve.step).astype(int)])


def test_every_order_is_within_the_budget() -> None:
    assert (reached() >= worst()).all()
    assert reached() == pytest.approx(worst(), abs=0.02)


@pytest.mark.parametrize("fault", ["fewer ticks", "other chances", "one kind", "lower values"])
def test_a_smaller_budget_would_be_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shared, kinds = Clock.shared, budgets._kinds
    if fault == "fewer ticks":
        monkeypatch.setattr(Clock, "shared", lambda self, size: (shared(self, size)[0], 0.0))
    elif fault == "other chances":
        monkeypatch.setattr(Clock, "shared", lambda self, size: (shared(self, size)[0] - 1, 1 - shared(self, size)[1]))
    elif fault == "one kind":
        monkeypatch.setattr(budgets, "_kinds", lambda *given: kinds(*given)[:1])
    else:

        def lowered(*given: object) -> Raised:
            found = raised(*given)  # type: ignore[arg-type]
            return replace(found, values=found.values * 0.95)

        monkeypatch.setattr(budgets, "raised", lowered)
    assert (reached() < worst()).any()


@pytest.mark.parametrize("inside", [Fraction(45, 100), Fraction(7, 10), Fraction(99, 100)])
def test_a_range_between_two(inside: Fraction) -> None:
    """One step before others: never worth more than the mean of the two; with a smaller share it is."""
    clock = Clock((Fraction(0), Fraction(2, 5), Fraction(1)))
    k, share = clock.shared(inside)
    assert k == 1
    y = np.exp(np.linspace(-1.5, 1.5, 31))
    for last in ([], [0.02], [0.3], [1.0]):
        less, more, one = (value(y, [size, *last], count=2000) for size in (0.4, 1.0, float(inside)))
        assert (one <= (1 - share) * less + share * more + 1e-6).all()
    less, more, one = (value(y, [size]) for size in (0.4, 1.0, float(inside)))
    by_squares = float((inside**2 - Fraction(4, 25)) / (1 - Fraction(4, 25)))
    assert (one > (1 - by_squares) * less + by_squares * more + 1e-9).any()


def test_ends_of_the_clock() -> None:
    clock = Clock.of(Fraction(1), 8, 1.5)
    assert clock.shared(Fraction(1)) == (8, 0.0)
    assert clock.shared(clock.sizes[3]) == (3, 0.0)
    assert clock.shared(Fraction(1, 1000))[0] == 0
    assert list(clock.sizes) == sorted(set(clock.sizes))


def test_ticks_add_up() -> None:
    clock = Clock((Fraction(0), Fraction(1, 2), Fraction(1)))
    size = Fraction(3, 4)
    k, share = clock.shared(size)
    found = Ticks.of(clock, [(size, 30), (Fraction(1), 2)], 1e-3)
    assert found.first == 30 * k + 4
    assert found.chances.sum() + found.beyond == pytest.approx(1, rel=1e-12)
    mean = found.first + (np.arange(found.chances.size) * found.chances).sum()
    assert mean == pytest.approx(34 + 30 * share, rel=1e-6)


def test_larger_ticks_are_above_all() -> None:
    clock = Clock((Fraction(0), Fraction(1, 2), Fraction(1)))
    some = [Ticks.of(clock, [(Fraction(k, 10), 5), (Fraction(1), k)], 1e-6) for k in (6, 7, 9)]
    found = Ticks.larger(some)
    for one in (*some, found):
        assert one.chances.sum() + one.beyond >= 1
    for one in some:
        for n in range(found.first, found.last + 2):
            tail, other = (each.chances[max(n - each.first, 0) :].sum() + each.beyond for each in (found, one))
            assert tail >= other * (1 - 1e-12)


def test_blocks_hold_every_step_once() -> None:
    ranges: Ranges = tuple((Fraction(k, 30), k) for k in range(10, 31))
    dealt = budgets._dealt(ranges, 7)
    for size, times in ranges:
        assert sum(dict(some).get(size, 0) for some in dealt) == times
    squares = [sum(times * size**2 for size, times in some) for some in dealt]
    assert max(squares) - min(squares) < 1


def tail(ticks: Ticks, above: int) -> float:
    return float(ticks.chances[max(above - ticks.first, 0) :].sum()) + ticks.beyond


def test_ticks_that_are_cut_off_count_as_beyond() -> None:
    clock = Clock.of(Fraction(1), 6, 2.0)
    ticks = Ticks.of(clock, ((Fraction(7, 10), 40),), rare=1e10)
    assert ticks.beyond > 1e-3
    assert tail(ticks, 0) >= 1


@pytest.mark.parametrize("swapped", [False, True])
def test_the_larger_of_ticks_is_above_both(swapped: bool) -> None:
    both = [Ticks(3, np.array([0.5, 0.25]), 0.25), Ticks(2, np.array([0.5, 0.0, 0.0, 0.5]), 0.0)]
    found = Ticks.larger(both[::-1] if swapped else both)
    assert all(tail(found, above) >= tail(one, above) for one in both for above in range(8))


def test_ticks_beyond_all_reveal_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ticks, "larger", lambda several: replace(several[0], beyond=0.25))
    curve = within_budget(RANGES, 1e-6, WORK[1])
    assert curve.upper.min() >= 0.25


def test_a_range_between_two_may_take_the_ticks_of_either() -> None:
    clock = Clock.of(Fraction(1), 6, 2.0)
    k, share = clock.shared(Fraction(7, 10))
    assert 0 < share < 1
    assert budgets._kinds(clock, ((Fraction(7, 10), 1),)) == [k, k + 1]
    assert budgets._kinds(clock, ((Fraction(1), 1),)) == [6]
