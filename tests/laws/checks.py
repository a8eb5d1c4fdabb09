"""What must hold of every law."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.laws import Law
from privately.rounding import Interval
from tests.rounding.truth import encloses

NARROW = Fraction(1, 10**48)
"""Relative width that no answer above 10^-999 may exceed."""

BAD_PARAMETERS: list[Any] = [0, -1, math.nan, math.inf, "x", "", None, True, "1e99999", 10**10_000, [1], 1j]
BAD_OUTCOMES: list[Any] = [0.5, 1.0, "1", None, True, math.nan, Fraction(1), 10**101, -(10**101), 10**10_000]
BAD_LEVELS: list[Any] = [-1, 2, math.nan, "x", None, True, [1]]


def overlap(left: Interval, right: Interval) -> bool:
    return left.lower <= right.upper and right.lower <= left.upper


def difference(left: Interval, right: Interval) -> Interval:
    return Interval(left.lower - right.upper, left.upper - right.lower)


def narrow(found: Interval) -> bool:
    """Narrow, or below what is reported."""
    return found.upper < Fraction(1, 10**999) or found.upper - found.lower <= found.lower * NARROW


def known(found: Interval, value: Fraction, width: float) -> bool:
    """Whether `value` lies inside, and narrowly unless it is below what is reported."""
    return encloses(found, value, width=None if found.upper < Fraction(1, 10**999) else width)


def check_consistent(law: Law, outcomes: Iterable[int]) -> None:
    """Probabilities are probabilities, add up, and are known narrowly."""
    for k in outcomes:
        mass, up_to, above = law.pmf(k), law.cdf(k), law.tail(k)
        for found in (mass, up_to, above):
            assert 0 <= found.lower <= found.upper
            assert found.lower <= 1
            assert narrow(found)
        assert 1 in Interval(up_to.lower + above.lower, up_to.upper + above.upper)
        before, over = law.cdf(k - 1), law.tail(k - 1)
        assert before.lower <= up_to.upper
        assert above.lower <= over.upper
        assert overlap(difference(up_to, before), mass)
        assert overlap(difference(over, above), mass)


def check_symmetric(law: Law, outcomes: Iterable[int]) -> None:
    for k in outcomes:
        assert law.pmf(k) == law.pmf(-k)
        assert law.cdf(k) == law.tail(-k - 1)
    assert 1 in Interval(law.pmf(0).lower + 2 * law.tail(0).lower, law.pmf(0).upper + 2 * law.tail(0).upper)
    assert law.quantile("1/2") == law.interval(0) == 0


def check_quantile(law: Law, probability: Fraction) -> None:
    """The answer reaches the probability and the outcome before it does not, as far as enclosures tell."""
    k = law.quantile(probability)
    if probability <= Fraction(1, 2):
        assert law.cdf(k).lower >= probability > law.cdf(k - 1).upper
    else:
        assert law.tail(k).upper <= 1 - probability < law.tail(k - 1).lower


def check_half_width(law: Law, confidence: Fraction) -> None:
    w = law.interval(confidence)
    assert w >= 0
    outside = [(law.tail(k), law.cdf(-k - 1)) for k in (w, w - 1)]
    assert outside[0][0].upper + outside[0][1].upper <= 1 - confidence
    assert w == 0 or outside[1][0].lower + outside[1][1].lower > 1 - confidence


def check_bad_questions(law: Law, *, bounded: bool = False) -> None:
    for bad in BAD_OUTCOMES:
        for question in (law.pmf, law.cdf, law.tail):
            with pytest.raises(InvalidParameter) as caught:
                question(bad)
            assert caught.value.field == "k"
    for bad in [*BAD_LEVELS, 0] + ([] if bounded else [1]):
        with pytest.raises(InvalidParameter) as caught:
            law.quantile(bad)
        assert caught.value.field == "probability"
    for bad in BAD_LEVELS + ([] if bounded else [1]):
        with pytest.raises(InvalidParameter) as caught:
            law.interval(bad)
        assert caught.value.field == "confidence"
