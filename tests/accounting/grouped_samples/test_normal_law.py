"""Mixtures of normal noises on the contour, against sums with many digits and against other roads."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.contour.road import delta_by, epsilon_by
from privately.accounting.grouped_samples.mixtures import Split
from privately.accounting.grouped_samples.normal_law import GroupSums, MixedRows
from privately.accounting.grouped_samples.road import _parts
from privately.accounting.grouped_samples.seen import Seen
from privately.accounting.losses import GaussianLoss, LaplaceLoss
from privately.accounting.questions import EpsilonAt
from privately.accounting.roads import NotApplicable
from privately.accounting.shared_samples.road import between
from tests.accounting.grouped_samples.profiles import shares

BASE = GaussianLoss(mu_squared=Fraction(1, 4))
MU = 0.5
SPLITS = [(3, 0), (2, 1), (0, 3)]
WIDTH = Fraction(1, 10**6)


def rows(split: Split, rate: str = "0.2") -> MixedRows:
    return MixedRows.of(BASE, Fraction(rate), split)


def mixed(numbers: list[mpmath.mpf], x: mpmath.mpc) -> mpmath.mpc:
    return mpmath.fsum(w * mpmath.exp(i * MU * x - (i * MU) ** 2 / 2) for i, w in enumerate(numbers))


def transform(split: Split, z: mpmath.mpc) -> mpmath.mpc:
    """A sum over steps so narrow that what it misses is below 10^-40."""
    removed, added = (shares(number, "0.2") for number in split)
    places = [mpmath.mpf(n) / 8 for n in range(-96, 129)]
    return mpmath.fsum(mpmath.npdf(x) / 8 * mixed(removed, x) ** (z + 1) * mixed(added, -x) ** -z for x in places)


@pytest.mark.parametrize("split", SPLITS)
def test_transforms(split: Split) -> None:
    c, step = 1.5, 1.25
    with mpmath.workdps(20):
        exact = [transform(split, mpmath.mpc(c, n * step)) for n in range(4)]
        grid = rows(split).grid(c, 3.0, 6.0, 30.0)
        view = grid.view(c, 6.0)
        low, high = view.log_mass
        whole = mpmath.log(exact[0].real)
        assert low <= whole <= high
        assert high - low < 1e-10
        found, errors = view.transforms(step, 3)
        for n in range(1, 4):
            truth = exact[n] / exact[0] * mpmath.expj(-n * step * view.centre) - 1
            assert abs(complex(found[n - 1]) - truth) <= errors[n - 1]
            assert errors[n - 1] < 1e-10
        assert grid.log_mass_above(3.0) >= mpmath.log(transform(split, mpmath.mpc(3)).real)


@pytest.mark.parametrize("split", SPLITS)
def test_how_fast_transforms_fall(split: Split) -> None:
    c = 1.5
    grid = rows(split).grid(c, 3.0, 6.0, 30.0)
    frequencies = np.array([0.5, 2.0, 6.0])
    falls = grid.decay(c, frequencies)
    with mpmath.workdps(20):
        whole = transform(split, mpmath.mpc(c)).real
        for w, fall in zip(frequencies.tolist(), falls.tolist(), strict=True):
            truth = -mpmath.log(abs(transform(split, mpmath.mpc(c, w))) / whole)
            assert truth / 20 < fall <= truth


def weighed(numbers: list[float], x: complex) -> tuple[complex, complex]:
    """The mixture, and the mean number of rows with its terms as weights."""
    terms = [w * cmath.exp(i * MU * x - (i * MU) ** 2 / 2) for i, w in enumerate(numbers)]
    return sum(terms), sum(i * term for i, term in enumerate(terms)) / sum(terms)


@pytest.mark.parametrize("split", [*SPLITS, (6, 6)])
def test_sizes_off_the_real_line(split: Split) -> None:
    """The bounds of the proof; with the angle of one row in place of all, they would be false."""
    removed, added = ([float(w) for w in shares(number, "0.3")] for number in split)
    k, twins = sum(split), 0
    for x in np.linspace(-6, 9, 16).tolist():
        for turn in (0.3, 1.0, math.pi / 2, 2.0):
            y = turn / (k * MU)
            (p, ahead), (real_p, at_p) = weighed(removed, complex(x, y)), weighed(removed, x)
            (q, behind), (real_q, at_q) = weighed(added, -complex(x, y)), weighed(added, -x)
            angle, share = cmath.phase(p) - cmath.phase(q), ((at_p + at_q) / k).real
            assert abs(p) <= abs(real_p) * (1 + 1e-12)
            assert abs(q) >= abs(real_q) * math.cos(split[1] * MU * y / 2) * (1 - 1e-12)
            assert -1e-12 <= angle <= turn + 1e-12
            assert -math.log(math.cos(split[1] * MU * y / 2)) <= 0.62 * (split[1] * MU * y / 2) ** 2 + 1e-15
            twins += angle > MU * y * (1 + 1e-9)
            if turn <= math.pi / 2:
                assert angle >= share * math.sin(turn) * (1 - 1e-9)
                moved = (ahead + behind) / k
                assert moved.real >= -1e-12
                assert abs(moved) <= 1 + 1e-12
    assert twins


@pytest.mark.parametrize("split", [(1, 0), (0, 1)])
def test_one_row_is_known_already(split: Split) -> None:
    step = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=2), rate="0.2")
    sums = GroupSums([(rows(split), 50)], [])
    found = epsilon_by(sums, Fraction(1, 10**5), WIDTH)
    known = acc.epsilon(acc.Repeat(event=step, times=50), "1e-5")
    assert found.width <= WIDTH
    assert found.lower <= known.upper
    if split == (1, 0):
        assert found.upper >= known.lower


@pytest.mark.parametrize("split", SPLITS)
def test_contour_and_lists_agree(split: Split) -> None:
    """Two roads that have nothing in common but the mixture."""
    step = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=2), rate="0.2")
    seen = Seen.of(
        acc.Group(event=acc.Sequence(events=[acc.Repeat(event=step, times=20), acc.Laplace(scale=9)]), size=3)
    )
    delta = Fraction(1, 10**4)
    found = epsilon_by(seen.sums(split), delta, WIDTH)
    other = between(_parts(seen, split, 1 << 12), EpsilonAt(delta, WIDTH), Fraction(1, 10**4))
    assert found.width <= 2 * WIDTH * found.upper
    assert other.lower <= found.lower <= found.upper <= other.upper
    back = delta_by(seen.sums(split), Fraction(found.upper), WIDTH)
    assert back.lower <= delta


def test_what_is_not_for_the_contour() -> None:
    with pytest.raises(NotApplicable):
        GroupSums([(rows((3, 0)), 1)], [(LaplaceLoss(epsilon=Fraction(1)), 1)]).laws[0][0].grid(400.0, 500.0, 1.0, 30.0)
    laplace = acc.PoissonSample(event=acc.Laplace(scale=2), rate="0.1")
    bare = acc.PoissonSample(event=acc.Laplace(scale=0), rate="0.1")
    normal = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=2), rate="0.1")
    for event in (laplace, acc.Sequence(events=[normal, bare])):
        with pytest.raises(NotApplicable):
            Seen.of(acc.Group(event=event, size=2)).sums((2, 0))
