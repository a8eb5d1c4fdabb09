"""Both kinds of parameters are found wherever they are among the floats, by few answers."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.accounting import answers
from privately.accounting.bracketing import bracket
from privately.accounting.trying import Trials
from privately.errors import InvalidParameter, NoSuchRule
from privately.rounding import Interval

LARGEST, SMALLEST = sys.float_info.max, math.ulp(0.0)


def stepping(monkeypatch: pytest.MonkeyPatch, is_safe: Callable[[Any], bool]) -> tuple[list[Any], Any]:
    """Answers that jump, so that nothing can be foreseen; and what makes events of which they are asked."""
    asked: list[Any] = []
    events: dict[acc.Event, Any] = {}

    def make(parameter: Any) -> acc.Event:
        made = acc.Laplace(scale=len(events) + 1)
        events[made] = parameter
        return made

    def answer(event: acc.Event, _delta: Fraction, **_options: Any) -> Interval:
        asked.append(events[event])
        return Interval(0, 0) if is_safe(events[event]) else Interval(math.inf, math.inf)

    monkeypatch.setattr(answers, "epsilon", answer)
    return asked, make


def found(make: Any, *, whole: bool = False) -> tuple[float, float]:
    both = bracket(Trials(make, Fraction(1), Fraction(0), whole=whole), 1e-5)
    return both.safe, both.unsafe


@pytest.mark.parametrize("border", [SMALLEST, 1e-310, 1e-200, 0.3, 7.0, 1e31, 1e300, LARGEST])
@pytest.mark.parametrize("is_above", [True, False])
def test_anywhere_among_the_floats(border: float, is_above: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, make = stepping(monkeypatch, lambda x: (x >= border) == is_above)
    if not is_above and border == SMALLEST:
        assert found(make) == (0, SMALLEST)
    else:
        safe, unsafe = found(make)
        assert (unsafe < border <= safe) if is_above else (safe < border <= unsafe)
    assert len(asked) <= 40


@pytest.mark.parametrize("border", [1, 2, 3, 1000, 10**12, 10**30, 2**1000])
@pytest.mark.parametrize("is_above", [True, False])
def test_anywhere_among_whole_numbers(border: int, is_above: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, make = stepping(monkeypatch, lambda n: (n >= border) == is_above)
    safe, unsafe = found(make, whole=True)
    assert (unsafe < border <= safe) if is_above else (safe < border <= unsafe)
    assert all(type(one) is int for one in asked)
    assert len(asked) <= 40


@pytest.mark.parametrize("whole", [True, False])
def test_only_nothing_is_safe(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    _, make = stepping(monkeypatch, lambda x: x == 0)
    safe, _ = found(make, whole=whole)
    assert (safe, type(safe)) == (0, int if whole else float)


def limited(make: Any, *ranges: tuple[float, float]) -> Any:
    def made(parameter: float) -> acc.Event:
        if not any(low <= parameter <= high for low, high in ranges):
            raise InvalidParameter("x", "out of range.")
        return make(parameter)  # type: ignore[no-any-return]

    return made


@pytest.mark.parametrize("low", [1.1e-300, 5.0, 1.2e299])
@pytest.mark.parametrize("share", [1.0001, 1.2, 1.29])
def test_between_two_powers_of_two(low: float, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    _, make = stepping(monkeypatch, lambda x: x >= low * share)
    safe, unsafe = found(limited(make, (low, low * 1.3)))
    assert low <= unsafe < low * share <= safe <= low * 1.3


def test_ranges_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing near 1 is safe, ranges farther off are looked at."""
    _, make = stepping(monkeypatch, lambda x: x >= 1e205)
    safe, unsafe = found(limited(make, (0, 1e-100), (0.7, 1.4), (1e200, 1e210)))
    assert 1e200 <= unsafe < 1e205 <= safe <= 1e210


def test_the_last_whole_number_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is exact, however large: all cost the same but the last."""
    monkeypatch.setattr(answers, "epsilon", lambda event, _delta, **_: Interval(event.epsilon, event.epsilon))

    def make(n: int) -> acc.Event:
        return acc.Pure(epsilon=Fraction(n, 10**40))

    assert found(limited(make, (1, 10**30 + 7)), whole=True)[0] == 10**30 + 7


@pytest.mark.parametrize(("is_safe", "message"), [(True, "all of the parameters"), (False, "none of the parameters")])
def test_all_alike(is_safe: bool, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, make = stepping(monkeypatch, lambda _: is_safe)
    with pytest.raises(InvalidParameter, match=message + ".*from 0 to the largest float"):
        found(make)
    assert len(asked) <= 90


def test_what_no_rule_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Interval:
        raise NoSuchRule(premise="this", wanted="that")

    monkeypatch.setattr(answers, "epsilon", refuse)
    with pytest.raises(NoSuchRule, match="from this to that"):
        found(lambda scale: acc.Laplace(scale=1 + min(scale, 1)))


def test_whole_numbers_only() -> None:
    with pytest.raises(InvalidParameter, match="Use whole=True"):
        found(lambda n: acc.Repeat(event=acc.Laplace(scale=10), times=n))


def test_what_gets_dearer_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers about hardly any noise may take long, and are in vain; nothing at all is still tried."""
    asked: list[float] = []

    def answer(event: acc.Pure, _delta: Fraction, **_: Any) -> Interval:
        asked.append(float(event.epsilon))
        return Interval(0, 0) if event.epsilon == 99 else Interval(event.epsilon, event.epsilon)

    monkeypatch.setattr(answers, "epsilon", answer)
    with pytest.raises(InvalidParameter, match="none of the parameters"):
        found(limited(lambda noise: acc.Pure(epsilon=2 + 1 / noise), (1e-9, LARGEST)))
    assert max(asked) < 1e7
    assert found(lambda noise: acc.Pure(epsilon=2 + 1 / noise if noise else 99))[0] == 0
