"""The points of the sampled Gaussian stand for its law within bounds, and its transform falls as fast as claimed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.contour import falling, sampled_gaussian
from privately.accounting.contour.sampled_gaussian import Grid, SampledGaussian
from privately.accounting.contour.shifted import Line
from privately.accounting.elementary import Floats
from privately.accounting.losses import DIRECTIONS, SampledGaussianLoss
from privately.accounting.roads import NotApplicable
from tests.accounting.contour import exact_transforms
from tests.accounting.contour.exact_transforms import precision

CASES = [
    (mu, rate, c)
    for mu, rate, c in [
        (0.01, 1e-6, 200.0),
        (0.01, 0.999, 20.0),
        (0.1, 0.01, 200.0),
        (0.5, 1e-3, 30.0),
        (1.0, 1e-6, 5.0),
        (1.0, 0.01, 0.01),
        (1.0, 0.5, 12.0),
        (2.0, 0.9, 3.0),
        (4.0, 1e-6, 2.0),
        (4.0, 0.999, 0.5),
        (4.0, 0.1, 40.0),
    ]
]


def law_of(mu: float, rate: float, removes: bool) -> SampledGaussian:
    return SampledGaussian(mu=mu, rate=rate, removes=removes)


def coarse(law: SampledGaussian, c: float, step: float, height: float = 0.0) -> Grid:
    """A grid of one's own step, so wide that what is beyond its ends does not matter."""
    right = 14 + max(law.power(c), 0) * law.mu
    left = -14 + min(law.power(c), 0) * law.mu
    x = np.arange(math.floor(left / step), math.ceil(right / step) + 1, dtype=np.float64) * step
    return Grid.over(law, x, step, Line(mu=law.mu, removes=law.removes, c=c, height=height))


def characteristic(law: SampledGaussian, c: float, w: float, centre: float | Fraction) -> acb:
    """M(c + iw)/M(c), centred."""
    at = exact_transforms.sampled_gaussian(law.mu, law.rate, law.removes, complex(c, w))
    whole = exact_transforms.sampled_gaussian(law.mu, law.rate, law.removes, c)
    return at / whole * (acb(0, -1) * arb(w) * arb(float(centre))).exp()


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("mu", "rate", "c"), CASES)
def test_log_mass(mu: float, rate: float, c: float, removes: bool) -> None:
    law = law_of(mu, rate, removes)
    try:
        grid = law.grid(c, 1.4 * c, 0.0, 40.0)
    except NotApplicable:
        assert mu * mu * c > 100
        return
    for height in (c, 0.7 * c, 1.4 * c):
        low, high = grid.log_mass(height)
        with precision(200):
            truth = exact_transforms.sampled_gaussian(mu, rate, removes, height).real.log()
            assert arb(low) <= truth <= arb(high)
            assert truth <= arb(grid.log_mass_above(height))
        assert high - low <= 1e-12 + 1e-10 * abs(high)
        assert grid.log_mass_above(height) <= high + 1e-10 * (1 + c)


def alias_gap(law: SampledGaussian, c: float, w: float, step: float) -> float:
    """What the sum over all points misses of M(c + iw), over M(c); floats do."""
    grid = coarse(law, c, step)
    tilted = grid.points.tilted(law.power(c))
    losses = grid.points.loss if law.removes else -grid.points.loss
    found = complex(tilted.weights @ np.exp(1j * w * losses))
    with precision(200):
        whole = exact_transforms.sampled_gaussian(law.mu, law.rate, law.removes, c)
        at = exact_transforms.sampled_gaussian(law.mu, law.rate, law.removes, complex(c, w))
        return float(abs((at - acb(found) * arb(tilted.shift).exp()) / whole).upper())


COARSE = [
    (mu, rate, c, w, step)
    for mu, rate in ((0.5, 0.1), (1.0, 0.01), (1.0, 0.5), (2.0, 0.3), (3.0, 0.02))
    for c, w in ((0.5, 0.0), (5.0, 0.0), (5.0, 2.0), (20.0, 0.0), (2.0, 6.0))
    for step in (0.3, 0.6, 1.0, 1.5)
]


@pytest.mark.parametrize("removes", [True, False])
def test_the_inner_integral(removes: bool) -> None:
    """Coarse steps, so that the aliases are far above the rounding: still below the bound, and not always far below."""
    sharp = 0
    for mu, rate, c, w, step in COARSE:
        law = law_of(mu, rate, removes)
        bound = law.aliasing(c, w, step)
        if math.isfinite(bound):
            gap = alias_gap(law, c, w, step)
            assert gap <= bound + 1e-12
            sharp += 1e-10 < bound < 1e5 * gap
    assert sharp >= 3


def test_the_cosine_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """For "add" the bound without the cosine is wrong."""
    monkeypatch.setattr(SampledGaussian, "_strip_cost", lambda self, c, a: a * a / 2)
    broken = []
    for mu, rate, c, step in (
        (4.0, 0.3, 40.0, 0.25),
        (2.0, 0.3, 60.0, 0.4),
        (2.0, 0.5, 30.0, 0.5),
        (1.0, 0.5, 60.0, 0.8),
    ):
        law = law_of(mu, rate, removes=False)
        broken.append(alias_gap(law, c, 0.0, step) > law.aliasing(c, 0.0, step) + 1e-12)
    assert any(broken)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_frequency_counts(direction: str) -> None:
    """A bound made for a smaller reach than it is used for is wrong."""
    law = law_of(1.0, 0.5, direction == "remove")
    step = 0.5
    quiet, loud = law.aliasing(3.0, 0.0, step), law.aliasing(3.0, 9.0, step)
    gap = alias_gap(law, 3.0, 9.0, step)
    assert quiet < gap <= loud


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("mu", "rate", "c"), [(0.1, 0.01, 60.0), (1.0, 0.01, 8.0), (1.0, 0.9, 3.0), (3.0, 0.05, 2.0)])
def test_the_view(mu: float, rate: float, c: float, removes: bool) -> None:
    """The transform on whichever line the grid chose, against the truth, up to its reach."""
    law = law_of(mu, rate, removes)
    for reach in (1.0, 12.0):
        view = law.grid(c, 1.4 * c, reach, 30.0).view(c, reach)
        count = 12
        found, bounds = view.transforms(reach / count, count)
        with precision(200):
            for n in (1, 5, 12):
                truth = characteristic(law, c, n * (reach / count), view.centre) - 1
                assert abs(truth - acb(complex(found[n - 1]))) <= arb(float(bounds[n - 1]))
        assert bounds[-1] < 1e-9


def test_a_coarse_view_is_right_about_itself() -> None:
    """With so few points that the error is visible, the stated error holds, and it is needed."""
    needed = False
    for removes in (True, False):
        law = law_of(1.0, 0.3, removes)
        for step in (0.5, 0.8, 1.0):
            view = coarse(law, 2.0, step).view(2.0, 1.0)
            found, bounds = view.transforms(0.25, 4)
            with precision(200):
                for n in (1, 4):
                    gap = float(
                        abs(characteristic(law, 2.0, n / 4, view.centre) - 1 - acb(complex(found[n - 1]))).upper()
                    )
                    assert gap <= bounds[n - 1]
                    needed |= gap > 1e-9
    assert needed


def dense_sizes(law: SampledGaussian, c: float, frequencies: Floats) -> Floats:
    """|phi| by an equally spaced sum so fine that floats are the only error."""
    s = law.power(c)
    x = np.arange(-12 + min(s, 0) * law.mu, 12 + max(s, 0) * law.mu, 2.0**-7)
    loss = np.log1p(law.rate * np.expm1(law.mu * x - law.mu**2 / 2))
    exponent = s * loss - x * x / 2
    weights = np.exp(exponent - exponent.max())
    weights /= weights.sum()
    return np.asarray(np.abs(np.exp(1j * np.outer(frequencies, loss)) @ weights), dtype=np.float64)


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(
    ("mu", "rate", "c"),
    [(0.05, 0.5, 50.0), (0.5, 0.01, 20.0), (1.0, 0.01, 5.0), (1.0, 0.5, 10.0), (1.0, 0.95, 0.5), (3.0, 0.2, 1.0)],
)
def test_how_fast_the_integrand_falls(mu: float, rate: float, c: float, removes: bool) -> None:
    law = law_of(mu, rate, removes)
    grid = law.grid(c, 1.4 * c, 4.0, 40.0)
    frequencies = np.array([0.3, 1.0, 2.0, 4.0, 10.0, 20.0]) / mu
    falls = grid.decay(c, frequencies)
    assert (falls >= 0).all()
    dense = np.concatenate([frequencies, np.linspace(frequencies[0], 1.5 * frequencies[-1], 150)])
    truth = -np.log(np.maximum(dense_sizes(law, c, dense), 1e-300))
    for w, fall in zip(frequencies.tolist(), falls.tolist(), strict=True):
        beyond = truth[dense >= w].min()
        if beyond < 30:  # beyond that the floats of the truth are noise
            assert fall <= beyond + 1e-12


def test_many_points_are_taken_few_frequencies_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    grid, frequencies = law_of(1.0, 0.1, True).grid(5.0, 7.0, 4.0, 40.0), np.arange(1.0, 40.0)
    at_once = grid.decay(5.0, frequencies)
    monkeypatch.setattr(sampled_gaussian, "_AT_ONCE", 3 * grid.size)
    assert np.allclose(grid.decay(5.0, frequencies), at_once, rtol=1e-9)


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("mu", "rate", "part"), [(0.05, 0.5, 0.5), (0.5, 0.01, 0.3), (1.0, 0.1, 0.1)])
def test_the_decay_is_useful(mu: float, rate: float, part: float, removes: bool) -> None:
    """Wide cells cost a factor, and of a mixture of two humps only one is seen."""
    law = law_of(mu, rate, removes)
    grid = law.grid(4.0, 5.6, 1.0, 40.0)
    frequencies = np.array([0.05, 0.2, 1.0])
    truth = -np.log(dense_sizes(law, 4.0, frequencies))
    assert (grid.decay(4.0, frequencies) >= part * truth).all()


@pytest.mark.parametrize("removes", [True, False])
def test_the_decay_of_a_linear_law(removes: bool) -> None:
    """With narrow cells and a law that is nearly linear next to nothing is lost."""
    law = law_of(0.05, 0.5, removes)
    frequencies = np.array([1.0, 4.0, 10.0])
    falls = coarse(law, 4.0, 1 / 64).decay(4.0, frequencies)
    truth = -np.log(dense_sizes(law, 4.0, frequencies))
    assert (0.9 * truth <= falls).all()
    assert (falls <= truth).all()


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("mu", "rate"), [(0.5, 0.01), (1.0, 0.01), (2.0, 0.3)])
def test_four_moments_of_the_share_are_enough(
    mu: float, rate: float, removes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the pull is slight they say as much as all points; where it is not they say less, and nothing wrong."""
    law = law_of(mu, rate, removes)
    grid = law.grid(4.0, 5.6, 1.0, 40.0)
    slight, strong = np.array([0.01, 0.02, 0.03]) / (mu * rate), np.array([0.3, 3.0, 9.0]) / (mu * rate)
    found = []
    for part in (-1.0, math.inf):
        monkeypatch.setattr(sampled_gaussian, "_SLIGHT", part)
        found.append((grid.decay(4.0, slight), grid.decay(4.0, strong)))
    (near, far), (near_quickly, far_quickly) = found
    assert near_quickly == pytest.approx(near, rel=0.02)
    assert (near_quickly <= near * (1 + 1e-9) + 1e-15).all()
    assert (far_quickly <= far * (1 + 1e-9) + 1e-15).all()


def test_a_decay_from_another_side_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the angle at the right end of each cell, and the normal factor forgotten."""
    law = law_of(0.05, 0.5, removes=True)
    frequencies = np.array([10.0, 30.0])
    truth = -np.log(dense_sizes(law, 50.0, frequencies))
    grid = law.grid(50.0, 70.0, 4.0, 40.0)
    assert (grid.decay(50.0, frequencies) <= truth).all()
    monkeypatch.setattr(falling, "_SAFE", -1.0)  # leaves out y^2/2 and doubles the gain
    assert (grid.decay(50.0, frequencies) > truth).any()


def test_parameters_become_floats_once() -> None:
    law = SampledGaussian.of(SampledGaussianLoss(mu_squared=Fraction(1, 3), rate=Fraction(1, 7), direction="add"))
    assert abs(Fraction(law.rate) * 7 - 1) <= Fraction(1, 2**53)
    assert abs(Fraction(law.mu) ** 2 * 3 - 1) <= Fraction(1, 2**50)
    near_one = SampledGaussianLoss(mu_squared=Fraction(1), rate=1 - Fraction(1, 10**20), direction="add")
    with pytest.raises(NotApplicable):
        SampledGaussian.of(near_one)


def test_a_grid_that_ends_too_early_is_refused() -> None:
    law = law_of(1.0, 0.5, removes=True)
    grid = Grid.over(law, np.arange(-8.0, 3.0, 0.25), 0.25, Line(mu=1.0, removes=True, c=9.0, height=0.0))
    with pytest.raises(NotApplicable):
        grid.log_mass(9.0)
