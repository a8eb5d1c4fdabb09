"""Steps of small ranges that cost at most as much as responses beside normal noise."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from privately.accounting.adaptive import thin_noise
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import Ranges, in_every_order
from privately.accounting.adaptive.thin_noise import SMALLEST, Costs, Fineness, Level, Thin, as_thin_noise, is_below
from privately.accounting.roads import NotApplicable
from tests.accounting.adaptive.brute import Floats
from tests.accounting.adaptive.test_noise import before, profile

FIFTH = Fraction(1, 5)
STEP = FIFTH / thin_noise._CELLS
FINE = Fineness(40, ((1.5, 6), (6.0, 3)), 0.5, 25, 0.125)
NOWHERE = 1 << 60


def beside(losses: list[tuple[float, int]], v: float, at: Floats) -> Floats:
    """The profile of responses, each so often, beside normal noise."""
    if not losses:
        return profile(v, at)
    (loss, times), *others = losses
    p, total = 1 / (1 + math.exp(-loss)), np.zeros(at.size)
    for k in range(times + 1):
        chance = math.comb(times, k) * p**k * (1 - p) ** (times - k)
        total += chance * beside(others, v, at - (2 * k - times) * loss)
    return total


def costs_of(sizes: tuple[Fraction, ...], *, are_between: bool = True) -> Costs:
    return replace(Costs.of_ranges(sizes, FINE, STEP, 30.0), are_between=are_between)


@pytest.mark.parametrize("mu", [0.08, 0.4])
@pytest.mark.parametrize("loss", [0.03, 0.08])
def test_a_response_beside_noise(mu: float, loss: float) -> None:
    """Noticed is what is a little more of either."""
    losses = np.arange(0.0, 6 * mu + 2 * loss, 0.001)
    upper = np.minimum.accumulate(beside([(loss, 1)], mu * mu, losses))
    curve = Curve(0.001, 0, NOWHERE, upper, upper, upper)
    assert is_below(curve, mu * 1.001, loss)
    assert is_below(curve, mu, loss * 1.003)
    assert not is_below(curve, mu * 0.999, loss)
    assert not is_below(curve, mu, loss * 0.99)


@pytest.mark.parametrize("steps", [0.5, 3.0, 20.0])
def test_less_than_a_step_needs_is_noticed(steps: float) -> None:
    costs = costs_of((FIFTH / 2, FIFTH), are_between=False)
    level = Level.of(steps * costs.known[-1], costs, STEP, 6.0)
    assert level.is_enough(costs, level.v * 1.02)
    assert not level.is_enough(replace(costs, pull=0.09), level.v * 1.02)
    assert not level.is_enough(costs, level.v * 2)
    losses = np.linspace(0.0, level.v / 2 + 5 * math.sqrt(level.v), 25)
    for k, size in enumerate(costs.marks):
        more = costs.known[k] - costs.response(k) + costs.pulled(k, level.v * 1.02)
        after = beside([(float(costs.loss(k)), 1)], level.v + more, losses)
        assert (before(level.v, float(size), losses) <= after + level.rest + 1e-15).all()


@pytest.mark.parametrize("size", [Fraction(197, 1000), Fraction(399, 2000)])
def test_ranges_between_two(size: Fraction) -> None:
    """They have the response of the mark before them, and cost a mean of both."""
    costs = costs_of((Fraction(195, 1000), FIFTH))
    level = Level.of(2 * costs.known[-1], costs, STEP, 6.0)
    assert level.is_enough(costs, level.v * 1.02)
    assert costs.known[0] < costs.of(size) < costs.known[1]
    assert costs.place(size) == 0
    assert costs.square(0) >= costs.known[1] ** 2
    for one in level.looked[:-1]:
        assert one.more < costs.known[1] - costs.response(one.place)
    losses = np.linspace(0.0, level.v / 2 + 5 * math.sqrt(level.v), 25)
    more = costs.of(size) - costs.response(0) + costs.pulled(0, level.v * 1.02)
    after = beside([(float(costs.loss(0)), 1)], level.v + more, losses)
    assert (before(level.v, float(size), losses) <= after + level.rest + 1e-15).all()


def test_what_is_pulled_falls_ever_more_slowly() -> None:
    costs = costs_of((FIFTH / 2, FIFTH))
    places = np.linspace(0.3, 50, 400) * costs.known[-1]
    found = np.array([costs.pulled(1, v) for v in places.tolist()])
    falls = -np.diff(found)
    assert (falls >= 0).all()
    assert (np.diff(falls) <= 1e-12 * found[:-2]).all()
    assert found[-1] == found[-2] > 0


def test_the_largest_step_last_costs_most() -> None:
    sizes = tuple(Fraction(k, 50) for k in range(3, 11))
    costs, draws = costs_of(sizes, are_between=False), np.random.default_rng(1)
    start = costs.known[-1] / 2

    def reached(order: list[int]) -> float:
        v = least = start
        for k in order:
            more = costs.known[k] - costs.response(k)
            v, least = v + more + costs.pulled(k, least), least + more
        return v

    for _ in range(50):
        some = draws.integers(0, len(sizes), 6).tolist()
        most = costs.total(tuple((sizes[k], 1) for k in some), start)
        assert most >= reached(some) * (1 - 1e-13)
        assert most == pytest.approx(reached(sorted(some, reverse=True)), rel=1e-9)
        assert most > reached(sorted(some)) or len(set(some)) == 1


def test_costs_in_no_order_are_refused() -> None:
    costs = costs_of((FIFTH / 2, FIFTH), are_between=False)
    with pytest.raises(NotApplicable, match="order"):
        replace(costs, known=costs.known[::-1]).total(((FIFTH, 3),), 0.1)


MANY: Ranges = ((Fraction(3, 20), 3), (FIFTH, 4), (Fraction(1, 10), 3))


def enough(found: Thin, at: Floats) -> Floats:
    return beside([(float(loss), times) for loss, times in found.responses], float(found.variance), at)


@pytest.mark.parametrize("missing", [0, 3])
def test_no_order_is_above(missing: int) -> None:
    """With three of the largest steps left out, what is found is not enough."""
    found = as_thin_noise(tuple((size, times - missing * (size == FIFTH)) for size, times in MANY), 1e-6)
    curve = in_every_order(MANY, 1e-6, 1e6)
    least, losses = curve.lower()[::60], curve.losses[::60]
    is_within = bool((least <= enough(found, losses) + float(found.rest) + 1e-15).all())
    assert is_within is (missing == 0)
    assert found.rest < Fraction(1, 10**8)
    assert sum(times for _, times in found.responses) == 10 - missing


def test_not_much_more_than_a_step() -> None:
    """Over what the variances of all steps add up to."""
    found = as_thin_noise(MANY, 1e-6)
    whole = found.variance + sum(times * loss**2 for loss, times in found.responses)
    plain = sum(times * size**2 for size, times in MANY) / 4
    assert plain < whole < plain + Fraction(14, 10) * FIFTH**2 / 4


def test_responses_of_ranges_between_marks() -> None:
    sizes = tuple(Fraction(1500 + k, 10_000) for k in range(501))
    costs = costs_of(sizes)
    assert len(costs.marks) == math.ceil(40 * math.log(4 / 3)) + 1
    assert costs.marks[0] == sizes[0]
    assert costs.marks[-1] == sizes[-1]
    for size in sizes[:-1]:
        k = costs.place(size)
        assert costs.marks[k] <= size < costs.marks[k + 1]
        assert costs.loss(k) ** 2 < size**2 / 4
    assert all(costs.square(k) >= other**2 for k, (_, other) in enumerate(pairwise(costs.known)))


def test_every_step_has_its_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin_noise, "_checked", lambda costs, *_: (costs, 1e-9))
    as_thin_noise.cache_clear()
    assert as_thin_noise(((FIFTH, 7),), 1e-6).rest == 7 * Fraction(1e-9)
    as_thin_noise.cache_clear()


@pytest.mark.parametrize(
    "ranges", [((FIFTH, 60_000),), ((FIFTH, 3), (FIFTH * SMALLEST / 2, 5)), ((FIFTH, 3), (FIFTH / 10, 5))]
)
def test_what_would_take_too_long_is_refused(ranges: Ranges) -> None:
    with pytest.raises(NotApplicable):
        as_thin_noise(ranges, 1e-6)


def test_steps_unlike_a_response_are_refused() -> None:
    """What pulls is made larger where it is not enough, up to a limit."""
    with pytest.raises(NotApplicable, match="unlike"):
        as_thin_noise(((Fraction(5), 3), (Fraction(6), 3)), 1e-6)
