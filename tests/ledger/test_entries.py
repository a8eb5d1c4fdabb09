"""Entries come back as they were written, and nothing else is taken for one."""

import json
import math
from contextlib import suppress
from dataclasses import fields, replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import LedgerCorrupt
from privately.ledger.entries import (
    KINDS,
    OWN,
    Charged,
    ChargeLine,
    Entry,
    Founded,
    Opened,
    Released,
    canonical,
    chained,
    charge_line,
    kind_of,
    read,
    release_members,
    terms,
    written,
)
from tests.ledger.examples import founded

TIME = "2030-01-01T00:00:00.000000Z"
texts = st.text(max_size=20)
data = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


times = st.datetimes().map(lambda moment: f"{moment.isoformat(timespec='microseconds')}Z")
lists = st.lists(texts, max_size=3)
listed = st.dictionaries(texts, lists, max_size=3)
MEMBERS: dict[str, st.SearchStrategy[Any]] = {
    "str": texts,
    "str | None": st.none() | texts,
    "int": st.integers(),
    "bool | None": st.none() | st.booleans(),
    "int | None": st.none() | st.integers(),
    "list[str]": lists,
    "Mapping[str, Any]": st.dictionaries(texts, data, max_size=3),
    "Mapping[str, list[str]]": listed,
    "Mapping[str, list[str]] | None": st.none() | listed,
}
kinds: st.SearchStrategy[Any] = st.sampled_from(sorted(KINDS.values(), key=lambda kind: kind.what))


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    kind: Any = draw(kinds)
    made: Entry = kind(**{field.name: draw(MEMBERS[str(field.type)]) for field in fields(kind)})
    return made


@given(entries(), times, st.data())
def test_members_of_another_kind_are_refused(entry: Entry, time: str, chosen: st.DataObject) -> None:
    field = chosen.draw(st.sampled_from(fields(entry)))
    wrong = chosen.draw(st.sampled_from([1.5, True, [1], {"a": 1}, {"a": [1]}]))
    if str(field.type) == "Mapping[str, Any]" and isinstance(wrong, dict):
        wrong = [wrong]
    if str(field.type) == "bool | None" and wrong is True:
        wrong = 1
    changed: Entry = replace(entry, **{field.name: wrong})  # type: ignore[arg-type]  # that is what is wrong
    with pytest.raises(LedgerCorrupt):
        read(written(changed, time))


@given(entries(), st.sampled_from(["", "zzz", "2030-01-01", "2030-01-01T00:00:00.000000Z\n", 7, None]))
def test_times_that_are_none_are_refused(entry: Entry, time: Any) -> None:
    with pytest.raises(LedgerCorrupt):
        read(written(entry, time))


@given(entries(), times)
def test_they_come_back(entry: Entry, time: str) -> None:
    text = written(entry, time)
    assert read(text) == (entry, time)
    assert text.isascii()
    assert text.count(b"\n") == 1


names = st.text(max_size=8)


@given(
    st.builds(
        ChargeLine,
        analyst=names,
        before=st.none() | st.integers(0, 10**17).map(str),
        body=names,
        key=names,
        label=names,
        own=st.sampled_from(sorted(OWN.values())),
        snapshot=names,
        time=times,
        token=st.none() | names,
    )
)
def test_a_charge_is_written_and_read_in_one_way_only(line: ChargeLine) -> None:
    """The short ways come to what the general ones do."""
    accounts = {"a": ["1"]}
    cost: dict[str, Any] = {"event": {}}
    members = line._asdict()
    time, before, own = members.pop("time"), members.pop("before"), json.loads(members.pop("own"))
    entry = Charged(accounts=accounts, cost=cost, before=None if before is None else int(before), own=own, **members)
    text = terms(accounts, cost) + b"\n" + line.written()
    assert text == written(entry, time)
    assert charge_line(line.written()) == line
    assert line.question == entry.question
    assert kind_of(terms(accounts, cost)) is Charged


@given(names, st.none() | names, st.integers(0, 10**9))
def test_a_release_is_read_in_one_way_only(hashed: str, question: str | None, number: int) -> None:
    text = written(Released(charge=number, hash=hashed, size=number, question=question), TIME)
    first, second = text.split(b"\n")
    assert release_members(second) == (str(number), hashed, question, str(number), TIME)
    assert kind_of(first) is Released


LINE = ChargeLine("a", "7", "b", "k", "", "null", "", TIME, None).written()


@pytest.mark.parametrize(
    "second",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        LINE + b" ",
        LINE.replace(b'"before":7', b'"before": 7'),
        LINE.replace(b'"before":7', b'"before":"7"'),
        LINE.replace(b'"before":7', b'"before":07'),
        LINE.replace(b'"before":7', b'"before":7.0'),
        LINE.replace(b'"before":7', b'"before":true'),
        LINE.replace(b'"analyst":"a"', b'"analyst":null'),
        LINE.replace(b'"analyst":"a"', b'"analyst":"\\u0061"'),
        LINE.replace(b'"analyst":"a"', b'"analyst":"\xc3\xbc"'),
        LINE.replace(b'"analyst":"a"', b'"analyst":"\x01"'),
        LINE.replace(b'"analyst":"a",', b""),
        LINE.replace(b'"analyst":"a"', b'"analyst":"a","more":1'),
        LINE.replace(b'"analyst":"a"', b'"analyst":"b","analyst":"a"'),
        LINE.replace(b'"own":null', b'"own":7'),
        LINE.replace(b'"own":null', b'"own":"null"'),
        b"[" * 100_000,
    ],
)
def test_what_is_no_charge(second: bytes) -> None:
    assert charge_line(LINE).analyst == "a"
    with pytest.raises(LedgerCorrupt):
        charge_line(second)


def test_nine_kinds() -> None:
    assert sorted(KINDS) == sorted(
        ["founded", "opened", "charged", "released", "served", "adjusted", "registered", "clock set", "checkpoint"]
    )


GOOD = written(Opened(account="a", filter={}, reuse="never"), TIME)
CHARGED = written(
    Charged(
        accounts={"a": ["1"]},
        analyst="a",
        token=None,
        cost={},
        key="k",
        before=None,
        body="b",
        own=None,
        snapshot="",
        label="",
    ),
    TIME,
)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"{}\n{}",
        b"[]\n[]",
        b"null\nnull",
        b"7\n7",
        b'{"what":"spent"}\n{}',
        b'{"what":["charged"]}\n{}',
        b"\xff\n\xff",
        GOOD[:-1],
        GOOD + b"\n",
        GOOD + b" {}",
        GOOD.replace(b'"reuse"', b'"refuse"'),
        GOOD.replace(b'"reuse":"never",', b""),
        GOOD.replace(b'"time"', b'"times"'),
        GOOD.replace(b'"what":"opened"', b'"what":"opened","more":1'),
        GOOD.replace(b'"what":"opened"', b'"what":"charged"'),
        CHARGED.replace(b'"accounts"', b'"amounts"'),
        CHARGED.replace(b'"cost":{},', b""),
        CHARGED.replace(b"\n", b""),
        b"[" * 100_000 + b"\n{}",
        b'{"what":"founded"}\n' + b"[" * 100_000,
    ],
)
def test_what_is_no_entry(text: bytes) -> None:
    with pytest.raises(LedgerCorrupt):
        read(text)


@given(st.binary(max_size=60))
def test_any_bytes_are_an_entry_or_refused(text: bytes) -> None:
    with suppress(LedgerCorrupt):
        read(text)


def test_one_spelling() -> None:
    assert canonical({"b": 1, "a": ["ü", None]}) == b'{"a":["\\u00fc",null],"b":1}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(math.nan)


def test_hashes_stand_for_all_before() -> None:
    first = chained(bytes(32), b"one")
    assert first == sha256(bytes(32) + b"one").digest()
    assert chained(first, b"two") != chained(chained(bytes(32), b"other"), b"two")


def test_costs_are_no_floats() -> None:
    with founded() as ledger:
        ledger.account("others", cap=ledger.budget("visits").cap)
        for record in ledger.history():
            text = written(record.entry, record.time)
            assert read(text)[0] == record.entry
            for line in text.split(b"\n"):
                json.loads(line, parse_float=lambda number: pytest.fail(f"a float: {number}"))


def test_a_founded_ledger_says_of_which_version_it_is() -> None:
    assert b'"version":3' in written(Founded(ledger="x"), TIME)
