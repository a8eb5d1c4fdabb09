"""Parts that are chosen beforehand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately import accounting as acc
from privately.accounting.chosen_parts import steadily
from privately.accounting.chosen_parts.beforehand import chosen, worst_choice
from privately.accounting.chosen_parts.divided import Divided
from privately.accounting.questions import NO_LOWER, EpsilonAt, Question
from privately.rounding import End, Interval

AT = EpsilonAt(Fraction(1, 10**6), Fraction(1, 10**6))
NARROW = acc.RandomizedResponse(epsilon=1, categories=5)


def discrete(k: int) -> acc.Event:
    return acc.DiscreteGaussian(variance=9 + k)


def parallel(*events: acc.Event) -> acc.Parallel:
    return acc.Parallel(events=events)


def asked(event: acc.Event, question: Question) -> Interval:
    assert isinstance(question, EpsilonAt)
    return acc.epsilon(event, question.delta, width=question.width)


@pytest.mark.parametrize(
    "parts",
    [
        (acc.Exponential(epsilon="0.3"), acc.Approx(epsilon="0.01", delta="1e-9")),
        (acc.Approx(epsilon="0.01", delta="1e-9"), acc.ZCDP(rho="0.1")),
        (acc.Laplace(scale=2), acc.Gaussian(noise_multiplier=3), acc.Exponential(epsilon="0.2")),
    ],
)
def test_no_less_than_any_one_part(parts: tuple[acc.Event, ...]) -> None:
    """Ten times the same; and answers are not below."""
    event = acc.Repeat(event=parallel(*parts), times=10)
    always = [acc.epsilon(acc.Repeat(event=part, times=10), "1e-6") for part in parts]
    found = steadily(event, AT, asked)
    assert found.lower == max(one.lower for one in always)
    answer = acc.epsilon(event, "1e-6")
    assert answer.lower >= found.lower
    assert answer.upper >= max(one.lower for one in always)


@pytest.mark.parametrize("size", [2, 5])
def test_all_rows_of_a_group_in_one_part(size: int) -> None:
    """Also where one part covers another for a single row only: a group of responses reveals less."""
    pure, beside = acc.Pure(epsilon=1), acc.Pure(epsilon="0.1")
    parts = parallel(acc.RandomizedResponse(epsilon=1), pure)
    event = acc.Group(event=acc.Sequence(events=[parts, beside]), size=size)
    alone = acc.epsilon(acc.Group(event=acc.Sequence(events=[pure, beside]), size=size), "1e-5")
    found = acc.epsilon(event, "1e-5")
    assert found.lower >= alone.lower
    assert found.upper < float(found.lower) * 1.001
    sampled = acc.Repeat(event=acc.PoissonSample(event=parts, rate="0.5"), times=3)
    inner = acc.Repeat(event=acc.PoissonSample(event=pure, rate="0.5"), times=3)
    alone = acc.epsilon(acc.Group(event=inner, size=size), "0.1")
    assert alone.lower <= acc.epsilon(acc.Group(event=sampled, size=size), "0.1").lower


def test_none_without_different_parts() -> None:
    for event in (NARROW, acc.Repeat(event=parallel(NARROW), times=3)):
        assert steadily(event, AT, asked) is NO_LOWER


def test_the_worst_choice_is_found_one_by_one() -> None:
    """Of twelve divisions, in 4096 ways: from all of one kind on to better ones."""
    parts = [(acc.Gaussian(noise_multiplier=5 + k), acc.Laplace(scale=20 - k), discrete(k)) for k in range(12)]
    divided = Divided.of(acc.Sequence(events=[parallel(*one) for one in parts]))
    worth = {(j, k): Fraction((7 * j + 5 * k * k) % 11) for j in range(12) for k in range(3)}
    known = {part: (j, k) for j, met in enumerate(divided.runs) for k, part in enumerate(met)}
    count = 0

    def value(event: acc.Event) -> End:
        nonlocal count
        count += 1
        assert isinstance(event, acc.Sequence)
        steps = [one.event for one in event.events if isinstance(one, acc.Repeat)]
        return sum((worth[known[step]] for step in steps), Fraction(0))

    best = worst_choice(divided, value)
    assert value(best) == sum(max(worth[j, k] for k in range(len(met))) for j, met in enumerate(divided.runs))
    assert count <= 70
    assert chosen(divided, (0,) * 12) != best


@pytest.mark.slow
def test_many_different_divisions_are_narrow() -> None:
    """Before, only the first parts were tried beforehand."""
    parts = [(acc.Gaussian(noise_multiplier=30 + k), acc.Laplace(scale=3 + k)) for k in range(6)]
    found = acc.epsilon(acc.Sequence(events=[parallel(*one) for one in parts]), "1e-5")
    assert found.lower >= acc.epsilon(acc.Sequence(events=[second for _, second in parts]), "1e-5").lower
