"""Several answers that are one."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from privately.accounting.ends import between, between_rounded, both, least_of, lowest_of, proved, top_of, worst_of
from privately.errors import Contradiction
from privately.rounding import Interval

ONE, TWO = Interval(1, 4, method="one"), Interval(2, 3, method="two")


def test_the_worst_of_several() -> None:
    assert top_of([ONE, TWO]) is ONE
    assert lowest_of([ONE, None, TWO]) is TWO
    assert list(worst_of([ONE, TWO])) == [2, 4]
    assert worst_of([ONE, TWO]).method == "one"


def test_what_all_allow() -> None:
    assert list(both(ONE, TWO)) == [2, 3]
    assert both(ONE, TWO).method == "two"
    found = least_of([ONE, None, Interval(2.5, 5, method="three"), TWO])
    assert list(found) == [2.5, 3]
    assert found.method == "two"


def test_from_one_to_the_other() -> None:
    assert list(between(ONE, TWO)) == [1, 3]
    assert between(ONE, TWO).method == "upper: two; lower: one"
    assert list(between_rounded(TWO, ONE)) == [1, 3]
    assert between_rounded(TWO, ONE).method == "two, terms rounded"


FAR = Interval(6, 7, method="far")


@pytest.mark.parametrize(
    "together",
    [
        lambda: proved(6, 3, method=""),
        lambda: proved(math.inf, Fraction(1, 3), method=""),
        lambda: both(FAR, TWO),
        lambda: least_of([FAR, TWO]),
        lambda: between(FAR, TWO),
        lambda: between_rounded(TWO, FAR),
    ],
)
def test_ends_that_contradict_each_other_are_no_answer(together: Callable[[], Interval]) -> None:
    with pytest.raises(Contradiction, match=r"is above an upper end .*report"):
        together()


def test_the_least_contradiction_is_told() -> None:
    third = Fraction(1, 3)
    assert list(proved(third, third, method="")) == [third, third]
    with pytest.raises(Contradiction):
        proved(third + Fraction(1, 10**40), third, method="")
