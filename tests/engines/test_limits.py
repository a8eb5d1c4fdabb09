"""Limits follow from the plan and the rough size of the table, and grow with both."""

import itertools
from pathlib import Path

import duckdb
import pytest

from privately.engines import limits
from privately.engines.duckdb.engine import Embedded
from privately.engines.duckdb.pool import Pool
from privately.engines.duckdb.programs import Program
from privately.engines.duckdb.sources import Source, delimited, parquet
from privately.engines.limits import BYTES_PER_SLOT, MOST_SECONDS, SECONDS, Size, limits_of, sorting_limits
from privately.engines.protocol import MOST_SLOTS, Counts, Limits, failed
from privately.errors import EngineFailed
from privately.plans import Aggregation, Column, Table, Unit
from privately.query import bind

COLUMNS = (Column(name="word", type="text", length=100), Column(name="n", type="integer", bounds=(0, 10**7)))
ROWS, PEOPLE = (Table(name="t", columns=COLUMNS, unit=unit) for unit in (Unit(), Unit(column="word", rows=3)))
SMALL, LARGE = Size(rows=1, bytes=1), Size(rows=10**8, bytes=10**9)
RISING = [
    "SELECT COUNT(*) AS x FROM t",
    "SELECT COUNT(*) AS x FROM t WHERE n > 3",
    "SELECT COUNT(*) AS x FROM t WHERE LOWER(word) = 'a'",
    f"SELECT COUNT(*) AS x FROM t WHERE ({' || '.join(['word'] * 40)}) LIKE '%a%b%'",
    f"SELECT COUNT(*) AS x FROM t WHERE ({' || '.join(['word'] * 40)}) LIKE '%{'a%' * 60}'",
]


def asked(text: str, table: Table = ROWS) -> Aggregation:
    return bind(text, {"t": table}).aggregation


@pytest.mark.parametrize("table", [ROWS, PEOPLE])
@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_dearer_questions_get_more(table: Table, size: Size) -> None:
    found = [limits_of(asked(text, table), size) for text in RISING]
    assert all(one.seconds < other.seconds for one, other in itertools.pairwise(found))
    assert all(one.memory <= other.memory for one, other in itertools.pairwise(found))
    assert all(SECONDS < one.seconds <= MOST_SECONDS and one.memory >= Limits().memory for one in found)


def test_the_formula() -> None:
    limits = limits_of(asked(RISING[0]), SMALL)
    cells, tally = 1 + 100 + 1, 1
    expected = 600 + 2**20 * 1e-7 + 2**20 * (2e-5 + (cells + tally) * 1e-7)
    assert limits.seconds == pytest.approx(expected)
    assert limits.memory == 2**32


def test_one_row_more_changes_nothing_but_at_a_power_of_two() -> None:
    question = asked(RISING[2], PEOPLE)
    for rows in (0, 1, 10**6, 2**24 - 1, 3 * 2**25):
        one, more = (limits_of(question, Size(rows=n, bytes=100 * n)) for n in (rows, rows + 1))
        assert one == more
    assert limits_of(question, Size(rows=2**24, bytes=1)) != limits_of(question, Size(rows=2**24 + 1, bytes=1))


def test_arrays_of_bins_are_counted() -> None:
    """Of three medians by a million groups, 3 GB are kept, and counting them takes one more."""
    listed = [", ".join(f"MEDIAN(n + {at}) AS x{at}" for at in range(medians)) for medians in (2, 3)]
    texts = [f"SELECT word, {one} FROM t GROUP BY word" for one in listed]
    found = [bind(text, {"t": ROWS}, unknown=True).aggregation for text in texts]
    assert [limits_of(one, SMALL).memory for one in found] == [2**32, 2**33]
    needed = (8 + 8 + 4 + 4) * MOST_SLOTS
    assert needed <= BYTES_PER_SLOT * MOST_SLOTS < 2**31


def test_no_limit_is_out_of_range() -> None:
    limits = limits_of(asked(RISING[-1], PEOPLE), Size(rows=2**60, bytes=2**70))
    assert limits.seconds == MOST_SECONDS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("limits")
    rows = "SELECT 'a' AS word, range AS n FROM range(5)"
    duckdb.connect().execute(f"COPY ({rows}) TO '{path}/t.parquet'; COPY ({rows}) TO '{path}/t.csv'")
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_an_engine_runs_with_these_limits_unless_others_are_given(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source: Source = parquet(folder / "t.parquet") if kind == "parquet" else delimited(folder / "t.csv")
    seen: list[Limits] = []

    def count(_: Pool, program: Program, limits: Limits) -> Counts:
        assert program.tallies == 1
        seen.append(limits)
        raise failed()

    monkeypatch.setattr(Pool, "count", count)
    given = Limits(seconds=5)
    with Embedded(table=ROWS, source=source, key=bytes(32)) as engine:
        for limits in (None, given):
            with pytest.raises(EngineFailed):
                engine.run(asked(RISING[3]), limits)
    assert seen == [limits_of(asked(RISING[3]), SMALL), given]


def test_copies_of_large_tables_may_take_more_memory() -> None:
    small, large = (sorting_limits(Size(rows=rows, bytes=2**20)) for rows in (10**6, 10**8))
    assert small.memory == Limits().memory
    assert large.memory == min(2**34, limits._of_machine())
    assert small.seconds == large.seconds == 24 * 3600
