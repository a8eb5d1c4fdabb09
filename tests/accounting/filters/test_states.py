"""States are read back exactly, or refused by name."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.accounting.filters import Filter, Odometer
from privately.accounting.filters.states import decoded, encoded
from privately.certificates.encoding import encode
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Neighbors, PureDP, RenyiDP

UNITS = Neighbors.REPLACE.of_unit("patient_id", max_rows=3)
STATEMENTS = [
    PureDP(epsilon="1/3"),
    ApproxDP(epsilon=1, delta="1e-6", neighbors=UNITS),
    ZCDP(rho=0.1),
    ApproxZCDP(rho=1, delta=0),
    RenyiDP(bounds=[("1.5", "0.1"), (8, 2)]),
    GaussianDP(mu=2, neighbors=Neighbors.ADD_REMOVE.times(4)),
]
FILTER = Filter.promising(ApproxDP(epsilon=1, delta="1e-6"), by=ZCDP).spend(ZCDP(rho="0.01")).to_state()
ODOMETER = Odometer(kind=RenyiDP, orders=[2, 8]).spend(ZCDP(rho="0.01")).to_state()


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_are_written_as_certificates_write_them(statement: Any) -> None:
    written = json.loads(json.dumps(encoded(statement)))
    assert written == encode(statement)
    assert decoded(written, "cap") == statement


def test_a_filter_state_is_as_documented() -> None:
    row = {"change": "add_remove", "size": 1, "unit": None, "max_rows": None}
    assert Filter(cap=PureDP(epsilon=1)).spend(PureDP(epsilon="0.1")).to_state() == {
        "what": "filter",
        "version": 1,
        "cap": {"kind": "PureDP", "neighbors": row, "epsilon": "1"},
        "promise": {"kind": "PureDP", "neighbors": row, "epsilon": "1"},
        "spent": ["1/10"],
        "entries": 1,
    }


def places(state: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value of a state."""
    members = state.items() if isinstance(state, dict) else enumerate(state) if isinstance(state, list) else ()
    return [path, *(place for key, value in members for place in places(value, (*path, key)))]


def changed(state: Any, path: tuple[Any, ...], value: Any) -> Any:
    edited = copy.deepcopy(state)
    if not path:
        return value
    inner = edited
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return edited


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["1/0", "0.5", "2/4", "1e400", "-1", "٣", "PureDP", "ApproxDP", "replace"]),
    st.lists(st.text(max_size=2), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@given(data=st.data())
def test_any_edit_is_read_as_written_or_refused(data: st.DataObject) -> None:
    """What is accepted is exactly what would be written: there is one text for one state."""
    read, state = data.draw(st.sampled_from([(Filter.from_state, FILTER), (Odometer.from_state, ODOMETER)]))
    edited = changed(state, data.draw(st.sampled_from(places(state))), data.draw(JUNK))
    try:
        found = read(edited)
    except (InvalidParameter, NoSuchRule):
        return
    assert found.to_state() == edited


def test_one_is_not_read_as_the_other() -> None:
    with pytest.raises(InvalidParameter, match="'filter'"):
        Filter.from_state({**FILTER, "what": "odometer"})
    with pytest.raises(InvalidParameter, match="'odometer'"):
        Odometer.from_state({**ODOMETER, "what": "filter"})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spent", 0), "2/100"),
        (("spent",), ["1/50"]),
        (("orders", 1), "8.0"),
        (("orders",), ["8", "2"]),
        (("orders",), "28"),
        (("kind",), "PureDP"),
        (("kind",), None),
        (("neighbors", "size"), True),
    ],
)
def test_tampered_odometers(path: tuple[Any, ...], value: Any) -> None:
    with pytest.raises(InvalidParameter):
        Odometer.from_state(changed(ODOMETER, path, value))


@pytest.mark.parametrize("name", sorted(FILTER))
def test_every_member_is_needed(name: str) -> None:
    with pytest.raises(InvalidParameter):
        Filter.from_state({key: value for key, value in FILTER.items() if key != name})
    with pytest.raises(InvalidParameter):
        Filter.from_state({**FILTER, "more": 1})


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        (("what",), "odometer", InvalidParameter),
        (("version",), 2, InvalidParameter),
        (("version",), True, InvalidParameter),
        (("spent",), ["1"], InvalidParameter),
        (("spent",), ["0.01"], InvalidParameter),
        (("spent",), ["2/200"], InvalidParameter),
        (("cap", "kind"), "EpsilonDP", InvalidParameter),
        (("cap", "rho"), "1", NoSuchRule),
        (("promise", "epsilon"), "1/2", NoSuchRule),
        (("cap", "neighbors"), {"change": "add_remove"}, InvalidParameter),
        (("cap", "mu"), "1", InvalidParameter),
    ],
)
def test_tampered_states(path: tuple[str, ...], value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        Filter.from_state(changed(FILTER, path, value))
