"""Many alternatives: what is left out is below what is kept."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately import accounting as acc
from privately.accounting import many_parts
from privately.accounting.compositions import Composition, compositions
from privately.accounting.many_parts import SEVERAL, hopefuls
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.rounding import Interval

MANY = SEVERAL + 4
WIDTH = Fraction(1, 10**6)
QUESTIONS: list[Question] = [EpsilonAt(Fraction(1, 10**6), WIDTH), DeltaAt(Fraction(1, 100), WIDTH)]


def sampled(place: int, noise: acc.Event) -> acc.Event:
    return acc.PoissonSample(event=noise, rate=Fraction(10 + place, 1000))


PARTS: dict[str, list[acc.Event]] = {
    "one step": [sampled(place, acc.Gaussian(noise_multiplier=Fraction(20 + place, 20))) for place in range(MANY)],
    "two steps": [
        acc.Repeat(event=sampled(place, acc.Laplace(scale=Fraction(20 + place, 20))), times=2) for place in range(MANY)
    ],
    "discrete": [
        acc.Sequence(events=[acc.DiscreteGaussian(variance=10 + place), acc.DiscreteLaplace(scale=60 - place)])
        for place in range(MANY)
    ],
    "failing": [acc.Approx(epsilon=Fraction(place, 100), delta=Fraction(MANY - place, 10**8)) for place in range(MANY)],
}


@pytest.mark.parametrize("question", QUESTIONS, ids=["epsilon", "delta"])
@pytest.mark.parametrize("kind", ["one step", pytest.param("discrete", marks=pytest.mark.slow), "failing"])
def test_what_is_left_out_is_below_what_is_kept(kind: str, question: Question) -> None:
    found = compositions(acc.Parallel(events=PARTS[kind]))
    kept = hopefuls(found, question)
    assert 1 <= len(kept) < len(found) / 2
    lower = max(many_parts._roughly(one, question).lower for one in kept)
    assert all(many_parts._roughly(one, question).lower <= lower for one in found)


def test_equal_answers_are_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no road leads anywhere, or all answers are alike, nothing is."""
    found = compositions(acc.Parallel(events=PARTS["two steps"]))

    def alike(composition: Composition, question: Question) -> Interval:
        del composition, question
        return Interval(1, 1)

    monkeypatch.setattr(many_parts, "_roughly", alike)
    assert set(hopefuls(found, DeltaAt(Fraction(1, 10), WIDTH))) == set(found)
    monkeypatch.undo()
    monkeypatch.setattr(many_parts, "_FOR_FEW", ())
    assert set(hopefuls(found, DeltaAt(Fraction(1, 100), WIDTH))) == set(found)
    assert hopefuls(found[:SEVERAL], QUESTIONS[0]) == found[:SEVERAL]


@pytest.mark.parametrize("kind", ["one step", pytest.param("two steps", marks=pytest.mark.slow)])
def test_many_parts_of_a_step_or_two_are_as_narrow_as_one(kind: str) -> None:
    delta = Fraction(1, 10**6)
    answer = acc.epsilon(acc.Parallel(events=PARTS[kind]), delta)
    each = [acc.epsilon(part, delta) for part in PARTS[kind]]
    assert max(one.lower for one in each) <= answer.upper
    assert answer.lower <= max(one.upper for one in each)
    assert answer.width <= WIDTH * answer.upper


def test_answers_that_overlap_are_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known roughly may be the worst as long as its upper end is above all lower ends."""
    found = compositions(acc.Parallel(events=PARTS["two steps"]))
    wide, narrow, below = found[3], found[7], Interval(0, Fraction(1, 2))
    known = {wide: Interval(0, 3), narrow: Interval(1, 2)}
    monkeypatch.setattr(many_parts, "_roughly", lambda composition, _question: known.get(composition, below))
    assert set(hopefuls(found, DeltaAt(Fraction(1, 100), WIDTH))) == {wide, narrow}


def test_what_no_road_answers_may_be_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compositions(acc.Parallel(events=PARTS["two steps"]))
    roughly, unknown = many_parts._roughly, found[5]

    def partly(composition: Composition, question: Question) -> Interval:
        if composition != unknown:
            return Interval(Fraction(1, 10), Fraction(1, 5))
        with monkeypatch.context() as without:
            without.setattr(many_parts, "_FOR_FEW", ())
            return roughly(composition, question)

    monkeypatch.setattr(many_parts, "_roughly", partly)
    assert unknown in hopefuls(found, DeltaAt(Fraction(1, 100), WIDTH))
