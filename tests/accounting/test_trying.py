"""What is known of a parameter: rough answers settle what they can, games leave some slack, faults are told apart."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.accounting import answers
from privately.accounting.trying import FaultyMaker, Make, Trials, is_played
from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import Neighbors
from privately.rounding import Interval


def trials(make: Make, epsilon: str = "1", *, whole: bool = False) -> Trials:
    return Trials(make, Fraction(epsilon), Fraction("1e-5"), whole=whole)


def answering(monkeypatch: pytest.MonkeyPatch, rough: Interval, narrow: Interval) -> list[bool]:
    asked: list[bool] = []

    def answer(event: acc.Event, delta: Fraction, **options: Any) -> Interval:
        asked.append("width" not in options)
        return rough if "width" in options else narrow

    monkeypatch.setattr(answers, "epsilon", answer)
    return asked


@pytest.mark.parametrize(
    ("rough", "is_narrow", "is_safe"),
    [
        ((0.1, 0.5), False, True),
        ((1.5, 1.6), False, False),
        ((0.0, 17.0), False, False),
        ((0.0, 15.0), True, True),
        ((0.0, math.inf), True, True),
        ((0.9, 1.1), True, True),
        ((0.9, 0.99999), True, True),
        ((1.00001, 2.0), True, True),
    ],
)
def test_rough_answers_settle_only_what_is_far(
    rough: tuple[float, float], is_narrow: bool, is_safe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(monkeypatch, Interval(*rough), Interval(Fraction(1, 2), Fraction(1, 2)))
    tried = trials(lambda scale: acc.Laplace(scale=scale))
    assert (tried.roughly(2.0) <= 0) == is_safe
    assert any(asked) == is_narrow
    tried.is_rough_enough = False
    assert tried.roughly(2.0) <= 0


@pytest.mark.parametrize("found", [Interval(0, 0), Interval(Fraction(1), Fraction(1)), Interval(0, math.inf)])
def test_on_the_safe_side_only_at_most_zero(found: Interval, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, found, found)
    assert (trials(lambda scale: acc.Laplace(scale=scale)).excess(1.0) <= 0) == (found.upper <= 1)


@pytest.mark.parametrize(
    ("method", "upper", "slack"),
    [("contour", 1.1, 0.0), ("adaptive choices on samples", 1.0001, 1e-4), ("adaptive choices, lattice", 1.1, 1e-3)],
)
def test_games_leave_some_slack(method: str, upper: float, slack: float, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Interval(Fraction(1), Fraction(upper), method=method)
    answering(monkeypatch, found, found)
    tried = trials(lambda scale: acc.Laplace(scale=scale))
    assert tried.slack(1.0) == 0
    tried.excess(1.0)
    assert tried.slack(1.0) == pytest.approx(slack, rel=1e-3)


@pytest.mark.slow
def test_games_are_known_by_what_answers_say() -> None:
    statements = [acc.Exponential(epsilon="0.1"), acc.Exponential(epsilon="0.2")]
    assert is_played(acc.epsilon(acc.Sequence(events=statements), "1e-5"))
    assert is_played(acc.epsilon(acc.Repeat(event=acc.ZCDP(rho="0.01"), times=2), "1e-5"))
    assert not is_played(acc.epsilon(acc.Repeat(event=acc.Laplace(scale=5), times=9), "1e-5"))


def test_whole_numbers_are_made_of_ints_and_others_of_floats() -> None:
    made: list[object] = []
    for whole in (True, False):
        trials(lambda value: made.append(value) or acc.Laplace(scale=value), whole=whole).event(3)  # type: ignore[func-returns-value]
    assert [type(one) for one in made] == [int, float]


@pytest.mark.parametrize("fault", [ZeroDivisionError("by 0"), OverflowError("large"), ValueError("math domain error")])
def test_where_arithmetic_ends_there_is_no_parameter(fault: Exception) -> None:
    def make(_: float) -> acc.Event:
        raise fault

    assert not trials(make).exists(1.0)
    with pytest.raises(InvalidParameter, match=type(fault).__name__):
        trials(make).event(1.0)


@pytest.mark.parametrize("fault", [TypeError("text"), KeyError(3), RuntimeError("x" * 999)])
def test_other_faults_are_not_taken_for_the_end(fault: Exception) -> None:
    def make(_: float) -> acc.Event:
        raise fault

    with pytest.raises(FaultyMaker, match=f"{type(fault).__name__} for 1.0"):
        trials(make).exists(1.0)


def test_what_is_made_is_an_event() -> None:
    with pytest.raises(FaultyMaker, match="no event but a str"):
        trials(lambda _: "laplace").exists(1.0)  # type: ignore[arg-type, return-value]


def test_own_errors_pass() -> None:
    both = [acc.Laplace(scale=1), acc.Laplace(scale=1, neighbors=Neighbors.REPLACE)]
    with pytest.raises(MixedNeighbors):
        trials(lambda _: acc.Sequence(events=both)).exists(1.0)


def test_what_no_rule_leads_to_is_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Interval:
        raise NoSuchRule(premise="this", wanted="that")

    monkeypatch.setattr(answers, "epsilon", refuse)
    tried = trials(lambda scale: acc.Laplace(scale=scale))
    assert tried.excess(1.0) == tried.roughly(2.0) == math.inf
    assert isinstance(tried.refused, NoSuchRule)


@pytest.mark.slow
def test_sketches_are_above() -> None:
    tried = trials(lambda rho: acc.Repeat(event=acc.ZCDP(rho=rho), times=10))
    assert tried.sketched(0.01) >= tried.excess(0.01)
