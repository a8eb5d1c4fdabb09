"""Without noise the exact numbers come back; with noise it is that of the plan, on every group that is listed."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privately import mechanisms as m
from privately.engines.protocol import Bins, Counts
from privately.laws import Law
from privately.plans import BinCounts, Question, Unit
from privately.query.allocation import Budget, Drawn, allocated
from privately.query.drawing import ChosenPoints, NoisyNumber, NoisyPair, OrderedCounts, drawn
from privately.query.uses import Chosen, uses
from tests.query.small_questions import NoNoise, counted, question

TABLE: list[Any] = [(1, "a", 3), (2, "a", -5), (3, "a", None), (4, "b", 8), (5, "c", 1), (1, "a", 7)]
GROUPS = [("a",), ("b",)]


def plan(asked: Question, amount: int = 1000, currency: Any = "epsilon", groups: int = 2) -> tuple[Drawn, ...]:
    return allocated(uses(asked), groups, Budget(currency=currency, amount=Fraction(amount)))


def test_counts_and_sums_come_back() -> None:
    asked = question("rows", "count", "units", "sum", unit=Unit(column="person", rows=2))
    found = drawn(plan(asked), asked.aggregation, counted(asked, TABLE), GROUPS, NoNoise())
    assert [one.numbers for one in found if isinstance(one, NoisyNumber)] == [(4, 1), (3, 1), (3, 1), (5, 8)]


def test_pairs_come_back() -> None:
    asked = question("mean")
    (found,) = drawn(plan(asked), asked.aggregation, counted(asked, TABLE), GROUPS, NoNoise())
    assert isinstance(found, NoisyPair)
    assert found.above == (3 + 10 + 7 + 10 - 5 + 10, 18)
    assert found.below == (7 + 3 + 15, 2)


def test_quantiles_are_the_middles_of_bins() -> None:
    asked = question("median", "quarter")
    found = drawn(plan(asked), asked.aggregation, counted(asked, TABLE), GROUPS, NoNoise())
    points = [tuple(map(int, one.points)) for one in found if isinstance(one, ChosenPoints)]
    assert points == [(-5, 8), (3, 8)]


def test_points_are_within_bounds() -> None:
    """The last of few bins may have its middle beyond them."""
    asked = question("median", values=("b",))
    (use,) = uses(asked)
    assert isinstance(use, Chosen)
    wide = replace(use, tally=replace(use.tally, width=Fraction(19), bins=2))
    (one,) = plan(asked)
    (found,) = drawn([replace(one, use=wide)], asked.aggregation, {("b",): _row(asked, {1: 9})}, [("b",)], NoNoise())
    assert isinstance(found, ChosenPoints)
    bounds = use.tally.argument.known.range
    assert bounds is not None
    assert wide.tally.lower + Fraction(3, 2) * 19 > bounds.upper
    assert found.points == (bounds.upper,)


def _row(asked: Question, bins: dict[int, int]) -> Any:
    return tuple(bins if isinstance(tally, BinCounts) else 0 for _, tally in asked.aggregation.tallies)


def test_groups_come_in_the_order_asked_for_and_need_nobody() -> None:
    asked = question("rows", values=("b", "z", "a"))
    groups = [("b",), ("z",), ("a",)]
    (found,) = drawn(plan(asked, groups=3), asked.aggregation, counted(asked, TABLE), groups, NoNoise())
    assert isinstance(found, NoisyNumber)
    assert found.numbers == (1, 0, 4)


@pytest.mark.parametrize("name", ["rows", "mean", "median"])
def test_an_empty_table_gets_noise(name: str) -> None:
    asked = question(name)
    (found,) = drawn(plan(asked), asked.aggregation, {}, GROUPS, NoNoise(5))
    if isinstance(found, NoisyNumber):
        assert found.numbers == (5, 5)
    if isinstance(found, NoisyPair):
        assert found.above == found.below == (5, 5)
    if isinstance(found, ChosenPoints):
        assert len(found.points) == 2


class Recording(NoNoise):
    """Remembers which laws were drawn from."""

    def __init__(self) -> None:
        super().__init__()
        self.laws: list[tuple[Law, int]] = []

    def draw(self, law: Law, *, size: int) -> NDArray[np.int64]:
        self.laws.append((law, size))
        return super().draw(law, size=size)


@pytest.mark.parametrize("currency", ["epsilon", "mu squared"])
def test_noise_is_that_of_the_plan(currency: str) -> None:
    asked, randomness = question("rows", "mean", "sum", "units"), Recording()
    made = plan(asked, 1, currency)
    drawn(made, asked.aggregation, counted(asked, TABLE), GROUPS, randomness)
    wanted = [one.mechanisms[0] for one in made]
    assert all(isinstance(one, m.Laplace if currency == "epsilon" else m.Gaussian) for one in wanted)
    assert randomness.laws == [(one.law, one.dimension) for one in wanted if isinstance(one, (m.Laplace, m.Gaussian))]
    assert [size for _, size in randomness.laws] == [4, 2, 2]


@pytest.mark.parametrize("currency", ["epsilon", "mu squared"])
def test_the_noise_is_what_the_mechanism_adds(currency: str) -> None:
    asked = question("rows")
    made = plan(asked, 1, currency)
    (found,) = drawn(made, asked.aggregation, counted(asked, TABLE), GROUPS, NoNoise(-7, 12))
    mechanism = made[0].mechanisms[0]
    assert isinstance(found, NoisyNumber)
    assert list(found.numbers) == np.asarray(mechanism.run(np.array([4, 1]), NoNoise(-7, 12))).tolist()


def test_sums_beyond_64_bits_stay_exact() -> None:
    asked = question("sum")
    huge: Counts = {("a",): (0, 0, 0, 2**80, 0, Bins(np.array([], np.int64), np.array([], np.int64)))}
    (found,) = drawn(plan(asked), asked.aggregation, huge, GROUPS, NoNoise(3))
    assert isinstance(found, NoisyNumber)
    assert found.numbers == (2**80 + 3, 3)


def ordered(counts: dict[int, int]) -> NDArray[np.int64]:
    """The array that counts stand for."""
    return np.array(sorted(place for place, number in counts.items() for _ in range(number)), np.int64)


def test_counts_in_order_are_like_the_array_of_all_values() -> None:
    chance = random.Random(5)
    for _ in range(300):
        counts = {place: chance.choice([0, 1, 1, 2, 30]) for place in chance.sample(range(20), chance.randint(0, 8))}
        dense = np.array([counts.get(place, 0) for place in range(20)], np.uint8)
        long = ordered(counts)
        for short in (OrderedCounts.of(counts), OrderedCounts.of(Bins(None, dense))):
            _check_like(short, long, chance.choice([20, 5]))


def _check_like(short: Any, long: NDArray[np.int64], epsilon: int) -> None:
    assert short.size == long.size
    for probability in (0, Fraction(1, 4), Fraction(1, 2), 1):
        quantile = m.Quantile(probability=probability, epsilon=epsilon, lower=0, upper=19, step=1)
        assert [quantile.miss(short, x) for x in range(20)] == [quantile.miss(long, x) for x in range(20)]
        for one, other in zip(quantile.pieces(short, 0), quantile.pieces(long, 0), strict=True):
            assert one.tolist() == other.tolist()


def test_bins_are_read_as_they_are() -> None:
    bins = Bins(np.array([7, 2], np.int64), np.array([1, 3], np.int64))
    found = OrderedCounts.of(bins)
    values: Sequence[int] = found[0:4].tolist()
    assert (found.size, values) == (4, [2, 7])
    assert found.searchsorted([2, 3, 8]).tolist() == [0, 3, 4]
    assert found.searchsorted([2, 7], side="right").tolist() == [3, 4]
