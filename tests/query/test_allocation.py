"""Shares add up and are the best there are; noise is what can be drawn."""

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from privately import mechanisms as m
from privately.errors import InvalidParameter, NotSupported
from privately.plans import Question, Unit
from privately.query.allocation import Budget, Currency, allocated, shares, weight_of
from privately.query.proving import derivation_of
from privately.query.uses import Use, uses
from tests.query.small_questions import question

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
    return sum(weight_of(use, currency) / float(part) ** power for use, part in zip(found, parts, strict=True))


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


@pytest.mark.parametrize("budget", [epsilon(3), mu_squared(3)])
def test_each_quantile_gets_as_much_as_a_count(budget: Budget) -> None:
    one, other = shares(uses(question("median", "quarter", "rows")), budget)
    assert {round(float(one), 12), round(float(other), 12)} == {1.0, 2.0}


# --- what cannot be drawn -------------------------------------------------------------------------------------------


def test_no_noise_is_narrower_than_can_be_drawn() -> None:
    (drawn,) = allocated(uses(question("rows")), 2, epsilon(10**9))
    assert drawn.mechanisms == (m.Laplace(scale="0.001", dimension=2),)


@pytest.mark.parametrize("budget", [epsilon("1e-20"), mu_squared("1e-30")])
def test_a_budget_that_is_next_to_nothing_is_refused(budget: Budget) -> None:
    with pytest.raises(InvalidParameter, match="steps as fine as these") as refused:
        allocated(uses(question("rows")), 2, budget)
    assert refused.value.field == "budget"


@pytest.mark.parametrize("rows", [1, 3])
def test_a_choice_with_half_the_epsilon_is_as_good_as_a_mu(rows: int) -> None:
    """rho = epsilon^2/8 = mu^2/2."""
    (drawn,) = allocated(uses(question("median", unit=Unit(column="person", rows=rows))), 2, mu_squared("1/4"))
    (choice,) = drawn.mechanisms
    assert isinstance(choice, m.Quantile)
    assert (1 - Fraction(1, 10**12)) / rows <= choice.epsilon <= Fraction(1, rows)


# --- groups that nobody listed ---------------------------------------------------------------------------------------


def unlisted(*names: str, unit: Unit) -> Question:
    """The same with groups that are not public."""
    asked = question(*names, unit=unit)
    keys = tuple(replace(key, values=None) for key in asked.aggregation.keys)
    return replace(asked, aggregation=replace(asked.aggregation, keys=keys))


def unknown(*names: str, unit: Unit) -> tuple[Use, ...]:
    return uses(unlisted(*names, unit=unit))


@pytest.mark.parametrize("change", ["add_remove", "replace"])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("currency", ["epsilon", "mu squared"])
def test_the_least_threshold_for_a_delta(change: Any, groups: int, currency: Currency) -> None:
    unit = Unit(column="person", rows=4, groups=groups, change=change)
    budget = Budget(currency=currency, amount=Fraction(1), delta=Fraction(1, 10**5))
    if (currency, change) == ("mu squared", "replace"):
        with pytest.raises(NotSupported, match="replaced"):
            allocated(unknown("rows", unit=unit), 1, budget)
        return
    first, second = allocated(unknown("rows", unit=unit), 1, budget)
    (histogram,) = first.mechanisms
    assert isinstance(histogram, m.ThresholdedHistogram)
    assert histogram.keys == groups
    assert first.share + second.share <= 1
    aggregation = unlisted("rows", unit=unit).aggregation
    proof = derivation_of(first, aggregation).conclusion
    assert proof.neighbors == unit.neighbors
    assert proof.parameters["delta"] <= Fraction(1, 10**5)
    most = first.share if currency == "epsilon" else first.share / 2
    assert most * (1 - Fraction(1, 10**9)) <= proof.parameters["epsilon" if currency == "epsilon" else "rho"] <= most
    lower = m.ThresholdedHistogram(
        scale=histogram.scale, threshold=histogram.threshold - 1, keys=groups, noise=histogram.noise
    )
    less = derivation_of(replace(first, mechanisms=(lower,)), aggregation).conclusion
    assert less.parameters["delta"] > Fraction(1, 10**5)


def test_unknown_groups_need_a_delta() -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        allocated(unknown("rows", unit=Unit()), 1, epsilon(1))


def test_one_noise_for_all_groups() -> None:
    one, pair = (allocated(uses(question(name)), 7, epsilon(1))[0].mechanisms[0] for name in ("rows", "mean"))
    assert isinstance(one, m.Laplace)
    assert isinstance(pair, m.Laplace)
    assert (one.dimension, pair.dimension) == (7, 14)
