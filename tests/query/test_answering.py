"""Two passes over the data where groups are unknown: what is asked of the engine, and what follows from it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privately.engines.protocol import Counts, Limits, TableReport
from privately.laws import Law
from privately.mechanisms import ThresholdedHistogram
from privately.mechanisms.randomness import SYSTEM
from privately.plans import Aggregation, Question, Unit
from privately.query.allocation import Budget, allocated
from privately.query.answering import answered
from privately.query.drawing import NoisyNumber, ShownKeys
from privately.query.pricing import Priced
from privately.query.proving import derivation
from privately.query.uses import uses
from tests.plans.small import Row, exact
from tests.query.small_questions import ROWS, UNITS, NoNoise, question
from tests.query.test_listing import unknown

PERSON = Unit(column="person", rows=3, groups=2)
TABLE: list[Row] = [*((at, "a", 1) for at in range(30)), *((at, "b", 2) for at in range(20)), (99, "c", 3)]


class Memory:
    """Counts a table in memory and remembers what it was asked for."""

    def __init__(self, table: list[Row]) -> None:
        self.table, self.asked = table, list[Aggregation]()

    def ready(self) -> None:
        pass

    def check(self, table: str) -> TableReport:
        raise AssertionError(table)

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts:
        assert limits is None
        self.asked.append(aggregation)
        found = exact(aggregation, self.table)
        return {group: tuple(numbers[group] for numbers in found) for group in found[0]}

    def close(self) -> None: ...


def priced(asked: Question, currency: Any = "epsilon") -> Priced:
    budget = Budget(currency=currency, amount=Fraction(4), delta=Fraction(1, 1000))
    plan = allocated(uses(asked), 1, budget)
    proof = derivation(plan, asked.aggregation)
    return Priced(question=asked, groups=None, budget=budget, plan=plan, proof=proof)


def test_public_groups_take_one_pass() -> None:
    engine, asked = Memory(TABLE), question("rows", unit=PERSON)
    groups, (found,) = answered(priced(asked), engine, None, NoNoise())
    assert engine.asked == [asked.aggregation]
    assert groups == (("a",), ("b",))
    assert isinstance(found, NoisyNumber)
    assert found.numbers == (30, 20)


def test_units_alone_take_one_pass_too() -> None:
    engine, asked = Memory(TABLE), unknown("units", unit=PERSON)
    groups, (shown,) = answered(priced(asked), engine, None, NoNoise())
    assert len(engine.asked) == 1
    assert groups == (("a",), ("b",))
    assert isinstance(shown, ShownKeys)
    assert (shown.tally, shown.keys, shown.numbers) == (UNITS, groups, (30, 20))


@pytest.mark.parametrize("currency", ["epsilon", "mu squared"])
def test_the_second_pass_asks_for_what_was_shown_and_is_needed(currency: str) -> None:
    engine, asked = Memory(TABLE), unknown("rows", unit=PERSON)
    groups, (shown, rows) = answered(priced(asked, currency), engine, None, NoNoise())
    first, second = engine.asked
    assert [key.values for key in first.keys] == [None]
    assert [key.values for key in second.keys] == [("a", "b")]
    assert [name for name, _ in second.tallies] == [ROWS]
    assert isinstance(shown, ShownKeys)
    assert isinstance(rows, NoisyNumber)
    assert rows.numbers == (30, 20)
    assert groups == (("a",), ("b",))


def test_if_nothing_is_shown_there_is_no_second_pass() -> None:
    engine, asked = Memory(TABLE[-1:]), unknown("rows", "median", unit=PERSON)
    groups, (shown, *rest) = answered(priced(asked), engine, None, NoNoise())
    assert len(engine.asked) == 1
    assert groups == ()
    assert isinstance(shown, ShownKeys)
    assert [len(one.numbers) if isinstance(one, NoisyNumber) else len(one.points) for one in rest] == [0, 0]  # type: ignore[union-attr]


def test_public_keys_are_in_every_group_that_is_shown() -> None:
    engine, asked = Memory(TABLE), unknown("rows", unit=PERSON, public=True)
    groups, (_, rows) = answered(priced(asked), engine, None, NoNoise())
    assert groups == ((1, "a"), (1, "b"), (None, "a"), (None, "b"))
    assert isinstance(rows, NoisyNumber)
    assert rows.numbers == (30, 0, 0, 0)


class Noted(NoNoise):
    """Notes how much noise is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def draw(self, law: Law, *, size: int) -> NDArray[np.int64]:
        self.sizes.append(size)
        return super().draw(law, size=size)


def test_every_value_gets_noise_and_every_group_that_is_shown() -> None:
    noted = Noted()
    answered(priced(unknown("rows", "sum", unit=PERSON)), Memory(TABLE), None, noted)
    assert noted.sizes == [3, 2, 2]


def tables() -> Iterator[list[Row]]:
    yield []
    yield [(1, f"value {at}", 1) for at in range(300)]
    yield [(at, f"value {at}", None) for at in range(300)]
    yield [(None, "a", 1)] * 50
    yield [(at, None, None) for at in range(50)]


@pytest.mark.parametrize("table", list(tables()))
def test_no_table_is_an_error(table: list[Row]) -> None:
    asked = unknown("rows", "mean", "median", unit=PERSON)
    groups, noise = answered(priced(asked), Memory(table), None, NoNoise())
    assert groups == (((None,),) if table and table[0][1] is None else ())
    assert len(noise) == 4


def test_the_limit_on_groups_is_of_those_that_are_shown() -> None:
    """Everybody is in three groups, of which one is their own: two are counted, and none is wasted on it."""
    unit = replace_groups(2)
    table: list[Row] = [(at, part, 1) for at in range(40) for part in ("a", "b", f"own {at}")]
    asked = unknown("rows", unit=unit)
    engine = Memory(table)
    groups, (shown, rows) = answered(priced(asked), engine, None, NoNoise())
    assert isinstance(shown, ShownKeys)
    assert isinstance(rows, NoisyNumber)
    assert groups == (("a",), ("b",))
    assert sum(shown.numbers) < 80
    first, second = engine.asked
    assert replace(second, keys=first.keys, tallies=first.tallies) == first


def replace_groups(groups: int) -> Unit:
    return Unit(column="person", rows=3, groups=groups)


def test_values_that_no_plan_has_are_nobody() -> None:
    table: list[Row] = [(at, part, 1) for at in range(40) for part in ("a", 7, 2.5)]
    groups, _ = answered(priced(unknown("rows", unit=PERSON)), Memory(table), None, NoNoise())
    assert groups == (("a",),)


def test_numbers_of_units_follow_the_exact_law() -> None:
    """2,000 draws of one group of four people: how often it is shown, and with which numbers."""
    asked = unknown("units", unit=Unit(column="person", rows=1))
    plan = priced(asked)
    (histogram,) = plan.plan[0].mechanisms
    assert isinstance(histogram, ThresholdedHistogram)
    engine, seen = Memory([(at, "a", 1) for at in range(4)]), Counter[int | None]()
    for _ in range(2_000):
        _, (shown,) = answered(plan, engine, None, SYSTEM)
        assert isinstance(shown, ShownKeys)
        seen[shown.numbers[0] if shown.numbers else None] += 1
    law = histogram.law
    exact: dict[int | None, float] = {None: float(law.cdf(histogram.threshold - 1 - 4).upper)}
    exact |= {
        number: float(law.pmf(number - 4).upper) for number in range(histogram.threshold, histogram.threshold + 4)
    }
    assert set(seen) - {None} <= set(range(histogram.threshold, 60))
    for outcome, chance in exact.items():
        assert abs(seen[outcome] - 2_000 * chance) <= 6 * (2_000 * chance) ** 0.5 + 6
