"""Kills and power cuts on a simulated disk, under the same store: what escaped is never lost, no cap is passed."""

import random
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from privately.ledger import Receipt
from privately.ledger.acts import MakeCharge
from tests.ledger.simulation.clients import ACCOUNTS, Clients, opening
from tests.ledger.simulation.disk import SECTOR, Content, Disk, Fate, Killed
from tests.ledger.simulation.faults import FAULTS
from tests.ledger.simulation.lives import Plan, Tally, live
from tests.ledger.simulation.observing import Observer
from tests.ledger.simulation.processes import Process, Violation

KILLS, CUTS = Plan(kills=12), Plan(cuts=10)
LONGER, BOTH = Plan(kills=25), Plan(kills=20, cuts=10)
SEEDS_FOR_A_FAULT = 60  # one in ten shows the rarest, and the first that shows it is the last


def lives(first: int, count: int, plan: Plan) -> Tally:
    """A number of lives, each with its own seed; a violation says which."""
    total = Tally()
    for seed in range(first, first + count):
        total += live(seed, plan)
    return total


@pytest.mark.thinned(5)
@pytest.mark.parametrize("part", range(10))
def test_two_thousand_kills(part: int) -> None:
    total = lives(100 * part, 17, KILLS)
    assert total.kills >= 200
    for place in ("write of ledger-wal", "sync of ledger-wal", "write of ledger", "write of ledger-journal"):
        assert total.seen[f"killed at {place}"] > 0
    assert total.seen["answers shown"] > 50
    for often in ("waited", "carried over", "log written again", "checkpoint", "adjusted"):
        assert total.seen[often] > 5


@pytest.mark.thinned(4)
@pytest.mark.parametrize("part", range(4))
def test_two_hundred_power_cuts(part: int) -> None:
    total = lives(2_000 + 100 * part, 5, CUTS)
    assert total.cuts >= 50
    assert total.seen["answers shown"] > 10
    assert total.seen["carried over"] > 5
    assert total.seen["log written again"] > 2


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_ten_thousand_kills(part: int) -> None:
    assert lives(10_000 + 100 * part, 21, LONGER).kills >= 500


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_a_thousand_power_cuts_among_kills(part: int) -> None:
    total = lives(20_000 + 100 * part, 6, BOTH)
    assert total.cuts >= 50
    assert total.kills >= 100


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_found(fault: str) -> None:
    plan, shows = FAULTS[fault]
    with pytest.raises(Violation, match=shows):
        lives(0, SEEDS_FOR_A_FAULT, plan)


def test_a_seed_tells_all() -> None:
    one, same, other = (live(seed, KILLS).trace for seed in (5, 5, 6))
    assert one == same != other


def test_a_cut_keeps_what_was_synced() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        content = Content(bytearray(b"s" * 4 * SECTOR))
        content.changes = [(SECTOR, b"w" * 2 * SECTOR), (3 * SECTOR, b"w" * 2 * SECTOR)]
        left = content.after_cut(rng)
        assert left[:SECTOR] == b"s" * SECTOR
        assert all(len(set(left[at : at + SECTOR])) == 1 for at in range(0, len(left), SECTOR))
        content.sync()
        assert content.after_cut(rng) == b"s" * SECTOR + b"w" * 4 * SECTOR


def test_a_cut_tears_and_drops_and_keeps() -> None:
    content = Content(bytearray(b"s" * 2 * SECTOR))
    content.changes = [(0, b"w" * 2 * SECTOR)]
    found = {bytes(content.after_cut(random.Random(seed)))[::SECTOR] for seed in range(100)}
    assert found == {b"ss", b"sw", b"ws", b"ww"}


@pytest.mark.parametrize(("sync", "left"), [(True, {True}), (False, {True, False})])
def test_a_name_is_durable_with_the_first_sync(tmp_path: Path, sync: bool, left: set[bool]) -> None:
    path = tmp_path / "log"
    found = set()
    for seed in range(20):
        disk = Disk(tmp_path)
        path.touch()
        disk.opened(str(path), existed=False)
        if sync:
            disk.synced(str(path))
        disk.cut(random.Random(seed))
        found.add(path.exists())
        path.unlink(missing_ok=True)
    assert found == left


@pytest.mark.parametrize("reach", [0, 0.5, 1])
def test_a_dead_process_writes_nothing_and_holds_no_lock(tmp_path: Path, reach: float) -> None:
    disk = Disk(tmp_path)
    processes = [Process(disk, tmp_path / "ledger", lambda: datetime(2030, 1, 1, tzinfo=UTC)) for _ in range(2)]
    for process in processes:
        process.start()
    dying, living = processes
    observer = Observer()
    clients = Clients(random.Random(1), observer, [])
    opened: list[Future[Any]] = [Future() for _ in ACCOUNTS]
    living.turn([(opening(name), future) for name, future in zip(ACCOUNTS, opened, strict=True)])
    assert [future.result() for future in opened] == [None] * len(ACCOUNTS)
    dying.machine.fate = Fate(3, reach)
    asked = [clients.ask(clients.new_charge())]
    with pytest.raises(Killed):
        dying.turn(asked)
    assert dying.ledger is None
    assert not observer.heads
    future: Future[Receipt] = Future()
    living.turn([(MakeCharge(charge=clients.new_charge()), future)])
    observer.see_receipt(future.result())
    observer.check(living.opened)
    living.close()
