"""Parts that are chosen as it goes: against all strategies, one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.chosen_parts import values
from privately.accounting.chosen_parts.games import METHOD, Game, Games, chosen_as_it_goes, games
from privately.accounting.chosen_parts.values import Part, Value
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading import Losses
from privately.accounting.which_road import of_worst_soon
from privately.rounding import Interval

NARROW = Fraction(1, 10**6)

Outcomes = list[tuple[float, float]]
"""Probabilities with the row, and without it."""


def answered(epsilon: float, kinds: int = 2, delta: float = 0.0) -> Outcomes:
    """With all answers that tell nothing as one."""
    grown, left = math.exp(epsilon), 1 - delta
    one = left / (kinds - 1 + grown)
    found = [(grown * one, one), (one, grown * one)]
    return found + [((kinds - 2) * one,) * 2] * (kinds > 2) + [(delta, 0.0), (0.0, delta)] * (delta > 0)


def sampled(pair: Outcomes, rate: float) -> Outcomes:
    return [((1 - rate) * q + rate * p, q) for p, q in pair]


def turned(pair: Outcomes) -> Outcomes:
    return [(q, p) for p, q in pair]


def strategies(parts: list[Outcomes], runs: int) -> Iterator[Outcomes]:
    """Of every way to choose a part after all that was answered: the probabilities of all lists of answers."""
    if not runs:
        yield [(1.0, 1.0)]
        return
    later = list(strategies(parts, runs - 1))
    for part in parts:
        for chosen in product(later, repeat=len(part)):
            yield [(p * r, q * s) for (p, q), after in zip(part, chosen, strict=True) for r, s in after]


def best(listed: list[Outcomes], alpha: float) -> float:
    return max(sum(max(p - alpha * q, 0.0) for p, q in one) for one in listed)


THREE, TWO = answered(1.1, 10), answered(0.6)
RUNS = acc.Repeat(
    event=acc.Parallel(events=[acc.RandomizedResponse(epsilon="1.1", categories=10), acc.Pure(epsilon="0.6")]), times=3
)
FAILING = acc.Repeat(
    event=acc.Parallel(
        events=[acc.RandomizedResponse(epsilon="1.1", categories=10), acc.Approx(epsilon="0.6", delta="0.02")]
    ),
    times=2,
)
SAMPLED = acc.Repeat(
    event=acc.PoissonSample(
        event=acc.Parallel(events=[acc.RandomizedResponse(epsilon="1.1", categories=10), acc.Pure(epsilon="0.6")]),
        rate="0.3",
    ),
    times=3,
)
BESIDE = acc.Sequence(events=[acc.Pure(epsilon="0.4"), RUNS])


def truth(event: acc.Event, alpha: float) -> float:
    """The best of all strategies, in either direction."""
    if event is BESIDE:  # each of its answers is followed by the best strategy
        listed = list(strategies([THREE, TWO], 3))
        return sum(p * best(listed, alpha * q / p) for p, q in answered(0.4))
    parts, runs = [THREE, TWO], 3
    if event is FAILING:
        parts, runs = [THREE, answered(0.6, delta=0.02)], 2
    elif event is SAMPLED:
        parts = [sampled(part, 0.3) for part in parts]
    ways = list(strategies(parts, runs))
    return max(best(ways, alpha), best([turned(way) for way in ways], alpha))


def asked(event: acc.Event, question: Question, known: str = "3") -> Interval:
    found = chosen_as_it_goes(event, question, of_worst_soon, Interval(0, Fraction(known)), lambda *_: None)
    assert found is not None
    return found


@pytest.mark.parametrize("usual", [values._USUAL, pytest.param(0.5, marks=pytest.mark.slow)], ids=["", "sparse"])
@pytest.mark.parametrize("event", [RUNS, FAILING, SAMPLED, BESIDE], ids=["runs", "failing", "sampled", "beside"])
def test_no_strategy_is_outside(event: acc.Event, usual: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if most losses are taken for rare, and divided between places that are far apart."""
    monkeypatch.setattr(values, "_USUAL", usual)
    for epsilon in ("0.05", "0.4", "0.9", "1.5"):
        delta, found = truth(event, math.exp(float(epsilon))), asked(event, DeltaAt(Fraction(epsilon), NARROW))
        assert found.lower <= delta * (1 + 1e-12)
        assert found.upper >= delta * (1 - 1e-12)
        assert found.width <= found.upper / 300 + Fraction(1, 10**5) or usual < 1
        if delta:
            answer = asked(event, EpsilonAt(Fraction(delta), NARROW))
            assert answer.lower - 1e-9 <= float(epsilon) <= answer.upper + 1e-9
            assert answer.width < 0.01 or usual < 1


def orders(left: dict[int, int], kinds: list[list[Outcomes]]) -> Iterator[Outcomes]:
    """Of every way to choose one of the Parallels with runs left, and a part of it, after all that was answered."""
    if not any(left.values()):
        yield [(1.0, 1.0)]
        return
    for which, runs in left.items():
        if not runs:
            continue
        later = list(orders({**left, which: runs - 1}, kinds))
        for part in kinds[which]:
            for chosen in product(later, repeat=len(part)):
                yield [(p * r, q * s) for (p, q), after in zip(part, chosen, strict=True) for r, s in after]


TWO_KINDS = acc.Sequence(
    events=[
        acc.Parallel(events=[acc.RandomizedResponse(epsilon="1.1", categories=10), acc.Pure(epsilon="0.6")]),
        acc.Repeat(
            event=acc.Parallel(events=[acc.RandomizedResponse(epsilon="0.9", categories=6), acc.Pure(epsilon="0.5")]),
            times=2,
        ),
    ]
)


@pytest.mark.parametrize("is_apart", [False, True])
def test_no_order_of_two_parallels_is_outside(monkeypatch: pytest.MonkeyPatch, *, is_apart: bool) -> None:
    """Played together, or each by itself and composed."""
    if is_apart:
        alone = Games.value

        def refused(one: Games, rare: float, epsilon: float, work: float, fine: int) -> Value:
            if len(one.games) > 1:
                raise NotApplicable("several games")
            return alone(one, rare, epsilon, work, fine)

        monkeypatch.setattr(Games, "value", refused)
    ways = list(orders({0: 1, 1: 2}, [[THREE, TWO], [answered(0.9, 6), answered(0.5)]]))
    for epsilon in ("0.05", "0.4", "0.9", "1.5"):
        exact, found = best(ways, math.exp(float(epsilon))), asked(TWO_KINDS, DeltaAt(Fraction(epsilon), NARROW))
        assert found.lower <= exact * (1 + 1e-12)
        assert found.upper >= exact * (1 - 1e-12)
        assert (found.lower == 0) == is_apart
        assert found.upper <= exact * (1.05 if is_apart else 1.003) + 1e-5


FIVE = [[answered(0.7 + k / 10, 6), answered(0.3 + k / 20)] for k in range(5)]


def of_five(left: frozenset[int], alpha: float) -> float:
    """The value at e^epsilon of these of the five, each once, in the best order of all after every answer."""
    if not left:
        return max(1 - alpha, 0.0)
    ways = ((part, left - {which}) for which in left for part in FIVE[which])
    return max(sum(p * of_five(later, alpha * q / p) for p, q in part) for part, later in ways)


def test_no_order_of_five_parallels_is_outside() -> None:
    event = acc.Sequence(
        events=[
            acc.Parallel(
                events=[
                    acc.RandomizedResponse(epsilon=Fraction(7 + k, 10), categories=6),
                    acc.Pure(epsilon=Fraction(6 + k, 20)),
                ]
            )
            for k in range(5)
        ]
    )
    for epsilon in ("0.3", "1.2"):
        truth = of_five(frozenset(range(5)), math.exp(float(epsilon)))
        found = asked(event, DeltaAt(Fraction(epsilon), NARROW))
        assert found.lower <= truth * (1 + 1e-12)
        assert found.upper >= truth * (1 - 1e-12)
        assert found.width <= found.upper / 300


@pytest.mark.slow
def test_ten_different_divisions_are_narrow() -> None:
    """Neither by lists of parts, nor by one pair for all."""
    parts = [(acc.Gaussian(noise_multiplier=5 + k), acc.Laplace(scale=3 + k)) for k in range(10)]
    event = acc.Sequence(events=[acc.Parallel(events=one) for one in parts])
    found = asked(event, EpsilonAt(Fraction(1, 1000), NARROW))
    assert found.width <= found.lower / 1000
    many = acc.Sequence(events=[acc.Repeat(event=acc.Parallel(events=one), times=3) for one in parts])
    assert games(many)[0].states > 10**6
    with pytest.raises(NotApplicable, match="divisions"):
        games(many)[0].value(1e-10, 2.0, 1e12, 192)


def test_one_order_of_two_parallels_is_less() -> None:
    """Planted: the Parallel that is met twice always last, in place of the best order at every loss."""
    (both,) = games(TWO_KINDS)
    value = both.value(1e-30, 2.0, 1e9, 192)
    laid = [[Part.of(part, value.step, 1e-30) for part in game.parts] for game in both.games]
    listed = Value.start(value.step, value.first, value.first + value.upper.size - 1)
    for which in (1, 1, 0):
        listed = listed.after(laid[which])
    ways = list(orders({0: 1, 1: 2}, [[THREE, TWO], [answered(0.9, 6), answered(0.5)]]))
    places = np.flatnonzero((value.losses > -1) & (value.losses < 2))[::40]
    exact = np.array([best(ways, math.exp(loss)) for loss in value.losses[places]])
    assert (value.upper[places] >= exact * (1 - 1e-12)).all()
    assert (listed.upper[places] < exact * 0.999).any()


def test_the_best_part_is_taken_at_every_loss() -> None:
    """Planted: the largest value of all lists of parts, in any order, in place of the best part at each loss."""
    (game,) = games(RUNS)
    value = game.value(1e-30, 2.0, 1e9, 192)
    laid = [Part.of(part, value.step, 1e-30) for part in game.games[0].parts]
    ways = list(strategies([THREE, TWO], 3))
    places = np.flatnonzero((value.losses > -1) & (value.losses < 2))[::40]
    exact = np.array([best(ways, math.exp(loss)) for loss in value.losses[places]])
    start = Value.start(value.step, value.first, value.first + value.upper.size - 1)
    last = np.zeros_like(value.upper)
    for order in product(laid, repeat=3):
        listed = start
        for part in order:
            listed = listed.after([part])
        last = np.maximum(last, listed.upper)
    assert (value.upper[places] >= exact * (1 - 1e-12)).all()
    assert (last[places] < exact * 0.95).any()
    lines = value.powers[None, :] - np.exp(value.losses[places])[:, None] * value.prices[None, :]
    assert (lines.max(axis=1) <= exact * (1 + 1e-12) + 1e-15).all()


def test_either_side_needs_its_own_lattice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: losses at the place below are less than what a strategy reaches, and prices as at the place above are
    lines that no strategy has.
    """
    question = DeltaAt(Fraction("0.9"), NARROW)
    delta = truth(RUNS, math.exp(0.9))

    def lower(found: Losses, step: float) -> tuple[np.ndarray, int]:
        first, at, _, cells = values._between(found, step)
        return values._placed(at, cells, found.masses, np.zeros(at.size)), first

    monkeypatch.setattr(values, "_split", lower)
    (game,) = games(RUNS)
    value = game.value(1e-30, 2.0, 1e9, 64)
    assert np.interp(0.9, value.losses, value.upper) < delta
    monkeypatch.undo()
    assert asked(RUNS, question).upper >= delta
    exact = values._drawn
    monkeypatch.setattr(values, "_drawn", lambda found, step: exact(Losses.of(found.losses + step, found.masses), step))
    value = game.value(1e-30, 2.0, 1e9, 64)
    assert (value.powers - math.exp(0.9) * value.prices).max() > delta


def test_ten_runs_of_two_noises() -> None:
    parts = acc.Parallel(events=[acc.Gaussian(noise_multiplier=1), acc.Laplace(scale=1)])
    found = acc.epsilon(acc.Repeat(event=parts, times=10), delta="1e-5")
    assert found.width <= found.lower / 1000
    assert 17.8 < found.lower < found.upper < 17.9
    assert METHOD in found.method


@pytest.mark.slow
def test_hundreds_of_samples() -> None:
    parts = acc.Parallel(
        events=[
            acc.Laplace(scale="0.7"),
            acc.Gaussian(noise_multiplier="0.8"),
            acc.RandomizedResponse(epsilon="1.5", categories=3),
        ]
    )
    found = acc.epsilon(acc.Repeat(event=acc.PoissonSample(event=parts, rate="0.07"), times=712), delta="1e-6")
    assert found.width <= found.lower / 1000


def test_left_to_others() -> None:
    """One Parallel is played, whose parts have pairs, and few; nothing without a delta, or without an upper end."""
    one, other = acc.Laplace(scale=2), acc.Gaussian(noise_multiplier=2)
    parts = acc.Parallel(events=[one, other])
    nested = acc.Parallel(events=[acc.Laplace(scale="0.2"), acc.Repeat(event=parts, times=3)])
    different = acc.Sequence(
        events=[acc.Parallel(events=[one, acc.Gaussian(noise_multiplier=2 + n)]) for n in range(13)]
    )
    long = acc.Parallel(events=[other, acc.Repeat(event=one, times=100)])
    stated = acc.Parallel(events=[one, acc.ZCDP(rho=1)])
    shared = acc.PoissonSample(event=acc.Sequence(events=[one, parts]), rate="0.5")
    group, often = acc.Group(event=parts, size=2), acc.Repeat(event=parts, times=10**5)
    refused: list[acc.Event] = [one, nested, different, long, stated, shared, group, often]
    for event in refused:
        assert games(acc.Repeat(event=event, times=2)) == []
    twice = acc.Sequence(events=[parts, one, acc.Repeat(event=parts, times=2), acc.Repeat(event=other, times=0)])
    assert [game.runs for game in games(twice)] == [3]
    silent = acc.Parallel(events=[acc.Pure(epsilon=0), acc.Pure(epsilon=0)])
    (kept,) = games(acc.Sequence(events=[silent, parts]))
    assert [len(game.parts) for game in kept.games] == [2]
    for known, delta in ((None, "1e-5"), (Interval(0, math.inf), "1e-5"), (Interval(0, 5), "0")):
        question = EpsilonAt(Fraction(delta), NARROW)
        assert chosen_as_it_goes(twice, question, of_worst_soon, known, lambda *_: None) is None


def test_directions_are_games_of_their_own() -> None:
    found = games(acc.Sequence(events=[SAMPLED, acc.PoissonSample(event=acc.Laplace(scale=1), rate="0.1")]))
    assert len(found) == 2
    for game, direction in zip(found, ("remove", "add"), strict=True):
        ((law, _),) = game.beside.parts
        assert getattr(law, "direction", None) == direction
    with pytest.raises(NotApplicable):
        Games((Game(found[0].games[0].parts, 2000),), found[0].beside).value(1e-20, 5.0, 1e3, 64)
