"""Kinds of sampled steps, and lattices for so many of them. Nothing that is proved depends on either."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.kinds import Kind, are_played, laid_out
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated
from tests.accounting.sampled_games.examples import HALF

ONE = Fraction(1)
TENTH = Fraction(1, 10)
RARE = 1e-6


@pytest.mark.parametrize("c", [0.5, 3.0])
def test_moments_of_ranges_are_those_of_the_worst_outcomes(c: float) -> None:
    best = 0.0
    for place in range(1, 400):
        low = math.exp(-place / 400)
        high = low * math.e
        likely = (1 - low) / (high - low)
        first, second = (1 + 0.1 * (ratio - 1) for ratio in (low, high))
        best = max(best, math.log((1 - likely) * first ** (1 + c) + likely * second ** (1 + c)))
    assert best * 0.999 < Kind(ONE, TENTH).moment(c) < best * 1.001


@pytest.mark.parametrize("base", [HALF, ONE])
def test_lattices_become_finer_and_hold_all_losses(base: Concentrated | Fraction) -> None:
    kind = Kind(base, TENTH)
    coarse, steps = laid_out(kind, 10, RARE, 0)
    fine, _ = laid_out(kind, 10, RARE, 1)
    assert steps == 10
    assert fine.lattice.step < coarse.lattice.step
    left, right = kind.reach_of_few(10, RARE)
    for one in (coarse.lattice, fine.lattice):
        assert one.first * one.step <= -left < right <= one.last * one.step
    assert left <= -10 * math.log1p(-0.1) * (1 + 1e-12)


def test_long_runs_are_cut_to_what_a_lattice_holds() -> None:
    way, steps = laid_out(Kind(HALF, Fraction(1, 100)), 10**6, RARE, 0)
    assert 1 < steps < 10**6
    assert way.lattice.beyond == 0


def test_higher_orders_count_where_deltas_are_smaller() -> None:
    kind = Kind(HALF, TENTH)
    assert kind.order(10, 1e-12) > kind.order(10, 1e-3) > 1


@pytest.mark.parametrize(
    "kind", [Kind(HALF, 1 - Fraction(1, 2**30)), Kind(Concentrated(Fraction(10**6)), TENTH)], ids=["rate", "losses"]
)
def test_what_no_lattice_holds_is_refused(kind: Kind) -> None:
    with pytest.raises(NotApplicable):
        laid_out(kind, 10, RARE, 0)


def test_listed_orders_reach_as_far_as_the_best_of_them_says() -> None:
    """Not as the last one does, whose bound is far larger: 12.4 in place of 137 for ten steps."""
    listed = AtOrders(tuple((Fraction(a), Fraction(a, 2)) for a in (2, 8, 32)))
    kind = Kind(listed, Fraction(1, 10))
    _, reach = kind.reach(10, 1e-11)
    scores = [(10 * kind.moment(c) - math.log(1e-11)) / c for c in (1.0, 2.0, 4.0, 7.0, 31.0)]
    assert reach <= min(scores)
    assert reach > 5
    assert kind.moment(31.5) == math.inf
    assert laid_out(kind, 10, 1e-6, 0)[0].lattice.size < 2400


@pytest.mark.parametrize(("rate", "times"), [("1e-4", 10), ("1e-5", 100), ("1e-7", 2)])
def test_rare_samples_reach_no_farther_than_one_large_loss(rate: str, times: int) -> None:
    """Moments, which rare large losses make large, say a hundred times more."""
    kind = Kind(HALF, Fraction(rate))
    _, reach = kind.reach_of_few(times, RARE)
    c = kind.order(times, RARE) - 1
    assert float(kind.rate) < reach < (times * kind.moment(c) - math.log(RARE)) / c / 50
    way, steps = laid_out(kind, times, RARE, 1)
    assert steps == times
    assert way.lattice.last * way.lattice.step > reach
    assert way.lattice.size * times < 400_000


def test_jumps_stay_on_the_lattice() -> None:
    """Those that stand for steps lead nowhere else."""
    way, _ = laid_out(Kind(HALF, Fraction(1, 100)), 1000, RARE, 0)
    assert way.lattice.beyond == 0
    assert way.jumps[-1] < way.lattice.size


def test_few_steps_are_played_one_by_one() -> None:
    assert are_played(Kind(HALF, TENTH), 10, 0)
    assert are_played(Kind(HALF, TENTH), 240, 1)
    assert not are_played(Kind(HALF, TENTH), 240, 0)
    assert not are_played(Kind(HALF, TENTH), 241, 1)
    assert not are_played(Kind(ONE, TENTH), 10, 1)
