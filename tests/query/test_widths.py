"""Errors hold as often as they say, by the exact law of two noises, and are not much wider than that."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately.laws import DiscreteLaplace, RoundedNormal
from privately.mechanisms.sums_of_noise import NoiseLaw
from privately.plans import BinCounts, Column, Table, Unit
from privately.query.binding import bind
from privately.query.uses import Chosen, TwoSided, uses
from privately.query.widths import error_of_count, half_bin, shown_interval, width_of, width_of_sum
from privately.rounding import Interval
from tests.mechanisms.enumeration import probability
from tests.query.small_questions import question

LAWS: list[NoiseLaw] = [DiscreteLaplace(scale=2), DiscreteLaplace(scale="0.7"), RoundedNormal(standard_deviation=3)]
CONFIDENCES = [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)]
WINDOW = 45


def pair(low: int, high: int) -> TwoSided:
    (use,) = uses(question("mean", low=low, high=high))
    assert isinstance(use, TwoSided)
    return use


def chance(law: NoiseLaw, one: Fraction, other: Fraction, error: Fraction) -> float:
    """How likely one X + other Y is within the error."""
    chances = [(k, float(probability(law, k))) for k in range(-WINDOW, WINDOW + 1)]
    return sum(p * q for (x, p), (y, q) in product(chances, chances) if abs(one * x + other * y) <= error)


@pytest.mark.parametrize("bounds", [(-3, 3), (0, 5), (-4, 0), (2, 3), (-1, 6)])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_errors_hold_as_often_as_stated(bounds: tuple[int, int], law: NoiseLaw, confidence: Fraction) -> None:
    use = pair(*bounds)
    width = use.high - use.low
    count = error_of_count(use, law, confidence)
    assert chance(law, Fraction(1, width), Fraction(1, width), count) >= confidence - 1e-9


@pytest.mark.parametrize("law", LAWS[:2])
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_no_count_has_a_wider_error_than_it_must(law: NoiseLaw, confidence: Fraction) -> None:
    width = width_of_sum(law, confidence)
    assert chance(law, Fraction(1), Fraction(1), Fraction(width - 1)) < confidence
    assert chance(law, Fraction(1), Fraction(0), Fraction(width_of(law, confidence) - 1)) < confidence


@pytest.mark.parametrize("law", LAWS)
def test_the_error_of_a_sum_is_less_than_both_sides_would_have_apart(law: NoiseLaw) -> None:
    apart = 2 * width_of(law, Fraction(95, 100), 2)
    assert width_of_sum(law, Fraction(95, 100)) <= Fraction(9, 10) * apart


def test_the_error_of_one_side_is_not_that_of_a_sum() -> None:
    """What is planted: the noise of one side for a count, which has that of two."""
    law, confidence = LAWS[0], Fraction(9, 10)
    assert chance(law, Fraction(1), Fraction(1), Fraction(width_of(law, confidence))) < confidence


# --- numbers that are shown from a threshold on -----------------------------------------------------------------------


def missed(law: NoiseLaw, threshold: int, units: int, confidence: Fraction, wrong: bool = False) -> float:
    """How often the interval misses the true number among the cases in which it is shown."""
    seen = failed = 0.0
    for number in range(threshold, max(threshold, units) + 4 * WINDOW):
        chance_of_it = float(probability(law, number - units))
        interval = shown_interval(law, threshold, number, confidence)
        if wrong:
            width = width_of(law, confidence)
            interval = Interval(number - width, number + width)
        seen += chance_of_it
        failed += 0 if interval.lower <= units <= interval.upper else chance_of_it
    return failed / seen


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_intervals_hold_among_the_numbers_that_are_shown(law: NoiseLaw, confidence: Fraction) -> None:
    for units in (1, 2, 12, 17, 20, 22, 25, 40):
        assert missed(law, 20, units, confidence) <= float(1 - confidence) * (1 + 1e-9)


def test_the_width_of_the_noise_does_not_hold_among_them() -> None:
    """What is planted: of numbers that are shown although they are small, the noise was large."""
    assert missed(LAWS[0], 20, 12, Fraction(9, 10), wrong=True) > 0.9


def test_far_above_the_threshold_it_is_nearly_the_width_of_the_noise() -> None:
    for law in LAWS:
        found = shown_interval(law, 20, 1000, Fraction(95, 100))
        width = width_of(law, Fraction(95, 100))
        assert 1000 - found.lower == found.upper - 1000
        assert width <= found.upper - 1000 <= width + 1


def test_just_above_the_threshold_little_is_known() -> None:
    assert shown_interval(LAWS[0], 20, 20, Fraction(95, 100)).lower == 1


@pytest.mark.parametrize("law", [DiscreteLaplace(scale=7), RoundedNormal(standard_deviation=9)])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(4, 5), Fraction(9, 10)])
def test_no_number_is_left_out_that_a_test_would_not_reject(law: NoiseLaw, confidence: Fraction) -> None:
    """By its definition: all numbers of units for which neither tail of what is shown is as rare as half the doubt."""
    threshold, half = 30, float(1 - confidence) / 2
    for units in (1, 9, 25, 30, 36, 60, 75, 90, 110, 140):
        chances = [float(probability(law, number - units)) for number in range(threshold, 260)]
        total, below = sum(chances), 0.0
        for number, chance_of_it in zip(range(threshold, 260), chances, strict=True):
            above = total - below
            below += chance_of_it
            interval = shown_interval(law, threshold, number, confidence)
            if above > half * total * (1 + 1e-9) and below > half * total * (1 + 1e-9):
                assert interval.lower <= units <= interval.upper


# --- bins -------------------------------------------------------------------------------------------------------------


def binned(argument: str = "x", **declared: Any) -> BinCounts:
    table = Table(name="t", columns=(Column(name="x", **declared),), unit=Unit())
    (use,) = uses(bind(f"SELECT MEDIAN({argument}) AS m FROM t", {"t": table}))
    assert isinstance(use, Chosen)
    return use.tally


@pytest.mark.parametrize("resolution", [2, 3, 5, 7])
def test_no_whole_number_is_farther_from_the_middle_of_its_bin_and_one_is_as_far(resolution: int) -> None:
    tally = binned(type="integer", bounds=(0, 20), resolution=resolution)
    places = [math.floor((x - tally.lower) / tally.width) for x in range(21)]
    middles = [tally.lower + (place + Fraction(1, 2)) * tally.width for place in places]
    farthest = max(abs(min(max(middle, Fraction(0)), Fraction(20)) - x) for x, middle in enumerate(middles))
    assert farthest == half_bin(tally) > 0


@pytest.mark.parametrize(
    ("declared", "half"),
    [
        ({"type": "real", "bounds": (0, 10)}, 0),
        ({"type": "real", "bounds": (0, 10), "resolution": 10}, 5),
        ({"type": "real", "bounds": (0, 10), "resolution": 3}, Fraction(10, 8)),
        ({"type": "real", "bounds": (0, 10), "resolution": "0.0001"}, 0),
        ({"type": "integer", "bounds": (0, 10)}, 0),
        ({"type": "integer", "bounds": (0, 65_536)}, 0),
        ({"type": "integer", "bounds": (0, 10**9)}, 0),
    ],
)
def test_only_bins_that_are_coarser_than_usual_are_told(declared: dict[str, Any], half: int) -> None:
    assert half_bin(binned(**declared)) == half


def test_the_bin_of_a_constant_is_the_constant() -> None:
    assert half_bin(binned("CASE WHEN x > 1 THEN 2.5 ELSE 2.5 END", type="real", bounds=(0, 10))) == 0
