"""A head kept elsewhere shows whether anything was undone."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, LedgerCorrupt
from privately.ledger import Ledger, Pin
from tests.ledger.examples import charge, copied, forging, founded, used


@pytest.fixture
def path(tmp_path: Path) -> Path:
    used(tmp_path / "a.ledger")
    return tmp_path / "a.ledger"


def head(path: Path) -> Pin:
    with Ledger.inspect(path) as ledger:
        return ledger.head


def spend(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.charge(charge("more"))


@given(st.binary(min_size=16, max_size=16), st.integers(0, 10**18 - 1), st.binary(min_size=32, max_size=32))
def test_texts(ledger: bytes, number: int, hash_: bytes) -> None:
    pin = Pin(ledger=ledger.hex(), number=number, hash=hash_)
    assert Pin.parse(str(pin)) == pin
    assert Pin.parse(f" {pin}\n") == pin


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        f"privately-ledger:{'0' * 32}:7:{'a' * 63}",
        f"privately-ledger:{'0' * 32}:-7:{'a' * 64}",
        f"privately-ledger:{'0' * 32}:7:{'A' * 64}",
        f"privately-ledger:{'0' * 32}:\u0667:{'a' * 64}",
        f"privately-ledger:{'0' * 32}:7:{'a' * 64}:",
        None,
        b"privately-ledger:",
    ],
)
def test_no_pins(text: str) -> None:
    with pytest.raises(InvalidParameter, match="pin: is not the text of a head"):
        Pin.parse(text)


def test_a_ledger_goes_on_from_its_pins(path: Path) -> None:
    pins = [head(path)]
    for _ in range(3):
        spend(path)
        pins.append(head(path))
    for pin in pins:
        for given_pin in (pin, str(pin)):
            with Ledger.open(path, pin=given_pin) as ledger:
                ledger.check(given_pin)


def test_an_older_copy(path: Path, tmp_path: Path) -> None:
    old = copied(path, tmp_path / "old.ledger")
    spend(path)
    pin = head(path)
    with pytest.raises(LedgerCorrupt, match="does not hold the pinned record 9: an older copy"):
        Ledger.open(old, pin=pin)
    with Ledger.open(old) as ledger:  # without the pin, nothing shows
        assert ledger.budget("visits").entries == 3
        ledger.verify()


def test_another_way_on_from_an_older_copy(path: Path, tmp_path: Path) -> None:
    """The same number of records, or more, but others."""
    old = copied(path, tmp_path / "old.ledger")
    spend(path)
    pin = head(path)
    for _ in range(2):
        spend(old)
        with pytest.raises(LedgerCorrupt, match="does not hold the pinned record 9"):
            Ledger.open(old, pin=pin)


def test_another_ledger(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.ledger"
    used(other)
    with pytest.raises(LedgerCorrupt, match="of another ledger"):
        Ledger.open(path, pin=head(other))


def test_a_ledger_that_is_gone(path: Path, tmp_path: Path) -> None:
    pin = head(path)
    missing = tmp_path / "missing.ledger"
    with pytest.raises(LedgerCorrupt, match="is gone, but its head was pinned"):
        Ledger.open(missing, pin=pin)
    assert not missing.exists()
    with pytest.raises(LedgerCorrupt):
        Ledger.open(":memory:", pin=pin)
    wrong: list[Any] = [None, b"l", "a\0b"]
    for name in wrong:
        with pytest.raises(InvalidParameter, match="path of a file"):
            Ledger.open(name, pin=pin)
    with pytest.raises(InvalidParameter, match="text of a head"):
        Ledger.open(missing, pin=7)  # type: ignore[arg-type]  # that is the point


def test_what_was_changed_after_the_pin(path: Path) -> None:
    pin = head(path)
    spend(path)
    spend(path)
    with forging(path) as connection:
        connection.execute("UPDATE record SET text = CAST(replace(text, 'owner', 'other') AS BLOB) WHERE number = 9")
    with pytest.raises(LedgerCorrupt):
        Ledger.open(path, pin=pin)


def test_a_file_whose_chain_was_computed_again(path: Path) -> None:
    """Whoever can write the file can rewrite all of it; only a pin shows that."""
    pin = head(path)
    forge_cheap_charges(path)
    with Ledger.open(path) as ledger:
        assert str(ledger.budget("visits").spent.parameters["epsilon"]) == "3/100"
    with pytest.raises(LedgerCorrupt, match="does not hold the pinned record"):
        Ledger.open(path, pin=pin)


def forge_cheap_charges(path: Path) -> None:
    from privately.ledger.entries import chained

    with forging(path) as connection:
        before = bytes(32)
        rows: list[Any] = connection.execute("SELECT number, text FROM record ORDER BY number").fetchall()
        for number, text in rows:
            cheap = text.replace(b'["1/10"]', b'["1/100"]').replace(b'"epsilon":"1/10"', b'"epsilon":"1/100"')
            before = chained(before, cheap)
            connection.execute("UPDATE record SET text = ?, hash = ? WHERE number = ?", (cheap, before, number))


def test_a_log_that_is_gone_with_all_records(tmp_path: Path) -> None:
    """Nothing is written where a pin, or whoever only looks, says that there was more: the log can be put back."""
    path, alone = tmp_path / "used", tmp_path / "alone"
    with founded(path) as ledger:
        ledger.charge(charge())
        pin, log = ledger.head, Path(f"{path}-wal").read_bytes()
        alone.write_bytes(path.read_bytes())
    before = alone.read_bytes()
    with pytest.raises(LedgerCorrupt, match="holds no record"):
        Ledger.inspect(alone)
    with pytest.raises(LedgerCorrupt, match="holds no record"):
        Ledger.open(alone, pin=pin)
    assert alone.read_bytes() == before
    Path(f"{alone}-wal").write_bytes(log)
    with Ledger.open(alone, pin=pin) as found:
        assert found.budget("visits").entries == 1
