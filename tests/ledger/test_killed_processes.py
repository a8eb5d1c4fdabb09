"""Real processes with several threads each, killed at any moment: what they let out is in the ledger."""

import random
import time
from pathlib import Path

import pytest

from privately.guarantees import PureDP
from privately.ledger import Charge, Ledger
from privately.ledger.stores import Head
from tests.ledger.simulation.children import COST, Nursery, kill
from tests.ledger.simulation.observing import Observer

AT_ONCE = 3


def examined(path: Path, nursery: Nursery, *, last: bool) -> Observer:
    """All that escaped until now is in the ledger, while others go on writing it; at the end it can be charged."""
    observer = Observer()
    for what, *rest in nursery.escaped():
        assert what in {"charged", "shown", "shown again"}, rest
        head = Head(rest[0], bytes.fromhex(rest[1]))
        observer.see_head(head)
        if what == "shown":
            analyst, key = rest[3:]
            observer.see_answer(
                Charge(lineages=["unknown"], query="", cost=COST, analyst=analyst, key=key), bytes.fromhex(rest[2])
            )
        if what == "shown again":
            observer.answers[head].add(bytes.fromhex(rest[2]))
    with Ledger.open(path) as ledger:
        if last:
            observer.check(ledger)
            for lineage in ("visits", "wards"):
                ledger.adjust(lineage, cap=PureDP(epsilon=10**7), by="owner", reason="more")
                ledger.charge(Charge(lineages=[lineage], query=f"last {time.monotonic_ns()}", cost=COST))
        else:
            ledger.verify()
            with ledger._store.reading() as session:
                for head in observer.heads:
                    row = session.row(head.number)
                    assert row is not None
                    assert row.head == head
    return observer


def killed(path: Path, *, kills: int, seed: int) -> None:
    rng = random.Random(seed)
    with Nursery(path) as nursery:
        workers = [nursery.start(seed=number) for number in range(AT_ONCE)]
        for number in range(kills):
            time.sleep(rng.choice([0.0, 0.01, 0.04, rng.random() * 0.15]))
            kill(workers.pop(rng.randrange(AT_ONCE)))
            if number % 25 == 24:
                examined(path, nursery, last=False)
            workers.append(nursery.start(seed=AT_ONCE + number))
        nursery.wait(2 * kills)
        for worker in workers:
            kill(worker)
        observer = examined(path, nursery, last=True)
    assert len(observer.shown) > kills // 4


def test_fifty_kills(tmp_path: Path) -> None:
    killed(tmp_path / "ledger", kills=50, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
def test_three_hundred_kills(tmp_path: Path, seed: int) -> None:
    killed(tmp_path / "ledger", kills=50, seed=seed)


def test_a_creation_that_was_killed_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "ledger.lock").touch(mode=0o600)
    (tmp_path / ".ledger.0123456789abcdef").write_bytes(b"half a file")
    with Ledger.open(tmp_path / "ledger") as ledger:
        ledger.account("visits", cap=PureDP(epsilon=1))
        assert ledger.verify().records == 2
