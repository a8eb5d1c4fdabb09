"""Copies are recognised under the owner's key, and without it a sketch says nothing."""

import copy
import math
import os
import pickle
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, LedgerUnavailable
from privately.ledger import OwnerKey
from privately.ledger.sketches import ENOUGH, KEY_BYTES, PLACES, common, overlap, sketch

KEY, OTHER = OwnerKey(bytes(range(32))), OwnerKey(bytes(range(1, 33)))
PEOPLE = [f"person {at}" for at in range(5_000)]


def test_order_and_repetition_do_not_matter() -> None:
    shuffled = random.Random(1).sample(PEOPLE, len(PEOPLE)) + PEOPLE[:100]
    assert sketch(shuffled, KEY) == sketch(iter(PEOPLE), KEY)


def test_numbers_and_texts() -> None:
    numbers = range(1_000)
    assert sketch(numbers, KEY) == sketch(map(str, numbers), KEY) == sketch(map(float, numbers), KEY)
    assert not overlap(sketch(numbers, KEY), sketch((f"{number}.5" for number in numbers), KEY))
    assert sketch(numbers, KEY) == sketch((str(number).encode() for number in numbers), KEY)
    assert sketch(numbers, KEY) == sketch((Decimal(f"{number}.0") for number in numbers), KEY)
    assert sketch(numbers, KEY) == sketch(np.arange(1_000, dtype=np.float32), KEY)
    sketch([math.nan, math.inf, -math.inf, Decimal("NaN")], KEY)
    sketch(["\ud800", None, (1, "a")], KEY)


@pytest.mark.parametrize("size", [1, 3, 10, 100, 5_000])
def test_copies_are_recognised_where_enough_places_were_taken(size: int) -> None:
    one = sketch(PEOPLE[:size], KEY)
    assert len(one) == 4 * PLACES
    assert overlap(one, sketch(PEOPLE[:size], KEY))
    grown = sketch(PEOPLE[: size + max(1, size // 10)], KEY)
    assert overlap(one, grown) or size <= 3


@pytest.mark.parametrize("size", [50, 500, 5_000])
def test_versions_and_supersets(size: int) -> None:
    people = PEOPLE[:size]
    changed = [*people[size // 10 :], *(f"new {at}" for at in range(size // 10))]
    larger = [*people, *(f"new {at}" for at in range(3 * size))]
    half = people[: size // 2]
    for other in (changed, larger, half):
        assert overlap(sketch(people, KEY), sketch(other, KEY))


def test_the_share_of_places_is_the_share_of_units() -> None:
    """Two tables of which a third of all units are common agree in about a third of the places."""
    one, other = sketch(PEOPLE[:4_000], KEY), sketch(PEOPLE[2_000:] + [f"new {at}" for at in range(1_000)], KEY)
    assert abs(common(one, other) / PLACES - 1 / 3) < 0.12


def test_unrelated_tables_are_not() -> None:
    sketches = [sketch((f"{table}-{at}" for at in range(size)), KEY) for table in range(20) for size in (1, 40, 600)]
    pairs = [
        (one, other)
        for at, one in enumerate(sketches)
        for other in sketches[:at]
        if at // 3 != sketches.index(other) // 3
    ]
    assert len(pairs) > 1_500
    assert max(common(one, other) for one, other in pairs) < ENOUGH


def test_nothing_is_seen_without_the_key() -> None:
    """Under another key the same people give an unrelated sketch; none shows how many there are."""
    for size in (0, 1, 100, 5_000):
        assert common(sketch(PEOPLE[:size], KEY), sketch(PEOPLE[:size], OTHER)) < ENOUGH
        places = sketch(PEOPLE[:size], KEY)
        values = [places[at : at + 4] for at in range(0, len(places), 4)]
        assert len(set(values)) > PLACES - 6  # 256 of 65,536: about half a pair is equal by chance
    assert not overlap(sketch([], KEY), sketch(["a"], KEY))


@given(st.sets(st.text(max_size=8), max_size=40), st.sets(st.text(max_size=8), max_size=40))
def test_common_units_are_what_is_recognised(one: set[str], other: set[str]) -> None:
    if overlap(sketch(one, KEY), sketch(other, KEY)):
        assert one & other or one == other


@pytest.mark.parametrize("units", ["people", b"people", 7, None])
def test_no_units(units: object) -> None:
    with pytest.raises(InvalidParameter, match="units"):
        sketch(units, KEY)  # type: ignore[arg-type]


@pytest.mark.parametrize("secret", [b"", b"short", bytes(33), "x" * 32, None])
def test_no_keys(secret: object) -> None:
    with pytest.raises(InvalidParameter, match="secret: is not 32 bytes"):
        OwnerKey(secret)  # type: ignore[arg-type]


def test_a_key_is_not_shown_or_copied() -> None:
    secret = os.urandom(KEY_BYTES)
    key = OwnerKey(secret)
    assert repr(key) == str(key) == "OwnerKey(...)"
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(InvalidParameter, match="not to be copied"):
            attempt(key)


def test_the_file_of_a_key(tmp_path: Path) -> None:
    path = tmp_path / "owner.key"
    before = os.umask(0)
    try:
        key = OwnerKey.at(path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes() == key.secret
    assert OwnerKey.at(str(path)) == key
    assert OwnerKey.at(tmp_path / "another.key") != key


def test_wrong_files(tmp_path: Path) -> None:
    path = tmp_path / "owner.key"
    OwnerKey.at(path)
    path.chmod(0o640)
    with pytest.raises(InvalidParameter, match="others may read"):
        OwnerKey.at(path)
    path.chmod(0o600)
    path.write_bytes(b"half")
    with pytest.raises(InvalidParameter, match="secret"):
        OwnerKey.at(path)
    with pytest.raises(LedgerUnavailable, match="No such file"):
        OwnerKey.at(tmp_path / "missing" / "owner.key")
    wrong: list[Any] = [None, 7, b"owner.key", "", "a\0b"]
    for one in wrong:
        with pytest.raises(InvalidParameter, match="path of a file"):
            OwnerKey.at(one)


def test_of_those_who_make_a_key_at_once_all_have_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, link, found = tmp_path / "owner.key", os.link, []

    def after_somebody_else(new: Path, file: Path) -> None:
        monkeypatch.setattr(os, "link", link)
        found.append(OwnerKey.at(path))
        link(new, file)

    monkeypatch.setattr(os, "link", after_somebody_else)
    assert [OwnerKey.at(path)] == found
    assert list(tmp_path.iterdir()) == [path]


def test_a_key_appears_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever dies, or has no room, while making one leaves nothing that would be taken for a key."""

    def fails(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(LedgerUnavailable, match="No space"):
        OwnerKey.at(tmp_path / "owner.key")
    assert not list(tmp_path.iterdir())
