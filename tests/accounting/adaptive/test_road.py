"""Mechanisms of bounded range beside others, and alone."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import cast

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.adaptive import METHOD, Beside, enclosed, road, with_law
from privately.accounting.adaptive.blocks import Normal
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.groups import Profiles
from privately.accounting.adaptive.pairs import Above
from privately.accounting.adaptive.runs import FEWER, MANY, Pairs
from privately.accounting.compositions import Composition, compositions
from privately.accounting.losses import GaussianLoss, LaplaceLoss, response
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval
from tests.accounting.adaptive.brute import value


def repeated(epsilon: str | Fraction, times: int) -> acc.Event:
    return acc.Repeat(event=acc.Exponential(epsilon=epsilon), times=times)


@pytest.mark.parametrize("at", [0.0, 0.5, 1.3])
def test_beside_others_against_enumeration(at: float) -> None:
    """One response of epsilon 1 and two steps of range 1/2: the mean over the response of what follows."""
    event = acc.Sequence(events=[acc.RandomizedResponse(epsilon=1), repeated("0.5", 2)])
    found = acc.delta(event, epsilon=str(at))
    more = math.e / (1 + math.e)
    truth = sum(
        share * float(value(math.exp(at - loss), [0.5, 0.5], count=3000)) for share, loss in ((more, 1), (1 - more, -1))
    )
    assert truth * (1 - 1e-12) <= float(found.upper) <= truth * 1.001
    assert truth * 0.999 <= float(found.lower) <= truth * (1 + 1e-6)


@pytest.mark.parametrize(("epsilon", "times"), [("1", 10), ("0.1", 10)])
def test_widths(epsilon: str, times: int) -> None:
    found = acc.epsilon(repeated(epsilon, times), delta="1e-6")
    assert METHOD in found.method
    assert found.width <= found.lower / 10**4
    back = acc.delta(repeated(epsilon, times), epsilon=found.upper)
    assert back.lower <= Fraction(1, 10**6)
    assert back.upper >= Fraction(1, 10**6) * (1 - Fraction(1, 100))


@pytest.mark.slow
def test_more_costs_more() -> None:
    """In the number of steps, in their range, and beside others; chosen adaptively at least as much as any pair."""
    costs = [acc.epsilon(repeated("0.2", times), delta="1e-6") for times in (5, 6, 12)]
    costs.append(acc.epsilon(repeated("0.21", 12), delta="1e-6"))
    costs.append(acc.epsilon(acc.Sequence(events=[repeated("0.21", 12), acc.Laplace(scale=5)]), delta="1e-6"))
    for less, more in pairwise(costs):
        assert less.lower <= more.upper
        assert less.upper < more.lower
    assert acc.epsilon(acc.Repeat(event=acc.RandomizedResponse(epsilon="0.1"), times=12), "1e-6").upper < costs[2].upper


def test_sequences_have_no_order() -> None:
    parts = [acc.Exponential(epsilon=1), acc.Exponential(epsilon="0.3"), acc.Gaussian(noise_multiplier=2)]
    one = acc.epsilon(acc.Sequence(events=parts), delta="1e-6")
    other = acc.epsilon(acc.Sequence(events=parts[::-1]), delta="1e-6")
    assert (one.lower, one.upper) == (other.lower, other.upper)
    assert one.width <= one.lower / 10**4


def test_infinite_losses_beside() -> None:
    event = acc.Sequence(events=[repeated("0.5", 4), acc.Approx(epsilon=1, delta="1e-7")])
    found = acc.epsilon(event, delta="1e-6")
    assert found.width <= found.lower / 10**3
    assert acc.epsilon(event, delta="1e-8").lower == math.inf


def test_nothing_is_asked_where_it_would_take_too_long() -> None:
    def asked(found: tuple[Composition, ...], question: EpsilonAt | DeltaAt) -> Interval:
        raise AssertionError

    beside, question = Beside((Composition(),), (Composition(),)), EpsilonAt(Fraction(1, 10**6), Fraction(1, 10**6))
    for many in (((Fraction(9), 10**7),), tuple((Fraction(k), 200) for k in range(41, 60))):
        assert enclosed(many, beside, question, asked) is None
    assert beside.is_nothing
    assert not Beside(compositions(acc.Laplace(scale=1)), ()).is_nothing


@pytest.mark.slow
def test_deltas_far_below() -> None:
    """Relative to itself a tiny delta is known too: the first look says how tiny it is."""
    found = acc.delta(repeated("0.1", 50), epsilon="3.5")
    assert 0 < found.lower <= found.upper < Fraction(1, 10**20)
    assert found.upper < found.lower * 2
    assert np.isfinite(float(acc.epsilon(repeated("0.1", 50), delta="1e-60").upper))


HALF, TENTH = Fraction(1, 2), Fraction(1, 10)
NOISE = (GaussianLoss(mu_squared=Fraction(1)), 2)
ONE = (LaplaceLoss(epsilon=Fraction(1)), 1)
ABOVE = Composition(parts=(NOISE, ONE), infinite=TENTH)
BELOW = Composition(parts=(ONE,))


def test_one_law_more() -> None:
    """Normal noise is added to what there is of it; masses at infinite loss are those of either."""
    found = with_law(ABOVE, GaussianLoss(mu_squared=Fraction(3)), TENTH)
    assert found.parts == (ONE, (GaussianLoss(mu_squared=Fraction(5)), 1))
    assert (found.infinite, found.infinite_lower) == (1 - (1 - TENTH) ** 2, TENTH)
    assert with_law(ABOVE, response(HALF)).parts == (NOISE, ONE, (response(HALF), 1))
    assert with_law(ABOVE, response(HALF)).infinite == TENTH


def test_long_runs_are_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """From above pairs for all steps, with what they have at infinite loss; from below responses."""
    played = Pairs(((response(HALF), 4), (response(TENTH), 2)), HALF, TENTH)
    monkeypatch.setattr(road, "in_runs", lambda *_: played)
    found = road._with_long_runs(Beside((ABOVE,), (BELOW,)), [(TENTH, 5000), (Fraction(1), 4000)], 1e-6)
    ((most,), (least,)) = found.above, found.below
    assert most.parts == (NOISE, ONE, *played.parts, *played.parts)
    assert most.infinite == 1 - (1 - TENTH) * HALF**2
    assert set(least.parts) == {ONE, (response(TENTH / 2), 5000), (response(HALF), 4000)}
    assert least.infinite == 0
    assert found.rest == 2 * TENTH


def test_what_pairs_miss_is_put_back() -> None:
    """A smaller delta is asked for, or a larger one is answered."""

    def same(_: tuple[Composition, ...], question: Question) -> Interval:
        return Interval(0, question.delta if isinstance(question, EpsilonAt) else HALF, method="asked")

    assert road._top((ABOVE,), TENTH, EpsilonAt(HALF, TENTH), same).upper == HALF - TENTH
    assert road._top((ABOVE,), TENTH, DeltaAt(HALF, TENTH), same).upper == HALF + TENTH
    assert road._top((ABOVE,), HALF + TENTH, DeltaAt(HALF, TENTH), same).upper == 1
    with pytest.raises(NotApplicable):
        road._top((ABOVE,), HALF, EpsilonAt(HALF, TENTH), same)


def test_losses_beyond_a_lattice_are_played_in_blocks() -> None:
    assert road._least_long(((Fraction(2), 1000),), 1e-6) == FEWER
    assert road._least_long(((Fraction(2), 400),), 1e-6) == MANY


def test_noise_for_blocks() -> None:
    found = road._with(ABOVE, Normal(GaussianLoss(mu_squared=Fraction(3)), TENTH))
    assert found == with_law(ABOVE, GaussianLoss(mu_squared=Fraction(3)), TENTH)


def test_every_game_counts_from_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside what costs at least as much, and the tests beside what costs at most as much."""
    monkeypatch.setattr(road, "above", lambda curve, *_: Above(response(curve), TENTH))
    monkeypatch.setattr(road, "below", lambda curve, *_: response(curve))
    asked: list[tuple[Composition, ...]] = []

    def worst(found: tuple[Composition, ...], question: Question) -> Interval:
        asked.append(found)
        return Interval(len(asked), 3 * len(asked), method="asked")

    games = Profiles((cast("Curve", HALF), cast("Curve", TENTH)), cast("Curve", Fraction(1)))
    found = road._answer(games, Beside((ABOVE,), (BELOW,)), EpsilonAt(TENTH, TENTH), worst)
    assert list(found) == [1, 6]
    ((least,), (most,)) = asked
    assert set(least.parts) == {ONE, (response(Fraction(1)), 1)}
    assert set(most.parts) == {NOISE, ONE, (response(HALF), 1), (response(TENTH), 1)}
    assert not least.infinite
    assert most.infinite == 1 - (1 - TENTH) ** 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranges", "width"),
    [
        ([(Fraction(k, 100), 1) for k in range(1, 101)], "0.012"),
        ([(Fraction(k, 10), 10) for k in range(1, 11)], "0.01"),
        ([(Fraction(k, 40_000), 1) for k in range(1, 4001)], "0.015"),
    ],
    ids=["a hundred different", "ten times ten", "thousands different"],
)
def test_many_ranges(ranges: list[tuple[Fraction, int]], width: str) -> None:
    event = acc.Sequence(events=[repeated(size, times) for size, times in ranges])
    found = acc.epsilon(event, delta="1e-6")
    assert found.width <= Fraction(width) * found.lower
    assert "adaptive" in found.method
