"""Steps of bounded range among steps of zCDP: both ends."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from itertools import permutations

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.adaptive import Beside
from privately.accounting.compositions import Composition
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.two_outcomes import ranged_games, wave_games
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.rounding import Interval

from . import brute
from .listed import raised
from .ranges import pairs_of_range

HALF, FIFTH, TENTH = Fraction(1, 2), Fraction(1, 5), Concentrated(Fraction(1, 10))
AT = EpsilonAt(Fraction(1, 10**6), Fraction(1, 1000))
NOTHING = Beside((Composition(),), (Composition(),))


def with_images(pairs: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return pairs + [(1 - q, 1 - p) for p, q in pairs]


def strategies(steps: list[list[tuple[float, float]]], y: np.ndarray) -> np.ndarray:
    """The best of all orders, each step chosen in the light of those before, by pairs that are allowed."""
    best = np.zeros(y.size)
    for order in permutations(range(len(steps))):
        worth = np.maximum(1 - y, 0.0)
        for k in order:
            worth = raised(steps[k], y, worth)
        best = np.maximum(best, worth)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(HALF,), (HALF, FIFTH), (Fraction(1), Fraction(1))])
def test_both_ends_are_around_every_strategy(sizes: tuple[Fraction, ...]) -> None:
    """No upper value is below, no test above what pairs of two outcomes reach; one step less is caught."""
    parts: wave_games.Parts = ((TENTH, 1), *((size, sizes.count(size)) for size in dict.fromkeys(sizes)))
    y = np.exp(np.linspace(-9.0, 9.0, 9001))
    known = [
        with_images(brute.pairs(0.1 * (1 - 1e-7), 500, 20)),
        *(pairs_of_range(float(size), 1000) for size in sizes),
    ]
    best = strategies(known, y)
    upper, lower = wave_games.above(ranged_games.in_order(parts), 1e-4), ranged_games.below(parts, 1e-4)
    kept = (y >= 1) & (best > 1e-4)
    most = np.interp(y[kept], np.exp(upper.losses), upper.upper)
    least = (lower.powers - y[kept][:, None] * lower.prices).max(axis=1)
    assert (best[kept] <= most * (1 + 1e-4)).all()
    assert (least <= best[kept] * (1 + 2e-4)).all()
    assert (least <= most).all()
    assert (least >= most * 0.98).all()
    fewer = wave_games.above(ranged_games.in_order(parts[:1]), 1e-4)
    less = np.interp(y[kept], np.exp(fewer.losses), fewer.upper)
    assert (best[kept] > less * (1 + 1e-3)).mean() > 0.9


@pytest.mark.slow
def test_a_wrong_scale_is_caught() -> None:
    """A range that is taken for nine tenths of it is below what tests of the right one reach, almost everywhere."""
    wrong = wave_games.above(((TENTH, 2), (HALF * Fraction(9, 10), 3)), 1e-6)
    right = ranged_games.below(((TENTH, 2), (HALF, 3)), 1e-6)
    y = np.exp(wrong.losses[wrong.upper > 1e-6])
    reached = (right.powers - y[:, None] * right.prices).max(axis=1)
    assert (reached > wrong.upper[: y.size]).mean() > 0.9
    enough = wave_games.above(((TENTH, 2), (HALF, 3)), 1e-6)
    assert (reached <= np.interp(y, np.exp(enough.losses), enough.upper)).all()


def test_orders() -> None:
    """Those of the largest step last, of ranges last, and of zCDP last; each has all steps."""
    parts = (HALF, 2), (TENTH, 1), (FIFTH, 1), (Concentrated(Fraction(1, 50)), 3)
    orders = ranged_games._orders(parts)
    assert [order[-1] for order in orders] == [(TENTH, 1), (HALF, 2), (TENTH, 1)]
    assert all(sorted(map(str, order)) == sorted(map(str, parts)) for order in orders)
    assert ranged_games.in_order(parts)[0] == (FIFTH, 1)
    larger = (Fraction(2), 1), (TENTH, 1)
    assert ranged_games._orders(larger) == [(larger[1], larger[0]), larger]


def test_what_is_not_played() -> None:
    """Too many steps: nothing is said."""

    def never(*_: object) -> Interval:
        raise AssertionError

    many = (HALF, 60), (TENTH, 1)
    assert ranged_games.lower_end(many, NOTHING, AT, never, 1e-6).lower == 0
    assert ranged_games.upper_end(many, NOTHING, AT, never, 1e-6).upper == math.inf
    at = DeltaAt(Fraction(1), Fraction(1, 1000))
    assert ranged_games.upper_end(many, NOTHING, at, never, 1e-6).upper == 1


def test_which_steps_are_in_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of zCDP and of bounded range, not those beside; none where other statements are."""
    module = import_module("privately.accounting.two_outcomes.composed")
    ranges, zcdp = acc.Repeat(event=acc.Exponential(epsilon="0.5"), times=3), acc.ZCDP(rho="0.1")
    found = module._Stated.of(acc.Sequence(events=[ranges, zcdp, acc.Laplace(scale=1)])).ranged()
    assert found is not None
    assert set(found[0]) == {(TENTH, 1), (HALF, 3)}
    assert [len(one.parts) for one in (*found[1].above, *found[1].below)] == [1, 1]
    assert module._Stated.of(acc.Sequence(events=[zcdp, acc.Laplace(scale=1)])).ranged() is None
    assert module._Stated.of(acc.Sequence(events=[ranges, zcdp, acc.Renyi(bounds={2: "0.1"})])).ranged() is None
    ends = {"lower_end": Interval(Fraction(99), 200), "upper_end": Interval(0, 100)}
    for name, end in ends.items():
        monkeypatch.setattr(module.ranged_games, name, lambda *_, end=end: end)

    def asked(found: tuple[Composition, ...], question: Question) -> Interval:
        return Interval(1, 101)

    assert list(module.composed(acc.Sequence(events=[ranges, zcdp]), AT, asked)) == [99, 100]


@pytest.mark.slow
def test_beside_others() -> None:
    """More than without what is beside, and at most what all of it is as zCDP; the answer is narrow."""
    ranges, zcdp = acc.Repeat(event=acc.Exponential(epsilon="0.5"), times=4), acc.ZCDP(rho="0.05")
    alone = acc.epsilon(acc.Sequence(events=[ranges, zcdp]), "1e-6")
    found = acc.epsilon(acc.Sequence(events=[ranges, zcdp, acc.Gaussian(noise_multiplier=4)]), "1e-6")
    assert alone.upper < found.lower
    assert found.upper < acc.epsilon(acc.ZCDP(rho=Fraction(1, 20) + Fraction(1, 8) + Fraction(1, 32)), "1e-6").upper
    assert found.width < Fraction(1, 1000) * found.lower


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranges", "statements"),
    [
        ([("0.1", 10)], [("0.01", 5)]),
        ([(1, 10)], [("0.1", 1)]),
        ([("0.1", 1)], [("0.01", 1)]),
        ([("0.1", 5), ("0.3", 5)], [("0.02", 3)]),
    ],
)
def test_answers_are_narrow(ranges: list[tuple[str, int]], statements: list[tuple[str, int]]) -> None:
    steps = [acc.Repeat(event=acc.Exponential(epsilon=size), times=n) for size, n in ranges]
    steps += [acc.Repeat(event=acc.ZCDP(rho=rho), times=n) for rho, n in statements]
    found = acc.epsilon(acc.Sequence(events=steps), "1e-6")
    assert found.width < Fraction(1, 2000) * found.lower
    rho = sum(Fraction(size) ** 2 * n / 8 for size, n in ranges) + sum(Fraction(one) * n for one, n in statements)
    assert found.upper < acc.epsilon(acc.ZCDP(rho=rho), "1e-6").upper
