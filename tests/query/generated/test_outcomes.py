"""The whole line, on neighbours: whatever the data, the same kind of answer, or the same error, for the same charge."""

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from privately.engines.protocol import Bins, Counts, Limits, TableReport
from privately.errors import EngineFailed, PrivatelyError
from privately.guarantees import PureDP
from privately.ledger import Ledger
from privately.plans import Aggregation
from privately.query.sessions import Session
from tests.query.generated.cases import Case, drawn
from tests.query.generated.counting import Numbers, counted

LINEAGE = "people"


class Counted:
    """An engine that has counted already."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers

    def ready(self) -> None:
        pass

    def check(self, table: str) -> TableReport:
        raise AssertionError(table)

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts:
        del aggregation, limits
        return {group: tuple(map(_tally, tallies)) for group, tallies in self.numbers.items()}

    def close(self) -> None: ...


class Leaky(Counted):
    """One that fails if the table is empty."""

    def ready(self) -> None:
        pass

    def check(self, table: str) -> TableReport:
        raise AssertionError(table)

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts:
        if not self.numbers:
            raise EngineFailed("no rows")
        return super().run(aggregation, limits)


def _tally(number: Any) -> int | Bins:
    if not isinstance(number, dict):
        return int(number)
    places = np.array(sorted(number), np.int64)
    return Bins(places, np.array([number[int(place)] for place in places], np.int64))


def outcome(case: Case, engine: Counted, given: dict[str, Any]) -> tuple[Any, ...]:
    """What somebody who asks sees, but for the numbers: the columns, or the error; and what it cost."""
    table = case.declared.table
    with Ledger.open(":memory:") as ledger:
        ledger.account(LINEAGE, cap=PureDP(epsilon=100, neighbors=table.unit.neighbors))
        session = Session(table, engine, ledger, lineage=LINEAGE, snapshot="1")
        try:
            result = session.sql(case.statement.text, keys=case.statement.keys, **given)
        except PrivatelyError as error:
            return type(error), str(error), session.budget.spent, session.budget.entries
        cut = case.question is None or case.question.having is not None or case.question.limit is not None
        return result.columns, None if cut else len(result.rows), session.budget.spent, session.budget.entries


def outcomes(case: Case, engine: type[Counted], given: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """One for each of the tables that are farthest apart in size, and a few others."""
    if case.question is None:
        return
    numbers = counted(case.declared, case.question.aggregation, case.tables)
    order = sorted(range(len(numbers)), key=lambda at: (len(case.tables[at]), at))
    for at in dict.fromkeys([order[0], order[-1], 0]):
        yield outcome(case, engine(numbers[at]), given)
    yield outcome(case, engine({}), given)


PRICES: tuple[dict[str, Any], ...] = ({"epsilon": 1}, {"epsilon": "1e-9"}, {"epsilon": 200}, {"accuracy": "5 at 95%"})


def check(seeds: range, engine: type[Counted] = Counted) -> int:
    """How many cases were answered; none may have two outcomes."""
    answered = 0
    for seed in seeds:
        case = drawn(Random(seed))
        found = list(outcomes(case, engine, PRICES[seed % len(PRICES)]))
        assert not found or all(one == found[0] for one in found), f"{found}\n{case}"
        answered += bool(found) and not isinstance(found[0][0], type)
    return answered


def test_neighbours_have_the_same_outcome() -> None:
    assert check(range(10)) >= 2


def test_an_engine_that_fails_by_the_data_is_noticed() -> None:
    with pytest.raises(AssertionError, match="no rows"):
        check(range(24), Leaky)


@pytest.mark.slow
def test_neighbours_have_the_same_outcome_in_many_cases() -> None:
    assert check(range(1_000)) >= 250
