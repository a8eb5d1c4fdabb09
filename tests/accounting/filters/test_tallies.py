"""Tallies hold totals within their limits."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting.filters.currencies import Currency
from privately.accounting.filters.sums import GRID, shortened
from privately.accounting.filters.tallies import Tally
from privately.errors import InvalidParameter
from privately.guarantees import ApproxDP, PureDP

PURE = Currency(kind=PureDP)


def test_limits_and_rest() -> None:
    tally = Tally.empty(Currency(kind=ApproxDP), (Fraction(1), Fraction(1, 10)))
    spent = tally.plus(ApproxDP(epsilon="0.4", delta="0.1"))
    assert spent is not None
    assert (spent.amounts, spent.rest, spent.entries) == (
        (Fraction(2, 5), Fraction(1, 10)),
        (Fraction(3, 5), Fraction(0)),
        1,
    )
    assert spent.plus(PureDP(epsilon="0.7")) is None
    assert spent.plus(ApproxDP(epsilon=0, delta="1e-300")) is None
    assert tally.entries == 0


def test_rounding_up_never_refuses_what_fits_exactly() -> None:
    limit = Fraction(1, 3**400)
    tally = Tally.empty(PURE, (limit,))
    full = tally.plus(PureDP(epsilon=limit))
    assert full is not None
    assert full.amounts == (limit,)
    assert tally.plus(PureDP(epsilon=limit + Fraction(1, GRID**3))) is None


@pytest.mark.parametrize("limit", [Fraction(1, 3**3000), Fraction(3**3000)])
def test_limits_too_long(limit: Fraction) -> None:
    with pytest.raises(InvalidParameter, match="too long"):
        Tally.empty(PURE, (limit,))


@pytest.mark.parametrize(
    ("spent", "entries"),
    [
        (["2"], 1),
        (["-1/2"], 1),
        (["one"], 1),
        ([], 0),
        (["0", "0"], 0),
        ("0", -1),
        ({"0": 1}, 0),
        ([0], 0),
        (["0"], -1),
        (["1/2"], 0),
        (["0"], "1"),
        (["0"], True),
        (["0"], 1.5),
        (["0"], 10**19),
        (None, 0),
    ],
)
def test_states_that_never_were(spent: Any, entries: Any) -> None:
    tally = Tally.empty(PURE, (Fraction(1),))
    with pytest.raises(InvalidParameter):
        tally.restored(spent, entries)


def test_states_come_back() -> None:
    tally = Tally.empty(PURE, (Fraction(1),)).plus(PureDP(epsilon="1/3"))
    assert tally is not None
    assert tally.to_state() == {"spent": ["1/3"], "entries": 1}
    assert Tally.empty(PURE, (Fraction(1),)).restored(["1/3"], 1) == tally


def added_as_fractions(total: Fraction, amount: Fraction, limit: Fraction) -> Fraction | None:
    """What a total is after one more amount, without units."""
    exact = total + amount
    return None if exact > limit else min(shortened(exact), limit)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(3, 7), Fraction(0.1)]),
            st.integers(1, 2**300).map(lambda k: Fraction(k, 2**300 + 1)),
            st.integers(1, 2**600).map(lambda k: Fraction(1, 2**601 + 2 * k + 1)),
        ),
        max_size=20,
    ),
    st.sampled_from([Fraction(1), Fraction(2, 3), Fraction(1, 3**400), Fraction(5, 2**200)]),
)
def test_units_come_to_what_fractions_do(amounts: list[Fraction], limit: Fraction) -> None:
    """Short and long denominators, also after a total was rounded; what fits is the same to the last digit."""
    tally, total = Tally.empty(PURE, (limit,)), Fraction(0)
    for amount in (*amounts, limit - total, Fraction(1, 10**200)):
        expected, found = added_as_fractions(total, amount, limit), tally.plus_amounts((amount,))
        assert (expected is None) == (found is None)
        if expected is not None and found is not None:
            tally, total = found, expected
            assert tally.amounts == (total,)
            assert tally.entries > 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=8), st.sampled_from([2**600 + 187, 10**154, 3**400, 7]))
def test_totals_do_not_depend_on_their_units(counts: list[int], below: int) -> None:
    """A total that was spent to the end of a long limit, which was then raised, goes on as one that was restored."""
    start, limit = Fraction(1, 2 * below), Fraction(10)
    tally = restored = Tally.of(PURE, (limit,), (start,), 1)
    for count in counts:
        found, again = (one.plus_amounts((count * start,)) for one in (tally, restored))
        assert found is not None
        assert found == again
        assert found.amounts == (added_as_fractions(tally.amounts[0], count * start, limit),)
        tally, restored = found, Tally.of(PURE, (limit,), found.amounts, found.entries)


def test_equal_totals_are_equal_in_any_units() -> None:
    tally = Tally.empty(PURE, (Fraction(1),))
    parts, whole = tally, tally.plus_amounts((Fraction(1, 2),))
    for _ in range(2):
        grown = parts.plus_amounts((Fraction(1, 4),))
        assert grown is not None
        parts = grown
    assert whole is not None
    assert parts.scales != whole.scales
    assert parts == whole._replace(entries=2)
    assert parts != whole
    assert hash(parts) == hash(whole._replace(entries=2))


def test_amounts_are_never_negative() -> None:
    tally = Tally.empty(PURE, (Fraction(1),)).plus_amounts((Fraction(1, 2),))
    assert tally is not None
    for amount in (Fraction(-1, 2), Fraction(-1, 3)):
        with pytest.raises(InvalidParameter, match="never negative"):
            tally.plus_amounts((amount,))


@given(
    limit=st.fractions(min_value=0, max_value=3, max_denominator=60),
    spent=st.lists(st.fractions(min_value=0, max_value=1, max_denominator=6), max_size=4),
    amount=st.fractions(min_value=0, max_value=1, max_denominator=6),
    times=st.integers(1, 6),
)
def test_several_entries_at_once(limit: Fraction, spent: list[Fraction], amount: Fraction, times: int) -> None:
    """As one by one; None where they do not fit, or the units are too coarse."""
    tally = Tally.empty(PURE, (limit,))
    for one in spent:
        tally = tally.plus_amounts((one,)) or tally
    one_by_one: Tally | None = tally
    for _ in range(times):
        one_by_one = None if one_by_one is None else one_by_one.plus_amounts((amount,))
    at_once = tally.plus_times((amount,), times)
    coarse = tally.scales[0] % amount.denominator != 0
    assert at_once == (None if coarse else one_by_one)


def test_several_entries_at_once_are_costs() -> None:
    tally = Tally.empty(PURE, (Fraction(1),)).plus_amounts((Fraction(1, 2),))
    assert tally is not None
    assert tally.plus_times((Fraction(-1, 2),), 2) is None
    with pytest.raises(ValueError, match="argument"):
        tally.plus_times((Fraction(1, 2), Fraction(1, 2)), 1)
