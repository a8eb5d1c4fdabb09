"""One pair for all parts: above every part, and against all strategies."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.adaptive.pairs import Above
from privately.accounting.chosen_parts import pairs
from privately.accounting.chosen_parts.pairs import above_all, covered
from privately.accounting.compositions import Composition, compositions
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.accounting.which_road import of_worst_soon
from privately.errors import Contradiction
from privately.rounding import Interval

NARROW = Fraction(1, 10**6)
NOISES: list[acc.Event] = [acc.Gaussian(noise_multiplier=1), acc.Laplace(scale=1)]
RESPONSES: list[acc.Event] = [acc.RandomizedResponse(epsilon="1.1", categories=10), acc.Pure(epsilon="0.6")]

FAILING: list[acc.Event] = [acc.Sequence(events=NOISES), acc.Approx(epsilon=1, delta="0.01")]


def profile(parts: list[Composition], rare: float, epsilon: float) -> float:
    """Of the pair, at one place."""
    pair = above_all(parts, rare)
    found = float(pair.infinite)
    for (p, _), (q, _) in pair.law.outcomes:
        found += max(float(p) - math.exp(epsilon) * float(q), 0.0)
    return found


@pytest.mark.thinned(2)
@pytest.mark.parametrize("rate", ["0.01", "1"])
@pytest.mark.parametrize("events", [NOISES, RESPONSES, FAILING])
def test_a_pair_is_above_all_parts(events: list[acc.Event], rate: str) -> None:
    """And hardly above the largest of them."""
    simple = [event for event in events if rate == "1" or not isinstance(event, acc.Sequence)]
    parts = [compositions(acc.PoissonSample(event=event, rate=rate)) for event in simple]
    for way in (0, -1):
        listed = [part[way] for part in parts]
        for epsilon in (-0.5, -0.01, 0.0, 0.003, 0.1, 0.7, 2.0):
            known = [_delta(part, epsilon) for part in listed]
            found = profile(listed, 1e-12, epsilon)
            assert found >= max(one.lower for one in known) * (1 - 1e-12)
            assert found <= max(float(one.upper) for one in known) * 1.002 + 1e-9


def _delta(part: Composition, epsilon: float) -> Interval:
    """Below 0 by the other direction: H(y) = 1 - y + y H(1/y) with P and Q exchanged, by a sum over its list."""
    if epsilon >= 0:
        return of_worst_soon((part,), DeltaAt(Fraction(epsilon), NARROW))
    found = pairs._summed(part, 1e-15)
    value = float(part.infinite) + (1 - float(part.infinite)) * float(
        found.masses @ np.maximum(1 - np.exp(epsilon - found.losses), 0.0)
    )
    return Interval(value * (1 - 1e-3), value * (1 + 1e-6) + 1e-9)


Outcomes = list[tuple[float, float]]


def answered(epsilon: float, kinds: int) -> Outcomes:
    one = 1 / (kinds - 1 + math.exp(epsilon))
    return [(math.exp(epsilon) * one, one), (one, math.exp(epsilon) * one)] + [((kinds - 2) * one,) * 2] * (kinds > 2)


def sampled(pair: Outcomes, rate: float) -> Outcomes:
    return [((1 - rate) * q + rate * p, q) for p, q in pair]


def worth(parts: list[Outcomes], runs: int, alpha: float) -> float:
    """Of the best strategy, chosen after every answer."""
    if not runs:
        return max(1 - alpha, 0.0)
    return max(sum(p * worth(parts, runs - 1, alpha * q / p) for p, q in part) for part in parts)


@pytest.mark.parametrize("rate", [1.0, 0.1])
def test_no_strategy_is_outside(rate: float) -> None:
    event = acc.Repeat(event=acc.PoissonSample(event=acc.Parallel(events=RESPONSES), rate=str(rate)), times=6)
    parts = [sampled(answered(1.1, 10), rate), sampled(answered(0.6, 2), rate)]
    turned = [[(q, p) for p, q in part] for part in parts]
    for epsilon in ("0.01", "0.2", "0.6", "1.2"):
        exact = max(worth(listed, 6, math.exp(float(epsilon))) for listed in (parts, turned))
        found = covered(event, DeltaAt(Fraction(epsilon), NARROW), of_worst_soon)
        assert found is not None
        assert found.lower <= exact * (1 + 1e-12)
        assert found.upper >= exact * (1 - 1e-12)


def test_the_largest_part_alone_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the part that is worst at epsilon 0 in place of all of them is below what another one reaches."""
    event = acc.Repeat(event=acc.Parallel(events=RESPONSES), times=6)
    above = pairs.above_all

    def first(listed: list[Composition], rare: float) -> Above:
        return above([max(listed, key=lambda part: float(_delta(part, 0.0).upper))], rare)

    monkeypatch.setattr(pairs, "above_all", first)
    with pytest.raises(Contradiction):
        covered(event, DeltaAt(Fraction("1.2"), NARROW), of_worst_soon)


@pytest.mark.slow
def test_rare_samples() -> None:
    """Which Renyi divergences say little of: seven times as much."""
    event = acc.Repeat(event=acc.PoissonSample(event=acc.Parallel(events=NOISES), rate="0.001"), times=300)
    found = acc.epsilon(event, delta="1e-6")
    assert found.width <= found.lower / 500
    for one, other in product(NOISES, NOISES):
        half = [acc.Repeat(event=acc.PoissonSample(event=noise, rate="0.001"), times=150) for noise in (one, other)]
        assert acc.epsilon(acc.Sequence(events=half), delta="1e-6").lower <= found.upper


@pytest.mark.slow
def test_two_parallels_on_samples() -> None:
    others = [acc.Gaussian(noise_multiplier="0.8"), acc.Laplace(scale="0.9")]
    kinds = [acc.PoissonSample(event=acc.Parallel(events=one), rate="0.01") for one in (NOISES, others)]
    steps = [acc.Repeat(event=one, times=40) for one in kinds]
    found = covered(acc.Sequence(events=steps), EpsilonAt(Fraction(1, 10**6), NARROW), of_worst_soon)
    assert found is not None
    assert found.width <= found.lower / 100


def test_left_to_others() -> None:
    question = EpsilonAt(Fraction(1, 10**6), NARROW)
    parts = acc.Parallel(events=NOISES)
    long = acc.Parallel(events=[acc.Repeat(event=NOISES[0], times=2), acc.Repeat(event=NOISES[1], times=9)])
    stated = acc.Parallel(events=[NOISES[0], acc.ZCDP(rho=1)])
    others: list[acc.Event] = [NOISES[0], long, stated, acc.Group(event=parts, size=2)]
    for event in others:
        assert covered(acc.Repeat(event=event, times=2), question, of_worst_soon) is None
    assert covered(acc.Repeat(event=parts, times=2), question, of_worst_soon) is not None
