"""Lists of losses: their profiles and sums against sums in 60 digits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.roads import NotApplicable
from privately.accounting.spreading.lists import LARGEST, Losses, Side, profile_of, summed
from privately.rounding import Enclosure

POINT = Losses.of(np.zeros(1), np.ones(1))
EPSILONS = (0.0, 1e-9, 1e-3, 0.3, 1.0, 3.0)


def random_list(seed: int, size: int, scale: float = 1.0) -> Losses:
    """Losses of all sizes, from 10^-9 on."""
    rng = np.random.default_rng(seed)
    losses = scale * 10.0 ** rng.uniform(-9, 0.5, size) * rng.choice([-1.0, 1.0], size)
    masses = rng.random(size)
    return Losses.of(losses, masses / masses.sum())


def exact(lists: tuple[Losses, Losses], epsilon: float) -> Enclosure:
    first, second = lists
    found = Enclosure.of(0)
    for one, p in zip(first.losses.tolist(), first.masses.tolist(), strict=True):
        for other, q in zip(second.losses.tolist(), second.masses.tolist(), strict=True):
            away = Fraction(epsilon) - Fraction(one) - Fraction(other)
            if away < 0:
                found = found + Enclosure.of(Fraction(p) * Fraction(q)) * (1 - Enclosure.of(away).exp())
    return found


@pytest.mark.parametrize("seed", range(3))
def test_profiles_of_lists(seed: int) -> None:
    found = random_list(seed, 40)
    for epsilon in EPSILONS:
        truth = exact((found, POINT), epsilon)
        near = Fraction(float(found.profile(np.array([epsilon]))[0]))
        assert abs(near - Fraction(truth.lower)) <= Fraction(found.error) * Fraction(truth.upper)


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_two_lists(seed: int) -> None:
    lists = random_list(seed, 12), random_list(seed + 10, 15)
    for epsilon in EPSILONS:
        truth = exact(lists, epsilon)
        lower, upper = (Fraction(profile_of(*lists, epsilon, side)) for side in ("lower", "upper"))
        assert lower <= truth.upper
        assert truth.lower <= upper
        assert upper - lower <= Fraction(1, 10**11) * Fraction(truth.upper) + Fraction(1, 10**160)


def test_what_is_outside_of_either_list_is_outside_of_their_sum() -> None:
    first, second = (Losses.of(np.array([1.0, -1.0]), np.array([0.7, 0.3]), outside) for outside in (0.125, 0.0625))
    assert summed(first, second, 64, "upper", 0.0).outside >= 0.1875


def test_what_is_outside_counts_for_the_upper_side() -> None:
    first, second = random_list(1, 5), random_list(2, 5)
    more = replace(first, outside=1e-3)
    assert profile_of(more, second, 0.1, "upper") >= profile_of(first, second, 0.1, "upper") + 1e-3
    assert profile_of(more, second, 0.1, "lower") == profile_of(first, second, 0.1, "lower")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [8, 40])
def test_fewer_losses_are_on_their_side(seed: int, count: int) -> None:
    lists = random_list(seed, 12), random_list(seed + 10, 15)
    wrong = 0
    found: dict[Side, Losses] = {
        "lower": summed(*lists, count, "lower", 0.0),
        "upper": summed(*lists, count, "upper", 0.0),
    }
    for epsilon in EPSILONS:
        truth = exact(lists, epsilon)
        assert Fraction(profile_of(found["lower"], POINT, epsilon, "lower")) <= truth.upper
        assert truth.lower <= Fraction(profile_of(found["upper"], POINT, epsilon, "upper"))
        wrong += Fraction(profile_of(found["lower"], POINT, epsilon, "upper")) < truth.lower
        wrong += Fraction(profile_of(found["upper"], POINT, epsilon, "lower")) > truth.upper
    assert wrong >= len(EPSILONS)  # neither list serves for the other side
    assert found["upper"].losses.size <= count


def test_rare_losses_are_left_out() -> None:
    lists = random_list(1, 30), random_list(2, 30)
    whole, less = (summed(*lists, 64, "upper", rare) for rare in (0.0, 0.1))
    assert less.losses[0] < whole.losses[0]
    assert 0 < less.outside <= 0.101
    for epsilon in EPSILONS:
        truth = exact(lists, epsilon)
        assert truth.lower <= Fraction(profile_of(less, POINT, epsilon, "upper"))
        forgetful = replace(less, outside=0.0)
        assert profile_of(forgetful, POINT, epsilon, "upper") < profile_of(less, POINT, epsilon, "upper")


def test_twice_as_many_losses_are_four_times_as_near() -> None:
    lists = random_list(1, 200), random_list(2, 200)
    gaps = []
    for count in (200, 400):
        lower, upper = (summed(*lists, count, side, 0.0) for side in ("lower", "upper"))
        gaps.append(profile_of(upper, POINT, 0.5, "upper") - profile_of(lower, POINT, 0.5, "lower"))
    assert gaps[1] < gaps[0] / 3


def test_what_is_refused() -> None:
    with pytest.raises(NotApplicable):
        Losses.of(np.array([2 * LARGEST]), np.ones(1))
    with pytest.raises(NotApplicable):
        Losses.of(np.zeros(0), np.zeros(0))
