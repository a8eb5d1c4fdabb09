"""Several mechanisms on one sample, against exact enumeration and against laws that are known otherwise."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NoReturn

import pytest

from privately import accounting as acc
from privately.accounting import Event
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.accounting.shared_samples import lists, road, together

WIDTH = Fraction(1, 10**6)
RESPONSES = [acc.RandomizedResponse(epsilon="0.9", categories=3), acc.Approx(epsilon="0.5", delta="1e-4")]
Outcomes = list[tuple[float, float]]


def answer(epsilon: float, categories: int, delta: float) -> Outcomes:
    unit = (1 - delta) / (math.exp(epsilon) + categories - 1)
    ends = [(math.exp(epsilon) * unit, unit), (unit, math.exp(epsilon) * unit), (delta, 0.0), (0.0, delta)]
    return ends + [(unit, unit)] * (categories - 2)


def both(*parts: Outcomes) -> Outcomes:
    return [(math.prod(p for p, _ in chosen), math.prod(q for _, q in chosen)) for chosen in product(*parts)]


def sampled(pair: Outcomes, rate: float, direction: str) -> Outcomes:
    if direction == "remove":
        return [((1 - rate) * q + rate * p, q) for p, q in pair]
    return [(p, (1 - rate) * p + rate * q) for p, q in pair]


@cache
def enumerated(rate: float, times: int, nested: float) -> tuple[Outcomes, Outcomes]:
    """Both directions of `event` below."""
    found = []
    for direction in ("remove", "add"):
        base = both(answer(0.9, 3, 0.0), answer(0.5, 2, 1e-4))
        if nested:
            base = both(base, sampled(answer(1.0, 2, 0.0), nested, direction))
        found.append(both(*[sampled(base, rate, direction)] * times))
    return found[0], found[1]


def event(rate: str, times: int, nested: str) -> Event:
    inside: list[Event] = [*RESPONSES]
    if nested != "0":
        inside.append(acc.PoissonSample(event=acc.Pure(epsilon=1), rate=nested))
    return acc.Repeat(event=acc.PoissonSample(event=acc.Sequence(events=inside), rate=rate), times=times)


@pytest.mark.parametrize(("rate", "times", "nested"), [("0.02", 3, "0"), ("0.9", 2, "0.4")])
@pytest.mark.parametrize("epsilon", ["0.01", "0.4"])
def test_answers_contain_exact_enumerations(rate: str, times: int, nested: str, epsilon: str) -> None:
    ratio = math.exp(float(epsilon))
    sides = enumerated(float(rate), times, float(nested))
    truth = max(sum(max(p - ratio * q, 0.0) for p, q in side) for side in sides)
    found = together(event(rate, times, nested), DeltaAt(Fraction(epsilon), WIDTH))
    assert float(found.lower) <= truth * (1 + 1e-12)
    assert truth * (1 - 1e-12) <= float(found.upper)
    assert found.width <= Fraction(1, 1000) * found.upper
    if truth > 1e-5:
        back = together(event(rate, times, nested), EpsilonAt(Fraction(truth), WIDTH))
        assert float(back.lower) <= float(epsilon) * (1 + 1e-9)
        assert float(epsilon) * (1 - 1e-9) <= float(back.upper)


KNOWN: list[tuple[Event, int, str]] = [
    (acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="0.01"), 1000, "1e-6"),
    (acc.PoissonSample(event=acc.Laplace(scale=2), rate="0.3"), 7, "1e-9"),
]


@pytest.mark.parametrize(("step", "times", "delta"), KNOWN, ids=["normal", "laplace"])
def test_equal_noises_are_one(step: Event, times: int, delta: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that has a pair, listed all the same."""
    steps = acc.Repeat(event=step, times=times)
    known = acc.epsilon(steps, delta)
    monkeypatch.setattr(lists, "is_shared", lambda term: isinstance(term, acc.PoissonSample))
    found = together(steps, EpsilonAt(Fraction(delta), WIDTH))
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert found.width <= Fraction(1, 2000) * found.upper


def test_noises_on_one_sample_are_narrow() -> None:
    """Above each alone, and far below the sum."""
    inner = acc.Sequence(events=[acc.Gaussian(noise_multiplier=2), acc.Laplace(scale=2)])
    steps = acc.Repeat(event=acc.PoissonSample(event=inner, rate="0.05"), times=100)
    found = acc.epsilon(steps, "1e-6")
    assert found.method == road.METHOD
    assert found.width <= Fraction(1, 2000) * found.upper
    apart = acc.Repeat(
        event=acc.Sequence(events=[acc.PoissonSample(event=one, rate="0.05") for one in inner.events]), times=100
    )
    assert acc.epsilon(apart, "1e-6").upper < found.lower


def test_what_is_not_listed_is_refused() -> None:
    sample = acc.PoissonSample(event=acc.Sequence(events=RESPONSES), rate="0.1")
    with pytest.raises(NotApplicable, match="many"):
        together(acc.Repeat(event=sample, times=10**7), EpsilonAt(Fraction(1, 1000), WIDTH))
    with pytest.raises(NotApplicable, match="small"):
        together(sample, EpsilonAt(Fraction(1, 10**200), WIDTH))
    with pytest.raises(NotApplicable, match="upper"):
        together(sample, EpsilonAt(Fraction(1, 10**6), WIDTH))


def test_without_an_answer_each_end_says_nothing() -> None:
    """Nor where delta is no more than what is at infinite loss."""
    tenth = Fraction(1, 10)
    parts = lists.Parted([], {}, tenth)
    lower, upper = (road._Sum(side, parts, 1e-20, WIDTH) for side in ("lower", "upper"))

    def nowhere(_: object, question: Question) -> NoReturn:
        raise NotApplicable("no way")

    def half(_: object, question: Question) -> Fraction:
        assert isinstance(question, DeltaAt) or question.delta == tenth / (1 - tenth)
        return Fraction(1, 2)

    for question, most in ((DeltaAt(Fraction(1), WIDTH), 1), (EpsilonAt(2 * tenth, WIDTH), math.inf)):
        assert (lower.end(question, nowhere), upper.end(question, nowhere)) == (0, most)
    assert upper.end(DeltaAt(Fraction(1), WIDTH), half) == tenth + (1 - tenth) / 2
    assert upper.end(EpsilonAt(2 * tenth, WIDTH), half) == Fraction(1, 2)
    assert (lower.end(EpsilonAt(tenth, WIDTH), half), upper.end(EpsilonAt(tenth, WIDTH), half)) == (0, math.inf)
