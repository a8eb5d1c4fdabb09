"""Statements survive being written down, exactly."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates import decode, encode
from privately.errors import CertificateInvalid
from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    GaussianDP,
    Groups,
    Guarantee,
    Neighbors,
    PureDP,
    RenyiDP,
    Rows,
    ScoreSpread,
    Sensitivity,
    UnitKeys,
)

amounts = st.fractions(min_value=0, max_value=10**9)
deltas = st.fractions(min_value=0, max_value=1)
units = st.builds(
    Neighbors.of_unit,
    st.sampled_from([Neighbors.ADD_REMOVE, Neighbors.REPLACE]),
    st.text(min_size=1, max_size=20),
    max_rows=st.none() | st.integers(1, 10**9),
)
neighbors = st.sampled_from([Neighbors.ADD_REMOVE, Neighbors.REPLACE, Neighbors.REPLACE.times(3)]) | units
orders = st.dictionaries(st.fractions(min_value=Fraction(11, 10), max_value=10**6), amounts, min_size=1, max_size=5)
statements = st.one_of(
    st.builds(PureDP, epsilon=amounts, neighbors=neighbors),
    st.builds(ApproxDP, epsilon=amounts, delta=deltas, neighbors=neighbors),
    st.builds(ZCDP, rho=amounts, neighbors=neighbors),
    st.builds(ApproxZCDP, rho=amounts, delta=deltas, neighbors=neighbors),
    st.builds(RenyiDP, bounds=orders, neighbors=neighbors),
    st.builds(GaussianDP, mu=amounts, neighbors=neighbors),
)


@given(statements)
def test_round_trip(statement: Guarantee) -> None:
    assert decode(encode(statement)) == statement


def test_stabilities() -> None:
    person = Neighbors.ADD_REMOVE.of_unit("person")
    who = {"change": "add_remove", "size": 1, "unit": "person", "max_rows": None}
    limits: dict[str, Any] = {"rows": 3, "groups": 2, "rows_per_group": 1}
    assert encode(Rows(**limits, neighbors=person)) == {"kind": "Rows", "neighbors": who, **limits}
    grouped = Groups(**limits, listed=None, neighbors=person)
    assert encode(grouped) == {"kind": "Groups", "neighbors": who, **limits, "listed": None}
    moved = Sensitivity(value="1/3", norm="L2", neighbors=person)
    assert encode(moved) == {"kind": "Sensitivity", "neighbors": who, "norm": "L2", "value": "1/3"}
    assert encode(UnitKeys(keys=2, neighbors=person)) == {"kind": "UnitKeys", "neighbors": who, "keys": 2}
    spread = ScoreSpread(value=Fraction(6), neighbors=person)
    assert encode(spread) == {"kind": "ScoreSpread", "neighbors": who, "value": "6"}
    with pytest.raises(CertificateInvalid):
        decode(encode(moved))


def test_numbers_are_strings() -> None:
    assert encode(ApproxDP(epsilon="0.5", delta="1e-6")) == {
        "kind": "ApproxDP",
        "neighbors": {"change": "add_remove", "size": 1, "unit": None, "max_rows": None},
        "epsilon": "1/2",
        "delta": "1/1000000",
    }


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "PureDP"},
        {"kind": "Pure", "neighbors": {}, "epsilon": "1"},
        {"kind": "PureDP", "neighbors": {"change": "swap"}, "epsilon": "1"},
        {"kind": "PureDP", "neighbors": {}, "epsilon": "-1"},
        {"kind": "PureDP", "neighbors": {}, "epsilon": "1", "delta": "0"},
        {"kind": "PureDP", "neighbors": 3, "epsilon": "1"},
    ],
)
def test_nonsense_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(CertificateInvalid):
        decode(data)
