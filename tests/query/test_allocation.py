"""Shares add up and are the best there are; what is derived costs no more than was asked."""

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privately import mechanisms as m
from privately.certificates import certify, check
from privately.errors import InvalidParameter, NotSupported
from privately.guarantees import GaussianDP, PureDP
from privately.plans import Unit
from privately.query.allocation import Budget, Currency, allocated, derivation, shares
from privately.query.uses import Chosen, Use, uses
from tests.plans.small import pairs, row_pairs
from tests.query.small_questions import counted, question

UNITS = [
    Unit(),
    Unit(change="replace"),
    Unit(column="person", rows=3, groups=2),
    Unit(column="person", rows=4, groups=3, rows_per_group=2, change="replace"),
]
QUESTIONS = [
    ("rows",),
    ("rows", "units", "sum"),
    ("mean", "rows"),
    ("variance", "mean", "rows", "units"),
    ("sum",),
]


def epsilon(amount: Any) -> Budget:
    return Budget(currency="epsilon", amount=Fraction(amount))


def mu_squared(amount: Any) -> Budget:
    return Budget(currency="mu squared", amount=Fraction(amount))


def loss(found: tuple[Use, ...], parts: Any, currency: Currency) -> float:
    """The sum of squared errors, relative to the sensitivities."""
    power = 2 if currency == "epsilon" else 1
    return sum(use.weight / float(part) ** power for use, part in zip(found, parts, strict=True))


@pytest.mark.parametrize("names", [*QUESTIONS, ("median",), ("median", "quarter", "rows")])
@pytest.mark.parametrize("budget", [epsilon(1), epsilon("1/3"), epsilon("1e-9"), mu_squared(2), mu_squared("1/7")])
def test_shares_add_up_and_are_the_best(names: tuple[str, ...], budget: Budget) -> None:
    found = uses(question(*names))
    parts = shares(found, budget)
    assert budget.amount * (1 - Fraction(1, 10**12)) <= sum(parts) <= budget.amount
    chance, best = random.Random(1), loss(found, parts, budget.currency)
    for _ in range(200):
        weights = [chance.expovariate(1) for _ in found]
        others = [float(budget.amount) * weight / sum(weights) for weight in weights]
        assert best <= loss(found, others, budget.currency) * (1 + 1e-9)
        near = [float(part) * (1 + chance.uniform(-0.1, 0.1)) for part in parts]
        near = [one * float(budget.amount) / sum(near) for one in near]
        assert best <= loss(found, near, budget.currency) * (1 + 1e-9)


def test_each_quantile_gets_as_much_as_a_count() -> None:
    one, other = shares(uses(question("median", "quarter", "rows")), epsilon(3))
    assert {round(float(one), 12), round(float(other), 12)} == {1.0, 2.0}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("names", [*QUESTIONS, ("median",), ("median", "quarter", "rows")])
@pytest.mark.parametrize("amount", ["1", "0.1", "1/3", "7.3"])
def test_epsilons_stay_within_the_budget(unit: Unit, names: tuple[str, ...], amount: str) -> None:
    asked = question(*names, unit=unit)
    drawn = allocated(uses(asked), 2, epsilon(amount))
    found = derivation(drawn)
    assert isinstance(found.conclusion, PureDP)
    assert found.conclusion.neighbors == unit.neighbors
    assert Fraction(amount) * (1 - Fraction(1, 10**9)) <= found.conclusion.parameters["epsilon"] <= Fraction(amount)
    assert all(one.derive().conclusion.parameters["epsilon"] <= one.share for one in drawn)
    check(certify(found))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("names", QUESTIONS)
@pytest.mark.parametrize("mu", ["1", "0.1", "1/3", "7.3"])
def test_mus_stay_within_the_budget(unit: Unit, names: tuple[str, ...], mu: str) -> None:
    asked = question(*names, unit=unit)
    found = derivation(allocated(uses(asked), 2, mu_squared(Fraction(mu) ** 2)))
    assert isinstance(found.conclusion, GaussianDP)
    assert found.conclusion.neighbors == unit.neighbors
    assert Fraction(mu) * (1 - Fraction(1, 10**9)) <= found.conclusion.parameters["mu"] <= Fraction(mu)
    check(certify(found))


# --- choices in groups ----------------------------------------------------------------------------------------------

KINDS = [("a", -2), ("a", 2), ("b", 2), ("b", None)]
OTHERS: list[Any] = [(2, "a", 1), (2, "b", -1), (2, "b", 2)]
LIMITS = [(1, 1, 1), (2, 2, 1), (2, 1, 2), (2, 2, 2)]


def units() -> Iterator[Unit]:
    for change in ("add_remove", "replace"):
        yield Unit(change=change)
        for rows, groups, per_group in LIMITS:
            yield Unit(column="person", rows=rows, groups=groups, rows_per_group=per_group, change=change)


def misses(quantile: m.Quantile, counts: Any, group: str) -> list[int]:
    """How bad each bin is for one group."""
    bins = counts[group,][-1] if (group,) in counts else {}
    ordered = np.array(sorted(place for place, number in bins.items() for _ in range(number)), np.int64)
    return [quantile.miss(ordered, point) for point in range(quantile.points.steps + 1)]


def losses(quantile: m.Quantile, one: list[int], other: list[int]) -> list[float]:
    """log P/Q of each bin."""
    scale = float(quantile.choice(quantile.points.steps + 1).scale)
    totals = [math.log(sum(math.exp(-miss / scale) for miss in each)) for each in (one, other)]
    return [(b - a) / scale - totals[0] + totals[1] for a, b in zip(one, other, strict=True)]


@pytest.mark.parametrize("name", ["median", "quarter"])
def test_choices_in_groups_cost_what_all_small_tables_say(name: str) -> None:
    """The loss of a choice in each of two groups is the sum; its largest value stays within what is derived."""
    for unit in units():
        asked = question(name, unit=unit, low=-2, high=2)
        (drawn,) = allocated(uses(asked), 2, epsilon(2))
        (quantile,) = drawn.mechanisms
        assert isinstance(quantile, m.Quantile)
        claimed = drawn.derive().conclusion.parameters["epsilon"]
        neighbours = (
            row_pairs(unit.change, KINDS, OTHERS) if unit.column is None else pairs(unit.change, 2, KINDS, OTHERS)
        )
        reached = 0.0
        for one, other in neighbours:
            before, after = counted(asked, one), counted(asked, other)
            both = [(misses(quantile, before, group), misses(quantile, after, group)) for group in ("a", "b")]
            reached = max(reached, sum(max(losses(quantile, *pair)) for pair in both))
            spread = sum(max(_changes(*pair)) - min(_changes(*pair)) for pair in both)
            assert spread <= claimed * quantile.choice(quantile.points.steps + 1).scale
        assert claimed / 10 < reached <= claimed


def _changes(one: list[int], other: list[int]) -> list[int]:
    return [b - a for a, b in zip(one, other, strict=True)]


def test_a_replaced_row_may_move_to_another_group() -> None:
    """The mechanism's own bound for a replaced row holds within a group only: 12 is more than 8."""
    unit = Unit(change="replace")
    asked = question("quarter", unit=unit, low=-2, high=2)
    (drawn,) = allocated(uses(asked), 2, epsilon(2))
    (quantile,) = drawn.mechanisms
    assert isinstance(quantile, m.Quantile)
    choice = quantile.choice(quantile.points.steps + 1)
    others: list[Any] = [(2, part, amount) for part in ("a", "b") for amount in (-2, -1, 0, 1, 2, 2, 2, 2)]
    one = counted(asked, [*others, (1, "a", -2)])
    other = counted(asked, [*others, (1, "b", -2)])
    spread = 0
    for group in ("a", "b"):
        changes = _changes(misses(quantile, one, group), misses(quantile, other, group))
        spread += max(changes) - min(changes)
    alone = quantile.derive(drawn.use.moves[0]).conclusion.parameters["epsilon"]
    assert alone * choice.scale == 8
    assert spread == 12
    assert drawn.derive().conclusion.parameters["epsilon"] * choice.scale == 12


def test_groups_as_if_each_row_were_alone_are_refuted() -> None:
    """A unit with a row in each of two groups costs two rows."""
    unit = Unit(column="person", rows=2, groups=2, rows_per_group=1)
    (drawn,) = allocated(uses(question("median", unit=unit)), 2, epsilon(1))
    (quantile,) = drawn.mechanisms
    assert isinstance(quantile, m.Quantile)
    assert isinstance(drawn.use, Chosen)
    assert quantile.epsilon == Fraction(1, 2)
    assert drawn.derive().conclusion == PureDP(epsilon=1, neighbors=unit.neighbors)


# --- what cannot be drawn -------------------------------------------------------------------------------------------


def test_no_noise_is_narrower_than_can_be_drawn() -> None:
    (drawn,) = allocated(uses(question("rows")), 2, epsilon(10**9))
    assert drawn.mechanisms == (m.Laplace(scale="0.001", dimension=2),)
    assert derivation([drawn]).conclusion == PureDP(epsilon=1000)


@pytest.mark.parametrize("budget", [epsilon("1e-20"), mu_squared("1e-30")])
def test_a_budget_that_is_next_to_nothing_is_refused(budget: Budget) -> None:
    with pytest.raises(InvalidParameter, match="drown") as refused:
        allocated(uses(question("rows")), 2, budget)
    assert refused.value.field == "budget"


def test_quantiles_want_an_epsilon() -> None:
    with pytest.raises(NotSupported, match="epsilon="):
        allocated(uses(question("median")), 2, mu_squared(1))


def test_one_noise_for_all_groups() -> None:
    one, pair = (allocated(uses(question(name)), 7, epsilon(1))[0].mechanisms[0] for name in ("rows", "mean"))
    assert isinstance(one, m.Laplace)
    assert isinstance(pair, m.Laplace)
    assert (one.dimension, pair.dimension) == (7, 14)
