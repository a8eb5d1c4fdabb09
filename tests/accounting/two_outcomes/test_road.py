"""One statement: both ends against each other, and against what is allowed."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

import numpy as np
import pytest

from privately.accounting import renyi
from privately.accounting.events import ZCDP
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import road
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.search import Place

WIDTH = Fraction(1, 10**6)
RHOS = [Fraction("1e-6"), Fraction("0.5"), Fraction(1000)]
DELTAS = [Fraction("1e-2"), Fraction("1e-6"), Fraction("1e-100")]
LISTED = AtOrders(((Fraction(3, 2), Fraction(1, 5)), (Fraction(8), Fraction(1)), (Fraction(64), Fraction(20))))
LINEAR_PROGRAMS = [(Fraction(0), 0.47909), (Fraction("0.25"), 0.40646), (Fraction("0.70710678"), 0.28478)]
"""rho = 0.5, on 1,600 losses and 300 orders."""


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_is_narrow(rho: Fraction, delta: Fraction) -> None:
    found = answer(Concentrated(rho), EpsilonAt(delta, WIDTH))
    assert found.width <= WIDTH * max(found.lower, Fraction(1, 1000))
    assert found.upper <= renyi.epsilon(ZCDP(rho=rho), delta).upper * (1 + Fraction(1, 10**7))


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 100), Fraction(1), Fraction(6), Fraction(30)])
@pytest.mark.parametrize("statement", [Concentrated(Fraction(1, 2)), Concentrated(Fraction(1, 100)), LISTED])
def test_delta_is_narrow(statement: Concentrated | AtOrders, epsilon: Fraction) -> None:
    found = answer(statement, DeltaAt(epsilon, WIDTH))
    assert DeltaAt(epsilon, WIDTH).is_met(found)
    if 0 < found.lower < 1:
        back = answer(statement, EpsilonAt(Fraction(found.upper), WIDTH))
        assert float(back.upper) == pytest.approx(float(epsilon), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(("epsilon", "value"), LINEAR_PROGRAMS)
def test_against_linear_programs(epsilon: Fraction, value: float) -> None:
    found = answer(Concentrated(Fraction(1, 2)), DeltaAt(epsilon, WIDTH))
    assert float(found.upper) == pytest.approx(value, abs=1e-4)


def test_randomized_response_is_the_worst_at_zero() -> None:
    """rho = e tanh(e/2), and delta at 0 is tanh(e/2)."""
    e = 0.75
    found = answer(Concentrated(Fraction(e * math.tanh(e / 2))), DeltaAt(Fraction(0), WIDTH))
    assert float(found.lower) == pytest.approx(math.tanh(e / 2), rel=1e-7)
    assert float(found.upper) == pytest.approx(math.tanh(e / 2), rel=1e-7)


@pytest.mark.parametrize("seed", range(2))
def test_no_more_outcomes_reveal_more(seed: int) -> None:
    """Random pairs with several outcomes, each with the rho that it needs: none is above the upper end."""
    random = np.random.default_rng(seed)
    p, q = random.dirichlet(np.full(5, 2.0)), random.dirichlet(np.full(5, 2.0))
    orders = np.concatenate([1 + np.geomspace(1e-3, 300, 400), -np.geomspace(1e-3, 300, 400)])
    needed = max(_log_moment(p, q, t) / (t * (t - 1)) for t in orders) * 1.001
    for epsilon in (0.0, 0.5):
        revealed = float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
        assert revealed <= float(answer(Concentrated(Fraction(needed)), DeltaAt(Fraction(epsilon), WIDTH)).upper)


def _log_moment(p: np.ndarray, q: np.ndarray, t: float) -> float:
    return float(np.logaddexp.reduce(t * np.log(p) + (1 - t) * np.log(q)))


def test_the_lower_end_is_that_of_an_allowed_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the search says: a pair that is too far apart is moved until it is allowed."""
    statement, question = Concentrated(Fraction(1, 2)), DeltaAt(Fraction(2), WIDTH)
    right, place = answer(statement, question), road._worst(statement, question)
    wrong = Place(place.log_q, place.log_ratio * 1.01, place.order, place.sides, place.score)
    pair = road._allowed(statement, wrong)
    assert statement.exceeded(pair, Fraction(place.order))[0] <= 0
    monkeypatch.setattr(road, "_worst", lambda *_: wrong)
    moved = answer(statement, question)
    assert moved.lower <= right.upper
    assert moved.upper >= right.lower


def test_large_deltas_need_nothing() -> None:
    found = answer(Concentrated(Fraction(1, 2)), EpsilonAt(Fraction("0.4791"), WIDTH))
    assert found.lower == found.upper == 0
    assert answer(Concentrated(Fraction(1, 2)), EpsilonAt(Fraction("0.479"), WIDTH)).lower > 0


def test_no_delta() -> None:
    with pytest.raises(NotApplicable, match="no epsilon"):
        answer(Concentrated(Fraction(1, 2)), EpsilonAt(Fraction(0), WIDTH))


def test_an_epsilon_of_zero_is_checked() -> None:
    """Where more than delta is revealed at 0, nothing is said, though the search found no pair."""
    statement = Concentrated(Fraction(1, 10))
    at_zero = Fraction(answer(statement, DeltaAt(Fraction(0), WIDTH)).upper)
    assert road._none_needed(statement, EpsilonAt(at_zero, WIDTH)).upper == 0
    with pytest.raises(NotApplicable):
        road._none_needed(statement, EpsilonAt(at_zero * Fraction(999, 1000), WIDTH))


def test_without_a_line_everything_may_be_revealed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> NoReturn:
        raise NotApplicable("no line")

    monkeypatch.setattr(road, "delta_above", none)
    question, place = DeltaAt(Fraction(1), WIDTH), Place(-1.0, 0.9, 2.0, (2.0, 2.0), 0.0)
    assert road._delta_above(Concentrated(Fraction(100)), place, question).upper == 1
    with pytest.raises(NotApplicable):
        road._delta_above(Concentrated(Fraction(100)), replace(place, score=-1.0), question)
