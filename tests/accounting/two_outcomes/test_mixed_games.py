"""Many different steps, from above, by normal noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import mixed_games, normal_games
from privately.accounting.two_outcomes.allowed import Concentrated

from .test_before_normal import delta, pairs


def lacking(rho: float, v: float, share: float) -> float:
    """By how much normal noise of 2 (1 + share) rho is below some pair, at most, relative to it."""
    worst = -math.inf
    for x in np.linspace(0.0, v / 2 + 5 * math.sqrt(v), 10):
        step = max(
            p * delta(v, x - math.log(p / q)) + (1 - p) * delta(v, x - math.log((1 - p) / (1 - q)))
            for p, q in pairs(rho, 40)
        )
        worst = max(worst, step / delta(v + 2 * rho * (1 + share), x) - 1)
    return worst


def test_one_step_before_normal_noise() -> None:
    """Also a smaller one than the largest; normal noise of the same rho is not enough."""
    share = mixed_games.enough(0.05, 1.5, 6.0)
    assert 0 < share < 0.2
    assert lacking(0.05, 1.5, share) <= 0
    assert lacking(0.02, 1.5, share) <= 0
    assert lacking(0.05, 1.5, 0.0) > 0


def test_steps_that_are_too_large() -> None:
    assert mixed_games.enough(1.0, 1.0, 30.0) == math.inf
    with pytest.raises(NotApplicable, match="too large"):
        mixed_games.above(Fraction(1), Fraction(2), 2, 1e-6)


@pytest.mark.slow
def test_equal_steps_are_within() -> None:
    """And a run of them is not known much better by itself."""
    rho = Fraction(1, 1000)
    mixed = mixed_games.above(rho, 500 * rho, 500, 1e-6)
    equal = normal_games.above(Concentrated(rho), 500, 1e-6)
    assert equal.variance < mixed.variance < equal.variance * Fraction(103, 100)
    assert 0 < mixed.rest < 1e-9


def test_many_different_ones() -> None:
    known = [Fraction(1, 600) * (1 + Fraction(k, 300)) for k in range(300)]
    found = acc.epsilon(acc.Sequence(events=[acc.ZCDP(rho=rho) for rho in known]), "1e-6")
    normal = acc.epsilon(acc.GaussianDP(mu=Fraction(math.sqrt(2 * sum(known)))), "1e-6")
    assert normal.lower * (1 - Fraction(1, 10**9)) <= found.lower
    assert found.width < Fraction(2, 100) * found.lower


@pytest.mark.slow
def test_very_many_different_ones() -> None:
    known = [Fraction(1, 20000) * (1 + Fraction(k, 10000)) for k in range(10000)]
    found = acc.epsilon(acc.Sequence(events=[acc.ZCDP(rho=rho) for rho in known]), "1e-6")
    assert found.width < Fraction(1, 1000) * found.lower


@pytest.mark.parametrize(("rho", "v"), [(0.05, 1.5), (0.01, 0.2), (0.3, 20.0), (1e-4, 0.01)])
@pytest.mark.parametrize("farthest", [3.0, 8.0])
def test_a_share_keeps_the_condition(rho: float, v: float, farthest: float) -> None:
    share = mixed_games.enough(rho, v, farthest)
    after = math.sqrt(v + 2 * rho * (1 + share))
    even = math.log1p(share) - (1 + share) * rho / v - share * rho / 4
    slope = share * rho - 2 * (1 + share) ** 2 * rho**2 / v
    assert even >= rho / 4
    assert all(even + tau**2 * slope >= 0 for tau in np.linspace(0.5, (after / 2 + farthest) * after / v, 50))


def test_shares_are_those_of_the_least_noise_that_may_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest step from any sum leads to one that is smaller by rho: how much noise there is then counts."""
    asked: list[float] = []

    def enough(_rho: float, v: float, _farthest: float) -> float:
        asked.append(v)
        return 0.3 / v

    monkeypatch.setattr(mixed_games, "enough", enough)

    def after(total: float) -> float:
        return mixed_games._carried(2.0, 1.0, total, 0.5, 6.0)

    after(40.0)
    starts, looked = [1.0], list(asked)
    while len(starts) < len(looked):
        starts.append(starts[-1] + max(0.5, mixed_games._GROWTH * starts[-1]))
    assert all(v <= after(max(start - 0.5, 1.0)) for start, v in zip(starts, looked, strict=True))


def test_what_is_beyond_the_last_place_counts_for_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed_games, "SPARE", 1.0)
    found = mixed_games.above.__wrapped__(Fraction(1, 1000), Fraction(1, 5), 200, 1e-3)
    farthest = math.sqrt(-2 * math.log(1e-3 / 200))
    assert found.rest >= 200 * math.erfc(farthest / math.sqrt(2)) / 2
