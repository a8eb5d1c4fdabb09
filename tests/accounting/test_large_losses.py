"""Few steps with large losses, against sums over fine grids that know nothing of the library."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting import large_losses
from privately.accounting.compositions import Composition, compositions
from privately.accounting.large_losses import LARGE_LOSSES, METHOD, _listed
from privately.accounting.losses import DIRECTIONS, Direction, FiniteLoss, GaussianLoss, SampledGaussianLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading.far_losses import NO_LOSS
from privately.accounting.spreading.lists import profile_of

WIDTH = Fraction(1, 10**6)
RATE = 1e-5


def normal_losses(mu: float, direction: str) -> tuple[np.ndarray, np.ndarray]:
    """Of one sample, in fine steps: masses under P, and losses."""
    x = np.arange(-9.0, mu + 9.0, 2.0**-9)
    plain, hit = -x * x / 2, -((x - mu) ** 2) / 2
    mixed = np.logaddexp(math.log1p(-RATE) + plain, math.log(RATE) + hit)
    first, second = (mixed, plain) if direction == "remove" else (plain, mixed)
    return np.exp(first) * 2.0**-9 / math.sqrt(2 * math.pi), first - second


def discrete_losses(direction: str) -> tuple[np.ndarray, np.ndarray]:
    """Of variance 1 and sensitivity 20."""
    k = np.arange(-12.0, 33.0)
    plain, hit = -k * k / 2, -((k - 20) ** 2) / 2
    mixed = np.logaddexp(math.log1p(-RATE) + plain, math.log(RATE) + hit)
    first, second = (mixed, plain) if direction == "remove" else (plain, mixed)
    return np.exp(first) / np.exp(plain).sum(), first - second


def reference(direction: str, epsilon: float) -> float:
    """delta of a sample of each."""
    masses, losses = normal_losses(10.0, direction)
    total = 0.0
    for mass, loss in zip(*map(np.ndarray.tolist, discrete_losses(direction)), strict=True):
        away = np.minimum(epsilon - loss - losses, 0.0)
        total += mass * float((masses * -np.expm1(away)).sum())
    return total


EVENT = acc.Sequence(
    events=[
        acc.PoissonSample(event=acc.Gaussian(noise_multiplier="0.1"), rate="1e-5"),
        acc.PoissonSample(event=acc.DiscreteGaussian(variance=1, sensitivity=20), rate="1e-5"),
    ]
)


@pytest.mark.parametrize("delta", ["1e-6", "1e-9"])
def test_answers_contain_independent_references(delta: str) -> None:
    for one, direction in zip(compositions(EVENT), DIRECTIONS, strict=True):
        try:
            found = LARGE_LOSSES.epsilon(one, Fraction(delta), WIDTH)
        except NotApplicable:
            assert direction == "add"  # no loss is above that of a row that is never in a sample
            continue
        assert found.upper - found.lower <= found.upper / 1000
        assert reference(direction, float(found.lower) * 0.9999 - 0.01) > float(delta)
        assert reference(direction, float(found.upper) * 1.0001 + 0.01) < float(delta)
        for epsilon in (float(found.upper) / 2, float(found.upper)):
            known = LARGE_LOSSES.delta(one, Fraction(epsilon), WIDTH)
            assert known.lower <= reference(direction, epsilon - 0.01)
            assert known.upper >= reference(direction, epsilon + 0.01)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_step_is_on_its_side(direction: Direction) -> None:
    law = SampledGaussianLoss(mu_squared=Fraction(100), rate=Fraction(1, 10**5), direction=direction)
    with mpmath.workdps(40):
        for epsilon in (-1e-5, 5e-6, 20.0, 60.0):
            rate, grown = mpmath.mpf(10) ** -5, mpmath.exp(epsilon)
            if direction == "remove":
                level = (grown - 1) / rate + 1
                crossing = mpmath.log(level) / 10 + 5 if level > 0 else mpmath.mpf(-60)
                hit, plain = mpmath.ncdf(10 - crossing), mpmath.ncdf(-crossing)
                truth = (1 - rate) * plain + rate * hit - grown * plain
            else:
                level = (1 / grown - 1) / rate + 1
                crossing = mpmath.log(level) / 10 + 5 if level > 0 else mpmath.mpf(-60)
                hit, plain = mpmath.ncdf(crossing - 10), mpmath.ncdf(crossing)
                truth = plain - grown * ((1 - rate) * plain + rate * hit)
            lower, upper = (_listed(law, side, 1e-30) for side in ("lower", "upper"))
            assert profile_of(lower, NO_LOSS, epsilon, "lower") <= max(truth, 0) + 1e-25
            assert profile_of(upper, NO_LOSS, epsilon, "upper") >= truth


def test_rare_samples_of_several_kinds_are_narrow() -> None:
    """Where other roads leave more than one per cent."""
    event = acc.Sequence(
        events=[
            acc.PoissonSample(event=acc.DiscreteLaplace(scale=10, sensitivity=50), rate="0.005"),
            acc.Repeat(
                event=acc.PoissonSample(event=acc.DiscreteGaussian(variance=12, sensitivity=45), rate="5e-5"), times=4
            ),
            acc.PoissonSample(event=acc.Laplace(scale=1), rate="1e-6"),
        ]
    )
    found = LARGE_LOSSES.epsilon(compositions(event)[0], Fraction(1, 10**20), WIDTH)
    assert found.method == METHOD
    assert found.upper - found.lower <= found.upper / 1000


def test_left_to_others() -> None:
    large = GaussianLoss(mu_squared=Fraction(400))
    small = FiniteLoss(epsilon=Fraction(1), outcomes=(((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))),))
    for parts in (((large, 1),), ((large, 1000),), ((small, 3),)):
        with pytest.raises(NotApplicable):
            LARGE_LOSSES.epsilon(Composition(parts=parts), Fraction(1, 10**6), WIDTH)
    with pytest.raises(NotApplicable):
        LARGE_LOSSES.epsilon(Composition(parts=((large, 3),)), Fraction(1, 10**200), WIDTH)


def test_directions_that_are_exchanged_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    law = SampledGaussianLoss(mu_squared=Fraction(100), rate=Fraction(1, 10**5), direction="remove")
    right = profile_of(_listed(law, "lower", 1e-30), NO_LOSS, 20.0, "lower")
    monkeypatch.setattr(large_losses, "_SPLITS", {"remove": (0, 1), "add": (1, 0)})
    assert profile_of(_listed(law, "upper", 1e-30), NO_LOSS, 20.0, "upper") < right
