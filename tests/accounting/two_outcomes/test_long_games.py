"""Many steps of listed orders: the last are played, and an even pair serves for each other one."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from privately.accounting.elementary import Floats
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import long_games
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.corners import even_loss
from privately.accounting.two_outcomes.long_games import Even, above_many, after, enough, whole
from privately.accounting.two_outcomes.sketches import Lattice, Sketch

from .listed import COARSE, FOUR, TIMES, found, pairs, profile, raised

EVEN = even_loss(*FOUR.rows(0.0, 0.0))[0]
RESPONSE = 1 / (1 + math.exp(-EVEN)), 1 / (1 + math.exp(EVEN))
STEP, SPARE = EVEN / 16, 2e-9
LATTICE = Lattice(STEP, 600, 28, 4.0)


@lru_cache
def smooth(many: int = 30) -> Floats:
    """Nearly what so many steps are worth."""
    y = np.exp(np.arange(1.0 - LATTICE.places, LATTICE.places) * STEP)
    values, known = np.maximum(1 - y, 0.0), [*pairs(4.0, 0.1, 60), RESPONSE]
    for _ in range(many):
        values = raised(known, y, values)
    return whole(np.maximum(values[LATTICE.places - 1 :], 1e-13), STEP)


def straight(values: Floats, y: np.ndarray) -> np.ndarray:
    """F at any y, by what it is."""
    high = np.maximum(y, 1 / y)
    there = np.interp(high, np.exp(np.arange(values.size) * STEP), values)
    found: np.ndarray = np.where(y >= 1, there, 1 - y + y * there)
    return found


def test_no_pair_before_it_is_above() -> None:
    """One step before F by very many pairs that are allowed, on the lattice and between its places."""
    values = smooth()
    upper = after(FOUR, LATTICE, values)
    y = np.exp(np.linspace(0.0, 4.0, 701))
    worth = np.zeros(y.size)
    for p, q in pairs(4.0, 0.1, 200):
        worth = np.maximum(worth, p * straight(values, y * q / p) + (1 - p) * straight(values, y * (1 - q) / (1 - p)))
    known = straight(upper, y)
    assert (worth <= known * (1 + 1e-9)).all()
    assert (worth >= known * (1 - 3e-3)).all()


def test_even_pairs_before_it() -> None:
    """Rounded down, and hardly; a larger pair is worth more, between two places as well."""
    values = smooth()
    y = np.exp(np.arange(LATTICE.places) * STEP)
    for place in (16, 16.25):
        even = Even.at(STEP, place)
        worth = np.zeros(y.size)
        for loss, share in ((16 * STEP, 1 - even.share), (17 * STEP, even.share)):
            p = 1 / (1 + math.exp(-loss))
            worth += share * (
                p * straight(values, y * math.exp(-loss)) + (1 - p) * straight(values, y * math.exp(loss))
            )
        known = even.before(values)
        assert (known <= worth * (1 + 1e-12)).all()
        assert (known >= worth * (1 - 1e-7)).all()
    assert (Even.at(STEP, 16.5).before(values) > Even.at(STEP, 16).before(values))[:300].all()


def test_the_law_of_an_even_pair() -> None:
    even = Even.at(STEP, 16.25)
    outcomes = [(first, second) for (first, _), (second, _) in even.law.outcomes]
    assert sum(first for first, _ in outcomes) == sum(second for _, second in outcomes) == 1
    losses = [math.log(first / second) for first, second in outcomes]
    assert losses == sorted(losses, reverse=True)
    assert losses == pytest.approx([17 * STEP, 16 * STEP, -16 * STEP, -17 * STEP])
    assert all(loss >= place * STEP for loss, place in zip(losses, (17, 16), strict=False))
    assert float(outcomes[0][0] + outcomes[3][0]) == pytest.approx(0.25)
    assert even.square == pytest.approx((0.75 * 16**2 + 0.25 * 17**2) * STEP**2)
    assert len(Even.at(STEP, 16).law.outcomes) == 2


def test_enough_is_enough_and_no_less() -> None:
    """The least pair that is found; what lacks a thousandth of the step is refused."""
    values = smooth()
    upper = after(FOUR, LATTICE, values)
    found = enough(values, upper, STEP, EVEN, SPARE)
    assert found is not None
    assert (upper <= found.before(values) + SPARE).all()
    less = Even.at(STEP, found.places + found.share - 0.02)
    assert (upper > less.before(values) + SPARE).any()


def test_a_pair_that_is_allowed_is_not_enough() -> None:
    """Of a statement that allows more than what is tried, or where rare losses count, nothing is said."""
    values = smooth()
    more = after(AtOrders(((Fraction(4), Fraction("0.103")),)), LATTICE, values)
    assert enough(values, more, STEP, EVEN, SPARE) is None
    early = smooth(1)
    assert enough(early, after(FOUR, LATTICE, early), STEP, EVEN, SPARE) is None
    upper = after(FOUR, LATTICE, values)
    upper[-1] = values[-1] + 2 * SPARE
    assert enough(values, upper, STEP, EVEN, SPARE) is None


def test_closer_places_are_above() -> None:
    """Between the places of a coarse lattice, by the functions that are known above it."""
    sketch = Sketch.of(found(), FOUR, COARSE, TIMES)
    values = sketch.between(COARSE, np.array([-3.0, 4.0]), 4)
    y = np.exp(np.arange(values.size) * COARSE.step / 4)
    assert values.size == 4 * (COARSE.places - 1) + 1
    assert (values >= profile(y) * (1 - 1e-12)).all()
    assert (values <= profile(y) * (1 + 6e-3)).all()
    chord = np.interp(y, y[::4], values[::4])
    assert (chord[2::4] > values[2::4] * 1.01).any()


def test_a_whole_profile_is_convex() -> None:
    values = whole(np.array([0.5, 0.1, 0.099, 0.03, 0.03]), 0.3)
    y = np.exp(np.arange(-4, 5) * 0.3)
    around = np.append((1 - y[:4] + y[:4] * values[:0:-1]), values)
    slopes = np.diff(around) / np.diff(y)
    assert (np.diff(slopes) >= -1e-7).all()
    assert values[0] < 0.5
    assert values[2] < 0.099


@pytest.mark.slow
def test_no_strategy_is_above() -> None:
    """Of 40 steps, each chosen in the light of those before: nearly what is said, and never above it."""
    long = above_many(FOUR, 40, 1e-4)
    assert long.many >= 10
    values = long.curve.upper
    for _ in range(long.many):  # by upper values, straight between places
        values = whole(long.even.before(values) * (1 + 1e-7) + float(long.rest) / long.many, long.curve.step)
    y = np.exp(np.linspace(-30.0, 30.0, 9001))
    worth, known = np.maximum(1 - y, 0.0), [*pairs(4.0, 0.1, 60), RESPONSE]
    for _ in range(40):
        worth = raised(known, y, worth)
    kept = (y >= 1) & (worth > 1e-4)
    upper = np.interp(y[kept], np.exp(long.curve.losses), values)
    assert (worth[kept] <= upper * (1 + 1e-4)).all()
    assert (worth[kept] >= upper * 0.99).all()


def test_few_steps_are_not_many() -> None:
    with pytest.raises(NotApplicable):
        above_many(FOUR, long_games._FEW, 1e-6)


@pytest.mark.slow
def test_where_several_orders_count() -> None:
    """Rare losses of a higher order are worth more than any even pair."""
    statement = AtOrders(((Fraction(2), Fraction("0.3")), (Fraction(8), Fraction("1.5"))))
    with pytest.raises(NotApplicable, match="no even pair"):
        above_many(statement, 100, 1e-3)
