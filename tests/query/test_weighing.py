"""Weighted noise stays within its widths as often as they say, by the exact law of two noises; so do averages."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from privately.laws import DiscreteLaplace, RoundedNormal
from privately.mechanisms.sums_of_noise import NoiseLaw
from privately.query import weighing
from privately.query.uses import TwoSided, uses
from privately.query.weighing import Shares, error_of_sum, weighted_width
from privately.query.widths import width_of
from tests.mechanisms.enumeration import probability
from tests.query.small_questions import question

LAWS: list[NoiseLaw] = [
    DiscreteLaplace(scale=2),
    DiscreteLaplace(scale="0.7"),
    DiscreteLaplace(scale=8),
    RoundedNormal(standard_deviation=3),
    RoundedNormal(standard_deviation="0.4"),
]
CONFIDENCES = [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)]
PARTS = [Fraction(0), Fraction(1, 200), Fraction(1, 7), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1)]
WINDOW = 110
CLOSE = 1e-9
HALF = Fraction(1, 2)


def chances(law: NoiseLaw) -> Any:
    """How likely every pair of noises is, in a square."""
    one = np.array([float(probability(law, k)) for k in range(-WINDOW, WINDOW + 1)])
    return np.outer(one, one)


FIRST, SECOND = np.meshgrid(*[np.arange(-WINDOW, WINDOW + 1)] * 2, indexing="ij")


def within(law: NoiseLaw, one: Fraction, other: Fraction, error: Fraction | int) -> float:
    """How likely one X + other Y is within the error."""
    sums = float(one) * FIRST + float(other) * SECOND
    return float(chances(law)[np.abs(sums) <= float(error) + CLOSE].sum())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_widths_hold_as_often_as_stated(law: NoiseLaw, confidence: Fraction) -> None:
    for part in PARTS:
        for sign in (-1, 1):
            assert within(law, 1 - part, sign * part, weighted_width(law, confidence, part)) >= confidence - CLOSE


@pytest.mark.parametrize("law", LAWS)
def test_the_widest_holds_for_all_weights_on_each_side(law: NoiseLaw) -> None:
    width, square = weighted_width(law, Fraction(9, 10), Fraction(0)), chances(law)
    for part in PARTS:
        sums = float(1 - part) * FIRST - float(part) * SECOND
        assert square[sums > width + CLOSE].sum() <= 0.05 + CLOSE


def test_the_width_of_even_weights_does_not_hold_for_others() -> None:
    """What is planted: noise that is weighed evenly strays less than any other."""
    law, confidence = LAWS[2], Fraction(9, 10)
    assert within(law, Fraction(1), Fraction(0), weighted_width(law, confidence, HALF)) < confidence - 0.03


@pytest.mark.parametrize("law", [DiscreteLaplace(scale=1000), RoundedNormal(standard_deviation=1000)])
def test_the_more_even_the_narrower(law: NoiseLaw) -> None:
    widths = [weighted_width(law, Fraction(19, 20), Fraction(cell, 256)) for cell in range(129)]
    assert all(one >= other for one, other in pairwise(widths))
    assert widths == [weighted_width(law, Fraction(19, 20), 1 - Fraction(cell, 256)) for cell in range(129)]
    alone, both = width_of(law, Fraction(19, 20)), width_of(law, Fraction(19, 20), 2)
    assert alone <= widths[0] <= alone + 2
    assert widths[-1] <= 0.66 * both


def test_doubts_that_doubles_do_not_hold_take_both_at_once() -> None:
    rare = 1 - Fraction(1, 10**400)
    assert weighted_width(LAWS[0], rare, HALF) == width_of(LAWS[0], rare, 2)


# --- sums and averages ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [(-3, 3), (0, 5), (-4, 0), (2, 3), (-1, 6), (40, 41)])
@pytest.mark.parametrize("law", LAWS)
def test_errors_of_sums_hold_as_often_as_stated(bounds: tuple[int, int], law: NoiseLaw) -> None:
    (use,) = uses(question("mean", low=bounds[0], high=bounds[1]))
    assert isinstance(use, TwoSided)
    width = use.high - use.low
    for confidence in CONFIDENCES:
        total = error_of_sum(use, law, confidence)
        assert within(law, Fraction(use.high, width), Fraction(use.low, width), total) >= confidence - CLOSE


PAIRS = [(0, 30), (1, 9), (4, 26), (20, 20), (60, 1), (150, 90)]


def found_shares(law: NoiseLaw, above: int, below: int, confidence: Fraction) -> float:
    """How likely the ends that are found have the exact share between them."""
    noises = [(k, float(probability(law, k))) for k in range(-26, 27)]
    exact, shares, found = Fraction(above, above + below), Shares(law, confidence), 0.0
    for a, p in noises:
        for b, q in noises:
            low, high, whole = shares.between(above + a, below + b)
            found += p * q * (low <= exact * whole <= high)
    return found


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("law", [DiscreteLaplace(scale=2), RoundedNormal(standard_deviation=4)])
def test_shares_are_found_as_often_as_stated(pair: tuple[int, int], law: NoiseLaw) -> None:
    assert found_shares(law, *pair, Fraction(4, 5)) >= 0.8 - 1e-4


def test_shares_with_the_width_of_even_weights_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is planted: as if what is far from the middle were weighed evenly too."""
    law, confidence = RoundedNormal(standard_deviation=8), Fraction(9, 10)
    narrow = weighted_width(law, confidence, HALF)
    monkeypatch.setattr(weighing, "weighted_width", lambda *given: narrow)
    assert found_shares(law, 900, 20, confidence) < 0.87


def test_of_nothing_every_share_is_possible() -> None:
    for above, below in ((-3, -1), (0, 0), (1, 0), (2, 1)):
        assert Shares(LAWS[0], HALF).between(above, below) == (0, 1, 1)


def test_shares_stay_between_0_and_1() -> None:
    assert Shares(LAWS[0], HALF).between(500, -90) == (410, 410, 410)
    assert Shares(LAWS[0], HALF).between(-90, 500) == (0, 0, 410)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_averages_are_off_by_no_more(law: NoiseLaw, confidence: Fraction) -> None:
    """That of n values by w/n, in steps; where it has none, w was too large for so few."""
    width, square = weighted_width(law, confidence, Fraction(0)), chances(law)
    for reach, count in ((1, 30), (5, 3), (5, 40), (300, 1)):
        if 2 * width >= reach * count:
            continue
        for above in {0, 1, reach, reach * count // 3, reach * count}:
            a, b = np.maximum(above + FIRST, 0), np.maximum(reach * count - above + SECOND, 0)
            share = np.divide(a, a + b, out=np.full(a.shape, np.inf), where=a + b > 0)
            off = np.abs(share - above / (reach * count)) * reach
            assert square[off > width / count + CLOSE].sum() <= 1 - confidence + CLOSE
