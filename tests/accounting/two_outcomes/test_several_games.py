"""Few steps of several statements, some about listed orders, in any order."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.questions import DeltaAt
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated, Statement
from privately.accounting.two_outcomes.edges import edge
from privately.accounting.two_outcomes.games import below
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.several_games import above, together
from privately.accounting.two_outcomes.sketches import Found, Lattice

from .listed import FOUR, raised

TWO = AtOrders(((Fraction(2), Fraction(1, 5)),))
NORMAL = Concentrated(Fraction(1, 10))
MORE = 1.03 / -math.expm1(-0.4)
"""What a single order says by itself, over what is revealed, where the logarithm of the moment is 0.4 or more."""


def allowed(statement: Statement) -> list[tuple[float, float]]:
    """Some pairs that are just allowed, and their images."""
    y = -np.logaddexp(0.0, np.linspace(0.3, 14.0, 120))
    z, _ = edge(statement, y, 1e-6)
    known = [
        (math.exp(one + more), math.exp(one)) for one, more in zip(y, z, strict=True) if math.exp(one + more) < 0.99
    ]
    return known + [(1 - q, 1 - p) for p, q in known]


@pytest.mark.slow
@pytest.mark.parametrize("kinds", [(FOUR, TWO), (FOUR, NORMAL)])
def test_no_order_is_above(kinds: tuple[Statement, Statement]) -> None:
    """Two steps of one kind and one of another, each chosen in the light of those before, in every order."""
    one, two = kinds
    curve = above(((one, 2), (two, 1)), 1e-3)
    y = np.exp(np.linspace(-9.0, 9.0, 6001))
    known = {one: allowed(one), two: allowed(two)}
    best = np.zeros(y.size)
    for order in set(permutations((one, one, two))):
        worth = np.maximum(1 - y, 0.0)
        for statement in order:
            worth = raised(known[statement], y, worth)
        best = np.maximum(best, worth)
    kept = (y >= 1) & (best > 1e-3)
    upper = np.interp(y[kept], np.exp(curve.losses), curve.upper)
    assert (best[kept] <= upper * (1 + 1e-4)).all()
    assert (best[kept] >= upper * 0.85).all()
    less = above(((one, 1), (two, 1)), 1e-3)  # a step that is left out is missed
    assert (best[kept] > np.interp(y[kept], np.exp(less.losses), less.upper)).mean() > 0.9


@pytest.mark.slow
def test_tests_in_some_orders_are_below() -> None:
    """One step of each of three kinds, with mixtures of choices: at every place, and not much less."""
    several = AtOrders(((Fraction(2), Fraction(1, 10)), (Fraction(8), Fraction(2, 5))))
    kinds = (FOUR, 1), (several, 1), (NORMAL, 1)
    curve = above(kinds, 1e-4)
    kept = curve.upper > 1e-4
    y = np.exp(curve.losses[kept])
    best = np.zeros(y.size)
    for order in (kinds, kinds[::-1], (*kinds[1:], kinds[0])):
        tests = below(order, 1e-4)
        best = np.maximum(best, (tests.powers - y[:, None] * tests.prices).max(axis=1))
    assert (best <= curve.upper[kept]).all()
    ratio = best / curve.upper[kept]
    assert np.median(ratio) > 0.95
    assert ratio.min() > 0.8


def tails(parts: list[tuple[Statement, int]], step: float, places: int) -> np.ndarray:
    orders = Fraction(2), Fraction(4)
    found: np.ndarray = Found.tails(together(parts, orders), Lattice(step, places, 4, 2.0), 1).upper
    return found


def test_tails() -> None:
    """Of steps that both bound order 2, what one statement of the sum reveals; of order 4 only where both bound it."""
    step, places = 0.25, 40
    both = tails([(FOUR, 2), (TWO, 1)], step, places)
    summed = AtOrders(((Fraction(2), Fraction(2, 5)),))
    for place in (8, 20, 39):
        truth = answer(summed, DeltaAt(Fraction(place * step), Fraction(1, 10**6)))
        assert truth.lower <= both[place] <= float(truth.upper) * MORE
    high = tails([(FOUR, 2), (NORMAL, 1)], step, places)
    four = AtOrders(((Fraction(4), Fraction(3, 5)),))
    truth = answer(four, DeltaAt(Fraction(39 * step), Fraction(1, 10**6)))
    assert truth.lower <= high[39] <= float(truth.upper) * MORE
    assert (tails([(NORMAL, 1)], step, places) < high)[1:].all()


def test_one_list_and_one_of_zcdp() -> None:
    """Far off the list comes last, and what it leaves grows by the moment of zCDP at its order; this is reached."""
    curve = above(((FOUR, 1), (NORMAL, 1)), 1e-6)
    tail = 27 / 256 * math.expm1(0.3) * math.exp(12 * 0.1)
    for epsilon in (3.0, 3.5, 4.0):
        place = round(epsilon / curve.step)
        truth = tail * math.exp(-3 * place * curve.step)
        assert truth * (1 - 1e-4) <= curve.upper[place] <= truth * 1.01


def test_too_many_steps() -> None:
    with pytest.raises(NotApplicable, match="too many"):
        above(((FOUR, 40), (TWO, 40)), 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("other", [acc.ZCDP(rho="0.01"), acc.Renyi(bounds={32: "0.5"})], ids=["zCDP", "list"])
def test_lattices_reach_as_far_as_the_even_pair_of_a_high_order(other: acc.Event) -> None:
    found = acc.epsilon(acc.Sequence(events=[acc.Renyi(bounds={64: 1}), other]), delta="1e-6", width="0.004")
    alone = acc.epsilon(acc.Renyi(bounds={64: 1}), delta="1e-6")
    assert alone.lower < found.lower <= found.upper < alone.upper + 1
