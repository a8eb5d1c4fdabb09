"""The file of a ledger: made whole or not at all, kept when the disk fails, and shared by whoever takes turns."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from privately.errors import InvalidParameter, LedgerCorrupt, LedgerUnavailable, PrivatelyError
from privately.guarantees import PureDP
from privately.ledger import Ledger
from privately.ledger.stores import Head, Row, SQLiteStore, schema, sqlite
from privately.ledger.stores.sqlite import SQLiteSession
from tests.ledger.examples import BESIDE, charge, content, copied, files, forging, founded, used
from tests.ledger.stores.failing import Failing, failing_disk

ROW = Row(1, bytes(32), b"text", key="k", question=None, charge=None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


@pytest.fixture
def disk(request: pytest.FixtureRequest) -> Iterator[Failing]:
    with failing_disk(f"failing {request.node.name}") as made:
        yield made


def never(_: object) -> bytes:
    pytest.fail("it was run")


def test_rows_come_back(path: Path) -> None:
    store = SQLiteStore(path)
    rows = [
        ROW,
        Row(2, b"h2", b"t2", None, "q", 1),
        Row(3, b"h3", b"t3", "k", None, None),
        Row(4, b"h4", b"", None, "q", 3),
    ]
    with store.writing() as session:
        for row in rows:
            session.append(row, answer=b"answer" if row.charge else None, checkpoint=row.number == 3)
    with store.reading() as session:
        assert list(session.rows(0)) == rows
        assert list(session.rows(1, 3)) == rows[1:3]
        assert session.head() == Head(4, b"h4")
        assert session.row(2) == rows[1]
        assert session.latest(key="k") == rows[2]
        assert session.latest(question="q") == rows[3]
        assert session.latest(charge=1) == rows[1]
        assert session.checkpoint() == 3
        assert (session.answer(2), session.answer(3)) == (b"answer", None)
    store.close()


def fail_after(session: SQLiteSession) -> None:
    session.append(ROW)
    raise ZeroDivisionError


def test_a_failed_turn_leaves_nothing(path: Path) -> None:
    store = SQLiteStore(path)
    with pytest.raises(ZeroDivisionError), store.writing() as session:
        fail_after(session)
    with store.reading() as session:
        assert session.head().number == 0
    store.close()


def test_rows_are_never_changed_or_removed(path: Path) -> None:
    used(path)
    connection = apsw.Connection(str(path))
    for statement in (
        "DELETE FROM record",
        "UPDATE record SET text = x''",
        "DELETE FROM answer",
        "UPDATE answer SET bytes = x''",
    ):
        with pytest.raises(apsw.ConstraintError, match="are never"):
            connection.execute(statement)
    connection.close()


def test_after_closing_the_file_alone_is_the_ledger(path: Path, tmp_path: Path) -> None:
    used(path)
    alone = tmp_path / "alone.ledger"
    alone.write_bytes(path.read_bytes())
    with Ledger.open(alone) as ledger:
        assert ledger.verify().charges == 3


def test_settings(path: Path) -> None:
    store = SQLiteStore(path)
    for connection in (store._writer, store._reader):
        assert connection.pragma("journal_mode") == "wal"
        assert connection.pragma("synchronous") == 2
        assert connection.pragma("wal_autocheckpoint") == 0
    store.close()


def test_two_handles_and_two_names_for_one_directory(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path)
    with founded(path) as one, founded(link) as other:
        one.charge(charge("1"))
        other.charge(charge("2"))
        assert one.budget("visits").entries == other.budget("visits").entries == 2
    assert not (tmp_path / "link.lock").exists()
    assert not (tmp_path / "link-wal").exists()


def test_a_second_name_is_refused(path: Path, tmp_path: Path) -> None:
    used(path)
    other = tmp_path / "other.ledger"
    with Ledger.open(path) as ledger:
        os.link(path, other)
        with pytest.raises(LedgerUnavailable, match="has 2 names"):
            ledger.answer(charge("more"), never)
        with pytest.raises(LedgerUnavailable, match="has 2 names"):
            Ledger.open(other)
        assert not (tmp_path / "other.ledger-wal").exists()
        other.unlink()
        ledger.charge(charge("more"))


def test_wrong_paths(tmp_path: Path) -> None:
    for wrong, words in ((tmp_path, "is no file"), (tmp_path / "no" / "folder", "there is no directory")):
        with pytest.raises(LedgerUnavailable, match=words):
            Ledger.open(wrong)
    with pytest.raises(LedgerUnavailable, match="is no file"):
        Ledger.open(os.devnull)
    assert not Path(f"{os.devnull}.lock").exists()
    for none in ("", "a\0b", 7, None, b"bytes"):
        with pytest.raises(InvalidParameter, match="path"):
            Ledger.open(none)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_ledger(tmp_path: Path) -> None:
    empty, text, other, early = (tmp_path / name for name in ("empty", "text", "other", "early"))
    empty.touch()
    text.write_bytes(b"no database at all " * 500)
    connection = apsw.Connection(str(other))
    connection.execute("CREATE TABLE birds (name)")
    connection.close()
    used(early)
    connection = apsw.Connection(str(early))
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    before = {name: found for name, found in files(tmp_path).items() if not name.endswith((".lock", "-shm", "-wal"))}
    for wrong, fault, words in (
        (empty, LedgerCorrupt, "is empty"),
        (text, LedgerCorrupt, "is damaged or no ledger"),
        (other, InvalidParameter, "is a database of another program"),
        (early, LedgerUnavailable, "is a ledger of form 2, not 3"),
    ):
        with pytest.raises(fault, match=words):
            Ledger.open(wrong)
    after = files(tmp_path)
    assert {name: after[name][2] for name in before} == {name: found[2] for name, found in before.items()}
    assert not {f"{name.name}{suffix}" for name in (empty, text, other) for suffix in BESIDE[1:]} & after.keys()


def test_the_name_of_what_was_no_ledger_may_be_used(path: Path) -> None:
    """Its lock says that there was a ledger only where there was one."""
    used(path)
    lock = path.with_name(path.name + ".lock")
    lock.unlink()
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA user_version = 7").fetchall()
    connection.close()
    with pytest.raises(LedgerUnavailable):
        Ledger.open(path)
    assert lock.read_bytes() == b""


def test_a_ledger_without_its_tables(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION}; PRAGMA user_version = {schema.VERSION}")
    connection.execute("CREATE TABLE birds (name)")
    connection.close()
    with pytest.raises((LedgerUnavailable, LedgerCorrupt)):
        Ledger.open(path)


@pytest.mark.parametrize("left", [".lock", "-wal"])
def test_a_ledger_that_is_gone_is_not_begun_again(left: str, path: Path) -> None:
    used(path)
    for suffix in BESIDE:
        if suffix != left:
            path.with_name(path.name + suffix).unlink()
    with pytest.raises(LedgerCorrupt, match=f"is gone, but not a.ledger{left}"):
        Ledger.open(path)
    assert not path.exists()


def test_a_ledger_removed_while_it_is_open(path: Path) -> None:
    with founded(path) as ledger:
        path.unlink()
        with pytest.raises((LedgerCorrupt, LedgerUnavailable)):
            ledger.answer(charge(), never)
        with pytest.raises(LedgerCorrupt, match="is gone"):
            Ledger.open(path)


def test_an_old_backup_put_back_while_it_is_open(path: Path, tmp_path: Path) -> None:
    used(path)
    old = copied(path, tmp_path / "old.ledger")
    with Ledger.open(path) as ledger:
        ledger.charge(charge("more"))
        old.replace(path)
        with pytest.raises(LedgerCorrupt, match="was replaced or removed"):
            ledger.answer(charge("still more"), never)
        with pytest.raises(LedgerCorrupt):
            ledger.answer(charge("still more"), never)


@pytest.mark.parametrize("times", [3, 5, 60])
@pytest.mark.parametrize("log", [True, False])
def test_an_old_backup_written_over_it_while_it_is_open(log: bool, times: int, path: Path) -> None:
    """The same file, so that only its content shows it: it is noticed, or what was spent since is still counted."""
    with founded(path, cap=100):
        pass
    old = path.read_bytes()
    ledger = Ledger.open(path)
    for at in range(times):
        ledger.answer(charge(f"q{at}"), lambda _: bytes(1000))
    ledger._store._log.carry_all_over()  # type: ignore[attr-defined]
    for suffix, data in (("", old), ("-wal", b""))[: 1 + log]:
        with path.with_name(path.name + suffix).open("r+b") as file:
            file.truncate()
            file.write(data)
    charged = times
    for at in range(5):
        with suppress(LedgerCorrupt, LedgerUnavailable):
            ledger.charge(charge(f"still more {at}"))
            charged += 1
            assert ledger.budget("visits").entries == charged
    ledger.close()
    with suppress(LedgerCorrupt, LedgerUnavailable), Ledger.open(path) as again:
        assert again.verify().charges == charged or charged == times


def test_a_writer_that_bypasses_the_lock_can_delay(path: Path) -> None:
    with founded(path, patience=0.2) as ledger:
        before = ledger.head
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="something else is writing"):
            ledger.answer(charge(), never)
        assert ledger.head == before
        other.execute("ROLLBACK")
        other.close()
        ledger.charge(charge())
        assert ledger.verify().charges == 1


@pytest.mark.parametrize("number", [3, 7, 1_000_000])
def test_a_writer_that_bypasses_the_lock_cannot_deceive(number: int, path: Path) -> None:
    with founded(path) as ledger:
        other = apsw.Connection(str(path))
        other.execute("INSERT INTO record (number, hash, text) VALUES (?, ?, ?)", (number, bytes(32), b"{}\n{}"))
        other.close()
        for attempt in (lambda: ledger.answer(charge(), never), lambda: ledger.budget("visits"), ledger.verify):
            with pytest.raises(LedgerCorrupt):
                attempt()
    with pytest.raises(LedgerCorrupt):
        Ledger.open(path)


@pytest.mark.parametrize("fault", [apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.NoMemError])
@pytest.mark.parametrize("after", [0, 1, 2, 5])
def test_a_disk_that_fails(fault: type[apsw.Error], after: int, path: Path, disk: Failing) -> None:
    ledger = Ledger(SQLiteStore(path, vfs=disk.name))
    ledger.account("visits", cap=PureDP(epsilon=1))
    ledger.charge(charge("first"))
    disk.fail(fault, after=after)
    charged = 1
    for at in range(3):
        try:
            ledger.charge(charge(f"failing {at}"))
        except LedgerUnavailable:
            continue
        charged += 1
    disk.fail(None)
    assert ledger.budget("visits").entries == charged < 4
    ledger.charge(charge("last"))
    assert ledger.verify().charges == charged + 1
    ledger.close()
    with Ledger.open(path) as again:
        assert again.verify().charges == charged + 1


def test_a_sync_that_fails_is_no_success(path: Path, disk: Failing) -> None:
    ledger = Ledger(SQLiteStore(path, vfs=disk.name))
    ledger.account("visits", cap=PureDP(epsilon=1))
    receipt = ledger.charge(charge())
    disk.fail(apsw.IOError, syncs_only=True)
    with pytest.raises(LedgerUnavailable, match="the disk failed"):
        ledger.store(receipt, b"42")
    with pytest.raises(LedgerUnavailable, match="the disk failed"):
        ledger.answer(charge("another"), never)
    disk.fail(None)
    ledger.store(receipt, b"42")
    assert ledger.verify().answers == 1
    ledger.close()


LIMITED = """
import resource, sys
from privately.errors import LedgerUnavailable
from privately.ledger import Ledger
from tests.ledger.examples import charge
ledger = Ledger.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
done = 0
try:
    while done < 500:
        ledger.answer(charge(str(done)), lambda _: b"x" * 1000)
        done += 1
except LedgerUnavailable as fault:
    print(fault)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
ledger.answer(charge("last"), lambda _: b"y")
found = ledger.verify()
assert 0 < done < 500 and done + 1 <= found.charges <= done + 2, (done, found)
assert found.answers == done + 1, (done, found)
ledger.close()
"""


def test_a_disk_without_room(path: Path) -> None:
    with founded(path, cap=100):
        pass
    size = str(200_000)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), size], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "the disk" in done.stdout
    with Ledger.open(path) as ledger:
        assert ledger.verify().answers > 1
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_no_room_for_a_new_ledger(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger appears whole, or not at all: a failure leaves nothing, and the next try succeeds."""

    def full(connection: apsw.Connection) -> None:
        raise apsw.FullError

    with monkeypatch.context() as patched:
        patched.setattr(sqlite, "found", full)
        with pytest.raises(LedgerUnavailable, match="the disk is full"):
            Ledger.open(path)
    assert [name.name for name in path.parent.iterdir()] == ["a.ledger.lock"]
    with founded(path) as ledger:
        assert ledger.verify().records == 2


def without_rights(run: Callable[[], None]) -> None:
    """Runs a function in a process that is not root."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            run()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert status == 0


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that others may look into."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_files_and_directories_that_may_not_be_written(public: Path) -> None:
    path = public / "a.ledger"
    used(path)
    for name in public.iterdir():
        name.chmod(0o444)
    public.chmod(0o555)
    before = content(path)

    def opened() -> None:
        with pytest.raises(LedgerUnavailable, match="Permission denied"):
            Ledger.open(path)
        with pytest.raises(LedgerUnavailable, match="Permission denied"):
            Ledger.open(public / "new.ledger")
        with Ledger.inspect(path) as ledger:
            assert ledger.verify().charges == 3
        assert sorted(name.name for name in public.iterdir()) == sorted(path.name + suffix for suffix in BESIDE)

    without_rights(opened)
    public.chmod(0o777)
    path.with_name(path.name + ".lock").chmod(0o666)

    def file_only() -> None:
        with pytest.raises(LedgerUnavailable, match=r"may only be read|cannot be opened"):
            Ledger.open(path).charge(charge("more"))

    without_rights(file_only)
    assert content(path) == before


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_must_open_its_own(path: Path) -> None:
    with founded(path) as ledger:
        child = os.fork()
        if child == 0:
            try:
                for attempt in (lambda: ledger.charge(charge()), lambda: ledger.budget("visits"), ledger.verify):
                    with pytest.raises(LedgerUnavailable, match="was forked"):
                        attempt()
                ledger.close()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        ledger.charge(charge())
        assert ledger.verify().charges == 1


def test_after_closing(path: Path) -> None:
    for place in (path, ":memory:"):
        ledger = founded(place)
        receipt = ledger.charge(charge())
        ledger.close()
        for attempt in (
            lambda: ledger.charge(charge()),  # noqa: B023 - called at once
            lambda: ledger.store(receipt, b"42"),  # noqa: B023
            lambda: ledger.budget("visits"),  # noqa: B023
            ledger.verify,
            lambda: list(ledger.history()),  # noqa: B023
        ):
            with pytest.raises(LedgerUnavailable):
                attempt()
        ledger.close()


def test_forging_is_noticed_by_our_triggers_only_where_they_are(path: Path) -> None:
    used(path)
    with forging(path) as connection:
        connection.execute("DELETE FROM record WHERE number = 4")
    with pytest.raises(PrivatelyError), Ledger.open(path) as ledger:
        ledger.verify()
