"""`privately budget`, from the words typed to the words printed; it never writes to a ledger."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from privately.cli import main
from privately.guarantees import ApproxDP, PureDP
from privately.ledger import Ledger
from tests.cli.account.running import Done
from tests.ledger.examples import charge, copied, files, forging, used

Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """What `privately budget` does with these words."""
    monkeypatch.setenv("COLUMNS", "120")

    def typed(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["privately", "budget", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Done(status=int(ended.value.code or 0), out=out, err=err)

    return typed


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger with an answered question, and accounts that were not asked."""
    path = tmp_path / "ledgers" / "visits.ledger"
    path.parent.mkdir()
    used(path)
    with Ledger.open(path) as opened:
        opened.account("claims", cap=ApproxDP(epsilon=1, delta="1e-6"))
        opened.account("visits", analyst="ann", cap=PureDP(epsilon="0.5"))
        opened.answer(charge("last", analyst="ann", label="weekly [red]count\x1b[2J"), lambda _: b"42")
    return path


def test_everything_is_shown(run: Run, ledger: Path) -> None:
    before = files(ledger.parent)
    shown = run(ledger, "--verify")
    assert shown.status == 0, shown.err
    for part in (
        "12 records",
        "epsilon 0.4",
        "epsilon 0.6",
        "visits: about 1 more query like your last",
        "visits/ann: about 1 more query like your last",
        "claims: nothing asked yet",
        "promise: ApproxDP with epsilon 1, delta 1e-6, adding or removing one row",
        "can come to at most 73.2 in 100",
        "weekly [red]count\N{REPLACEMENT CHARACTER}[2J",
        "verified: 12 records, 4 charges, 4 answers, ",
    ):
        assert part in shown.out
    assert "\x1b" not in shown.out
    assert shown.err == ""
    assert files(ledger.parent) == before


def test_the_last_records(run: Run, ledger: Path) -> None:
    assert "founded" not in run(ledger).out
    assert "founded" in run(ledger, "--history", 100).out
    data = json.loads(run(ledger, "--json").out)
    assert len(data["history"]) == 10
    assert data["valid"] is None  # nothing was verified
    assert [one["number"] for one in json.loads(run(ledger, "--json", "--history", 3).out)["history"]] == [10, 11, 12]
    none = run(ledger, "--history", 0)
    assert "charged" not in none.out
    assert none.status == 0
    assert run(ledger, "--history", -1).status == 2


def test_for_programs(run: Run, ledger: Path) -> None:
    with Ledger.inspect(ledger) as opened:
        head = opened.head
    data = json.loads(run(ledger, "--json", "--verify", "--pin", head).out)
    assert (data["valid"], data["records"], data["head"], data["pins"]) == (True, 12, str(head), [str(head)])
    assert data["verification"].items() >= {"records": 12, "charges": 4, "answers": 4}.items()
    accounts = {one["account"]: one for one in data["accounts"]}
    assert accounts["visits"]["spent"]["epsilon"] == "2/5"
    assert accounts["visits"]["remaining"]["epsilon"] == "3/5"
    assert accounts["visits/ann"]["more_like_last"] == 1
    assert accounts["claims"]["last"] is None
    assert accounts["claims"]["promise"]["delta"] == "1/1000000"
    last = data["history"][-2]
    assert (last["what"], last["analyst"], last["accounts"]) == (
        "charged",
        "ann",
        {"visits": ["1/10"], "visits/ann": ["1/10"]},
    )


def test_pins(run: Run, ledger: Path, tmp_path: Path) -> None:
    old, pin = copied(ledger, tmp_path / "old.ledger"), tmp_path / "pin.txt"
    assert run(ledger, "--write-pin", pin).status == 0
    with Ledger.open(ledger) as opened:
        opened.charge(charge("later"))
    text = pin.read_text().strip()
    for given in (pin, text):
        assert "pinned: the ledger goes on from record 12" in run(ledger, "--pin", given).out
    assert run(ledger, "--write-pin", pin).status == 0
    assert pin.read_text() != f"{text}\n"
    before = pin.read_bytes()
    for words in ((old, "--pin", pin), (old, "--write-pin", pin)):
        done = run(*words)
        assert done.status == 1
        assert done.out == ""
        assert "does not hold the pinned record 13" in done.err
    assert pin.read_bytes() == before
    assert json.loads(run(old, "--pin", pin, "--json").out)["valid"] is False
    other = tmp_path / "other.ledger"
    used(other)
    assert "of another ledger" in run(other, "--pin", pin).err


def test_wrong_pins(run: Run, ledger: Path, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("dear diary")
    before = files(ledger.parent)
    assert "--pin: is not the text of a head" in run(ledger, "--pin", note).error
    assert "--pin: is not the text of a head" in run(ledger, "--pin", "privately-ledger:7").error
    assert "--pin: is neither a head nor a file" in run(ledger, "--pin", tmp_path / "missing").error
    assert "--write-pin: " in run(ledger, "--write-pin", note).error
    assert "--write-pin: " in run(ledger, "--write-pin", tmp_path / "no" / "folder").error
    link = tmp_path / "link"
    link.symlink_to(ledger)
    for target in (ledger, link, f"{ledger}-wal", f"{ledger}.lock", f"{ledger}-shm"):
        assert "--write-pin: must not be a file of the ledger" in run(ledger, "--write-pin", target).error
    assert note.read_text() == "dear diary"
    assert files(ledger.parent) == before


def test_a_forged_record(run: Run, ledger: Path, tmp_path: Path) -> None:
    with forging(ledger) as connection:
        connection.execute("UPDATE record SET text = CAST(replace(text, '1/10', '1/99') AS BLOB) WHERE number = 3")
    for words in (("--verify",), ("--verify", "--json"), ("--verify", "--write-pin", tmp_path / "pin")):
        done = run(ledger, *words)
        assert done.status == 1
        assert done.err.startswith("error: ")
    assert not (tmp_path / "pin").exists()


@pytest.mark.parametrize("content", [None, b"", b"no ledger" * 1000])
def test_what_is_no_ledger_stays_what_it_is(content: bytes | None, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    before = files(tmp_path)
    done = run(path)
    assert done.status == (2 if content is None else 1)
    assert done.err.count("\n") == 1
    assert files(tmp_path) == before


def test_a_read_only_directory(run: Run, ledger: Path) -> None:
    for path in ledger.parent.iterdir():
        path.chmod(0o444)
    ledger.parent.chmod(0o555)
    try:
        assert run(ledger, "--verify").status == 0
    finally:
        ledger.parent.chmod(0o755)


def test_a_bar_on_a_terminal_only(run: Run, ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert "verifying" in run(ledger, "--verify").err
    monkeypatch.delenv("FORCE_COLOR")
    assert run(ledger, "--verify").err == ""
    assert os.environ["COLUMNS"] == "120"
