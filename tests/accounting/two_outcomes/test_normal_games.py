"""Many steps, from above, by normal noise."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import games, normal_games, wave_games
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.before_normal import gained
from privately.accounting.two_outcomes.normal_games import Normal, above
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.touching import touching
from privately.rounding import Interval

from .test_before_normal import delta, pairs

TWENTIETH = Concentrated(Fraction(1, 20))


def value(found: Normal, x: float) -> float:
    return float(found.rest) + float(found.factor) * delta(float(found.variance), x)


@pytest.mark.parametrize(
    "v", [0.16, pytest.param(1.0, marks=pytest.mark.slow), pytest.param(5.0, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("price", [100.0, pytest.param(0.01, marks=pytest.mark.slow)])
def test_one_step_before_normal_noise(v: float, price: float) -> None:
    """No pair is above; with a hundredth of the gain missing some would be."""
    rise, _ = normal_games._rise(touching(TWENTIETH, 1e-10), v, 6.0, price)
    known, least = pairs(0.05, 40), math.inf
    for x in np.linspace(0.0, v / 2 + 5.5 * math.sqrt(v), 12):
        step = max(
            max(
                p * delta(v, x - math.log(p / q)) + (1 - p) * delta(v, x - math.log((1 - p) / (1 - q))),
                (1 - q) * delta(v, x - math.log((1 - q) / (1 - p))) + q * delta(v, x - math.log(q / p)),
            )
            for p, q in known
        )
        most = rise.rest + (1 + rise.excess) * delta(v + rise.more, x)
        assert step <= most
        least = min(least, (1 + rise.excess) * delta(v + 0.99 * rise.more, x) - step)
    assert least < 0


@pytest.mark.slow
@pytest.mark.parametrize(("rho", "price"), [("0.002", math.inf), ("0.05", 100.0), ("0.8", math.inf)])
def test_the_last_step(rho: str, price: float) -> None:
    statement = Concentrated(Fraction(rho))
    v, factor, rest = normal_games.last_step(statement, touching(statement, 1e-10), 6.0, price)
    assert (factor == 1) == (price == math.inf)
    nearest = math.inf
    for x in np.array([0.0, 0.4, 0.8, 1.0, 1.2, 1.6, 2.4, 5.0]) * math.sqrt(2 * statement.size):
        least = float(answer(statement, DeltaAt(Fraction(float(x)), Fraction(1, 10**6))).lower)
        assert least <= rest + factor * delta(v, float(x))
        nearest = min(nearest, factor * delta(v, float(x)) / least)
    assert nearest < 1.002


@pytest.mark.slow
def test_no_strategy_is_above() -> None:
    """Nor far below it."""
    found, curve = above(TWENTIETH, 12, 1e-6), games.below(((TWENTIETH, 12),), 1e-6)
    reached = curve.lower()
    for k in range(0, reached.size, 40):
        x = k * curve.step
        if reached[k] > 1e-7:
            assert reached[k] <= value(found, x)
            assert value(found, x) < reached[k] * 1.3


@pytest.mark.slow
def test_a_step_that_is_left_out_is_missed() -> None:
    missing, curve = above(TWENTIETH, 11, 1e-6), games.below(((TWENTIETH, 12),), 1e-6)
    middle = curve.upper.size // 2
    assert value(missing, middle * curve.step) < curve.lower()[middle]


@pytest.mark.slow
def test_many_steps_are_taken_together(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = above(Concentrated(Fraction(1, 1000)), 60, 1e-6)
    monkeypatch.setattr(normal_games, "_MOST_STEPS", 30)
    above.cache_clear()
    together = above(Concentrated(Fraction(1, 1000)), 60, 1e-6)
    above.cache_clear()
    assert apart.variance < together.variance < apart.variance * Fraction(103, 100)


def test_two_beside_each_other() -> None:
    one, two = (
        Normal(Fraction(1), Fraction(11, 10), Fraction(1, 100)),
        Normal(Fraction(2), Fraction(6, 5), Fraction(1, 50)),
    )
    both = one.beside(two)
    assert both == Normal(Fraction(3), Fraction(132, 100), Fraction(32, 1000))
    asked = both.taken_from(EpsilonAt(Fraction(1, 10), Fraction(1, 10)))
    assert isinstance(asked, EpsilonAt)
    assert both.rest + both.factor * asked.delta == Fraction(1, 10)
    top = both.put_back(Interval(0, Fraction(1, 20)), DeltaAt(Fraction(1), Fraction(1, 10)))
    assert top.upper == both.rest + both.factor / 20
    with pytest.raises(NotApplicable, match="neglected"):
        both.taken_from(EpsilonAt(Fraction(1, 100), Fraction(1, 10)))


@pytest.mark.slow
@pytest.mark.parametrize(("total", "times"), [("0.01", 60), ("0.5", 100), ("0.5", 10**6), ("5", 1000)])
def test_long_runs_are_known_within_a_thousandth(total: str, times: int) -> None:
    found = acc.epsilon(acc.Repeat(event=acc.ZCDP(rho=Fraction(total) / times), times=times), "1e-6")
    assert found.width <= Fraction(1, 1000) * found.lower
    assert acc.epsilon(acc.GaussianDP(mu=Fraction(math.sqrt(2 * float(total)))), "1e-6").lower <= found.lower


def test_what_each_step_needs_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """In mu^2, in factors, and in what is beyond the last place."""
    more, excess, rest = 0.2, 0.01, 1e-3
    rise = normal_games._Rise(more, excess, rest)
    monkeypatch.setattr(normal_games, "_rise", lambda *_given: (rise, None))
    monkeypatch.setattr(normal_games, "_SOME", 0)
    v, factor, first = normal_games.last_step(TWENTIETH, touching(TWENTIETH, 1e-6 * normal_games.SPARE / 9), 8.0, 10.0)
    monkeypatch.setattr(normal_games, "last_step", lambda *_given: (v, factor, first))
    found = above.__wrapped__(TWENTIETH, 9, 1e-6)
    assert found.variance >= Fraction(v) + 8 * Fraction(more)
    assert found.factor >= Fraction(factor) * (1 + Fraction(excess)) ** 8
    assert found.rest >= Fraction(first) + 8 * Fraction(factor) * Fraction(rest)


def test_steps_that_are_taken_together_are_all_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normal_games, "_MOST_STEPS", 7)
    rho = Fraction(1, 1000)
    assert above.__wrapped__(Concentrated(rho), 30, 1e-6).variance > 2 * 30 * rho


def test_chords_of_what_is_gained_are_below_it() -> None:
    tau = np.array([0.5, 1.5, 3.0])
    between = normal_games._between(1.0, tau, 0.5)
    for place in np.linspace(0.5, 3.0, 26):
        gain = float(gained(1.0, np.array([place]), 0.5)[0])
        assert np.interp(place, tau, between) <= gain * (1 + 1e-9)


@pytest.mark.parametrize(("first", "farthest", "price"), [(0, 1.0, 100.0), (40, 2.0, math.inf)])
def test_the_last_step_where_little_is_known_of_it(first: int, farthest: float, price: float) -> None:
    """Lines that end early, or begin above 0: what is beyond the last, and before the first, is allowed for."""
    lines = touching(TWENTIETH, 1e-10)
    few = replace(lines, **{name: getattr(lines, name)[first:100] for name in ("highs", "lows", "orders", "shares")})
    v, factor, rest = normal_games.last_step(TWENTIETH, few, farthest, price)
    assert (factor == 1) == (price == math.inf)
    for x in (0.0, 0.1, 0.4, 1.0):
        least = float(answer(TWENTIETH, DeltaAt(Fraction(x), Fraction(1, 1000))).lower)
        assert least <= rest + factor * delta(v, x)


@pytest.mark.slow
def test_some_steps_that_were_played() -> None:
    """They are below what is found for them, up to where values are cut off, and not below less."""
    curve = normal_games._cut(wave_games.above(((TWENTIETH, 5),), 1e-6), 1e-8)
    assert curve.upper[-2] > 1e-8 >= curve.upper[-1]
    v, factor, rest = normal_games.nearest(curve, 20.0)
    most = [rest + factor * delta(v, float(x)) for x in curve.losses]
    assert (curve.upper <= np.array(most)).all()
    less = [rest + factor * delta(0.998 * v, float(x)) for x in curve.losses]
    assert (curve.upper > np.array(less)).any()


def test_games_whose_lines_are_not_good_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where so many steps would need far more noise than they should."""
    monkeypatch.setattr(normal_games, "nearest", lambda *_given: (100.0, 1.0, 0.0))
    monkeypatch.setattr(normal_games, "last_step", lambda *_given: (0.2, 1.0, 0.0))
    assert above.__wrapped__(TWENTIETH, 2, 1e-6).variance < 1
