"""Profiles with functions above them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.questions import DeltaAt
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.sketches import Found, Sketch

from .listed import COARSE, FOUR, TIMES, found, profile

PARTS = np.linspace(0.0, 1.0, 9)[:, None]


def sketch() -> Sketch:
    return Sketch.of(found(), FOUR, COARSE, TIMES)


def test_between_places() -> None:
    """Not above the function of that bend through both ends, on either side of 1; and hardly below it."""
    known = sketch()
    places = np.exp(np.arange(-COARSE.left, COARSE.places) * COARSE.step)
    inside = slice(0, places.size - 1)
    y = places[:-1] + PARTS * np.diff(places)
    chord = (1 - PARTS) * known.starts[inside] + PARTS * known.ends[inside]
    least = np.exp(np.minimum(np.array([-3.0, 4.0]) - 2, 0.0) * COARSE.step)
    bend = (known.bends[:, inside] * least[:, None]).sum(axis=0)
    curve = chord - bend * PARTS * (1 - PARTS) / 2
    assert (profile(y) <= curve * (1 + 1e-12)).all()
    assert (profile(y) >= curve * (1 - 0.02)).all()
    straight = (1 - PARTS) * known.upper[inside] + PARTS * known.upper[1 : places.size]
    assert (profile(y[:, 1:]) <= straight[:, 1:] * (1 + 1e-12)).all()


def test_more_bent_than_it_is_would_be_noticed() -> None:
    known = sketch()
    first = COARSE.left
    y = math.exp(COARSE.step / 2)
    half = (known.starts[first] + known.ends[first]) / 2
    assert float(profile(np.array([y]))[0]) > half - 1.6 * known.bends[0, first] / 8


def test_slopes_fall() -> None:
    known = sketch()
    assert (known.slopes <= 0).all()
    middle = COARSE.left + 10
    y = np.exp(np.array([9.99, 10.01]) * COARSE.step)
    assert known.slopes[middle] == pytest.approx(np.diff(profile(y))[0] / 0.02 / COARSE.step, rel=1e-3)
    y = np.exp(np.array([-10.01, -9.99]) * COARSE.step)
    there = known.slopes[COARSE.left - 10]
    assert there == pytest.approx(np.diff(profile(y))[0] / 0.02 / COARSE.step, rel=1e-3)


def test_tails_are_above_the_statement() -> None:
    tails = Found.tails(FOUR, COARSE, 1)
    for place in (0, 10, 30, 50):
        truth = answer(FOUR, DeltaAt(Fraction(place * COARSE.step), Fraction(1, 10**6)))
        assert tails.upper[place] >= truth.lower
    assert tails.upper[30] == pytest.approx(float(tails.values[29, 2]))
    assert tails.upper[30] == pytest.approx(float(tails.values[31, 0]))


def test_what_is_less_is_kept() -> None:
    known = found()
    before = known.values[5].copy()
    more, less = before * 2, before / 2
    known.offer(np.array([5]), more[None], np.zeros(1), np.zeros((1, 2)))
    assert (known.values[5] == before).all()
    known.offer(np.array([5]), less[None], np.full(1, -7.0), np.ones((1, 2)))
    assert (known.values[5] == less).all()
    assert known.slopes[5] == -7
    assert (known.bends[5] == 1).all()


def test_the_largest_of_two() -> None:
    """At places the larger one; between them nothing is known but of both."""
    one = sketch()
    less = found()
    two = Sketch.of(Found(less.values * 0.5, less.slopes * 0.5, less.bends * 0.5), FOUR, COARSE, TIMES)
    both = Sketch.largest([two, one], COARSE.step)
    assert np.allclose(both.upper, np.maximum(one.upper, two.upper), rtol=1e-8)
    assert (both.upper >= one.upper * (1 - 1e-12)).all()
    assert both.slopes[COARSE.left + 20] == one.slopes[COARSE.left + 20]
    assert both.branches == (two, one)
    assert one.branches == (one,)
    assert Sketch.largest([one], COARSE.step) is one


def test_two_powers_at_each_place() -> None:
    """The same as a row for each exponent, on either side of 1."""
    rows = np.array([-3.0, 4.0])
    one, two = sketch(), Sketch.of(found().of_two(rows), FOUR, COARSE, TIMES)
    for (k, bend), (other, same) in ((one.bent(rows), two.bent(rows)),):
        assert (bend == same)[0].all()
        assert (k == other)[bend > 0].all()
    assert (one.starts == two.starts).all()
    k, bend = two.bent(rows)
    assert (k[0, : COARSE.left] == 4.0).all()
    assert (k[0, COARSE.left : COARSE.left + 40] == -3.0).all()
    assert (bend[0, : COARSE.left + 40] > 0).all()
