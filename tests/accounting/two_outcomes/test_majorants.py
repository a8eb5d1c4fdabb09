"""Functions above a profile, and what they are worth with one more step before it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.questions import DeltaAt
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import majorants
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.families import families
from privately.accounting.two_outcomes.majorants import Above, Powers, Tried, above, lowered
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.sketches import Found, Lattice, Sketch

from .listed import COARSE, FOUR, TIMES, found, profile

POWERS = Powers(FOUR, COARSE)
KINDS = ((0, 0), 1.0), ((0, 1), 0.9), ((0, 1), 0.4)


def tried(rows: tuple[int, int], share: float) -> Tried:
    return Tried(rows, 0, np.full(50, share))


def gaps(known: Above, share: float) -> np.ndarray:
    """How far the profile is above each function, at very many places, over what the profile is where it touches."""
    losses = np.linspace(-10.0, 12.0, 4001)
    y = np.exp(losses)
    s = np.exp(losses[None, :] - np.arange(known.factors.size)[:, None] * COARSE.step)
    g = share * (s**-3.0 - 1 + 3 * (s - 1)) + (1 - share) * (s**4.0 - 1 - 4 * (s - 1))
    value = known.bases[:, None] + known.slopes[:, None] * (s - 1) + known.factors[:, None] * g
    found: np.ndarray = (profile(y) - value) / known.bases[:, None]
    return found


@pytest.mark.parametrize(("rows", "share"), KINDS)
def test_above_everywhere(rows: tuple[int, int], share: float) -> None:
    """On the lattice, between its places and beyond; and nearly touching somewhere."""
    sketch = Sketch.of(found(), FOUR, COARSE, TIMES)
    off = gaps(above(sketch, POWERS, tried(rows, share)), share)
    assert (off <= 1e-9).all()
    assert (off.max(axis=1) > -0.05).all()


@pytest.mark.parametrize(("order", "bound"), [("1.1", 20), ("2", 20)])
def test_above_before_the_first_place(order: str, bound: int) -> None:
    """However small y is, where powers are not much larger than what a step adds to their means."""
    statement = AtOrders(((Fraction(order), Fraction(bound)),))
    lattice = Lattice(0.4, 100, 8, float(order))
    sketch = Sketch.of(Found.nothing(statement, lattice), statement, lattice, 0)
    k, y = 1 - float(order), np.exp(-lattice.left * lattice.step - np.geomspace(1e-3, 40.0, 60))
    for share in (1.0, 0.7, 0.0):
        known = above(sketch, Powers(statement, lattice), tried((0, 1), share))
        s = y[None, :] * np.exp(-np.arange(50) * lattice.step)[:, None]
        g = share * (s**k - 1 - k * (s - 1)) + (1 - share) * (s ** (1 - k) - 1 - (1 - k) * (s - 1))
        value = known.bases[:, None] + known.slopes[:, None] * (s - 1) + known.factors[:, None] * g
        assert (value >= (1 - y) * (1 - 1e-14)).all()


def test_above_the_largest_of_two() -> None:
    """A function is above the larger of two profiles if it is above both, between places as well; one is not enough."""
    one = Sketch.of(found(), FOUR, COARSE, TIMES)
    less = found()
    flat = Sketch.of(Found(less.values * 0.2, less.slopes * 0.2, less.bends * 0.2), FOUR, COARSE, TIMES)
    both = Sketch.largest([flat, one], COARSE.step)
    assert (gaps(above(both, POWERS, tried((0, 1), 0.9)), 0.9) <= 1e-9).all()
    exact = above(one, POWERS, tried((0, 1), 0.9)).bases
    assert (above(both, POWERS, tried((0, 1), 0.9)).bases <= exact * (1 + 1e-6)).all()
    wrong = replace(both, others=(flat,))
    assert (gaps(above(wrong, POWERS, tried((0, 1), 0.9)), 0.9) > 1e-6).any()


def test_an_order_for_each_place() -> None:
    """Rows that differ say the same as one row at a time; and shares that need not add up to 1."""
    sketch, many = Sketch.of(found(), FOUR, COARSE, TIMES), 50
    row = np.arange(many) % 2
    mixed = above(sketch, POWERS, Tried((row, row), 0, np.ones(many)))
    for k in (0, 1):
        alone = above(sketch, POWERS, Tried((k, k), 0, np.ones(many)))
        assert np.allclose(mixed.factors[row == k], alone.factors[row == k], rtol=1e-12)
        assert np.allclose(mixed.bases[row == k], alone.bases[row == k], rtol=1e-12)
    shares = above(sketch, POWERS, tried((0, 1), 0.8))
    same = above(sketch, POWERS, Tried((0, 1), 0, np.ones(many), 0, np.full(many, 0.25)))
    assert np.allclose(same.factors, shares.factors * 0.8, rtol=1e-9)
    assert np.allclose(same.bases, shares.bases, rtol=1e-9)


def test_too_bent_a_profile_would_be_noticed() -> None:
    """Where the profile is taken for more bent than it is, functions are below it between two places."""
    sketch = Sketch.of(found(), FOUR, COARSE, TIMES)
    wrong = replace(sketch, bends=sketch.bends * 8, starts=sketch.starts, ends=sketch.ends)
    assert gaps(above(wrong, POWERS, tried((0, 1), 0.9)), 0.9).max() > 1e-6


def raised(statement: AtOrders, lattice: Lattice) -> Found:
    """One step."""
    powers = Powers(statement, lattice)
    sketch = Sketch.of(Found.nothing(statement, lattice), statement, lattice, 0)
    known = Found.tails(statement, lattice, 1)
    for family in families(statement, lattice.places * lattice.step)[1]:
        functions = above(sketch, powers, family.at(sketch, powers, lattice.places))
        lowered(known, powers, functions, family.offsets(lattice))
    return known


@pytest.mark.parametrize(
    "bounds",
    [
        {4: "0.1"},
        *(
            pytest.param(bounds, marks=pytest.mark.slow)
            for bounds in ({"1.5": "0.3"}, {"1.1": "0.1"}, {2: "1"}, {2: "0.1", 8: "0.4", 32: "2"}, {16: "0.01"})
        ),
    ],
)
def test_one_step_is_the_statement(bounds: dict[int | str, str]) -> None:
    """On a coarse lattice as well, and never below it."""
    statement = AtOrders(tuple((Fraction(order), Fraction(bound)) for order, bound in bounds.items()))
    even, _ = families(statement, 10.0)
    lattice = Lattice(even / 3, math.ceil(6 / even) + 40, 8, float(statement.bounds[0][0]))
    known = raised(statement, lattice).upper
    for place in (0, 1, 2, 3, 5, 8, 20, 40):
        truth = answer(statement, DeltaAt(Fraction(place * lattice.step), Fraction(1, 10**6)))
        assert known[place] >= truth.lower
        assert known[place] == pytest.approx(float(truth.upper), rel=0.12)


def test_without_what_is_between_places_it_would_be_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that are above the profile at all places of the lattice alone are not enough."""
    lattice = Lattice(0.12, 60, 6, 4.0)
    monkeypatch.setattr(majorants, "summit", lambda start, end, bend: np.maximum(start, end))
    known = raised(FOUR, lattice).upper
    truths = [answer(FOUR, DeltaAt(Fraction(place * lattice.step), Fraction(1, 10**6))) for place in range(0, 30, 3)]
    assert any(known[3 * k] < truth.lower for k, truth in enumerate(truths))


def test_bounds_beyond_all_range() -> None:
    with pytest.raises(NotApplicable, match="too large"):
        Powers(AtOrders(((Fraction(32), Fraction(100)),)), COARSE)


def test_means_beyond_all_floats_are_infinite() -> None:
    after = Powers(AtOrders(((Fraction(2), Fraction(1, 10)), (Fraction(64), Fraction(7)))), COARSE).after
    assert np.isinf(after).any()
    assert np.isfinite(after).any()
    assert not np.isnan(after).any()
