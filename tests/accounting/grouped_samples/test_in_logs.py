"""Lists in logarithms of one step on a sample, against half-lines with many digits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.closed_forms.gaussian import profile
from privately.accounting.grouped_samples import in_logs
from privately.accounting.grouped_samples.in_logs import law_in_logs, listed_either_way, listed_in_logs
from privately.accounting.grouped_samples.mixtures import Split, Step, listed
from privately.accounting.losses import DiscreteGaussianLoss, DiscreteLaplaceLoss, GaussianLoss, LaplaceLoss
from privately.accounting.spreading.far_losses import NO_LOSS
from privately.accounting.spreading.lists import Losses, Side, profile_of
from tests.accounting.grouped_samples.profiles import laplace_profile, normal_profile

TENTH = GaussianLoss(mu_squared=Fraction(100))


def bounds(lists: tuple[Losses, Losses], epsilon: str | float) -> tuple[float, float]:
    lower, upper = lists
    return profile_of(lower, NO_LOSS, float(epsilon), "lower"), profile_of(upper, NO_LOSS, float(epsilon), "upper")


def both(step: Step, split: Split, count: int) -> tuple[Losses, Losses]:
    return listed_in_logs(step, split, "lower", count, 1e-25), listed_in_logs(step, split, "upper", count, 1e-25)


CASES = [((5, 0), "500"), ((5, 0), "1020"), ((4, 1), "300"), ((2, 3), "-40"), ((1, 4), "100"), ((0, 5), "0.3")]


@pytest.mark.parametrize(("split", "epsilon"), CASES)
@pytest.mark.parametrize("rate", ["0.1", "1e-3"])
def test_lists_are_on_their_sides(split: Split, epsilon: str, rate: str) -> None:
    """Normal and Laplace noise, coarse cells and fine ones."""
    with mpmath.workdps(60):
        exact = normal_profile("0.1", rate, split, mpmath.mpf(epsilon))
        other = laplace_profile("0.01", rate, split, mpmath.mpf(epsilon))
    for base, truth in ((TENTH, exact), (LaplaceLoss(epsilon=Fraction(100)), other)):
        step = Step(base, Fraction(rate))
        for count, part in ((256, 10.0), (1 << 13, 4e-3)):
            low, high = bounds(both(step, split, count), epsilon)
            assert low <= truth * (1 + 1e-12) + 1e-160
            assert truth <= high
            assert high - low <= part * truth + 1e-24


def test_both_ways_agree_where_both_lead() -> None:
    step = Step(GaussianLoss(mu_squared=Fraction(1, 4)), Fraction(1, 5))
    for split in ((3, 0), (2, 1), (0, 3)):
        lists = listed(step, split, "lower", 4096, 1e-25), listed(step, split, "upper", 4096, 1e-25)
        for epsilon in (-0.5, 0.1, 0.7):
            (low, high), (least, most) = bounds(lists, epsilon), bounds(both(step, split, 4096), epsilon)
            assert max(low, least) <= min(high, most)
            assert most - least <= 1e-5


DISCRETE = [
    DiscreteGaussianLoss(variance=Fraction(1, 50), sensitivity=1),
    DiscreteLaplaceLoss(scale=Fraction(1, 100), sensitivity=1),
]


@pytest.mark.parametrize("base", DISCRETE)
@pytest.mark.parametrize("split", [(3, 0), (2, 1), (0, 3)])
def test_lists_of_discrete_noise(base: DiscreteGaussianLoss | DiscreteLaplaceLoss, split: Split) -> None:
    """By a sum over outcomes."""
    is_normal = isinstance(base, DiscreteGaussianLoss)
    rate, far = mpmath.mpf("0.2"), 12
    with mpmath.workdps(200):

        def weight(k: int) -> mpmath.mpf:
            return mpmath.exp(-mpmath.mpf(25) * k * k if is_normal else -mpmath.mpf(100) * abs(k))

        def share(rows: int, i: int) -> mpmath.mpf:
            return mpmath.binomial(rows, i) * rate**i * (1 - rate) ** (rows - i)

        total = mpmath.fsum(weight(k) for k in range(-far, far + 1))
        for epsilon in (0.125, 60.0, 150.0):
            truth = mpmath.mpf(0)
            for k in range(-far, far + 1):
                p = mpmath.fsum(share(split[0], i) * weight(k - i) for i in range(split[0] + 1))
                q = mpmath.fsum(share(split[1], j) * weight(k + j) for j in range(split[1] + 1))
                truth += max(p - mpmath.exp(epsilon) * q, mpmath.mpf(0)) / total
            low, high = bounds(both(Step(base, Fraction(1, 5)), split, 0), epsilon)
            assert low <= truth + 1e-25
            assert truth <= high
            assert high - low <= 1e-9 * high + 1e-24


def test_noise_without_a_sample() -> None:
    for epsilon in (100, 4500, 5200):
        lists = (
            law_in_logs(GaussianLoss(mu_squared=Fraction(10**4)), "lower", 1 << 14, 1e-25),
            law_in_logs(GaussianLoss(mu_squared=Fraction(10**4)), "upper", 1 << 14, 1e-25),
        )
        truth, (low, high) = profile(Fraction(10**4), Fraction(epsilon)), bounds(lists, epsilon)
        assert low <= truth.upper
        assert truth.lower <= high <= float(truth.upper) * 1.1 + 1e-24
        assert low >= float(truth.lower) * 0.9


def test_little_noise_alone_is_listed_in_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Split] = []

    def noted(step: Step, split: Split, side: Side, count: int, rare: float) -> Losses:
        asked.append(split)
        return listed_in_logs(step, split, side, count, rare)

    monkeypatch.setattr(in_logs, "listed_in_logs", noted)
    much = Step(GaussianLoss(mu_squared=Fraction(1, 4)), Fraction(1, 10))
    for step, split in ((much, (5, 0)), (Step(TENTH, Fraction(1, 10)), (5, 0))):
        listed_either_way(step, split, "upper", 256, 1e-20)
    assert asked == [(5, 0)]


@pytest.mark.parametrize("mistake", ["side", "chord", "outside"])
def test_false_twins_are_noticed(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lower list for the upper one; all of a cell at its lower end; what was left out does not count."""
    step = Step(TENTH, Fraction(1, 10))
    with mpmath.workdps(60):
        truth = normal_profile("0.1", "0.1", (5, 0), mpmath.mpf(500))
    if mistake == "side":
        found = listed_in_logs(step, (5, 0), "lower", 1024, 1e-25)
    elif mistake == "chord":
        monkeypatch.setattr(in_logs, "expm1", lambda x: np.full(x.shape, -1e300))
        found = listed_in_logs(step, (5, 0), "upper", 1024, 1e-25)
    else:
        full = listed_in_logs(step, (5, 0), "upper", 1 << 14, 1e-2)
        found = Losses(full.losses, full.masses, 0.0)
        assert profile_of(full, NO_LOSS, 500.0, "upper") > truth
    assert profile_of(found, NO_LOSS, 500.0, "upper") < truth


def quadrature(split: Split, epsilon: float) -> float:
    """delta of two samples of rate 0.1 with noise 0.1, by sums over fine grids; nothing here knows the library."""
    x = np.arange(-9.0, 10 * split[0] + 9.0, 2.0**-7)
    logs = []
    for rows, sign in zip(split, (10, -10), strict=True):
        i = np.arange(rows + 1.0)[:, None]
        weights = np.array([[math.comb(rows, k) * 0.1**k * 0.9 ** (rows - k)] for k in range(rows + 1)])
        logs.append(np.logaddexp.reduce(np.log(weights) - (x - sign * i) ** 2 / 2))
    masses, losses = np.exp(logs[0]) * 2.0**-7 / math.sqrt(2 * math.pi), logs[0] - logs[1]
    second = np.append(np.cumsum((masses * np.exp(-np.maximum(losses, -30.0)))[::-1])[::-1], 0.0)
    tail = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    total = 0.0
    for loss, mass in zip(losses.tolist(), masses.tolist(), strict=True):
        if mass > 1e-16:
            place = int(np.searchsorted(losses, epsilon - loss))
            left = min(epsilon - loss, 700.0)
            total += mass * max(float(tail[place] - math.exp(left) * second[place]), 0.0)
    return total


def test_two_samples_of_little_noise() -> None:
    """Groups of five: what one Renyi order and rows together leave between 1320 and 2753 is known to 0.01 %."""
    step = acc.PoissonSample(event=acc.Gaussian(noise_multiplier="0.1"), rate="0.1")
    found = acc.epsilon(acc.Group(event=acc.Repeat(event=step, times=2), size=5), delta="1e-6")
    assert float(found.upper - found.lower) <= 1e-4 * float(found.upper)
    low, high = float(found.lower), float(found.upper)
    assert quadrature((5, 0), low - 0.5) > 1e-6 > quadrature((5, 0), high + 0.5)
    assert all(quadrature(split, high + 0.5) < 1e-6 for split in ((4, 1), (3, 2), (2, 3)))


@pytest.mark.parametrize(
    "beside",
    [acc.Gaussian(noise_multiplier="0.1"), pytest.param(acc.Laplace(scale="0.01"), marks=pytest.mark.slow)],
)
def test_little_noise_beside_more(beside: acc.Event) -> None:
    """Several steps, and noise without a sample: narrow, and more than each alone."""
    step = acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier="0.15"), rate="0.05"), times=2)
    alone, both_of_them = (
        acc.epsilon(acc.Group(event=event, size=4), delta="1e-6")
        for event in (step, acc.Sequence(events=[step, beside]))
    )
    assert float(both_of_them.upper - both_of_them.lower) <= 1e-3 * float(both_of_them.upper)
    assert both_of_them.lower > alone.upper
