"""Many different steps, from above: those with the largest last are the most."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import sorted_games
from privately.accounting.two_outcomes.allowed import Concentrated

from . import brute
from .test_before_normal import delta, pairs

TENTH, TWENTIETH = Concentrated(Fraction(1, 10)), Concentrated(Fraction(1, 20))
FAR = sorted_games._Far(5.0, 5.0)


def after(s: float, c: float, beta: float) -> float:
    """f_c(s)."""
    return s + c + float(sorted_games.more(np.array([c]), s, beta)[0])


@pytest.mark.parametrize("beta", [1.2, 3.0, 5.6])
def test_the_largest_last_is_the_most(beta: float) -> None:
    """Of all orders of some steps, from any s on; with a beta below alpha that is not so."""
    choose = np.random.default_rng(7)
    for _ in range(40):
        first, sizes = float(choose.uniform(0.0, 2.0)), np.sort(choose.uniform(0.01, 1.0, 4))
        values = {}
        for order in permutations(sizes.tolist()):
            s = max(first, 0.4)
            for c in order:
                s = after(s, c, beta)
            values[order] = s
        assert values[tuple(sizes[::-1].tolist())] >= max(values.values()) * (1 - 1e-14)
    assert after(after(0.0, 1.0, 0.3), 0.5, 0.3) < after(after(0.0, 0.5, 0.3), 1.0, 0.3)


def test_a_step_leads_farther_from_a_larger_sum() -> None:
    """For every rho up to the largest, from the least s on."""
    rho, floor = 1.0, min(sorted_games._FLOORS)
    for beta in sorted_games._BETAS:
        if sorted_games._LARGEST_SHARE * (sorted_games._ALPHA + beta * floor) < 1:
            continue
        for c in (0.01, 0.3, 1.0):
            reached = [after(s, c, beta) for s in np.linspace(floor * rho, 20.0, 400)]
            assert (np.diff(reached) > 0).all()


def worst(rho: float, v: float, x: float) -> float:
    """One step before normal noise, by many pairs, in both directions."""
    return max(
        max(
            p * delta(v, x - math.log(p / q)) + (1 - p) * delta(v, x - math.log((1 - p) / (1 - q))),
            (1 - q) * delta(v, x - math.log((1 - q) / (1 - p))) + q * delta(v, x - math.log(q / p)),
        )
        for p, q in pairs(rho, 60)
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 3.0])
def test_one_step_before_normal_noise(share: float) -> None:
    """Of every kind, with the factor that its slope makes good; a larger beta is refused where it is not enough."""
    kinds = sorted_games.Kinds.of([(TENTH, 3), (TWENTIETH, 1), (Concentrated(Fraction(1, 500)), 1)], 1e-10)
    s = share * 0.1
    before, _ = sorted_games.Before.of(kinds, s, 5.0, [None] * len(kinds.lines))
    beta = next(one for one in sorted_games._BETAS if before.slope(kinds, s, one) < math.inf)
    slope = before.slope(kinds, s, beta)
    assert before.slope(kinds, s, 40.0) == math.inf
    for rho, size in zip(kinds.rho.tolist(), kinds.size.tolist(), strict=True):
        reached = after(s, size, beta)
        for x in np.linspace(0.0, s + 4 * math.sqrt(2 * s), 7):
            assert worst(rho, 2 * s, float(x)) <= math.exp(slope * size) * delta(2 * reached, float(x)) * (1 + 1e-9)
    assert worst(0.1, 2 * s, 0.5) > delta(2 * (s + 0.1), 0.5)


def test_the_largest_slope_that_counts() -> None:
    """A step may begin at one place and end at later ones, where the slope has to be as large."""
    places, slopes = [1.0, 2.0, 4.0, 8.0], [0.5, 0.1, 0.2]
    assert sorted_games.height_of(places, slopes, 0.5) == pytest.approx(0.5 + 2 * 0.5 + 4 * 0.2)
    assert sorted_games.height_of(places, slopes, 2.5) == pytest.approx(0.5 + 2 * 0.5 + 4 * 0.5)
    assert sorted_games.height_of([1.0, 2.0, 4.0], [0.1, 0.3], 9.0) == pytest.approx(0.1 + 2 * 0.3)


def test_how_many_steps_are_near() -> None:
    parts = [(TENTH, 3), (TWENTIETH, 2), (Concentrated(Fraction(1, 100)), 4)]
    kinds = sorted_games.Kinds.of(parts, 1e-8)
    assert kinds.most_within(0.13) >= 6  # 0.01 four times, 0.05 once, and the one that leads beyond
    assert kinds.most_within(100.0) >= 9


def test_too_many_or_too_large() -> None:
    with pytest.raises(NotApplicable, match="too many"):
        sorted_games.above(((TENTH, 10**6),), 1e-6)
    with pytest.raises(NotApplicable, match="unlike"):
        sorted_games.above(((Concentrated(Fraction(60)), 2),), 1e-6)


@pytest.mark.slow
def test_no_order_is_above() -> None:
    """Also orders that are chosen in the light of what came out."""
    left = (0.02, 0.05, 0.1)
    found = sorted_games.above(tuple((Concentrated(Fraction(one)), 1) for one in left), 1e-4)
    known = {rho: pairs(rho, 8) for rho in left}
    for epsilon in (0.0, 0.5, 1.2):
        bound = float(found.rest) + float(found.factor) * delta(float(found.variance), epsilon)
        assert brute.in_any_order(known, left, epsilon) <= bound


@pytest.mark.slow
def test_many_different_ones() -> None:
    """Above normal noise, and not by much; one step more needs more."""
    parts = tuple((Concentrated(Fraction(k, 500)), 6) for k in range(13, 16))
    found = sorted_games.above(parts, 1e-6)
    total = sum((one.rho * times for one, times in parts), Fraction(0))
    assert 2 * total < found.variance < 2 * total + 4 * parts[-1][0].rho
    more = sorted_games.above(((parts[0][0], 7), *parts[1:]), 1e-6)
    assert more.variance > found.variance + 2 * parts[0][0].rho


@pytest.mark.slow
def test_a_composition_of_two_kinds() -> None:
    known = [(Fraction(1, 100), 30), (Fraction(1, 50), 40)]
    event = acc.Sequence(events=[acc.Repeat(event=acc.ZCDP(rho=rho), times=times) for rho, times in known])
    found = acc.epsilon(event, "1e-6")
    assert found.width < Fraction(4, 1000) * found.lower
