"""Sessions on tables in memory, with what is behind them."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from privately.engines.protocol import Counts, Limits, TableReport
from privately.errors import EngineFailed
from privately.guarantees import Guarantee, PureDP
from privately.ledger import Ledger
from privately.plans import Aggregation, Unit
from privately.query.sessions import Session
from tests.plans.small import Row, scan
from tests.query.small_questions import NoNoise, counted

__all__ = ["COUNT", "TABLE", "Desk", "Memory", "desk"]

TABLE: list[Row] = [(1, "a", 3), (2, "a", -5), (3, "a", None), (4, "b", 8)]
COUNT = "SELECT part, COUNT(*) AS n FROM t GROUP BY part"


class Memory:
    """An engine with a table in memory, which notes how often it was asked, and can be told to fail."""

    def __init__(self, table: list[Row], *, fails: bool = False) -> None:
        self.table, self.fails, self.runs, self.closed, self.pause = table, fails, 0, False, 0.0
        self.spent_before: list[Guarantee] = []
        self.ledger: Ledger | None = None

    def ready(self) -> None:
        pass

    def check(self, table: str) -> TableReport:
        raise AssertionError(table)

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts:
        self.runs += 1
        time.sleep(self.pause)
        assert limits is None
        if self.ledger is not None:
            self.spent_before.append(self.ledger.budget("people").spent)
        if self.fails:
            raise EngineFailed("the engine could not finish this question.")
        return counted(_Asked(aggregation), self.table)  # type: ignore[arg-type]

    def close(self) -> None:
        self.closed = True


class _Asked:
    def __init__(self, aggregation: Aggregation) -> None:
        self.aggregation = aggregation


class Desk:
    """A session with what is behind it."""

    def __init__(self, cap: Guarantee, unit: Unit, **options: Any) -> None:
        self.ledger = Ledger.open(":memory:")
        self.ledger.account("people", cap=cap, by=options.pop("by", None))
        self.engine = Memory(TABLE, fails=options.pop("fails", False))
        self.engine.ledger = self.ledger
        self.session = Session(
            scan(unit).table,
            self.engine,
            self.ledger,
            lineage="people",
            snapshot=options.pop("snapshot", "first"),
            randomness=options.pop("randomness", NoNoise()),
        )

    @property
    def spent(self) -> Guarantee:
        return self.session.budget.spent


@pytest.fixture
def desk() -> Iterator[Desk]:
    found = Desk(PureDP(epsilon=1), Unit())
    yield found
    found.ledger.close()
