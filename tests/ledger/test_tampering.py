"""Whatever is done to a file that was closed: it is noticed, or it changed nothing."""

import random
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from privately.errors import InvalidParameter, LedgerCorrupt, LedgerUnavailable
from privately.guarantees import PureDP
from privately.ledger import Ledger, book
from tests.ledger.examples import charge, content, copied, files, forging, founded
from tests.ledger.forgeries import FORGERIES, HARMLESS
from tests.ledger.verdicts import told, with_care

NOTICED = (LedgerCorrupt, LedgerUnavailable, InvalidParameter)  # the last: the file says that it is another program's


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Charges, answers, lost answers, an adjustment and two checkpoints, in a few dozen pages."""
    path = tmp_path_factory.mktemp("whole") / "a.ledger"
    before, book.CHECKPOINT_EVERY = book.CHECKPOINT_EVERY, 8
    try:
        fill(path)
    finally:
        book.CHECKPOINT_EVERY = before
    return path


def fill(path: Path) -> None:
    with founded(path, cap=5) as ledger:
        ledger.account("claims", cap=ledger.budget("visits").cap)
        ledger.register("2024", lineage="visits")
        for at in range(6):
            lineages = ("visits", "claims") if at % 2 else ("visits",)
            receipt = ledger.charge(charge(f"q{at}", lineages=lineages, key=f"k{at}", analyst="ann"))
            if at != 2:
                ledger.store(receipt, f"answer {at} ".encode() * 150)
        ledger.adjust("visits", cap=ledger.budget("claims").cap, by="owner", reason="no change")
        ledger.register("2025", lineage="visits")
        assert list(ledger.history())[-1].entry.what == "registered"


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    return copied(whole, tmp_path / "a.ledger")


def used_wholly(path: Path) -> list[object]:
    """Opens, verifies, asks everything again and something new; all that was shown."""
    shown: list[object] = []
    with Ledger.open(path) as ledger:
        shown += [ledger.budgets(), ledger.tables(), ledger.verify()]
        for at in range(6):
            lineages = ("visits", "claims") if at % 2 else ("visits",)
            if at != 2:
                shown.append(ledger.charge(charge(f"q{at}", lineages=lineages, key=f"k{at}", analyst="ann")).answer)
                shown.append(ledger.charge(charge(f"q{at}", lineages=lineages, analyst="bob")).answer)
        shown.append(ledger.charge(charge("new", key="new")).charge.query)
    return shown


def test_untouched(path: Path) -> None:
    shown = used_wholly(path)
    assert len(shown) == 14
    assert None not in shown


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries(name: str, path: Path, tmp_path: Path) -> None:
    """Noticed before anything is released, or all is as it was."""
    honest = used_wholly(copied(path, tmp_path / "honest.ledger"))
    untouched = files(path.parent)[path.name]
    with forging(path) as connection:
        connection.execute(FORGERIES[name]).fetchall()
    assert files(path.parent)[path.name] != untouched
    try:
        shown = used_wholly(path)
    except NOTICED:
        return
    assert name in HARMLESS
    assert shown == honest


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_told_alike(name: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a glance or with care, and whether the database is checked meanwhile or afterwards."""
    with forging(path) as connection:
        connection.execute(FORGERIES[name]).fetchall()
    found = [told(path)]
    monkeypatch.setattr("privately.ledger.verifying._LONG", 1)
    found.append(told(path))
    with_care(monkeypatch)
    found.append(told(path))
    assert found == [found[0]] * 3


def test_an_edited_checkpoint_is_noticed_at_once(path: Path) -> None:
    """Opening begins with the last checkpoint, which must be in the chain itself."""
    with forging(path) as connection:
        connection.execute(
            "UPDATE record SET text = CAST(replace(text, 'entries', 'Entries') AS BLOB) WHERE checkpoint IS NOT NULL"
        )
    with pytest.raises(LedgerCorrupt):
        Ledger.open(path)


def test_answers_are_checked_whenever_they_are_given(path: Path) -> None:
    with forging(path) as connection:
        connection.execute("UPDATE answer SET bytes = x'00'")
    with Ledger.open(path) as ledger, pytest.raises(LedgerCorrupt, match="does not verify"):
        ledger.charge(charge("q0", key="k0", analyst="ann"))


def test_records_that_are_removed_while_it_is_open(path: Path) -> None:
    with Ledger.open(path) as ledger:
        assert ledger.budget("visits").entries == 6
        with forging(path) as connection:
            connection.execute("DELETE FROM record WHERE number = (SELECT max(number) FROM record)")
        for attempt in (lambda: ledger.charge(charge("new")), lambda: ledger.budget("visits")):
            with pytest.raises(LedgerCorrupt):
                attempt()


def test_an_older_copy_that_is_written_over_it_while_it_is_open(path: Path, tmp_path: Path) -> None:
    """As `cp` does: it stays the same file."""
    older = tmp_path / "older.ledger"
    with Ledger.open(path) as ledger:
        ledger.backup(older)
        for number in range(20):
            ledger.answer(charge(f"new {number}", cost=PureDP(epsilon="1e-9")), lambda _: bytes(1_000))
    with Ledger.open(path) as ledger:
        entries = ledger.budget("visits").entries
        shutil.copyfile(older, path)
        for attempt in (lambda: ledger.charge(charge("new")), lambda: ledger.budget("visits")):
            with pytest.raises(LedgerCorrupt, match="replaced"):
                attempt()
    assert entries == 26


def damaged(path: Path, expected: list[tuple[object, ...]], honest: list[object]) -> bool:
    """Whether a damage was noticed; if not, all that was ever shown is as it was."""
    try:
        with Ledger.open(path) as ledger:
            ledger.verify()
        found = content(path)
        shown = used_wholly(path)
    except NOTICED:
        return True
    assert found == expected
    assert shown == honest
    return False


@pytest.fixture
def honest(whole: Path, tmp_path: Path) -> tuple[list[tuple[object, ...]], list[object]]:
    expected = content(whole)
    return expected, used_wholly(copied(whole, tmp_path / "honest.ledger"))


def test_a_shorter_file(whole: Path, tmp_path: Path, honest: Any) -> None:
    data = whole.read_bytes()
    rng = random.Random(6)
    lengths = [*range(0, len(data), 4096), *(rng.randrange(len(data)) for _ in range(20))]
    for at, length in enumerate(lengths):
        path = tmp_path / f"{at}.ledger"
        path.write_bytes(data[:length])
        assert damaged(path, *honest), length


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits(seed: int, whole: Path, tmp_path: Path, honest: Any) -> None:
    flips(whole, tmp_path, honest, seed=seed, times=40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_flipped_bits_at_length(seed: int, whole: Path, tmp_path: Path, honest: Any) -> None:
    flips(whole, tmp_path, honest, seed=seed, times=500)


def flips(whole: Path, tmp_path: Path, honest: Any, *, seed: int, times: int) -> None:
    rng, data, noticed = random.Random(seed), whole.read_bytes(), 0
    for _ in range(times):
        changed = bytearray(data)
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path = tmp_path / "flipped.ledger"
        for name in tmp_path.glob("flipped.ledger*"):
            name.unlink()
        path.write_bytes(changed)
        noticed += damaged(path, *honest)
    assert noticed > times // 4


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files as they are while the ledger is open: everything is in the log."""
    path = tmp_path_factory.mktemp("killed") / "a.ledger"
    with founded(path) as ledger:
        for at in range(5):
            ledger.answer(charge(f"q{at}", key=f"k{at}"), lambda _: bytes(100))
        return copied(path, path.with_name("left.ledger"))


def test_a_damaged_log_is_as_if_the_power_had_failed_earlier(killed: Path, tmp_path: Path) -> None:
    """A log ends where it does not verify: what is lost shows against a pin, and never as another record."""
    log = killed.with_name(killed.name + "-wal").read_bytes()
    expected = content(copied(killed, tmp_path / "expected.ledger"))
    with Ledger.open(copied(killed, tmp_path / "pinned.ledger")) as ledger:
        pin = ledger.head
    rng, noticed = random.Random(7), 0
    for at in range(40):
        path = copied(killed, tmp_path / f"{at}.ledger")
        path.with_name(path.name + "-shm").unlink()
        place = rng.randrange(len(log))
        flipped = bytearray(log)
        flipped[place] ^= 1 << rng.randrange(8)
        path.with_name(path.name + "-wal").write_bytes(log[:place] if at % 2 else flipped)
        try:
            with Ledger.open(path, pin=pin) as ledger:
                ledger.verify()
        except NOTICED:
            noticed += 1
        else:
            assert content(path) == expected
        with suppress(*NOTICED), Ledger.open(path) as ledger:
            ledger.verify()
            numbers = [record.number for record in ledger.history()]
            assert numbers == list(range(1, len(numbers) + 1))
            assert all(record in expected for record in content(path))
    assert noticed > 20


def test_replayed_logs(killed: Path, tmp_path: Path) -> None:
    """The log of an earlier state under a later file changes nothing, or is noticed."""
    path = copied(killed, tmp_path / "a.ledger")
    with Ledger.open(path) as ledger:
        ledger.charge(charge("later"))
        pin = ledger.head
    log = path.with_name(path.name + "-wal")
    log.write_bytes(killed.with_name(killed.name + "-wal").read_bytes())
    path.with_name(path.name + "-shm").unlink()
    with pytest.raises(NOTICED):
        Ledger.open(path, pin=pin).verify()


def test_looking_at_a_forged_file_changes_nothing(path: Path) -> None:
    with forging(path) as connection:
        connection.execute("DELETE FROM record WHERE number = 6")
    before = files(path.parent)
    with pytest.raises(LedgerCorrupt), Ledger.inspect(path) as ledger:
        ledger.verify()
    assert files(path.parent) == before
