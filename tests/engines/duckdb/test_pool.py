"""Workers: warm, killable, silent about data, and nobody else is harmed."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from privately.engines.duckdb.connection import Setup
from privately.engines.duckdb.messages import packed
from privately.engines.duckdb.pool import Pool, Worker
from privately.engines.duckdb.programs import Program
from privately.engines.protocol import Limits, failed
from privately.errors import EngineFailed

LIMITS = Limits(seconds=60, memory=2**28, threads=1)


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(Setup())
    yield made
    made.close()


def asking(text: str) -> Program:
    return Program(groups=text, types=(), tallies=1, bins=())


def _process_id(pool: Pool) -> int:
    assert pool.process_id is not None
    return pool.process_id


def test_the_same_worker_answers_again(pool: Pool) -> None:
    assert pool.count(asking("SELECT 2::HUGEINT**0 * 170141183460469231731687303715884105727 AS t0, 1 AS n"), LIMITS)
    first = _process_id(pool)
    assert pool.count(asking("SELECT 5 AS t0, 1 AS n"), LIMITS) == {(): (5,)}
    assert _process_id(pool) == first


def test_wide_numbers_arrive_exactly(pool: Pool) -> None:
    text = "SELECT 170141183460469231731687303715884105727::HUGEINT AS t0, 1 AS n"
    assert pool.count(asking(text), LIMITS) == {(): (2**127 - 1,)}


FAULTS = {
    "error": "SELECT error('a secret') AS t0, 1 AS n",
    "memory": "SELECT len(list(range)) AS t0, 1 AS n FROM range(200000000)",
    "time": "SELECT count(*) AS t0, 1 AS n FROM range(100000000) a, range(100000000) b WHERE a.range * 7 = b.range + 5",
    "long text": "SELECT length(lpad('x', 2000000000, 'y')) AS t0, 1 AS n",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_the_same_text(pool: Pool, fault: str) -> None:
    pool.warm(LIMITS)
    begun = time.monotonic()
    with pytest.raises(EngineFailed) as caught:
        pool.count(asking(FAULTS[fault]), Limits(seconds=2, memory=2**28, threads=1))
    assert str(caught.value) == str(failed())
    assert caught.value.__cause__ is None
    assert time.monotonic() - begun < 60, "it ends with its limit"
    assert pool.count(asking("SELECT 5 AS t0, 1 AS n"), LIMITS) == {(): (5,)}, "the next one finds a fresh worker"


def test_a_crash_is_a_fault_like_any_other(pool: Pool) -> None:
    pool.warm(LIMITS)
    os.kill(_process_id(pool), signal.SIGSEGV)
    time.sleep(0.2)
    assert pool.count(asking("SELECT 5 AS t0, 1 AS n"), LIMITS) == {(): (5,)}


def test_the_owner_is_told_what_is_wrong(pool: Pool) -> None:
    with pytest.raises(EngineFailed, match="nowhere"):
        pool.tell(["SELECT * FROM nowhere"], LIMITS)


def test_other_limits_are_another_worker(pool: Pool) -> None:
    pool.warm(LIMITS)
    first = _process_id(pool)
    pool.warm(Limits(seconds=60, memory=2**29, threads=1))
    assert _process_id(pool) != first


def test_a_worker_ends_with_its_input() -> None:
    worker = Worker(Setup(memory=2**28, threads=1))
    stdin: Any = worker._process.stdin
    stdin.close()
    assert worker._process.wait(timeout=10) == 0
    worker.close()


def test_a_worker_that_cannot_open_says_why(tmp_path: Path) -> None:
    with pytest.raises(EngineFailed, match="did not start"):
        Worker(Setup(attached=((str(tmp_path / "none.duckdb"), "x"),), memory=2**28, threads=1))


def test_files_can_be_read_and_no_others(tmp_path: Path, pool: Pool) -> None:
    for name in ("mine", "other"):
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT 7 AS x) TO '{tmp_path / name}.parquet'")
    with_file = Pool(Setup(paths=(str(tmp_path / "mine.parquet"),)))
    text = "SELECT x AS t0, 1 AS n FROM read_parquet('{}')"
    try:
        assert with_file.count(asking(text.format(tmp_path / "mine.parquet")), LIMITS) == {(): (7,)}
        with pytest.raises(EngineFailed):
            with_file.count(asking(text.format(tmp_path / "other.parquet")), LIMITS)
    finally:
        with_file.close()


def test_threads_read_the_answers_to_their_own_questions(pool: Pool) -> None:
    def asked(number: int) -> bool:
        return all(pool.tell([f"SELECT {number} + {one}"], LIMITS) == [[[number + one]]] for one in range(30))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(asked, range(0, 8000, 1000)))


def test_an_answer_to_another_message_is_none(pool: Pool) -> None:
    assert pool.tell(["SELECT 1"], LIMITS) == [[[1]]]
    worker = pool._worker
    assert worker is not None
    worker._turn += 1
    stream: Any = worker._process.stdin
    stream.write(packed({"act": "tell", "statements": ["SELECT 2"], "turn": 1}))
    stream.flush()
    with pytest.raises(EngineFailed):
        pool.tell(["SELECT 3"], LIMITS)
    assert pool.tell(["SELECT 4"], LIMITS) == [[[4]]], "by a new worker"


def test_a_forked_process_has_a_worker_of_its_own(pool: Pool) -> None:
    assert pool.tell(["SELECT 1"], LIMITS) == [[[1]]]
    kept = pool._worker
    assert kept is not None
    pool._process -= 1  # as a child finds it
    assert pool.tell(["SELECT 2"], LIMITS) == [[[2]]]
    assert pool.process_id != kept.process_id
    assert kept.alive
    kept.close()


def test_modules_in_the_current_directory_are_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "duckdb.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    with closing(Worker(Setup())) as worker:
        assert worker.alive
