"""The whole line, on neighbours: whatever the data, the same kind of answer, or the same error, for the same charge."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from privately.engines.protocol import Bins, Counts, Limits, TableReport
from privately.errors import EngineFailed, PrivatelyError, Refused
from privately.guarantees import ApproxDP, Guarantee, PureDP
from privately.ledger import Ledger
from privately.plans import Aggregation, Question
from privately.query import bind
from privately.query.listing import listing_of
from privately.query.sessions import Session
from tests.query.generated.cases import Case, drawn
from tests.query.generated.counting import Numbers, counted
from tests.query.generated.statements import Statement, statement

LINEAGE = "people"
FAST = range(4, 16)
"""Seeds of the fast suite, with every way to ask among them."""
Answers = Callable[[Aggregation], Numbers]


class Counted:
    """An engine whose numbers are known."""

    def __init__(self, numbers: Answers) -> None:
        self.numbers = numbers

    def ready(self) -> None:
        pass

    def check(self, table: str) -> TableReport:
        raise AssertionError(table)

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts:
        del limits
        return {group: tuple(map(_tally, tallies)) for group, tallies in self.numbers(aggregation).items()}

    def close(self) -> None: ...


class Leaky(Counted):
    """One that fails if the table is empty."""

    def ready(self) -> None:
        pass

    def check(self, table: str) -> TableReport:
        raise AssertionError(table)

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts:
        if not self.numbers(aggregation):
            raise EngineFailed("no rows")
        return super().run(aggregation, limits)


def _tally(number: Any) -> int | Bins:
    if not isinstance(number, dict):
        return int(number)
    places = np.array(sorted(number), np.int64)
    return Bins(places, np.array([number[int(place)] for place in places], np.int64))


@dataclass(frozen=True)
class Asked:
    """One question, or several at once, with a price for each."""

    case: Case
    statements: tuple[Statement, ...]
    questions: tuple[Question, ...]
    price: dict[str, Any]

    @property
    def options(self) -> list[tuple[str, dict[str, Any]]]:
        """Every text with its keys, and with a delta if nobody listed its groups."""
        both = zip(self.statements, self.questions, strict=True)
        return [
            (one.text, self.price | {"keys": one.keys} | ({"delta": "1e-3"} if listing_of(question) else {}))
            for one, question in both
        ]

    @property
    def cap(self) -> Guarantee:
        neighbors = self.case.declared.table.unit.neighbors
        if any(map(listing_of, self.questions)):
            return ApproxDP(epsilon=100, delta="0.5", neighbors=neighbors)
        return PureDP(epsilon=100, neighbors=neighbors)

    @property
    def open_ended(self) -> bool:
        """Whether the number of rows of an answer is a matter of chance."""
        cut = any(one.having is not None or one.limit is not None for one in self.questions)
        return cut or any(map(listing_of, self.questions))


def outcome(asked: Asked, engine: Counted) -> tuple[Any, ...]:
    """What somebody who asks sees, but for the numbers: the columns, or the error; and what it cost."""
    with Ledger.open(":memory:") as ledger:
        ledger.account(LINEAGE, cap=asked.cap)
        session = Session(asked.case.declared.table, engine, ledger, lineage=LINEAGE, snapshot="1")
        try:
            if len(asked.options) == 1:
                ((text, options),) = asked.options
                results = [session.sql(text, **options)]
            else:
                results = list(session.batch(asked.options))
        except PrivatelyError as error:
            return type(error), str(error), session.budget.spent, session.budget.entries
        sizes = None if asked.open_ended else [len(one.rows) for one in results]
        return [one.columns for one in results], sizes, session.budget.spent, session.budget.entries


def outcomes(asked: Asked, engine: type[Counted]) -> Iterator[tuple[Any, ...]]:
    """One for each of the tables that are farthest apart in size, and a few others."""
    case = asked.case

    @cache
    def numbers(aggregation: Aggregation) -> list[Numbers]:
        return counted(case.declared, aggregation, case.tables)

    order = sorted(range(len(case.tables)), key=lambda at: (len(case.tables[at]), at))
    for at in dict.fromkeys([order[0], order[-1], 0]):
        yield outcome(asked, engine(lambda aggregation, at=at: numbers(aggregation)[at]))  # type: ignore[misc]
    yield outcome(asked, engine(lambda _: {}))


PRICES: tuple[dict[str, Any], ...] = ({"epsilon": 1}, {"epsilon": "1e-9"}, {"epsilon": 200}, {"accuracy": "5 at 95%"})


def question_of(case: Case, random: Random, price: dict[str, Any]) -> Asked | None:
    """What is asked of a case: every third time several questions at once, of which the others are drawn for it."""
    found = [(case.statement, case.question)]
    for _ in range(random.choice([0, 0, 2])):
        text = statement(random, case.declared)
        try:
            found.append((text, bind(text.text, {"t": case.declared.table}, keys=text.keys)))
        except Refused:
            continue
    bound = [(one, question) for one, question in found if question is not None]
    if not bound:
        return None
    return Asked(case, tuple(one for one, _ in bound), tuple(question for _, question in bound), price)


def check(seeds: range, engine: type[Counted] = Counted) -> int:
    """How many cases were answered; none may have two outcomes."""
    answered = 0
    for seed in seeds:
        random = Random(seed)
        case = drawn(random)
        asked = question_of(case, random, PRICES[seed % len(PRICES)])
        found = [] if asked is None else list(outcomes(asked, engine))
        assert not found or all(one == found[0] for one in found), f"{found}\n{case}"
        answered += bool(found) and not isinstance(found[0][0], type)
    return answered


def test_neighbours_have_the_same_outcome() -> None:
    assert check(FAST) >= 2


def test_an_engine_that_fails_by_the_data_is_noticed() -> None:
    with pytest.raises(AssertionError, match="no rows"):
        check(range(24), Leaky)


def test_all_ways_to_ask_are_tried() -> None:
    """Batches, groups of public tables and groups that nobody listed are among the cases of the fast suite."""
    seen = set()
    for seed in FAST:
        random = Random(seed)
        asked = question_of(drawn(random), random, {})
        assert asked is not None
        seen |= {"batch"} if len(asked.questions) > 1 else set()
        seen |= {"unlisted"} if any(map(listing_of, asked.questions)) else set()
        seen |= {"table"} if any(one.aggregation.combinations for one in asked.questions) else set()
    assert seen == {"batch", "unlisted", "table"}


@pytest.mark.slow
def test_neighbours_have_the_same_outcome_in_many_cases() -> None:
    assert check(range(1_000)) >= 250
