"""Guesses are near enough for one answer to be all that is asked; nothing else depends on them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.accounting import answers, guessing
from privately.accounting.compositions import compositions
from privately.accounting.guessing import Guess, guessed


def steps(noise: Any, rate: Any, times: Any) -> acc.Event:
    return acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=rate), times=times)


@pytest.mark.parametrize(("rate", "times", "expected"), [("1e-4", 10**4, 0.5531526), ("1e-6", 10**5, 0.3745465)])
def test_one_answer_is_enough(monkeypatch: pytest.MonkeyPatch, rate: str, times: int, expected: float) -> None:
    asked: list[acc.Event] = []
    ask = answers.epsilon

    def counted(event: acc.Event, delta: Any, **options: Any) -> Any:
        asked.append(event)
        return ask(event, delta, **options)

    monkeypatch.setattr(answers, "epsilon", counted)
    found = acc.calibrate(lambda noise: steps(noise, rate, times), epsilon=1, delta="1e-6")
    assert len(asked) == 1
    assert expected <= found <= expected * (1 + 1.1e-5)
    assert ask(steps(found, rate, times), "1e-6").upper <= 1


@pytest.mark.parametrize("off", [0.7, 0.999, 1.00002, 1.5])
def test_wrong_guesses_change_nothing(monkeypatch: pytest.MonkeyPatch, off: float) -> None:
    def wrong(make: Any, epsilon: Fraction, delta: Fraction) -> Guess | None:
        found = guessed(make, epsilon, delta)
        return Guess(found.place * off, found.power / off) if found else None

    monkeypatch.setattr("privately.accounting.calibrating.guessed", wrong)
    found = acc.calibrate(lambda noise: steps(noise, "1e-3", 1000), epsilon=1, delta="1e-6")
    assert 0.69718 <= found <= 0.69719
    assert acc.epsilon(steps(found, "1e-3", 1000), "1e-6").upper <= 1


def test_other_parameters_are_guessed_too() -> None:
    found = acc.calibrate(lambda rate: steps("0.55", min(rate, 1), 1000), epsilon=1, delta="1e-6", precision="1e-4")
    event = steps("0.55", found, 1000)
    assert Fraction(9990, 10000) < acc.epsilon(event, "1e-6").lower
    assert acc.epsilon(event, "1e-6").upper <= 1


@pytest.mark.parametrize(
    ("event", "epsilon", "delta"),
    [
        (acc.Laplace(scale=1), "1", "1e-6"),
        (steps(1, "0.01", 1000), "1", "1e-6"),
        (steps(1, "1e-4", 1000), "1", "1e-20"),
        (steps(1, "1e-4", 1000), "1e-5", "1e-6"),
        (steps(1, "1e-4", 1000), "1", "1e-6"),  # whatever the parameter
    ],
)
def test_nothing_to_guess(event: acc.Event, epsilon: str, delta: str) -> None:
    assert guessed(lambda _: event, Fraction(epsilon), Fraction(delta)) is None


def test_what_is_guessed_is_about_the_truth() -> None:
    event = steps("0.5", "1e-4", 10**4)
    found = guessing._delta(compositions(event)[0], float(acc.epsilon(event, "1e-6").upper), 1e-6)
    assert found is not None
    assert math.isclose(found, 1e-6, rel_tol=1e-4)
