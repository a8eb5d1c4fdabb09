"""Questions that are meant to take forever: refused, or ended with their limit, and nobody else is harmed."""

import resource
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from privately.engines.duckdb.engine import Embedded
from privately.engines.duckdb.sources import parquet
from privately.engines.protocol import Limits, failed
from privately.errors import EngineFailed, Refused
from privately.guarantees import PureDP
from privately.ledger import Ledger
from privately.plans import Column, Table, Unit
from privately.query import bind
from privately.query.sessions import Session
from tests.endless import ends

SECONDS = 1.0
TABLE = Table(
    name="t",
    columns=(Column(name="word", type="text", length=100), Column(name="n", type="integer", bounds=(0, 10**7))),
    unit=Unit(),
)
COUNT = "SELECT COUNT(*) AS n FROM t WHERE "


def _nested(opening: str, inner: str, closing: str, times: int) -> str:
    return opening * times + inner + closing * times


REFUSED = {
    "a huge number": COUNT + "n < " + "9" * 10_000,
    "a huge text": COUNT + "word = '" + "x" * 10_000 + "'",
    "a huge list": COUNT + "n IN (" + "1, " * 50_000 + "2)",
    "nested CASE": COUNT + _nested("CASE WHEN n > 1 THEN ", "n", " ELSE 0 END", 40) + " > 1",
    "CASE that doubles": "WITH v0 AS (SELECT n AS x FROM t), "
    + ", ".join(f"v{i} AS (SELECT CASE WHEN x > {i} THEN x ELSE -x END AS x FROM v{i - 1})" for i in range(1, 25))
    + " SELECT SUM(x * x * x * x * x) AS s FROM v24",
    "repeat": COUNT + "repeat(word, 1000000000) = 'x'",
    "lpad": COUNT + "lpad(word, 1000000000, 'x') = 'x'",
    "printf": COUNT + "printf('%1000000000d', n) = 'x'",
    "levenshtein": COUNT + "levenshtein(word, word) > 1",
    "regular expressions": COUNT + "regexp_matches(word, '(a+)+$')",
    "cross joins": "SELECT COUNT(*) FROM t a, t b, t c, t d",
    "a recursive WITH": "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",
    "generate_series": "SELECT COUNT(*) FROM generate_series(1, 1000000000000)",
    "texts that double": "WITH v0 AS (SELECT word AS w FROM t), "
    + ", ".join(f"v{i} AS (SELECT w || w AS w FROM v{i - 1})" for i in range(1, 25))
    + " SELECT COUNT(w) AS n FROM v24",
    "patterns on long texts": COUNT + " OR ".join([f"({' || '.join(['word'] * 90)}) LIKE '{'%a' * 90}%'"] * 20),
    "columns that are handed on": "WITH v0 AS (SELECT * FROM t), "
    + ", ".join(f"v{i} AS (SELECT *, n + {i} AS n{i} FROM v{i - 1})" for i in range(1, 300))
    + " SELECT COUNT(*) AS n FROM v299",
    "powers": COUNT + "n ** 1000000 > 1",
}


@pytest.mark.parametrize("bomb", REFUSED)
def test_bombs_are_refused(bomb: str) -> None:
    with ends(), pytest.raises(Refused):
        bind(REFUSED[bomb], {"t": TABLE})


LONG, LESS = (" || ".join(["word"] * times) for times in (40, 30))
PATTERN = "%" + "a%" * 60
ALLOWED = {
    "patterns": COUNT + f"({LONG}) LIKE '{PATTERN}b'",
    "comparisons": COUNT + " OR ".join(f"LOWER({LESS} || 'x') = UPPER({LESS} || '{i}')" for i in range(8)),
}
"""What the binder takes, and would take minutes on this table."""


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bombs") / "t.parquet"
    word = "md5(range::VARCHAR) || md5((range + 1)::VARCHAR)"
    duckdb.connect().execute(f"COPY (SELECT {word} AS word, range AS n FROM range(200000)) TO '{path}'")
    return path


@pytest.fixture
def session(words: Path) -> Iterator[Session]:
    ledger = Ledger.open(":memory:")
    ledger.account("people", cap=PureDP(epsilon=10))
    limits = Limits(seconds=SECONDS, memory=2**29, threads=1)
    engine = Embedded(table=TABLE, source=parquet(words), key=bytes(32), limits=limits)
    with Session(TABLE, engine, ledger, lineage="people", snapshot="1", limits=limits) as made:
        yield made


@pytest.mark.parametrize("bomb", ALLOWED)
def test_what_is_allowed_ends_with_its_limit(bomb: str, session: Session) -> None:
    session.sql("SELECT COUNT(*) AS n FROM t WHERE n < 5", epsilon=1)
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(EngineFailed) as caught:
        session.sql(ALLOWED[bomb], epsilon=1)
    assert time.monotonic() - begun < SECONDS + 60
    assert str(caught.value) == str(failed())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "kilobytes, of this process"
    assert session.budget.spent.parameters["epsilon"] == 2, "the charge is kept"
    assert session.sql("SELECT COUNT(*) AS n FROM t WHERE n < 7", epsilon=1).rows, "the next question is answered"
