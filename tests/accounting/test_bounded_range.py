"""Pairs of bounded range: that they are such pairs, and the lower ends they lead to."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from privately import accounting as acc
from privately.accounting import adaptive, answers, bounded_range
from privately.accounting.bounded_range import Ranges, skewed
from privately.accounting.compositions import Composition
from privately.accounting.losses import FiniteLoss
from privately.accounting.questions import EpsilonAt
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import mixed_games
from privately.rounding import Enclosure

SIZES = [Fraction(1, 10), Fraction(1), Fraction(7, 2)]


@pytest.mark.parametrize("epsilon", SIZES)
@pytest.mark.parametrize("share", [Fraction(1, 10**12), Fraction(1, 7), Fraction(1, 2), Fraction(99, 100)])
def test_two_laws_of_bounded_range(epsilon: Fraction, share: Fraction) -> None:
    """Both laws have mass 1, and the losses are epsilon apart, on either side of 0."""
    (one, high), (other, low) = skewed(epsilon, share).atoms()
    assert contains(one + other, 1)
    assert contains(one * (-high).exp() + other * (-low).exp(), 1)
    assert contains(high - low, epsilon)
    assert high.lower >= 0 >= low.upper


def contains(found: Enclosure, value: Fraction | int) -> bool:
    tight = Enclosure.of(Fraction(value))
    return found.lower <= tight.upper and tight.lower <= found.upper and found.upper - found.lower < 10**-20


def exact_delta(epsilon: Fraction, share: Fraction, times: int, at: mpf) -> mpf:
    """P(E) - e^at Q(E) for the best event E, of so many such pairs, over all outcomes."""
    grown, s = mp.exp(mpf(epsilon.numerator) / epsilon.denominator), mpf(share.numerator) / share.denominator
    r = 1 - s + s * grown
    p, q = (s * grown / r, (1 - s) / r), (s, 1 - s)
    total = mpf(0)
    for outcome in product((0, 1), repeat=times):
        total += max(mp.fprod(p[k] for k in outcome) - mp.exp(at) * mp.fprod(q[k] for k in outcome), mpf(0))
    return total


@pytest.mark.parametrize("epsilon", SIZES)
@pytest.mark.parametrize("times", [2, 3, 5])
def test_lower_ends_are_reached_by_some_pair(epsilon: Fraction, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """delta at the lower end is at least what was asked for, for one of the pairs that were tried: by enumeration."""
    shares: list[Fraction] = []

    def noted(size: Fraction, share: Fraction) -> FiniteLoss:
        shares.append(share)
        return skewed(size, share)

    monkeypatch.setattr(bounded_range, "skewed", noted)
    event = acc.Repeat(event=acc.Exponential(epsilon=epsilon), times=times)
    found = answers._lower(event, EpsilonAt(Fraction(1, 10**4), Fraction(1, 10**6)), None)
    at = mpf(found.lower.numerator) / found.lower.denominator  # type: ignore[union-attr]  # finite
    assert max(exact_delta(epsilon, share, times, at) for share in shares) >= mpf("1e-4") * (1 - mpf(10) ** -14)
    assert found.lower <= acc.epsilon(event, delta="1e-4").upper <= times * epsilon


@pytest.mark.parametrize("epsilon", SIZES)
@pytest.mark.parametrize("delta", ["1e-9", "1e-6", "1e-2"])
def test_one_mechanism_is_known_exactly(epsilon: Fraction, delta: str) -> None:
    """The largest delta of two outcomes, over all shares, is (e^(epsilon/2) - e^(at/2))^2/(e^epsilon - 1)."""
    size = mpf(epsilon.numerator) / epsilon.denominator
    truth = 2 * mp.log(mp.exp(size / 2) - mp.sqrt(mpf(delta) * mp.expm1(size)))
    found = acc.epsilon(acc.Exponential(epsilon=epsilon), delta=delta)
    assert abs(float(found.lower) - max(truth, 0)) < 1e-14
    assert found.width <= Fraction(1, 10**20)
    back = acc.delta(acc.Exponential(epsilon=epsilon), epsilon=found.upper)
    assert back.lower <= Fraction(delta) or not found.upper
    assert back.upper >= Fraction(delta) * (1 - Fraction(1, 10**12)) or not found.upper


@pytest.mark.parametrize("epsilon", [301, 690, 10**5])
def test_one_mechanism_of_any_range(epsilon: int) -> None:
    found = acc.epsilon(acc.Exponential(epsilon=epsilon), delta="1e-5")
    assert float(found.lower) == pytest.approx(epsilon + 2 * float(mp.log(1 - mp.sqrt(mpf("1e-5")))), rel=1e-12)
    assert found.width <= Fraction(1, 10**20)
    assert acc.epsilon(acc.Exponential(epsilon=epsilon), delta=0).lower == epsilon


def test_no_law_of_bounded_range_costs_more() -> None:
    """Pairs with several outcomes, at random and at the ends of an interval: never above, and two outcomes reach it."""
    random, epsilon, best = np.random.default_rng(3), 1.3, 0.0
    for at in (0.0, 0.4, 1.1):
        bound = float(acc.delta(acc.Exponential(epsilon="1.3"), epsilon=str(at)).upper)
        for trial in range(2000):
            losses = random.uniform(0, epsilon, 4) if trial % 2 else epsilon * random.integers(0, 2, 4)
            second = random.dirichlet([0.5] * 4)
            first = second * np.exp(losses) / (second @ np.exp(losses))
            found = float(np.maximum(first - math.exp(at) * second, 0).sum())
            assert found <= bound * (1 + 1e-12) + 1e-15
            best = max(best, found / bound)
    assert best > 0.99


def test_the_ends_of_one_mechanism() -> None:
    event = acc.Exponential(epsilon=2)
    assert acc.epsilon(event, delta=0).upper == 2 == acc.epsilon(event, delta=0).lower
    assert acc.epsilon(event, delta="0.9").upper == 0
    assert acc.delta(event, epsilon=2).upper == 0 == acc.delta(event, epsilon=3).upper
    assert acc.delta(event, epsilon=0).lower < acc.delta(acc.Pure(epsilon=2), epsilon=0).lower


def test_a_pair_of_larger_range_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two per cent more range, and the lower end of one mechanism is above the truth."""
    monkeypatch.setattr(bounded_range, "skewed", lambda one, share: skewed(one * 51 / 50, share))
    ranges = Ranges.of(acc.Exponential(epsilon=1))
    assert ranges is not None
    (wrong,) = ranges.at(6.9)
    (_, loss), *_ = wrong.parts[0][0].atoms()  # type: ignore[union-attr]  # a finite law
    assert loss.lower > 1


@pytest.mark.slow
@pytest.mark.parametrize("times", [10**9, 10**12])
@pytest.mark.parametrize("delta", ["0.5", "1e-6"])
def test_the_mean_loss_is_nearly_all_in_the_long_run(times: int, delta: str) -> None:
    """That of two outcomes is largest for r = e/(e - 1), of which p - ln r is left."""
    found = acc.epsilon(acc.Repeat(event=acc.Exponential(epsilon=1), times=times), delta=delta)
    mean = 1 / (math.e - 1) - 1 + math.log(math.e - 1)
    assert abs(float(found.lower) / times - mean) <= 4 / math.sqrt(times)
    assert found.upper - found.lower <= found.lower / 2000


def test_quick_answers_of_long_runs_agree_with_others(monkeypatch: pytest.MonkeyPatch) -> None:
    event = acc.Repeat(event=acc.Exponential(epsilon="0.1"), times=60)
    usual = acc.epsilon(event, delta="1e-3"), acc.delta(event, epsilon="0.5")
    monkeypatch.setattr(bounded_range, "_VERY_MANY", 1)
    monkeypatch.setattr(bounded_range, "_CLEARLY_ENOUGH", Fraction(1000))
    quick = acc.epsilon(event, delta="1e-3"), acc.delta(event, epsilon="0.5")
    for one, other in zip(usual, quick, strict=True):
        assert other.lower <= one.upper
        assert one.lower <= other.upper
        assert other.method != one.method


def test_what_is_beside_them_stays() -> None:
    one, other = acc.Exponential(epsilon="0.5"), acc.Gaussian(noise_multiplier=2)
    both = acc.epsilon(acc.Sequence(events=[one, other]), delta="1e-6")
    alone = acc.epsilon(other, delta="1e-6")
    assert alone.upper < both.lower <= both.upper
    assert both.width < both.upper / 10
    assert Ranges.of(other) is None
    assert Ranges.of(acc.Exponential(epsilon=1000)) is None
    many = acc.Sequence(events=[acc.Exponential(epsilon=f"0.{k}") for k in range(11, 19)])
    found = acc.epsilon(many, delta="1e-6")
    assert found.width < found.upper / 20


def refused(*_: object) -> object:
    raise NotApplicable("as a test")


def many_ranges() -> tuple[list[tuple[Fraction, int]], Fraction]:
    """Ten kinds that cost as much as some 740 of the largest; a quarter of the sum of their squares."""
    ranges = [(Fraction(k, 1000), 120) for k in range(11, 21)]
    return ranges, sum((times * size**2 for size, times in ranges), Fraction(0)) / 4


@pytest.mark.parametrize("more", [Fraction(8, 1000), pytest.param(Fraction(2, 1000), marks=pytest.mark.slow)])
def test_very_many_ranges_are_like_noise(more: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Normal noise is what ever more and smaller steps tend to; hardly more is enough, and less by the second road."""
    monkeypatch.setattr(adaptive, "in_order", refused)
    if more > Fraction(2, 1000):
        monkeypatch.setattr(adaptive, "as_noise", refused)
        monkeypatch.setattr(adaptive, "as_thin_noise", refused)
    ranges, square = many_ranges()
    steps = [acc.Repeat(event=acc.Exponential(epsilon=size), times=times) for size, times in ranges]
    found = acc.epsilon(acc.Sequence(events=steps), delta="1e-6")
    noise = acc.epsilon(acc.GaussianDP(mu=Fraction(math.sqrt(square))), delta="1e-6")
    assert "like normal noise" in found.method
    assert found.lower <= noise.lower <= found.upper <= noise.upper * (1 + more)
    assert found.lower >= noise.lower * Fraction(998, 1000)
    beside = acc.epsilon(acc.Sequence(events=[*steps, acc.Gaussian(noise_multiplier=10)]), delta="1e-6")
    with_noise = acc.epsilon(acc.GaussianDP(mu=Fraction(math.sqrt(square + Fraction(1, 100)))), delta="1e-6")
    assert with_noise.lower <= beside.upper <= with_noise.upper * (1 + more)


def test_all_steps_count_as_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest range, the whole sum of squares and the number of steps are what is asked for."""
    asked = []
    known = mixed_games.above

    def above(*given: Any, **more: Any) -> object:
        asked.append((*given, more))
        return known(*given, **more)

    monkeypatch.setattr(mixed_games, "above", above)
    monkeypatch.setattr(adaptive, "as_noise", refused)
    monkeypatch.setattr(adaptive, "as_thin_noise", refused)
    monkeypatch.setattr(adaptive, "in_order", refused)
    ranges, square = many_ranges()
    steps = [acc.Repeat(event=acc.Exponential(epsilon=size), times=times) for size, times in ranges]
    acc.epsilon(acc.Sequence(events=steps), delta="1e-7")
    assert asked[0] == (Fraction(1, 50) ** 2 / 8, square / 2, 1200, 1e-7, {"of_ranges": True})


def test_of_too_many_steps_the_largest_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """And all others are pairs of their ranges."""
    small, large, question = Fraction(1, 10), Fraction(1, 5), EpsilonAt(Fraction(1, 10**6), Fraction(1, 10**6))
    beside = adaptive.Beside((Composition(),), (Composition(),))
    both = [(small, 4), (large, 2)]
    assert bounded_range._played(both, beside, question) == (tuple(both), beside)
    monkeypatch.setattr(bounded_range, "_MOST_PLAYED", 5)
    monkeypatch.setattr(bounded_range, "_SOME_PLAYED", 3)
    played, rest = bounded_range._played(both, beside, question)
    assert played == ((large, 2), (small, 1))
    ((pair, times),) = rest.below[0].parts
    assert isinstance(pair, FiniteLoss)
    assert (pair.epsilon, times) == (small, 3)
    assert rest.above == beside.above
    monkeypatch.setattr(bounded_range, "_MOST_PAIRS", 1)
    with pytest.raises(NotApplicable):
        bounded_range._played(both, beside, question)


@pytest.mark.slow
def test_a_thousand_different_ranges() -> None:
    ranges = [acc.Exponential(epsilon=Fraction(1000 + k, 10_000)) for k in range(1, 1001)]
    found = acc.epsilon(acc.Sequence(events=ranges), delta="1e-6")
    assert found.width <= found.lower * Fraction(2, 1000)


@pytest.mark.slow
def test_nine_thousand_different_ranges() -> None:
    """The smallest are bounded by statements, all others by responses and noise; from below numbers are told."""
    ranges = [acc.Exponential(epsilon=Fraction(90 + 4 * k, 90_000)) for k in range(9000)]
    found = acc.epsilon(acc.Sequence(events=ranges), delta="1e-6")
    assert found.width <= found.lower * Fraction(2, 1000)
    assert "like normal noise" in found.method
    square = sum(event.epsilon**2 for event in ranges) / 4
    noise = acc.epsilon(acc.GaussianDP(mu=Fraction(math.sqrt(square))), delta="1e-6")
    assert found.lower < noise.lower < found.upper * Fraction(1002, 1000)


@pytest.mark.slow
def test_many_ranges_are_played_in_one_order() -> None:
    """Responses alone reveal clearly less."""
    ranges, square = many_ranges()
    steps = [acc.Repeat(event=acc.Exponential(epsilon=size), times=times) for size, times in ranges]
    found = acc.epsilon(acc.Sequence(events=steps), delta="1e-6")
    noise = acc.epsilon(acc.GaussianDP(mu=Fraction(math.sqrt(square))), delta="1e-6")
    responses = [acc.Repeat(event=acc.RandomizedResponse(epsilon=size / 2), times=times) for size, times in ranges]
    least = acc.epsilon(acc.Sequence(events=responses), delta="1e-6")
    assert least.lower * Fraction(1001, 1000) < found.lower <= found.upper
    assert noise.lower * Fraction(9995, 10000) < found.lower
