"""Verification that is divided: what one reading comes to, or nothing at all."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from privately.errors import InvalidParameter, LedgerCorrupt, LedgerUnavailable
from privately.guarantees import ApproxDP, ApproxZCDP, PureDP
from privately.ledger import Ledger, Verification, dividing, segments, settling
from privately.ledger import book as books
from privately.ledger.alike import Alike
from privately.ledger.dividing import put_together, verified_divided
from privately.ledger.segments import Segment, read_segment
from privately.ledger.settling import Counted, Look, Run
from privately.ledger.stores import SQLiteReader
from privately.ledger.verifying import Verifier, verified
from tests.ledger.examples import charge, copied, forging, founded
from tests.ledger.forgeries import FORGERIES
from tests.ledger.rewriting import Texts, rewritten
from tests.ledger.test_verifying import LIES, LIES_OF_SERVING

WRONG = (LedgerCorrupt, LedgerUnavailable, InvalidParameter)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kinds of records: late accounts, answers that come late, charges paid again, requests that were served."""
    path = tmp_path_factory.mktemp("whole") / "l"
    with checkpoints_every(9), founded(path, cap=50) as ledger:
        _use(ledger)
    return path


@contextmanager
def checkpoints_every(number: int) -> Iterator[None]:
    before, books.CHECKPOINT_EVERY = books.CHECKPOINT_EVERY, number
    try:
        yield
    finally:
        books.CHECKPOINT_EVERY = before


def _use(ledger: Ledger) -> None:
    ledger.account("wards", cap=PureDP(epsilon=9), reuse="own")
    receipts = [ledger.charge(charge(f"q{at}", analyst=f"a{at % 3}", key=f"k{at}")) for at in range(6)]
    ledger.register("2024", lineage="visits")
    for receipt in receipts[::-1]:
        ledger.store(receipt, b"answer %d" % receipt.number)
    ledger.account("visits", analyst="a1", cap=PureDP(epsilon=8))
    ledger.answer(charge("w", lineages=("wards",), analyst="a1"), lambda _: b"42")
    ledger.charge(charge("w", lineages=("wards",), analyst="a1", key="served"))
    ledger.charge(charge("q0", analyst="a2", key="served too"))
    ledger.charge(charge("lost", analyst="a2", key="lost"))
    ledger.store(ledger.charge(charge("lost", analyst="a2", key="lost"), again=True), b"found")
    ledger.adjust("visits", cap=PureDP(epsilon=60), by="owner", reason="more")
    for at in range(6):
        ledger.answer(charge(f"more {at}", analyst="a1", cost=PureDP(epsilon=f"0.{at + 1}")), lambda _: b"")
    ledger.accept_clock(by="owner", reason="it is right")


def looking(path: Path) -> Look:
    """As `Reader.look`, in this thread."""
    reader = SQLiteReader(path)

    def look(wanted: Callable[[Any], Any]) -> Any:
        with reader.reading() as session:
            return wanted(session)

    return look


def cut(look: Look, places: Sequence[int]) -> list[Segment]:
    """Segments that end at these places, as processes tell them."""
    return [Segment.from_lines(*read_segment(look, after, upto).to_lines()) for after, upto in pairwise(places)]


def ends(look: Look) -> list[int]:
    """Where a segment may end: at the checkpoints."""
    found = look(lambda session: [row.number for row in session.rows(0) if b'"what":"checkpoint"' in row.text])
    return list(found)


def in_one_go(look: Look) -> Verification | None:
    try:
        return verified(look)
    except WRONG:
        return None


def divided(look: Look, places: Sequence[int]) -> Verification | None:
    try:
        return put_together(look, cut(look, places), look(lambda session: session.head()))
    except WRONG:
        return None


def test_segments_come_to_what_one_reading_does(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After whichever checkpoint the chain is cut, page by page or not; and nowhere else."""
    look = looking(whole)
    found = verified(look)
    assert (found.charges, found.answers) == (15, 14)
    end = found.records
    for places in ([0, end], *([0, at, end] for at in ends(look)), [0, *ends(look), end]):
        assert divided(look, places) == found
    assert {divided(look, [0, at, end]) for at in range(1, end) if at not in ends(look)} == {None}
    monkeypatch.setattr("privately.ledger.verifying._EVERY", 3)
    assert divided(look, [0, *ends(look), end]) == found


def test_segments_of_one_turn_come_to_the_same(tmp_path: Path) -> None:
    """Cut between any two turns, each of which ends with a checkpoint."""
    with checkpoints_every(1), founded(tmp_path / "l", cap=50) as ledger:
        _use(ledger)
    look = looking(tmp_path / "l")
    found = verified(look)
    assert (found.charges, found.answers) == (15, 14)
    for places in (*([0, at, found.records] for at in ends(look)[:-1]), [0, *ends(look)]):
        assert divided(look, places) == found


def serving(change: Callable[[dict[str, Any]], None]) -> Callable[[Texts], None]:
    """A lie about those who were served."""

    def lie(texts: Texts) -> None:
        for terms, particulars in texts:
            if terms["what"] == "served":
                change(particulars)

    lie.__name__ = change.__name__
    return lie


def served_before_the_answer(texts: Texts) -> None:
    """The record of whom it served comes before that of the answer."""
    at = next(at for at, (terms, _) in enumerate(texts) if terms["what"] == "served")
    texts[at - 1], texts[at] = texts[at], texts[at - 1]


@pytest.mark.parametrize(
    "lie", [*LIES, *map(serving, LIES_OF_SERVING), served_before_the_answer], ids=lambda lie: lie.__name__
)
def test_whatever_is_wrong_is_left_to_one_reading(lie: Callable[[Texts], None], whole: Path, tmp_path: Path) -> None:
    """Somebody wrote all of it anew. Segments never say that it is in order where one reading does not."""
    path = copied(whole, tmp_path / "l")
    try:
        rewritten(path, lie)
        look = looking(path)
    except LedgerCorrupt:
        return
    expected = in_one_go(look)
    end = look(lambda session: session.head().number)
    found = [divided(look, [0, at, end]) for at in ends(look)]
    assert set(found) <= {expected, None}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_left_to_one_reading(name: str, whole: Path, tmp_path: Path) -> None:
    path = copied(whole, tmp_path / "l")
    with forging(path) as connection:
        connection.execute(FORGERIES[name]).fetchall()
    try:
        look = looking(path)
        end = look(lambda session: session.head().number)
    except WRONG:
        return
    expected = in_one_go(look)
    assert {divided(look, [0, at, end]) for at in ends(look)} <= {expected, None}


@pytest.fixture(scope="module")
def distinct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Charges each at a cost of its own, in two currencies, with an account that comes late and one that pays too."""
    path = tmp_path_factory.mktemp("distinct") / "l"
    with checkpoints_every(20), founded(path, cap=9) as ledger:
        ledger.account("wards", cap=ApproxDP(epsilon=5, delta="1e-6"))
        for at in range(36):
            if at == 20:
                ledger.account("visits", analyst="a1", cap=PureDP(epsilon=5))
            cost = ApproxZCDP(rho=f"{at + 1}e-4", delta="1e-9") if at % 3 == 2 else PureDP(epsilon=f"{at + 1}/360")
            lineages = ("visits", "wards")[at % 3 // 2 :][:1]
            ledger.answer(charge(f"q{at}", lineages=lineages, analyst=f"a{at % 4}", cost=cost), lambda _: b"42")
        ledger.charge(charge("both", lineages=("visits", "wards"), cost=PureDP(epsilon="1/7")))
    return path


def test_charges_at_costs_of_their_own_are_summed_in_segments(distinct: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = looking(distinct)
    found = verified(look)
    assert found.charges == 37
    monkeypatch.setattr(settling, "_MOST_TERMS", 1)
    end = found.records
    for places in ([0, end], *([0, at, end] for at in ends(look)), [0, *ends(look), end]):
        assert divided(look, places) == found
    segment = read_segment(look, ends(look)[-2], ends(look)[-1] - 1)
    assert len(segment.counted.groups) < 3 < sum(one.charges for one in segment.counted.summed)


def cheaper(texts: Texts) -> None:
    """Less than the cost, to one account."""
    charged = [terms for terms, _ in texts if terms["what"] == "charged" and "visits/a1" in terms["accounts"]]
    charged[-1]["accounts"]["visits/a1"] = ["1/1000"]


def cheaper_for_all(texts: Texts) -> None:
    """Less than the cost, to every account."""
    charged = [terms for terms, _ in texts if terms["what"] == "charged" and "visits/a1" in terms["accounts"]]
    charged[-1]["accounts"] = {name: ["1/1000"] for name in charged[-1]["accounts"]}


def unpaid(texts: Texts) -> None:
    """One of those who have to pay does not."""
    for terms, _ in texts:
        if terms["what"] == "charged":
            terms["accounts"].pop("visits/a1", None)


def above_the_cap(texts: Texts) -> None:
    """All pay, and more than they may."""
    for terms, _ in texts:
        if terms["what"] == "charged" and "epsilon" in terms["cost"]["guarantee"]:
            terms["cost"]["guarantee"]["epsilon"] = "1"
            terms["accounts"] = {name: ["1"] * len(paid) for name, paid in terms["accounts"].items()}


def in_another_currency(texts: Texts) -> None:
    """As many numbers, and of another kind."""
    for terms, _ in texts:
        if terms["what"] == "charged" and "epsilon" in terms["cost"]["guarantee"]:
            terms["cost"]["guarantee"]["kind"] = "ZCDP"
            terms["cost"]["guarantee"]["rho"] = terms["cost"]["guarantee"].pop("epsilon")


def of_other_neighbors(texts: Texts) -> None:
    for terms, _ in texts:
        if terms["what"] == "charged":
            terms["cost"]["guarantee"]["neighbors"]["change"] = "replace"


@pytest.mark.parametrize(
    "lie", [cheaper, cheaper_for_all, unpaid, above_the_cap, in_another_currency, of_other_neighbors]
)
def test_lies_about_costs_are_left_to_one_reading(
    lie: Callable[[Texts], None], distinct: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "_MOST_TERMS", 1)
    path = copied(distinct, tmp_path / "l")
    rewritten(path, lie)
    look = looking(path)
    end = look(lambda session: session.head().number)
    assert in_one_go(look) is None
    assert {divided(look, [0, at, end]) for at in ends(look)} == {None}


def test_segments_of_two_ledgers_are_none(whole: Path, tmp_path: Path) -> None:
    """Each is in order by itself, and the first ends where the second begins: but another chain comes before it."""
    with checkpoints_every(9), founded(tmp_path / "l", cap=50) as ledger:
        _use(ledger)
    look, other = looking(whole), looking(tmp_path / "l")
    end = look(lambda session: session.head())
    at = ends(look)[0]
    mixed = [read_segment(other, 0, at), read_segment(look, at, end.number)]
    with pytest.raises(LedgerCorrupt, match="continue"):
        put_together(look, mixed, end)
    with pytest.raises(LedgerCorrupt, match="end of the chain"):
        put_together(look, [read_segment(look, 0, 20)], end)


def test_a_segment_that_was_cut_off_is_noticed(whole: Path) -> None:
    look = looking(whole)
    end = look(lambda session: session.head())
    segment = read_segment(look, 0, end.number)
    with pytest.raises(LedgerCorrupt, match="cut off"):
        put_together(look, [replace(segment, charged=segment.charged[:-1])], end)


def test_a_segment_that_is_left_out_is_noticed(whole: Path) -> None:
    look = looking(whole)
    end = look(lambda session: session.head())
    with pytest.raises(LedgerCorrupt, match="continue"):
        put_together(look, cut(look, [0, ends(look)[0], end.number])[1:], end)


FAULTS: dict[str, tuple[Any, str, Any]] = {
    "answers that are taken for granted": (dividing, "_answered", lambda look, verifier, noted: None),
    "charges that are not counted": (Run, "take", lambda self, counted: None),
    "whom they served": (Verifier, "check_whom_they_served", lambda self: None),
    "sums that are not counted": (Alike, "take", lambda self, summed: None),
    "charges that are forgotten": (segments._Reading, "counted", lambda self: Counted([], [])),
}


def kept_from_others(texts: Texts) -> None:
    """Somebody was served what the lineage gives only to whoever asked."""
    for terms, particulars in texts:
        if terms["what"] == "served" and particulars["key"] == "served":
            particulars["analyst"] = "a2"


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing both ways, of honest ledgers and of one that lies, finds a division that does less."""
    path = copied(whole, tmp_path / "l")
    monkeypatch.setattr(settling, "_MOST_TERMS", 1)
    if fault == "whom they served":
        rewritten(path, kept_from_others)
    look = looking(path)
    end = look(lambda session: session.head().number)
    places = [0, *ends(look), end]
    expected = in_one_go(look)
    assert divided(look, places) == expected
    monkeypatch.setattr(*FAULTS[fault])
    assert divided(look, places) != expected


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Already short ledgers are divided."""
    monkeypatch.setattr(dividing, "SHORTEST", 10)
    monkeypatch.setattr(dividing, "_processors", lambda: 2)


def no_one_reading(*_: object, **__: object) -> None:
    pytest.fail("read in another way")


@pytest.mark.usefixtures("short")
def test_processes_read_segments(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a ledger that is open and goes on meanwhile; also where warnings are errors."""
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    told: list[tuple[int, int]] = []
    with Ledger.open(copied(whole, tmp_path / "l")) as ledger:
        expected = verified(ledger._reader.look)
        monkeypatch.setattr("privately.ledger.ledger.verified", no_one_reading)

        def progress(done: int, of: int) -> None:
            told.append((done, of))
            ledger.charge(charge(f"meanwhile {len(told)}"))

        assert ledger.verify(progress=progress) == expected
    assert told[-1] == (expected.records, expected.records)


@pytest.mark.usefixtures("short")
def test_what_is_wrong_is_told_by_one_reading(whole: Path, tmp_path: Path) -> None:
    path = copied(whole, tmp_path / "l")
    with forging(path) as connection:
        connection.execute(FORGERIES["a removed answer"]).fetchall()
    with Ledger.inspect(path) as ledger:
        with pytest.raises(LedgerCorrupt) as alone:
            verified(ledger._reader.look)
        with pytest.raises(LedgerCorrupt) as both:
            ledger.verify()
    assert str(both.value) == str(alone.value)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("program", ["", "gone", "no python", "python that fails"])
def test_without_processes_all_is_read_in_one_go(
    program: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, target in [("no python", sys.executable), ("python that fails", shutil.which("false"))]:
        (tmp_path / name).symlink_to(str(target))
    monkeypatch.setattr("sys.executable", program and str(tmp_path / program.replace("gone", "python gone")))
    if program == "no python":
        monkeypatch.setattr(dividing, "Popen", no_one_reading)
    with Ledger.inspect(whole) as ledger:
        assert verified_divided(ledger._reader.look, str(whole), aside=lambda: None) is None
        assert ledger.verify().charges == 15


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("flag", ["-I", "-E", "-s", "-S"])
def test_a_program_that_heeds_less_starts_none_that_heeds_more(flag: str) -> None:
    ask = "import sys; sys.path[:0] = sys.argv[1:]; from privately.ledger import dividing; print(dividing._is_python())"
    command = [sys.executable, flag, "-c", ask]
    told = subprocess.run([*command, *sys.path], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


@pytest.mark.usefixtures("short")
def test_progress_never_goes_back(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a process fails after it told how far it was, all is read again."""
    told: list[int] = []

    def given_up(*_: object, progress: Callable[[int, int], None], **__: object) -> None:
        progress(12, 20)

    monkeypatch.setattr("privately.ledger.ledger.verified_divided", given_up)
    monkeypatch.setattr("privately.ledger.verifying._EVERY", 3)
    with Ledger.inspect(whole) as ledger:
        ledger.verify(progress=lambda done, _: told.append(done))
    assert told[0] == 12
    assert told == sorted(set(told))
    assert len(told) > 2


@pytest.mark.usefixtures("short")
def test_processes_end_with_whoever_is_interrupted(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(dividing, "Popen", Noted)

    def interrupt(_done: int, _of: int) -> None:
        raise KeyboardInterrupt

    with Ledger.inspect(whole) as ledger, pytest.raises(KeyboardInterrupt):
        ledger.verify(progress=interrupt)
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)


def test_short_ledgers_and_those_in_memory_are_read_in_one_go(whole: Path) -> None:
    look = looking(whole)
    assert verified_divided(look, str(whole), aside=lambda: None) is None
    with founded() as ledger:
        assert ledger._store.elsewhere is None
    assert dividing._processors() <= (os.cpu_count() or 1)


def test_ledgers_with_many_accounts_are_read_in_one_go(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[str | None] = []

    def noted(_: Look, place: str | None, **__: Any) -> None:
        places.append(place)

    monkeypatch.setattr("privately.ledger.ledger.verified_divided", noted)
    with Ledger.inspect(whole) as ledger:
        few = ledger.verify()
        monkeypatch.setattr("privately.ledger.ledger.MOST_ACCOUNTS", len(ledger.budgets()) - 1)
        assert ledger.verify() == few
    assert places == [str(whole), None]
