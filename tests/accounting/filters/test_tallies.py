"""Tallies hold totals within their limits."""

from fractions import Fraction
from typing import Any

import pytest

from privately.accounting.filters.currencies import Currency
from privately.accounting.filters.sums import GRID
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
        (["2"], 0),
        (["-1/2"], 0),
        (["one"], 0),
        ([], 0),
        (["0", "0"], 0),
        ("0", -1),
        ({"0": 1}, 0),
        ([0], 0),
        (["0"], -1),
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
