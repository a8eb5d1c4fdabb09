"""Parts of the data that are chosen in the light of earlier answers: against the best choice, by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.accounting.chosen_parts import lists
from privately.accounting.chosen_parts.lists import among_parts, choices, one_after_the_other
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.terms import flatten
from privately.errors import NoSuchRule
from privately.rounding import Interval

RARELY = EpsilonAt(Fraction(1, 10**5), Fraction(1, 10**6))

Outcomes = list[tuple[float, float]]
"""Probabilities with the row, and without it."""


def answered(epsilon: float, kinds: int = 2) -> Outcomes:
    one, grown = 1 / (kinds - 1 + math.exp(epsilon)), math.exp(epsilon)
    return [(grown * one, one), (one, grown * one), *[(one, one)] * (kinds - 2)]


def sampled(pair: Outcomes, rate: float) -> Outcomes:
    return [((1 - rate) * q + rate * p, q) for p, q in pair]


def turned(pair: Outcomes) -> Outcomes:
    return [(q, p) for p, q in pair]


def played(turns: list[list[list[Outcomes]]], alpha: float) -> float:
    """The best for an opponent who chooses one of the parts at every turn, knowing all earlier answers."""
    if not turns:
        return max(1 - alpha, 0.0)

    def met(part: list[Outcomes], alpha: float) -> float:
        if not part:
            return played(turns[1:], alpha)
        return sum(p * met(part[1:], alpha * q / p) for p, q in part[0])

    return max(met(part, alpha) for part in turns[0])


def both_ways(turns: list[list[list[Outcomes]]], alpha: float) -> float:
    other = [[[turned(one) for one in part] for part in parts] for parts in turns]
    return max(played(turns, alpha), played(other, alpha))


def responses(*epsilons: str) -> list[acc.Event]:
    return [acc.RandomizedResponse(epsilon=epsilon) for epsilon in epsilons]


ONCE = acc.Sequence(
    events=[
        acc.RandomizedResponse(epsilon="0.9", categories=3),
        acc.Parallel(events=[acc.Pure(epsilon=1), acc.Sequence(events=responses("0.6", "0.7"))]),
    ]
)
THRICE = acc.Repeat(
    event=acc.Parallel(events=[acc.RandomizedResponse(epsilon="0.8", categories=4), acc.Pure(epsilon="0.5")]), times=3
)
SAMPLED = acc.Sequence(
    events=[
        acc.Pure(epsilon="0.4"),
        acc.PoissonSample(event=acc.Parallel(events=[acc.Pure(epsilon=1), *responses("1.2")]), rate="0.3"),
        acc.Parallel(events=[acc.Sequence(events=responses("0.2", "0.5")), acc.Pure(epsilon="0.6")]),
    ]
)
GAMES: list[tuple[acc.Event, Any]] = [
    (ONCE, [[[answered(0.9, 3)]], [[answered(1)], [answered(0.6), answered(0.7)]]]),
    (THRICE, [[[answered(0.8, 4)], [answered(0.5)]]] * 3),
    (
        SAMPLED,
        [
            [[answered(0.4)]],
            [[sampled(answered(1), 0.3)], [sampled(answered(1.2), 0.3)]],
            [[answered(0.2), answered(0.5)], [answered(0.6)]],
        ],
    ),
]


@pytest.mark.parametrize(("event", "turns"), GAMES, ids=["once", "thrice", "sampled"])
def test_no_choice_of_parts_is_outside(event: acc.Event, turns: Any) -> None:
    for epsilon in ("0", "0.1", "0.4", "0.7", "1.1", "1.5", "1.9"):
        truth = both_ways(turns, math.exp(float(epsilon)))
        found = acc.delta(event, epsilon=epsilon)
        assert found.lower <= truth * (1 + 1e-9) + 1e-12
        assert found.upper >= truth * (1 - 1e-9) - 1e-12
    for delta in ("0.2", "0.05", "0.01", "0.001"):
        answer = acc.epsilon(event, delta=delta)
        assert both_ways(turns, math.exp(float(answer.upper) + 1e-9)) <= float(delta)
        assert both_ways(turns, math.exp(float(answer.lower) - 1e-9)) >= float(delta) or answer.lower == 0


def test_the_worst_list_of_parts_is_not_enough() -> None:
    """Planted: the largest profile in place of their sum is below what an opponent reaches."""
    event, turns = GAMES[0]
    least = 0.0
    for epsilon in ("0.4", "0.7", "1.1"):
        largest = max(float(acc.delta(one, epsilon=epsilon).upper) for one in choices(event))
        least = max(least, both_ways(turns, math.exp(float(epsilon))) / largest)
    assert least > 1.0005


def test_no_list_of_parts_may_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the strongest list is left out."""
    few = [acc.Sequence(events=responses(*some)) for some in (("0.2", "0.3"), ("0.1", "0.1", "0.1"))]
    parts = [acc.Pure(epsilon=2), *few]
    event = acc.Sequence(events=[acc.Pure(epsilon="0.5"), acc.Parallel(events=parts)])
    turns = [[[answered(0.5)]], [[answered(2)], [answered(0.2), answered(0.3)], [answered(0.1)] * 3]]
    truth = both_ways(turns, 2.0)
    question = DeltaAt(Fraction(math.log(2)), Fraction(1, 10**6))
    whole, listed = among_parts(event, question, lambda one, _: acc.delta(one, question.epsilon)), choices(event)
    assert whole is not None
    assert whole.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= whole.upper
    listed.sort(key=lambda one: acc.delta(one, question.epsilon).upper)
    monkeypatch.setattr(lists, "choices", lambda _: listed[:-1])
    found = among_parts(event, question, lambda one, _: acc.delta(one, question.epsilon))
    assert found is not None
    assert found.upper < truth


def test_all_parts_are_as_much_as_any_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what is beside the parts has nearly all of epsilon; planted: one of the parts in place of all."""
    parts = acc.Parallel(events=[acc.Pure(epsilon="0.3"), acc.Sequence(events=responses("0.2", "0.25"))])
    many = acc.Repeat(event=acc.Gaussian(noise_multiplier=1), times=50)
    found = acc.epsilon(acc.Sequence(events=[many, parts]), "1e-6")
    assert found.width < found.upper / 500
    event, turns = GAMES[0]
    whole = one_after_the_other(event)
    assert sum(flatten(whole).values()) == 4
    for alpha in (1.2, 2.0, 3.0):
        assert acc.delta(whole, Fraction(math.log(alpha))).upper >= both_ways(turns, alpha)
    monkeypatch.setattr(lists, "one_after_the_other", lambda event: choices(event)[0])
    assert acc.delta(event, Fraction(math.log(2.0))).upper < both_ways(turns, 2.0)


def test_all_profiles_fit_into_delta() -> None:
    """Where several lists of parts are about as bad, what all of them have at the upper end is at most delta."""
    parts = acc.Parallel(events=[acc.Gaussian(noise_multiplier=1), acc.Repeat(event=acc.Laplace(scale=4), times=12)])
    for more in ("0.9", "1.1", "1.3", "1.32", "1.34", "1.5"):
        event = acc.Sequence(events=[acc.Laplace(scale=5), parts, acc.Gaussian(noise_multiplier=more)])
        found = acc.epsilon(event, delta="1e-5")
        deltas = [acc.delta(one, epsilon=found.upper) for one in choices(event)]
        most = acc.delta(one_after_the_other(event), epsilon=found.upper)
        assert min(sum(one.lower for one in deltas), most.lower) <= Fraction(1, 10**5)
        assert found.lower == max(acc.epsilon(one, delta="1e-5").lower for one in choices(event))
        assert found.width <= found.upper / 20


def test_one_part_is_nearly_all() -> None:
    event = acc.Sequence(
        events=[
            acc.PoissonSample(event=acc.Laplace(scale="8.56"), rate="5.84e-5"),
            acc.Parallel(events=[acc.Gaussian(noise_multiplier="0.366"), acc.Laplace(scale="27.6")]),
        ]
    )
    found = acc.epsilon(event, delta="9.8e-9")
    assert found.width < found.upper / 10**6
    assert acc.epsilon(event, delta=0).upper == math.inf


def test_choices() -> None:
    one, other, third = acc.Laplace(scale=2), acc.Gaussian(noise_multiplier=2), acc.Pure(epsilon="0.1")
    parts = acc.Parallel(events=[one, other])
    assert len(choices(acc.Repeat(event=parts, times=5))) == 6
    assert len(choices(acc.Repeat(event=acc.Parallel(events=[one, other, third]), times=4))) == 15
    assert len(choices(acc.PoissonSample(event=acc.Sequence(events=[third, parts]), rate="0.5"))) == 2
    assert len(choices(acc.Parallel(events=[one, acc.Laplace(scale=3)]))) == 1
    assert choices(third) == [third]
    silent = acc.Parallel(events=[acc.Pure(epsilon=0), acc.Pure(epsilon=0)])
    assert choices(silent) == [acc.Pure(epsilon=0)]


def test_left_to_others() -> None:
    """Events without parts, groups, and too many ways."""

    def never(event: acc.Event, question: object) -> Interval:
        raise AssertionError((event, question))

    one, other = acc.Laplace(scale=2), acc.Gaussian(noise_multiplier=2)
    parts = acc.Sequence(events=[one, acc.Parallel(events=[one, other])])
    question = DeltaAt(Fraction(1), Fraction(1, 10**6))
    for event in (one, acc.Group(event=parts, size=2), acc.Repeat(event=parts, times=100)):
        assert among_parts(event, question, never) is None
    with pytest.raises(NoSuchRule):
        acc.Parallel(events=[acc.Group(event=one, size=2), acc.Group(event=other, size=2)])


def test_few_lists_of_games_are_asked_for() -> None:
    """Each of them takes seconds; of others there may be more."""
    games = acc.Parallel(events=[acc.ZCDP(rho="0.01"), acc.Exponential(epsilon="0.2")])
    assert among_parts(acc.Repeat(event=games, times=10), RARELY, _never) is None
    on_one_sample = acc.PoissonSample(
        event=acc.Sequence(events=[acc.Laplace(scale=1), acc.Gaussian(noise_multiplier=1)]), rate="0.1"
    )
    slow = acc.Parallel(events=[on_one_sample, acc.Laplace(scale=2)])
    assert among_parts(acc.Repeat(event=slow, times=10), RARELY, _never) is None
    quick = acc.Parallel(events=[acc.Gaussian(noise_multiplier=1), acc.Laplace(scale=1)])
    with pytest.raises(AssertionError):
        among_parts(acc.Repeat(event=quick, times=10), RARELY, _never)


def _never(event: acc.Event, question: Question) -> Interval:
    raise AssertionError("nothing is asked for")
