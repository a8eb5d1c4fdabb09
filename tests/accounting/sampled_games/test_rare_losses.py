"""Steps of which few orders are bounded, by one rare and large loss; references with other code than the library's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.compositions import Composition
from privately.accounting.losses import FiniteLoss
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games import rare_losses
from privately.accounting.sampled_games.kinds import Kind
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated
from privately.accounting.which_road import of_worst_soon
from privately.rounding import End

BOUND, RATE, DELTA = Fraction(1, 10), Fraction(1, 50), Fraction(1, 10**5)
SQUARES = AtOrders(((Fraction(2), BOUND),))
AT = EpsilonAt(DELTA, Fraction(1, 10**5))

Chances = tuple[float, float]


def runs(times: int, bound: Fraction = BOUND) -> acc.Event:
    return acc.Repeat(event=acc.PoissonSample(event=acc.Renyi(bounds={2: bound}), rate=RATE), times=times)


def edge(ratio: float, bound: float) -> Chances:
    """p and q of two outcomes, p = ratio q, whose divergence of order 2 is just the bound."""
    more = math.expm1(bound)
    q = more / ((ratio - 1) ** 2 + more)
    return ratio * q, q


def is_allowed(p: float, q: float, bound: float) -> bool:
    forward, back = p * p / q + (1 - p) ** 2 / (1 - q), q * q / p + (1 - q) ** 2 / (1 - p)
    return p < 1 and max(forward, back) <= math.exp(bound) * (1 + 1e-12)


def sampled(p: float, q: float) -> Chances:
    return float(RATE) * p + float(1 - RATE) * q, q


def best_of_two(y: float) -> float:
    """The largest P(A) - yQ(A) of two steps, the second chosen in the light of the first."""
    pairs = [sampled(*one) for r in np.geomspace(1.2, 1e5, 400) if is_allowed(*(one := edge(r, float(BOUND))), 0.1)]
    p, q = (np.array(column) for column in zip(*pairs, strict=True))

    def one_step(at: np.ndarray) -> np.ndarray:
        """At several y."""
        gains = np.maximum(p - at[:, None] * q, 0) + np.maximum(1 - p - at[:, None] * (1 - q), 0)
        found: np.ndarray = np.maximum(gains.max(axis=1), np.maximum(1 - at, 0))
        return found

    return float((p * one_step(y * q / p) + (1 - p) * one_step(y * (1 - q) / (1 - p))).max())


def test_no_strategy_is_above() -> None:
    """At the upper end no two steps reveal more than delta, and the best nearly so much; a smaller bound is caught."""
    kinds = [(Kind(SQUARES, RATE), 2)]
    upper = float(rare_losses.above(kinds, AT))
    assert 0.999 * float(DELTA) < best_of_two(math.exp(upper)) <= float(DELTA)
    less = AtOrders(((Fraction(2), BOUND * Fraction(99, 100)),))
    wrong = float(rare_losses.above([(Kind(less, RATE), 2)], AT))
    assert best_of_two(math.exp(wrong)) > float(DELTA)


def exactly(p: float, q: float, times: int, epsilon: float) -> float:
    """delta of so many equal steps of two outcomes."""
    y, found = math.exp(epsilon), 0.0
    for k in range(times + 1):
        one, other = (math.comb(times, k) * a**k * (1 - a) ** (times - k) for a in (p, q))
        found += max(one - y * other, 0.0)
    return found


def told(times: int) -> tuple[rare_losses.Told, list[tuple[Chances, End]]]:
    """Asks for lower ends, and keeps what was asked."""
    asked: list[tuple[Chances, End]] = []

    def answer(pairs: Sequence[tuple[FiniteLoss, int]]) -> End:
        ((law, many),) = pairs
        assert many == times
        found = of_worst_soon((Composition(parts=((law, many),)),), AT).lower
        (p, q), _ = ((float(first[0]), float(second[0])) for first, second in law.outcomes)
        asked.append(((p, q), found))
        return found

    return answer, asked


@pytest.mark.parametrize("times", [1, 2, 20])
def test_lower_ends_are_reached(times: int) -> None:
    """By pairs that are allowed, of which binomial laws tell what they reveal; and no other ratio is much better."""
    answer, asked = told(times)
    found = rare_losses.largest([(Kind(SQUARES, RATE), times)], answer)
    assert found == max(end for _, end in asked)
    for (p, q), end in asked:
        base = (p - float(1 - RATE) * q) / float(RATE)
        assert is_allowed(base, q, float(BOUND))
        if end > 0:
            assert exactly(p, q, times, float(end)) >= float(DELTA) * (1 - 1e-9)
    others = [sampled(*edge(r, 0.1)) for r in np.geomspace(10, 1e5, 200)]
    assert max(exactly(p, q, times, float(found) * (1 + 1e-4)) for p, q in others) < float(DELTA)


def test_answers_are_narrow_and_soon() -> None:
    """Where lattices hold no losses so large: before, the ends were factors apart."""
    found = acc.epsilon(runs(20), DELTA)
    assert found.width < Fraction(1, 1000) * found.lower
    back = acc.delta(runs(20), found.upper)
    assert back.lower <= DELTA <= back.upper * Fraction(1001, 1000)


@pytest.mark.slow
def test_a_pair_for_all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nowhere below the upper values of the statement, also where P and Q are exchanged; near delta next to them."""
    monkeypatch.setattr(rare_losses, "_MANY", 9)
    monkeypatch.setattr(rare_losses, "_SOME", 4)
    kinds = [(Kind(SQUARES, RATE), 20)]
    pair = rare_losses.pair_above(kinds, float(DELTA))
    masses = [(first[0], second[0]) for first, second in pair.law.outcomes]
    assert sum(p for p, _ in masses) + pair.infinite == 1
    for epsilon in ("0.5", "2.9", "3.1", 4):
        y = Fraction(math.exp(Fraction(epsilon)))
        value = rare_losses.above(kinds, DeltaAt(Fraction(epsilon), Fraction(1, 10**5)))
        found = sum((max(p - y * q, Fraction(0)) for p, q in masses), pair.infinite)
        assert value * (1 - Fraction(1, 10**9)) <= found
        if DELTA < 2 * value < 4 * DELTA:
            assert found <= value * Fraction(103, 100) + DELTA / 1000  # places are a quarter apart here
        back = sum((max(q - y * p, Fraction(0)) for p, q in masses), 1 - sum(q for _, q in masses))
        assert value * (1 - Fraction(1, 10**9)) <= back


@pytest.mark.slow
def test_beside_others() -> None:
    """More than without them, and no more than the sum."""
    alone, other = acc.epsilon(runs(20), DELTA / 2), acc.epsilon(acc.Laplace(scale=10), DELTA / 2)
    beside = acc.epsilon(acc.Sequence(events=[runs(20), acc.Laplace(scale=10)]), DELTA)
    assert acc.epsilon(runs(20), DELTA).lower < beside.upper <= alone.upper + other.upper


def test_what_is_not_listed() -> None:
    kinds = [(Kind(Concentrated(BOUND), RATE), 2)]
    with pytest.raises(NotApplicable, match="orders"):
        rare_losses.above(kinds, AT)
    many = AtOrders(tuple((Fraction(k), BOUND) for k in range(2, 40)))
    with pytest.raises(NotApplicable, match="too many"):
        rare_losses.above([(Kind(many, RATE), 2)], AT)


def test_deltas_too() -> None:
    """At an epsilon delta is known as well."""
    found = acc.delta(runs(5), 1)
    upper = rare_losses.above([(Kind(SQUARES, RATE), 5)], DeltaAt(Fraction(1), Fraction(1, 10**5)))
    assert 0 < found.lower <= found.upper <= upper
    assert found.width < Fraction(1, 100) * found.upper
