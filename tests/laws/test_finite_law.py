"""Finite tables are exact."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.laws import FiniteLaw
from tests.laws.checks import check_bad_questions, check_consistent


def law_of(weights: dict[int, int]) -> FiniteLaw:
    total = sum(weights.values())
    return FiniteLaw(table={k: Fraction(weight, total) for k, weight in weights.items()})


LAWS = (
    st.dictionaries(st.integers(-20, 20), st.integers(0, 10), min_size=1)
    .filter(lambda w: sum(w.values()) > 0)
    .map(law_of)
)


@given(LAWS)
def test_all_is_exact(law: FiniteLaw) -> None:
    masses = dict(law.table)
    for k in range(-22, 23):
        assert tuple(law.pmf(k)) == (masses.get(k, 0),) * 2
        assert tuple(law.cdf(k)) == (sum(mass for j, mass in law.table if j <= k),) * 2
        assert tuple(law.tail(k)) == (sum(mass for j, mass in law.table if j > k),) * 2
    check_consistent(law, range(-22, 23))


@given(LAWS, st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=100))
def test_quantile_is_the_least(law: FiniteLaw, p: Fraction) -> None:
    assert law.quantile(p) == next(k for k in range(-20, 21) if law.cdf(k).lower >= p)
    within = [sum(mass for j, mass in law.table if abs(j) <= w) for w in range(21)]
    assert law.interval(p) == next(w for w in range(21) if within[w] >= p)


@given(LAWS)
def test_values_of_the_law_are_their_own_quantiles(law: FiniteLaw) -> None:
    for k, _ in law.table:
        assert law.quantile(Fraction(law.cdf(k).lower)) == k


def test_order_and_impossible_outcomes_do_not_matter() -> None:
    first = FiniteLaw(table={1: "1/2", 0: "1/2", 7: "0"})
    second = FiniteLaw(table=[(0, 0.5), (1, 0.5)])
    assert first == second
    assert hash(first) == hash(second)
    assert first.table == ((0, Fraction(1, 2)), (1, Fraction(1, 2)))


def test_ends() -> None:
    law = FiniteLaw(table={-3: "1/10", 2: "9/10"})
    assert law.quantile(1) == 2
    assert law.interval(1) == 3
    assert law.interval(0) == 0
    assert law.interval("0.9") == 2


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ({}, "table"),
        ({0: "1/2"}, "table"),
        ({0: 1, 1: 1}, "table"),
        ({0: "0.1", 1: "0.9000001"}, "table"),
        ({0: 0.1, 1: 0.9}, "table"),  # as floats these do not add up to exactly 1
        ({0: "3/2", 1: "-1/2"}, "table[1]"),
        ({0: "x", 1: 1}, "table[0]"),
        ({0: float("nan")}, "table[0]"),
        ({"a": 1}, "table"),
        ({0.5: 1}, "table"),
        ({True: 1}, "table"),
        ([(0, "1/2"), (0, "1/2")], "table"),
        ({10**101: 1}, "table"),
        (None, "table"),
        ("ab", "table"),
        ([1, 2], "table"),
        ([(1, 2, 3)], "table"),
        (3, "table"),
    ],
    ids=repr,
)
def test_bad_tables_are_named(table: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        FiniteLaw(table=table)
    assert caught.value.field == field


def test_a_common_denominator_without_end_is_refused() -> None:
    primes = [p for p in range(10**4, 10**5) if all(p % d for d in range(2, int(p**0.5) + 1))]
    with pytest.raises(InvalidParameter, match="common denominator"):
        FiniteLaw(table={k: Fraction(1, p) for k, p in enumerate(primes)})


def test_bad_questions_are_named() -> None:
    check_bad_questions(FiniteLaw(table={0: 1}), bounded=True)
