"""Two atoms and a density: points, transform and decay of the sampled Laplace, within their bounds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.contour import layers
from privately.accounting.contour.ellipses import log_below
from privately.accounting.contour.sampled_laplace import Grid, SampledLaplace
from privately.accounting.losses import SampledLaplaceLoss
from privately.accounting.roads import NotApplicable
from tests.accounting.contour import exact_transforms
from tests.accounting.contour.exact_transforms import precision

CASES = [
    (0.01, 1e-6, 200.0),
    (0.05, 0.5, 100.0),
    (0.5, 0.01, 20.0),
    (1.0, 0.001, 5.0),
    (1.0, 0.5, 0.01),
    (1.0, 0.999, 8.0),
    (3.0, 0.1, 2.0),
    (10.0, 0.3, 1.0),
]


def law_of(epsilon: float, rate: float, removes: bool) -> SampledLaplace:
    return SampledLaplace(epsilon=epsilon, rate=rate, removes=removes)


def exact(law: SampledLaplace, z: complex) -> acb:
    return exact_transforms.sampled_laplace(law.epsilon, law.rate, law.removes, z)


def characteristic(law: SampledLaplace, c: float, w: float, centre: float | Fraction) -> acb:
    turn = (acb(0, -1) * arb(w) * arb(float(centre))).exp()
    return exact(law, complex(c, w)) / exact(law, complex(c, 0)) * turn


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("epsilon", "rate", "c"), CASES)
def test_log_mass(epsilon: float, rate: float, c: float, removes: bool) -> None:
    law = law_of(epsilon, rate, removes)
    grid = law.grid(c, 1.4 * c, 0.0, 40.0)
    for height in (c, 0.7 * c, 1.4 * c):
        low, high = grid.log_mass(height)
        with precision(200):
            truth = exact(law, complex(height, 0)).real.log()
            assert arb(low) <= truth <= arb(high)
        assert high - low <= 1e-8 * max(abs(high), 1e-3)


@pytest.mark.parametrize("removes", [True, False])
def test_the_inner_integral(removes: bool) -> None:
    """So few points that what they miss is visible: still below the bound."""
    visible = 0
    for epsilon, rate, c in ((0.5, 0.3, 3.0), (1.0, 0.1, 2.0), (2.0, 0.5, 4.0), (4.0, 0.2, 1.0), (4.0, 0.8, 10.0)):
        law = law_of(epsilon, rate, removes)
        for n in (8, 12, 16, 24, 32):
            grid = Grid.over(law, n)
            tilted = grid.points.tilted(law.power(c))
            losses = grid.points.loss if removes else -grid.points.loss
            for w in (0.0, 2.0, 8.0):
                bound = law.missing(law.power(c), w, n)
                found = complex(tilted.weights @ np.exp(1j * w * losses))
                with precision(200):
                    whole = exact(law, complex(c, 0))
                    truth = (exact(law, complex(c, w)) - acb(found) * arb(tilted.shift).exp()) / whole
                    gap = float(abs(truth).upper())
                assert gap <= bound + 1e-12
                visible += gap > 1e-11
    assert visible >= 10


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0, 8.0, 60.0])
@pytest.mark.parametrize("rate", [1e-7, 1e-4, 0.003, 0.04, 0.1, 0.7])
@pytest.mark.parametrize("s", [0.5, 30.0, 3000.0, -0.5, -30.0, -3000.0])
def test_sizes_around_ellipses(epsilon: float, rate: float, s: float) -> None:
    """In the rectangle around every ellipse the integrand is at most as large as said."""
    law, part = law_of(epsilon, rate, s > 0), np.linspace(-1, 1, 41)
    ends = max(s * math.log1p(rate * math.expm1(end)) for end in (epsilon, -epsilon))
    for place, radius in enumerate(law.ellipses.radii[0].tolist()):
        across, height = (radius + 1 / radius) / 2 * epsilon, (radius - 1 / radius) / 2 * epsilon
        whole_loss = np.add.outer(across * part, 1j * height * part)
        loss = np.log1p(rate * np.expm1(whole_loss))
        for frequency in (0.0, abs(s), 5 * abs(s)):
            sizes = (-epsilon - whole_loss).real / 2 + s * loss.real + frequency * np.abs(loss.imag)
            assert sizes.max() - ends <= law.ellipses.costs(s, frequency)[0, place] - epsilon + 1e-9


def test_what_few_points_miss_is_an_error_of_the_view() -> None:
    """At all frequencies up to the reach, and of the law itself, whose mass is 1."""
    law, c, reach, n = law_of(2.0, 0.5, True), 4.0, 2.0, 16
    grid = Grid.over(law, n)
    each = [law.missing(s, w, n) for s, w in ((law.power(c), reach), (1.0, 0.0))]
    assert each[0] > 2 * law.missing(law.power(c), 0.0, n) > 16 * each[1] > 1e-6
    assert grid.view(c, reach).error >= 2 * sum(each)
    low, high = grid.log_mass(c)
    assert high - low >= 2 * (law.missing(law.power(c), 0.0, n) + each[1])


def test_a_bound_for_another_frequency_is_wrong() -> None:
    law = law_of(2.0, 0.5, removes=True)
    grid = Grid.over(law, 16)
    tilted = grid.points.tilted(law.power(1.0))
    found = complex(tilted.weights @ np.exp(30j * grid.points.loss))
    with precision():
        gap = float(abs((exact(law, 1 + 30j) - acb(found)) / exact(law, complex(1))).upper())
    assert law.missing(law.power(1.0), 0.0, 16) < gap <= law.missing(law.power(1.0), 30.0, 16)


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(
    ("epsilon", "rate", "c"), [(0.05, 0.5, 60.0), (0.5, 0.01, 20.0), (1.0, 0.9, 3.0), (6.0, 0.2, 1.0)]
)
def test_the_view(epsilon: float, rate: float, c: float, removes: bool) -> None:
    law = law_of(epsilon, rate, removes)
    for reach in (2.0, 40.0):
        view = law.grid(c, 1.4 * c, reach, 30.0).view(c, reach)
        found, bounds = view.transforms(reach / 8, 8)
        with precision(200):
            for n in (1, 4, 8):
                truth = characteristic(law, c, n * (reach / 8), view.centre) - 1
                assert abs(truth - acb(complex(found[n - 1]))) <= arb(float(bounds[n - 1]))
        assert bounds[-1] < 1e-9


def sizes(law: SampledLaplace, c: float, frequencies: list[float]) -> list[float]:
    """|phi| by Gauss-Legendre in panels: floats are the only error."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    panels = np.linspace(0, 1, 81)[:-1]
    x = np.concatenate([[0.0, 1.0], (panels[:, None] + (nodes + 1) / 160).ravel()])
    mass = np.concatenate([[0.5, 0.5], np.tile(weights / 160 * law.epsilon / 2, 80)]) * np.exp(-law.epsilon * (1 - x))
    loss = np.log1p(law.rate * np.expm1(law.epsilon * (1 - 2 * x)))
    tilted = mass * np.exp(law.power(c) * loss)
    found = np.abs(np.exp(1j * np.outer(frequencies, loss)) @ tilted) / tilted.sum()
    return [float(size) for size in found]


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("epsilon", "rate", "c"), [(0.5, 0.3, 4.0), (1.0, 0.1, 2.0), (3.0, 0.5, 1.0), (3.0, 0.9, 6.0)])
def test_how_fast_the_integrand_falls(epsilon: float, rate: float, c: float, removes: bool) -> None:
    law = law_of(epsilon, rate, removes)
    grid = law.grid(c, 1.4 * c, 8.0, 40.0)
    frequencies = np.array([1.0, 4.0, 16.0, 60.0])
    falls = grid.decay(c, frequencies).tolist()
    dense = [*frequencies.tolist(), *np.linspace(1.0, 120.0, 400).tolist()]
    found = sizes(law, c, dense)
    for w, fall in zip(frequencies.tolist(), falls, strict=True):
        most = max(size for place, size in zip(dense, found, strict=True) if place >= w)
        assert fall <= -math.log(most) + 1e-12


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(
    ("epsilon", "rate", "c"), [(4.7, 3.6e-6, 750.0), (4.6, 3e-4, 40.0), (1.0, 1e-5, 1e4), (8.0, 1e-4, 20.0)]
)
def test_rare_samples_fall_as_well(epsilon: float, rate: float, c: float, removes: bool) -> None:
    """Below the true fall from each frequency on, and no tenth of it where the largest loss turns by 4 or more."""
    law, largest = law_of(epsilon, rate, removes), math.log1p(rate * math.expm1(epsilon))
    grid = law.grid(c, 1.4 * c, 8.0 / largest, 40.0)
    frequencies = np.array([0.3, 1.0, 2.0, 5.0, 12.0]) / largest
    falls = grid.decay(c, frequencies).tolist()
    dense = np.concatenate([frequencies, np.linspace(0.3, 60.0, 600) / largest]).tolist()
    found = sizes(law, c, dense)
    for w, fall in zip(frequencies.tolist(), falls, strict=True):
        truth = -math.log(max(size for place, size in zip(dense, found, strict=True) if place >= w))
        assert fall <= truth * (1 + 1e-9)
        assert fall >= 0.1 * truth or w * largest < 4


@pytest.mark.parametrize("cells", [3, 5, 9])
def test_coarse_layers_are_below_the_density(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without atoms to speak of, so few layers that one cell too many would be seen."""
    monkeypatch.setattr(layers, "_CELLS", cells)
    for removes, c in ((True, 0.2), (True, 30.0), (False, 0.2), (False, 20.0)):
        law = law_of(6.0, 1e-3, removes)
        points = law.grid(c, 1.4 * c, 8.0, 40.0).points
        tilted = points.tilted(law.power(c))
        inside = float(law.spread_out(tilted, np.array([1e12]))[0])
        assert 0 < inside <= 1 - float(tilted.shares[0] + tilted.shares[-1])


def test_the_decay_is_useful() -> None:
    """At high frequencies the atoms are all that is left, and then the bound is nearly reached."""
    law = law_of(3.0, 0.5, removes=True)
    grid = law.grid(1.0, 1.4, 8.0, 40.0)
    fall = grid.decay(1.0, np.array([400.0])).item()
    most = max(sizes(law, 1.0, np.linspace(400, 403, 100).tolist()))
    assert 0.8 * -math.log(most) <= fall <= -math.log(most)


def test_the_rest_falls_with_its_variation() -> None:
    """phi less the atoms' part is at most V/w, and V is not ten times too large."""
    law, c = law_of(2.0, 0.4, removes=True), 3.0
    grid = law.grid(c, 1.4 * c, 8.0, 40.0)
    view = grid.view(c, 8.0)
    atoms = grid.atoms(c, view, 1)
    worst = 0.0
    with precision(200):
        for w in np.linspace(5, 80, 60).tolist():
            turns = [acb(0, 1) * arb(w) * arb(loss) for loss in atoms.losses.tolist()]
            part = sum((arb(p) * turn.exp() for p, turn in zip(atoms.weights.tolist(), turns, strict=True)), acb(0))
            worst = max(worst, w * float(abs(characteristic(law, c, w, view.centre) - part).upper()))
    assert 0.1 * atoms.variation <= worst <= atoms.variation


@pytest.mark.parametrize("removes", [True, False])
def test_a_coarse_grid_does_not_fall_too_fast(removes: bool) -> None:
    """The shares of the atoms are relative to the sum over the points; how far that is from M counts too."""
    for epsilon, rate, c in ((4.0, 0.2, 1.0), (6.0, 0.5, 2.0), (8.0, 0.05, 0.5)):
        law = law_of(epsilon, rate, removes)
        for n in (8, 10, 12):
            grid = Grid.over(law, n)
            tilted = grid.points.tilted(law.power(c))
            doubt = tilted.doubt(law.missing(tilted.s, 0.0, n) + law.missing(1.0, 0.0, n))
            fall = grid.decay(c, np.array([1e9])).item()
            with precision(200):
                whole = exact(law, complex(c, 0)).real
                ends = [float(grid.points.loss[0]), float(grid.points.loss[-1])]
                first = (arb(law.power(c)) * arb(ends[0]) - arb(epsilon)).exp() / 2
                last = (arb(law.power(c)) * arb(ends[1])).exp() / 2
                truth = -float(((first + last) / whole).log().mid())
            assert fall <= truth + 1e-12, doubt


@pytest.mark.parametrize("epsilon", [20.0, 30.0, 40.0, 300.0])
def test_shares_of_large_losses(epsilon: float) -> None:
    """At x = 1 the row's share is e^-epsilon q/(1 - q), far below the rounding of its parts."""
    grid = Grid.over(law_of(epsilon, 0.5, removes=True), 16)
    with precision(600):
        for share, loss in zip(grid.shares, (epsilon, -epsilon), strict=True):
            truth = arb(loss).exp() / (1 + arb(loss).exp())
            assert abs(arb(share) / truth - 1) <= arb(2) ** -40


def test_planted_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """With shares of 1, as without sampling, the rest would not be bounded."""
    law, c = law_of(2.0, 0.05, removes=True), 1.0
    grid = law.grid(c, 1.4 * c, 8.0, 40.0)
    planted = Grid(law=law, n=grid.n, points=grid.points, shares=(1.0, 1.0))
    frequencies = np.array([3.0])
    truth = -math.log(max(sizes(law, c, np.linspace(3, 8, 80).tolist())))
    assert grid.decay(c, frequencies).item() <= truth < planted.decay(c, frequencies).item()


def test_refusals() -> None:
    with pytest.raises(NotApplicable):
        SampledLaplace.of(SampledLaplaceLoss(epsilon=Fraction(600), rate=Fraction(1, 2), direction="add"))
    with pytest.raises(NotApplicable):
        SampledLaplace.of(SampledLaplaceLoss(epsilon=Fraction(1), rate=1 - Fraction(1, 10**15), direction="add"))
    with pytest.raises(NotApplicable):
        law_of(100.0, 0.5, removes=True).grid(50.0, 70.0, 10.0, 40.0)
    assert log_below(np.array([3.0])).item() <= math.log(3.0)
