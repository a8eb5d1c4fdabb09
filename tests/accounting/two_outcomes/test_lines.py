"""One step from above."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from privately.accounting.adaptive.curves import Curve
from privately.accounting.questions import DeltaAt
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated
from privately.accounting.two_outcomes.choices import table
from privately.accounting.two_outcomes.lines import Line, Lines, _At, _touching, convex, raised, tails
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.steps import start

from .brute import pairs, two_steps

STEP, PLACES = 0.02, 100
STATEMENT = Concentrated(Fraction("0.05"))
EPSILONS = (0, 15, 40, 75)


@cache
def lines() -> Lines:
    return Lines(table(STATEMENT, STEP, PLACES))


@cache
def played(times: int) -> Curve:
    if not times:
        return start(STEP, PLACES)
    before, after = (tails(STATEMENT, lines().chances, count) for count in (times - 1, times))
    return raised(played(times - 1), lines(), before, after)


def test_one_step_is_the_statement() -> None:
    for place in EPSILONS:
        truth = answer(STATEMENT, DeltaAt(Fraction(place * STEP), Fraction(1, 10**6)))
        assert played(1).upper[place] >= truth.lower
        assert played(1).upper[place] == pytest.approx(float(truth.upper), rel=0.02)


def test_no_strategy_is_above() -> None:
    """Two steps, the second chosen in the light of the first: nearly the upper values, and never above them."""
    known = pairs(0.05, 60)
    for place in EPSILONS:
        worth = two_steps(known, place * STEP)
        assert worth <= played(2).upper[place]
        assert worth == pytest.approx(float(played(2).upper[place]), rel=0.05)


def value_of(line: Line, r: np.ndarray) -> np.ndarray:
    """f, exactly; of both directions together for the lines that are nearly even."""
    both: np.ndarray = line.share * order(line.t, r) + (1 - line.share) * r * order(line.t, 1 / r)
    return both


def order(t: float, r: np.ndarray) -> np.ndarray:
    found: np.ndarray = r * np.log(r) - r + 1 if t == 1 else (r**t - 1 - t * (r - 1)) / (t * (t - 1))
    return found


@pytest.mark.parametrize("place", [0, 3, 20, 60, 99])
def test_lines_are_above_all_that_a_step_may_reveal(place: int) -> None:
    """a + b r + C f(r) >= r V(y/r) for every r > 0, whatever C is: on the lattice, between its places and beyond."""
    before = played(1).widened(PLACES - 1, PLACES)
    upper = convex(before.upper, STEP)
    before = replace(before, upper=upper)
    y, places = np.exp(place * STEP), np.exp(before.losses)
    r = np.exp(np.linspace(-5.0, 6.0, 6000))
    worth = r * np.interp(y / r, np.append(0.0, places), np.append(1.0, upper))
    checked = 0
    for line in (lines().even, *lines().all[::25]):
        best = _touching(before, lines(), line, place)[1]
        for factor in (0.3 * best, 0.9 * best, best, 1.5 * best, 10 * best):
            at = _At(before, lines(), line, place)
            found, _ = at.value(factor, slice(None))
            if found == math.inf:
                continue
            b = at.power - factor * at.flat
            a = found - b - factor * line.mean
            assert (a + b * r + factor * value_of(line, r) >= worth - 1e-12 * (1 + r)).all()
            checked += 1
    assert checked > 4


@pytest.mark.slow
def test_a_mean_that_is_too_small_is_noticed() -> None:
    """With moments that are a little less than allowed, upper values would be below a strategy."""
    wrong = Lines(table(STATEMENT, STEP, PLACES))
    wrong.__dict__["all"] = tuple(replace(line, mean=line.mean * 0.9) for line in lines().all)
    wrong.__dict__["even"] = replace(lines().even, mean=lines().even.mean * 0.9)
    none = np.ones(2 * PLACES)
    curve = raised(played(1), wrong, none, none)
    assert curve.upper[40] < two_steps(pairs(0.05, 60), 40 * STEP)


def test_convex_functions() -> None:
    """Bumps are cut off, from above; what is convex stays as it is."""
    y = np.exp(np.arange(50) * 0.1)
    smooth = np.maximum(1 - y / 100, 0) ** 2
    bumpy = smooth + np.where(np.arange(50) % 7 == 3, 0.01, 0.0)
    found = convex(bumpy, 0.1)
    assert (found >= smooth).all()
    assert (found <= bumpy).all()
    assert found[3] < bumpy[3] - 0.005
    assert convex(smooth, 0.1) == pytest.approx(smooth)


def test_tails_are_above_normal_noise() -> None:
    """Normal noise is within the statement, at all times."""
    found = tails(STATEMENT, lines().chances, 10)
    assert found[0] >= 0.38
    assert (np.diff(found) <= 0).all()
    assert found[-1] < 1e-2


def test_lines_of_high_orders_are_finite() -> None:
    """However far out: f and its slopes are taken from below."""
    far = Lines(table(AtOrders(((Fraction("8.4"), Fraction("0.7")),)), 0.08, 700))
    for line in (far.even, *far.all):
        assert np.isfinite(line.f).all()
        assert np.isfinite(line.slope).all()
        assert (np.diff(line.slope) >= 0).all()
