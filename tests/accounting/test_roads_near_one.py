"""What floats make of rates next to 1, as far as roads go, against many digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray

from privately import accounting as acc
from privately.accounting.contour.sampled_gaussian import SampledGaussian, points_at
from privately.accounting.contour.sampled_laplace import Grid, SampledLaplace
from privately.accounting.elementary import ERROR, UNIT, expm1, log1p
from privately.accounting.lattice import atoms, smooth
from privately.accounting.lattice.bases import log_size
from privately.accounting.losses import SampledGaussianLoss, SampledLaplaceLoss
from privately.accounting.nearby_rates import HIGHEST_RATE
from privately.accounting.roads import NEAR_ONE, NotApplicable
from privately.accounting.shared_samples import lists
from privately.accounting.spreading import steps
from privately.accounting.which_road import Method

Y = np.array([-300.0, -40.0, -20.0, -16.0, -15.25, -15.0, -14.0, -5.0, -1.0, -0.001, 0.0, 0.5, 3.0, 30.0])
RATES = [HIGHEST_RATE, HIGHEST_RATE - Fraction(1, 3 << 60), HIGHEST_RATE - Fraction(2, 3 << 53)]


@pytest.fixture(autouse=True)
def _many_digits() -> None:
    mp.dps = 60


def exact(y: NDArray[np.float64], rate: Fraction, theta: float = 0.0) -> list[mpf]:
    """ln |1 - q + q e^(y + i theta)|."""
    q = mpf(rate.numerator) / rate.denominator
    return [mp.log(abs(1 - q + q * mp.exp(mp.mpc(mpf(one), mpf(theta))))) for one in y.tolist()]


def are_within(found: NDArray[np.float64], errors: NDArray[np.float64], truth: list[mpf]) -> bool:
    return all(abs(mpf(a) - b) <= e for a, e, b in zip(found.tolist(), errors.tolist(), truth, strict=True))


@pytest.mark.parametrize("rate", RATES)
def test_losses_are_within_their_errors(rate: Fraction) -> None:
    """On the contour, on lattices and in lists; without what is charged for 1 - q they would not be."""
    share, truth = float(rate), exact(Y, rate)
    points, shares = points_at(2.0, share, (Y + 2) / 2, 1.0)
    assert are_within(points.loss, points.loss_error, truth)
    parts = [mp.exp(mpf(y)) * rate.numerator / rate.denominator / mp.exp(log) for y, log in zip(Y, truth, strict=True)]
    assert all(abs(one / part - 1) < mpf(2) ** -25 for one, part in zip(shares.tolist(), parts, strict=True))
    none = np.zeros(Y.size)
    loss, loss_error, ratio, ratio_error = atoms._mixed(atoms._Pair(Y, none, none, none), rate)
    assert are_within(loss, loss_error, truth)
    assert are_within(ratio, ratio_error, [mp.exp(log) for log in truth])
    assert are_within(*lists._mixed(Y, share), truth)
    rise = share * expm1(Y)
    found = log1p(rise)
    assert are_within(found, steps._near_one(rise) + (8 * ERROR + 8 * UNIT) * np.abs(found), truth)
    if rate != HIGHEST_RATE:  # which is a float
        assert not are_within(found, 8 * UNIT * np.abs(found), truth)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("theta", [0.0, 0.7, 1.4])
def test_sizes_are_within_a_billionth(rate: Fraction, theta: float) -> None:
    """What falls are multiplied by has room for that."""
    found = log_size(Y, float(rate), theta)
    assert are_within(found, np.full(Y.size, 5e-10), exact(Y, rate, theta))


@pytest.mark.parametrize("rate", RATES)
def test_atoms_of_laplace_noise(rate: Fraction) -> None:
    law = SampledLaplace.of(SampledLaplaceLoss(epsilon=Fraction(40), rate=rate, direction="add"))
    points = Grid.over(law, 8).points
    ends = np.array([40.0, -40.0])
    assert are_within(points.loss[[0, -1]], points.loss_error[[0, -1]], exact(ends, rate))


@pytest.mark.parametrize(
    ("base", "road"),
    [
        (acc.Gaussian(noise_multiplier=1), "contour"),
        (acc.Gaussian(noise_multiplier=1), "lattice"),
        (acc.Laplace(scale=1), "lattice"),
    ],
)
def test_roads_at_the_highest_rate(base: acc.Event, road: Method) -> None:
    """One step, which has a closed form."""
    event = acc.PoissonSample(event=base, rate=HIGHEST_RATE)
    for epsilon in ("0.25", "0.9"):
        truth = acc.delta(event, epsilon, method="closed form")
        found = acc.delta(event, epsilon, method=road)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
        assert found.width <= truth.upper / 1000


def test_nearer_rates_are_refused() -> None:
    for rate in (NEAR_ONE + Fraction(1, 1 << 60), 1 - Fraction(1, 1 << 60)):
        with pytest.raises(NotApplicable):
            SampledGaussian.of(SampledGaussianLoss(mu_squared=Fraction(1), rate=rate, direction="add"))
        with pytest.raises(NotApplicable):
            SampledLaplace.of(SampledLaplaceLoss(epsilon=Fraction(1), rate=rate, direction="add"))
        with pytest.raises(NotApplicable):
            smooth._rate(rate)
