"""Steps of small ranges that cost at most as much as normal noise."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.adaptive import noise
from privately.accounting.adaptive.games import Ranges, in_every_order
from privately.accounting.adaptive.noise import Costs, Level, as_noise, normal, spared
from privately.accounting.roads import NotApplicable
from tests.accounting.adaptive.brute import Floats

FIFTH = Fraction(1, 5)


def tail(at: float) -> float:
    return math.erfc(at / math.sqrt(2)) / 2


def profile(v: float, losses: Floats) -> Floats:
    root = math.sqrt(v)
    both = [(tail(x / root - root / 2), math.exp(x) * tail(x / root + root / 2)) for x in losses.tolist()]
    return np.array([power - price for power, price in both])


def before(v: float, size: float, losses: Floats) -> Floats:
    """The best of many choices of two outcomes before normal noise."""
    rises = np.linspace(0.0, size, 401)
    up = np.expm1(rises - size) / math.expm1(-size)
    values = [profile(v, np.concatenate([x - rises, x - rises + size])).reshape(2, -1) for x in losses.tolist()]
    return np.array([(up * near + (1 - up) * far).max() for near, far in values])


def costs_of(sizes: tuple[Fraction, ...], pull: float = 0.2, *, are_between: bool = True) -> Costs:
    step = sizes[-1] / noise._CELLS
    known = tuple((float(size) ** 2 + 2.5 * float(step) ** 2) / 4 for size in sizes)
    return Costs(sizes, known, noise._SHIFT * known[-1], pull, are_between)


@pytest.mark.parametrize("v", [0.001, 0.2, 9.0])
def test_values_of_normal_noise(v: float) -> None:
    step = Fraction(1, 50) * Fraction(math.sqrt(v))
    curve = normal(v, step, v / 2 + 6 * math.sqrt(v))
    exact = profile(v, curve.losses)
    assert (curve.upper >= exact * (1 - 1e-9) - 1e-16).all()
    assert curve.upper == pytest.approx(exact, rel=1e-6, abs=1e-13)
    assert (np.diff(curve.upper) <= 0).all()


@pytest.mark.parametrize("v", [0.007, 0.05, 1.0])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_mean_of_two_noises(v: float, share: float) -> None:
    """Is within noise of the mean and what is spared, but not within noise of the mean alone."""
    one, other = 0.0098, 0.01
    edge = v / 2 + 7 * math.sqrt(v + other)
    losses = np.linspace(0.0, edge, 200)
    less = spared(one, other, v, edge)
    mean = (1 - share) * profile(v + one, losses) + share * profile(v + other, losses)
    middle = (1 - share) * one + share * other
    assert 0 < less < 0.1 * one
    assert (mean <= profile(v + middle + less, losses) * (1 + 1e-9) + 1e-15).all()
    assert (mean > profile(v + middle, losses) * (1 + 1e-9) + 1e-15).any()


def test_noises_that_are_too_far_apart() -> None:
    assert spared(0.005, 0.01, 0.007, 1.0) == math.inf


@pytest.mark.parametrize("steps", [0.7, 3.0, 20.0])
def test_less_than_a_step_needs_is_noticed(steps: float) -> None:
    costs = costs_of((FIFTH / 2, FIFTH), are_between=False)
    level = Level.of(steps * costs.known[-1], costs, FIFTH / noise._CELLS, 6.0)
    assert level.is_enough(costs, level.v * 1.05)
    assert not level.is_enough(replace(costs, pull=0.13), level.v * 1.05)
    assert not level.is_enough(costs, level.v * 2)
    losses = np.linspace(0.0, level.v / 2 + 5 * math.sqrt(level.v), 40)
    for size, cost in zip(costs.marks, costs.known, strict=True):
        after = profile(level.v + costs.more(level.v * 1.05, cost), losses)
        assert (before(level.v, float(size), losses) <= after + level.rest + 1e-15).all()


@pytest.mark.parametrize("size", [Fraction(197, 1000), Fraction(399, 2000)])
def test_ranges_between_two(size: Fraction) -> None:
    """They cost a mean of both, where each needs somewhat less than it costs."""
    costs = costs_of((Fraction(195, 1000), FIFTH))
    level = Level.of(2 * costs.known[-1], costs, FIFTH / noise._CELLS, 6.0)
    assert level.is_enough(costs, level.v * 1.05)
    assert min(level.spared) > 0
    assert costs.known[0] < costs.of(size) < costs.known[1]
    assert costs.of(size) > float(size) ** 2 / 4
    losses = np.linspace(0.0, level.v / 2 + 5 * math.sqrt(level.v), 40)
    after = profile(level.v + costs.more(level.v * 1.05, costs.of(size)), losses)
    assert (before(level.v, float(size), losses) <= after + level.rest + 1e-15).all()
    assert len(level.raises) == 5


def test_the_largest_step_last_costs_most() -> None:
    costs = costs_of(tuple(Fraction(k, 50) for k in range(3, 11)), 0.25)
    draws = np.random.default_rng(1)

    def reached(order: list[float]) -> float:
        v = noise._START * costs.known[-1]
        for cost in order:
            v += costs.more(v, cost)
        return v

    for _ in range(50):
        some = draws.choice(costs.known, 6).tolist()
        most = reached(sorted(some, reverse=True))
        assert most >= reached(some) * (1 - 1e-15)
        assert most > reached(sorted(some)) or len(set(some)) == 1


MANY: Ranges = ((Fraction(3, 20), 3), (FIFTH, 4), (Fraction(1, 10), 3))


@pytest.mark.parametrize("missing", [0, 3])
def test_no_order_is_above(missing: int) -> None:
    """With three of the largest steps left out, the noise is not enough."""
    variance, rest = as_noise(tuple((size, times - missing * (size == FIFTH)) for size, times in MANY), 1e-6)
    curve = in_every_order(MANY, 1e-6, 1e6)
    least = curve.lower()[::20]
    is_within = bool((least <= profile(float(variance), curve.losses[::20]) + float(rest) + 1e-15).all())
    assert is_within is (missing == 0)
    assert rest < Fraction(1, 10**8)


def test_not_much_more_than_a_step_and_a_half() -> None:
    """Over what the variances of all steps add up to."""
    variance, _ = as_noise(MANY, 1e-6)
    plain = sum(times * size**2 for size, times in MANY) / 4
    assert plain < variance < plain + Fraction(14, 10) * FIFTH**2 / 4


def test_every_step_has_its_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = costs_of((FIFTH,), are_between=False)
    monkeypatch.setattr(noise, "_checked", lambda *_: (costs, 1e-9))
    as_noise.cache_clear()
    assert as_noise(((FIFTH, 7),), 1e-6)[1] == 7 * Fraction(1e-9)
    as_noise.cache_clear()


@pytest.mark.parametrize(
    "ranges", [((FIFTH, 3000),), ((FIFTH, 10), (Fraction(1, 100), 30_000)), ((FIFTH, 3), (FIFTH / 20, 5))]
)
def test_what_would_take_too_long_is_refused(ranges: Ranges) -> None:
    with pytest.raises(NotApplicable):
        as_noise(ranges, 1e-6)


def test_large_ranges_are_refused() -> None:
    """A pull that is not enough is made larger, up to a limit."""
    with pytest.raises(NotApplicable, match="unlike"):
        as_noise(((Fraction(1, 10), 30), (FIFTH, 30)), 1e-280)
