"""Lists of one step on a sample, as a group sees it, against half-lines with many digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privately.accounting.grouped_samples.mixtures import Numbers, Split, Step, listed
from privately.accounting.losses import DiscreteGaussianLoss, DiscreteLaplaceLoss, GaussianLoss, LaplaceLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading.lists import Losses, profile_of
from tests.accounting.grouped_samples.profiles import laplace_profile, normal_profile, shares

POINT = Losses.of(np.zeros(1), np.ones(1))
SPLITS = [(3, 0), (2, 1), (1, 2), (0, 3)]


def bounds(step: Step, split: Split, epsilon: str, count: int) -> tuple[float, float]:
    lower, upper = (listed(step, split, side, count, 1e-25) for side in ("lower", "upper"))
    return profile_of(lower, POINT, float(epsilon), "lower"), profile_of(upper, POINT, float(epsilon), "upper")


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("rate", ["0.2", "1e-3", "1e-12"])
def test_lists_are_on_their_sides(split: Split, rate: str) -> None:
    """Normal and Laplace noise; the square of a cell apart."""
    for epsilon in ("0", "0.125") if rate != "1e-12" else ("0", "1.25e-13"):
        with mpmath.workdps(40):
            exact = normal_profile("2", rate, split, mpmath.mpf(epsilon))
            other = laplace_profile("2", rate, split, mpmath.mpf(epsilon))
        steps = (GaussianLoss(mu_squared=Fraction(1, 4)), exact), (LaplaceLoss(epsilon=Fraction(1, 2)), other)
        for base, truth in steps:
            low, high = bounds(Step(base, Fraction(rate)), split, epsilon, 2048)
            assert low <= truth <= high
            assert high - low <= 4e-3 * truth + 1e-24


BASES = [
    DiscreteGaussianLoss(variance=Fraction(7, 2), sensitivity=2),
    DiscreteLaplaceLoss(scale=Fraction(3), sensitivity=2),
]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("base", BASES)
def test_lists_of_discrete_noise(base: DiscreteGaussianLoss | DiscreteLaplaceLoss, split: Split) -> None:
    with mpmath.workdps(40):
        weights, alpha = [shares(rows, "0.2") for rows in split], mpmath.exp(mpmath.mpf("0.125"))
        is_normal = isinstance(base, DiscreteGaussianLoss)
        far = 40 if is_normal else 200
        noise = [
            mpmath.exp(-mpmath.mpf(k * k) / 7 if is_normal else -mpmath.mpf(abs(k)) / 3) for k in range(-far, far + 1)
        ]
        total, truth = mpmath.fsum(noise), mpmath.mpf(0)
        for k in range(6, len(noise) - 6):
            p = mpmath.fsum(w * noise[k - 2 * i] for i, w in enumerate(weights[0])) / total
            q = mpmath.fsum(w * noise[k + 2 * j] for j, w in enumerate(weights[1])) / total
            truth += max(p - alpha * q, mpmath.mpf(0))
        low, high = bounds(Step(base, Fraction(1, 5)), split, "0.125", 0)
    assert low <= truth + 1e-25
    assert truth <= high
    assert high - low <= 1e-9 * high


@pytest.mark.parametrize("rate", ["0.5", "1e-6"])
def test_numbers_of_rows(rate: str) -> None:
    """What is left out above counts as the last number below."""
    exact = shares(30, rate)
    for rare in (1e-3, 1e-15):
        upper, lower = (Numbers.of(30, Fraction(rate), side, rare) for side in ("upper", "lower"))
        assert 0 < upper.most <= 30
        assert upper.missing <= rare
        assert lower.missing == 0
        for i in range(upper.most):
            assert abs(upper.shares[i] - exact[i]) <= 1e-15 * exact[i]
            assert lower.shares[i] == upper.shares[i]
        assert abs(sum(lower.shares) - 1) < 1e-14
        assert abs(sum(upper.shares) + float(upper.missing) - 1) < 1e-14


@pytest.mark.parametrize(("mu", "noise", "rare"), [(Fraction(1, 2), "2", 1e-4), (Fraction(1), "1", 1e-2)])
def test_few_rows_enclose_all(mu: Fraction, noise: str, rare: float) -> None:
    """Of 12 rows, those that hardly ever meet are left out above, and counted as fewer below."""
    step = Step(GaussianLoss(mu_squared=mu**2), Fraction(1, 5))
    for split in ((12, 0), (6, 6), (2, 10), (0, 12)):
        with mpmath.workdps(40):
            truth = normal_profile(noise, "0.2", split, mpmath.mpf("0.5"))
        lower, upper = (listed(step, split, side, 4096, rare) for side in ("lower", "upper"))
        low, high = profile_of(lower, POINT, 0.5, "lower"), profile_of(upper, POINT, 0.5, "upper")
        assert low < truth < high
        assert high - low < 5 * rare


@pytest.mark.parametrize("mistake", ["weights", "side"])
def test_false_twins_are_noticed(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any kept rows counted as one; the lower list in place of the upper one."""
    step = Step(GaussianLoss(mu_squared=Fraction(1, 4)), Fraction(1, 5))
    with mpmath.workdps(40):
        truth = normal_profile("2", "0.2", (3, 0), mpmath.mpf("0.5"))
    if mistake == "weights":
        monkeypatch.setattr(Numbers, "of", lambda rows, *_: Numbers((0.512, 0.488) if rows else (1.0,), Fraction(0)))
        assert bounds(step, (3, 0), "0.5", 4096)[1] < truth
    else:
        lower = listed(step, (3, 0), "lower", 512, 1e-25)
        assert profile_of(lower, POINT, 0.5, "upper") < truth


@pytest.mark.parametrize(("rows", "rate"), [(3, "1e-40"), (3, "0.99999999"), (60, "0.999999"), (2000, "0.1")])
def test_what_is_out_of_range(rows: int, rate: str) -> None:
    with pytest.raises(NotApplicable):
        Numbers.of(rows, Fraction(rate), "upper", 1e-20)
