"""From laws to error bars and back: half-widths cover as stated and no more, and the search is on the safe side."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from privately.errors import InvalidParameter
from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Law, RoundedNormal
from privately.mechanisms.error_bars import half_width, largest, miss_of, most_noise, read_confidence
from tests.mechanisms.number_checks import covers

LAWS: list[Law] = [
    DiscreteLaplace(scale="1/100"),
    DiscreteLaplace(scale="7/3"),
    DiscreteLaplace(scale=2**60),
    DiscreteExponential(scale=10),
    RoundedNormal(standard_deviation="5/2"),
    RoundedNormal(standard_deviation=2**40),
    DiscreteGaussian(variance=30),
]
CONFIDENCES: list[Any] = ["0.001", "0.5", "0.95", "0.999999", Fraction(1, 3)]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("entries", [1, 2, 3, 100, 10**9])
def test_half_widths_cover_as_stated_and_no_more(law: Law, entries: int) -> None:
    for confidence in CONFIDENCES:
        width = half_width(law, confidence, entries)
        assert covers(law, width, entries, confidence)
        assert width == 0 or not covers(law, width - 1, entries, confidence)


def one_entry(law: Law, confidence: Fraction, entries: int) -> int:
    return half_width(law, confidence, 1)


def by_the_union_bound(law: Law, confidence: Fraction, entries: int) -> int:
    return half_width(law, 1 - (1 - confidence) / entries, 1)


def test_twins_do_not_cover_or_are_wider() -> None:
    law, confidence = DiscreteLaplace(scale=10), Fraction(1, 2)
    assert not covers(law, one_entry(law, confidence, 5), 5, confidence)
    assert by_the_union_bound(law, confidence, 5) > half_width(law, confidence, 5)


@pytest.mark.parametrize("nines", [20, 58, 100])
@pytest.mark.parametrize("entries", [1, 10**6, 2**62])
def test_confidences_close_to_one(nines: int, entries: int) -> None:
    """Where all digits of the n-th root are nines, the union bound takes over."""
    law, missing = DiscreteExponential(scale=1), Fraction(1, 10**nines)
    width = half_width(law, 1 - missing, entries)
    assert Fraction(law.tail(width).upper) * entries <= missing * (1 + Fraction(1, 10**9))
    assert math.isclose(width, nines * math.log(10) + math.log(entries), abs_tol=1.001)


@pytest.mark.parametrize("confidence", [0, 1, 2, -1, math.nan, math.inf, "x", None, True])
def test_bad_confidences(confidence: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        half_width(LAWS[0], confidence, 2)
    assert caught.value.field == "confidence"


@pytest.mark.parametrize("entries", [0, -1, 1.0, "2", None, True, 2**62 + 1])
def test_bad_numbers_of_entries(entries: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        half_width(LAWS[0], "0.9", entries)
    assert caught.value.field == "entries"


def below(limit: Fraction) -> tuple[Callable[[Fraction], bool], list[Fraction]]:
    tried: list[Fraction] = []

    def fits(value: Fraction) -> bool:
        tried.append(value)
        return value <= limit

    return fits, tried


@pytest.mark.parametrize("limit", ["1/1000", "0.00101", "1/3", "2.718281828459045235360287", 10**6, 2**59, "1e18"])
def test_the_largest_that_fits(limit: Any) -> None:
    fits, tried = below(Fraction(limit))
    found = largest(fits, lowest=Fraction(1, 1000), highest=Fraction(2**60), field="error")
    assert Fraction(limit) * (1 - Fraction(1, 10**11)) <= found <= Fraction(limit)
    assert found in tried, "it was seen to fit"
    assert len(tried) < 70
    assert found.denominator < 10**20


def test_ends_of_the_search() -> None:
    fits, _ = below(Fraction(2**60))
    assert largest(fits, lowest=Fraction(1), highest=Fraction(2**60), field="error") == 2**60
    fits, _ = below(Fraction(1))
    assert largest(fits, lowest=Fraction(1), highest=Fraction(2**60), field="error") == 1
    fits, _ = below(Fraction(1, 2))
    with pytest.raises(InvalidParameter, match="least noise") as caught:
        largest(fits, lowest=Fraction(1), highest=Fraction(2**60), field="error")
    assert caught.value.field == "error"


def test_the_check_by_tails_is_that_of_the_definition() -> None:
    """P(|X| <= 3)^2 by its closed form."""
    law, q = DiscreteLaplace(scale=2), mpmath.exp(-mpmath.mpf(1) / 2)
    inside = (1 - 2 * q**4 / (1 + q)) ** 2
    assert covers(law, 3, 2, Fraction(str(inside - mpmath.mpf("1e-30"))))
    assert not covers(law, 3, 2, Fraction(str(inside + mpmath.mpf("1e-30"))))


@pytest.mark.parametrize("bad", [0, 1, -1, 2, math.nan, "certain", None])
def test_bad_confidences_are_refused(bad: Any) -> None:
    for read in (read_confidence, miss_of):
        with pytest.raises(InvalidParameter) as caught:
            read(bad)
        assert caught.value.field == "confidence"


def test_confidence_and_miss_make_one() -> None:
    assert read_confidence("0.9") + miss_of("0.9") == 1


def test_most_noise_is_the_largest_whose_interval_is_allowed() -> None:
    found = most_noise(lambda width: 3 * width, 10)
    assert Fraction(10, 3) * (1 - Fraction(1, 10**11)) <= found <= Fraction(10, 3)
    with pytest.raises(InvalidParameter) as caught:
        most_noise(lambda width: width + 11, 10)
    assert caught.value.field == "error"
