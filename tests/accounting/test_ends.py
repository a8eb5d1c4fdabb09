"""Several answers that are one."""

from __future__ import annotations

from privately.accounting.ends import between, between_rounded, both, least_of, top_of, worst_of
from privately.rounding import Interval

ONE, TWO = Interval(1, 4, method="one"), Interval(2, 3, method="two")


def test_the_worst_of_several() -> None:
    assert top_of([ONE, TWO]) is ONE
    assert list(worst_of([ONE, TWO])) == [2, 4]
    assert worst_of([ONE, TWO]).method == "one"


def test_what_all_allow() -> None:
    assert list(both(ONE, TWO)) == [2, 3]
    assert both(ONE, TWO).method == "two"
    found = least_of([ONE, None, Interval(2.5, 5, method="three"), TWO])
    assert list(found) == [2.5, 3]
    assert found.method == "two"
    assert list(least_of([Interval(7, 8, method="far"), TWO])) == [3, 3]


def test_from_one_to_the_other() -> None:
    assert list(between(ONE, TWO)) == [1, 3]
    assert between(ONE, TWO).method == "upper: two; lower: one"
    assert list(between(Interval(6, 7, method="far"), TWO)) == [3, 3]
    assert list(between_rounded(TWO, ONE)) == [1, 3]
    assert between_rounded(TWO, ONE).method == "two, terms rounded"
