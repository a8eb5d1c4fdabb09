"""Events survive being written down exactly, in one way only, and nothing unknown is read."""

from __future__ import annotations

import inspect
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately import accounting as acc
from privately.accounting import encoding
from privately.accounting.encoding import FORM, KINDS, LONGEST_TEXT, OPTIONAL, decode, encode, from_text, to_text
from privately.accounting.events import MAX_DEPTH
from privately.accounting.events.event import Event
from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule, NotSupported
from privately.guarantees import Neighbors

GOLDEN = Path(__file__).parent / "golden" / "events.json"

amounts = st.fractions(min_value=0, max_value=10**9)
noises = st.just(Fraction(0)) | st.fractions(min_value=Fraction(1, 10**9), max_value=10**30)
shares = st.fractions(min_value=0, max_value=1)
wholes = st.integers(1, 10**9)
orders = st.dictionaries(st.fractions(min_value=Fraction(11, 10), max_value=10**6), amounts, min_size=1, max_size=4)


def drawn_from_all(event: acc.Event, size: int) -> acc.Event:
    """A sample of so many of a billion rows; all of them, where a sample of these is inside."""
    try:
        return acc.FixedSizeSample(event=event, size=size, population=10**9)
    except InvalidParameter:
        return acc.FixedSizeSample(event=event, size=10**9, population=10**9)


def leaves(neighbors: Neighbors) -> st.SearchStrategy[Event]:
    who = st.just(neighbors)
    return st.one_of(
        st.builds(acc.Gaussian, noise_multiplier=noises, neighbors=who),
        st.builds(acc.Laplace, scale=noises, neighbors=who),
        st.builds(acc.DiscreteGaussian, variance=noises, sensitivity=wholes, neighbors=who),
        st.builds(acc.DiscreteLaplace, scale=noises, sensitivity=wholes, neighbors=who),
        st.builds(acc.RandomizedResponse, epsilon=amounts, categories=st.integers(2, 10**9), neighbors=who),
        st.builds(acc.Exponential, epsilon=amounts, neighbors=who),
        st.builds(acc.Pure, epsilon=amounts, neighbors=who),
        st.builds(acc.Approx, epsilon=amounts, delta=shares, neighbors=who),
        st.builds(acc.ZCDP, rho=amounts, neighbors=who),
        st.builds(acc.Renyi, bounds=orders, neighbors=who),
        st.builds(acc.GaussianDP, mu=amounts, neighbors=who),
    )


def nested(neighbors: Neighbors) -> st.SearchStrategy[Event]:
    def larger(inner: st.SearchStrategy[Event]) -> st.SearchStrategy[Event]:
        several = st.lists(inner, min_size=1, max_size=3)
        found = [
            st.builds(acc.Sequence, events=several),
            st.builds(acc.Repeat, event=inner, times=st.integers(0, 1000)),
        ]
        if neighbors == Neighbors.ADD_REMOVE:
            found += [st.builds(acc.PoissonSample, event=inner, rate=shares), st.builds(acc.Parallel, events=several)]
        elif neighbors == Neighbors.REPLACE:
            found += [st.builds(drawn_from_all, event=inner, size=wholes)]
        return st.one_of(found)

    return st.recursive(leaves(neighbors), larger, max_leaves=6)


neighbours = [
    Neighbors.ADD_REMOVE,
    Neighbors.REPLACE,
    Neighbors.REPLACE.times(3),
    Neighbors.ADD_REMOVE.of_unit('Zürich \n"id"', max_rows=7),
]
ungrouped = st.one_of([nested(one) for one in neighbours])
events = ungrouped | st.builds(acc.Group, event=ungrouped, size=st.integers(1, 1000))

SMALL = acc.Pure(epsilon=1)
DATA = encode(SMALL)["event"]


@given(events)
def test_round_trip(event: Event) -> None:
    assert decode(encode(event)) == event
    assert decode(encode(event)).neighbors == event.neighbors
    assert from_text(to_text(event)) == event


@given(events)
def test_it_is_json_and_canonical(event: Event) -> None:
    text = to_text(event)
    assert text.isascii()
    assert json.loads(text) == encode(event)
    assert to_text(from_text(json.dumps(encode(event), indent=3))) == text


def test_equal_events_have_one_text() -> None:
    spellings: list[Any] = [0.5, "0.50", "2/4", Fraction(1, 2)]
    assert len({to_text(acc.Gaussian(noise_multiplier=number)) for number in spellings}) == 1
    assert to_text(acc.Renyi(bounds={3: 1, 2: 1})) == to_text(acc.Renyi(bounds=[(2, "1"), ("3.0", 1)]))


def test_numbers_are_text_and_all_fields_are_there() -> None:
    assert encode(acc.PoissonSample(event=acc.DiscreteLaplace(scale="0.1"), rate="0.25")) == {
        "version": 1,
        "event": {
            "kind": "PoissonSample",
            "rate": "1/4",
            "event": {
                "kind": "DiscreteLaplace",
                "scale": "1/10",
                "sensitivity": 1,
                "neighbors": {"change": "add_remove", "size": 1, "unit": None, "max_rows": None},
            },
        },
    }


def test_what_was_written_once_is_read_for_ever() -> None:
    """The file is never regenerated: a change here is a change of what old ledgers mean."""
    listed = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert {entry["data"]["event"]["kind"] for entry in listed} == set(KINDS)
    for entry in listed:
        event = decode(entry["data"])
        assert repr(event) == entry["meaning"]
        assert encode(event) == entry["data"]


def test_left_out_fields_have_their_defaults_for_ever() -> None:
    short = {"kind": "DiscreteLaplace", "scale": "2"}
    assert decode({"version": 1, "event": short}) == acc.DiscreteLaplace(
        scale=2, sensitivity=1, neighbors=Neighbors.ADD_REMOVE
    )
    response = {"kind": "RandomizedResponse", "epsilon": "1", "neighbors": {"change": "replace"}}
    assert decode({"version": 1, "event": response}) == acc.RandomizedResponse(
        epsilon=1, categories=2, neighbors=Neighbors.REPLACE
    )


def test_the_table_lists_every_kind_and_every_field() -> None:
    public = {
        name for name in acc.__all__ if isinstance(getattr(acc, name), type) and issubclass(getattr(acc, name), Event)
    }
    assert set(KINDS) == public - {"Event"}
    for kind, forms in KINDS.values():
        parameters = inspect.signature(kind).parameters
        assert set(parameters) == set(forms)
        optional = {name for name, one in parameters.items() if one.default is not inspect.Parameter.empty}
        assert optional == set(forms) & set(OPTIONAL)


# What is refused


@pytest.mark.parametrize(
    "data",
    [
        {"version": 1, "event": {**DATA, "kind": "pure"}},
        {"version": 1, "event": {**DATA, "kind": "Balls"}},
        {"version": 1, "event": {**DATA, "kind": None}},
        {"version": 1, "event": {**DATA, "kind": ["Pure"]}},
        {"version": 1, "event": {"epsilon": "1"}},
        {"version": 1, "event": {**DATA, "delta": "0"}},
        {"version": 1, "event": {**DATA, "neighbors": {"change": "replace", "colour": "red"}}},
        {"version": 1, "event": DATA, "note": "x"},
        {"version": 1, "event": {"kind": "Repeat", "event": {**DATA, "x": 1}, "times": 2}},
        {"version": 2, "event": DATA},
        {"version": True, "event": DATA},
        {"version": "1", "event": DATA},
        {"event": DATA},
    ],
)
def test_the_unknown_is_refused(data: Any) -> None:
    with pytest.raises(NotSupported):
        decode(data)


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (None, "event"),
        ([], "event"),
        ("Pure", "event"),
        ({"kind": "Pure"}, "event.epsilon"),
        ({**DATA, "epsilon": 1}, "event.epsilon"),
        ({**DATA, "epsilon": 0.5}, "event.epsilon"),
        ({**DATA, "epsilon": None}, "event.epsilon"),
        ({**DATA, "epsilon": "-1"}, "event.epsilon"),
        ({**DATA, "epsilon": "1/0"}, "event.epsilon"),
        ({**DATA, "epsilon": "9" * 5000}, "event.epsilon"),
        ({**DATA, "neighbors": None}, "event.neighbors"),
        ({**DATA, "neighbors": "replace"}, "event.neighbors"),
        ({**DATA, "neighbors": {"change": "swap"}}, "event.neighbors.change"),
        ({**DATA, "neighbors": {"size": "1"}}, "event.neighbors.size"),
        ({"kind": "Repeat", "event": DATA, "times": "3"}, "event.times"),
        ({"kind": "Repeat", "event": DATA, "times": 3.0}, "event.times"),
        ({"kind": "Repeat", "event": DATA, "times": True}, "event.times"),
        ({"kind": "Repeat", "event": DATA, "times": 10**5000}, "event.times"),
        ({"kind": "Sequence", "events": {}}, "event.events"),
        ({"kind": "Sequence", "events": []}, "event.events"),
        ({"kind": "Sequence", "events": [DATA, {**DATA, "epsilon": "x"}]}, "event.events[1].epsilon"),
        ({"kind": "Renyi", "bounds": {"2": "1"}}, "event.bounds"),
        ({"kind": "Renyi", "bounds": [["2"]]}, "event.bounds"),
        ({"kind": "Renyi", "bounds": [[2, "1"]]}, "event.bounds"),
        ({"kind": "Renyi", "bounds": [["1", "1"]]}, "event.bounds.order"),
        ({"kind": "PoissonSample", "event": DATA, "rate": "2"}, "event.rate"),
    ],
)
def test_bad_data_is_named(event: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        decode({"version": 1, "event": event})
    assert caught.value.field == field


def test_events_that_cannot_be_are_not_read() -> None:
    replaced = encode(acc.Pure(epsilon=1, neighbors=Neighbors.REPLACE))["event"]
    with pytest.raises(MixedNeighbors):
        decode({"version": 1, "event": {"kind": "Sequence", "events": [DATA, replaced]}})
    with pytest.raises(NoSuchRule):
        decode({"version": 1, "event": {"kind": "PoissonSample", "event": replaced, "rate": "1/2"}})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        '{"version":1,"event":{"kind":"Pure","epsilon":NaN}}',
        '{"version":1,"event":{"kind":"Pure","epsilon":1e999}}',
        '{"version":1,"event":{"kind":"DiscreteLaplace","scale":"1","sensitivity":Infinity}}',
        '{"version":1,"version":1,"event":{"kind":"Pure","epsilon":"1"}}',
        '{"version":1,"event":{"kind":"Pure","epsilon":"1","epsilon":"2"}}',
        "[" * 200_000,
        '{"version":1,"event":' * 5_000,
        '{"version":1,"event":{"kind":"Repeat","times":' + "9" * 10_000,
        "x" * (LONGEST_TEXT + 1),
        None,
        b"{}",
    ],
    ids=lambda text: str(text)[:30],
)
def test_bad_texts_are_refused(text: Any) -> None:
    with pytest.raises(InvalidParameter):
        from_text(text)


def test_no_more_is_read_than_an_event_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MAX_NODES", 10)
    four = {"kind": "Sequence", "events": [DATA] * 3}
    assert decode({"version": 1, "event": {"kind": "Sequence", "events": [four, four]}}).nodes == 9
    for listed in ([four, four, four], [DATA] * 10, [DATA] * 9 + [four, "not looked at"]):
        with pytest.raises(InvalidParameter, match="more than 10 events"):
            decode({"version": 1, "event": {"kind": "Sequence", "events": listed}})


def test_depth_is_limited_without_recursion_errors() -> None:
    def deep(levels: int) -> dict[str, Any]:
        data: dict[str, Any] = DATA
        for _ in range(levels):
            data = {"kind": "Repeat", "event": data, "times": 1}
        return {"version": 1, "event": data}

    assert decode(deep(MAX_DEPTH - 1)).depth == MAX_DEPTH
    for levels in (MAX_DEPTH, 50_000):
        with pytest.raises(InvalidParameter, match="nested"):
            decode(deep(levels))
    circle: dict[str, Any] = {"kind": "Repeat", "times": 1}
    circle["event"] = circle
    with pytest.raises(InvalidParameter, match="nested"):
        decode({"version": 1, "event": circle})


def test_only_our_own_kinds_are_written() -> None:
    with pytest.raises(NotSupported, match="Event is not a kind of event"):
        encode(Event())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"kind": "Gaussian", "noise_multiplier": "1"}', "data: must be an object with a version and an event"),
        ('{"version": 1}', "data: must be an object with a version and an event"),
        ("[]", "data: must be an object with a version and an event"),
        (json.dumps({"event": DATA}), "events of version None"),
        (" \n", "text: is empty"),
        ('{"version": 1,', "text: not JSON: Expecting property name"),
        ("\ufeff" + to_text(SMALL), "text: begins with a byte order mark; save it as UTF-8 without one"),
    ],
)
def test_what_has_another_form_is_shown_the_right_one(text: str, complaint: str) -> None:
    with pytest.raises((InvalidParameter, NotSupported)) as caught:
        from_text(text)
    assert str(caught.value).startswith(complaint)
    assert str(caught.value).endswith(f"{FORM}.")
    assert from_text(FORM) == acc.Laplace(scale=2)


def test_refusals_are_short_and_about_events() -> None:
    digits = '{"version": 1, "event": {"kind": "Repeat", "times": ' + "9" * 5000 + "}}"
    twice = '{"version": 1, "version": 1}'
    deep = '{"kind":"Repeat","times":1,"event":' * 150 + json.dumps(DATA) + "}" * 150
    for text, complaint in {
        digits: "text: a whole number has thousands of digits; no field takes so many.",
        twice: "text: a field is given twice; give it once.",
        f'{{"version":1,"event":{deep}}}': "event: events nested more than 100 deep.",
    }.items():
        with pytest.raises(InvalidParameter) as caught:
            from_text(text)
        assert str(caught.value) == complaint
