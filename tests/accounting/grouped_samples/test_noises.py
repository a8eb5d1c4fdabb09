"""Pieces of noise, against the same with many digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privately.accounting.grouped_samples.noises import Base, Cut, LaplaceCells, NormalCells, cut
from privately.accounting.losses import DiscreteGaussianLoss, DiscreteLaplaceLoss, GaussianLoss, LaplaceLoss
from privately.accounting.roads import NotApplicable

NORMAL = GaussianLoss(mu_squared=Fraction(1, 4))
LAPLACE = LaplaceLoss(epsilon=Fraction(1, 2))
DISCRETE = [
    DiscreteGaussianLoss(variance=Fraction(7, 2), sensitivity=2),
    DiscreteLaplaceLoss(scale=Fraction(3), sensitivity=2),
]
ROWS = -2, 0, 1, 3


def check(known: tuple[np.ndarray, np.ndarray], place: int, truth: mpmath.mpf, loosest: float) -> None:
    value, error = (float(one[place]) for one in known)
    assert abs(value - truth) <= error
    assert error <= loosest * max(abs(truth), 1e-280)


@pytest.mark.parametrize("count", [512, 1 << 14])
def test_pieces_hold_their_masses(count: int) -> None:
    with mpmath.workdps(50):
        normal, laplace = cut(NORMAL, 3, 2, count, 1e-20), cut(LAPLACE, 3, 2, count, 1e-20)
        assert isinstance(normal, NormalCells)
        assert isinstance(laplace, LaplaceCells)
        for rows in ROWS:
            masses = normal.masses(rows)
            for place in (0, masses[0].size // 3, masses[0].size - 1):
                ends = [mpmath.mpf(float(x)) - rows / mpmath.mpf(2) for x in normal.x[[place, place + 1]]]
                truth = mpmath.ncdf(-ends[0]) - mpmath.ncdf(-ends[1])
                check(masses, place, truth, 1e-11 if count > 512 else 1e-6)
            masses = laplace.masses(rows)
            for place in (0, masses[0].size // 3, masses[0].size - 1):
                ends = [(mpmath.mpf(x) / laplace.each - rows) / 2 for x in laplace.places[[place, place + 1]].tolist()]
                below = [mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2 for x in ends]
                check(masses, place, below[1] - below[0], 1e-12)


def density(base: Base, x: mpmath.mpf) -> mpmath.mpf:
    """In proportion to it, around 0."""
    match base:
        case GaussianLoss():
            return mpmath.exp(-x * x / 2)
        case LaplaceLoss(epsilon=epsilon):
            return mpmath.exp(-abs(x) * mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        case DiscreteGaussianLoss(variance=variance):
            return mpmath.exp(-x * x / 2 * variance.denominator / variance.numerator)
    return mpmath.exp(-abs(x) / 3)


@pytest.mark.parametrize("base", DISCRETE)
def test_outcomes_hold_their_masses(base: DiscreteGaussianLoss | DiscreteLaplaceLoss) -> None:
    with mpmath.workdps(50):
        pieces: Cut = cut(base, 3, 2, 0, 1e-20)
        ks: list[int] = pieces.k.astype(int).tolist()  # type: ignore[attr-defined]
        total = mpmath.fsum(density(base, mpmath.mpf(k)) for k in range(-400, 401))
        for rows in ROWS:
            centre = 2 * rows
            listed = pieces.masses(rows)
            for place in (1, len(ks) // 2, len(ks) - 2):
                check(listed, place, density(base, mpmath.mpf(ks[place] - centre)) / total, 1e-11)
            if isinstance(base, DiscreteLaplaceLoss):
                ends = range(ks[0] - 400, ks[0] + 1), range(ks[-1], ks[-1] + 401)
                for place, beyond in zip((0, -1), ends, strict=True):
                    truth = mpmath.fsum(density(base, mpmath.mpf(k - centre)) for k in beyond) / total
                    check(listed, place, truth, 1e-11)
            else:
                outside = mpmath.fsum(density(base, mpmath.mpf(k)) for k in range(-ks[0] + 1, 400)) / total
                assert outside <= pieces.beyond(0)[1] <= 2 * outside


@pytest.mark.parametrize("base", [NORMAL, LAPLACE, *DISCRETE])
def test_exponents(base: Base) -> None:
    with mpmath.workdps(50):
        pieces = cut(base, 3, 2, 256, 1e-20)
        if isinstance(pieces, NormalCells):
            points, step = pieces.x, mpmath.mpf(1) / 2
        elif isinstance(pieces, LaplaceCells):
            points, step = pieces.places, mpmath.mpf(pieces.each)
        else:
            points, step = pieces.k, mpmath.mpf(2)  # type: ignore[attr-defined]
        for rows in ROWS:
            exponents = pieces.exponents(rows)
            for place in (0, points.size // 3, points.size - 1):
                x, scale = mpmath.mpf(float(points[place])), 1 / step if isinstance(pieces, LaplaceCells) else 1
                truth = mpmath.log(density(base, (x - rows * step) * scale)) - mpmath.log(density(base, x * scale))
                value, error = (float(one[place]) for one in exponents)
                assert abs(value - truth) <= error + 1e-40
                assert error <= 1e-13


@pytest.mark.parametrize(
    "base",
    [
        GaussianLoss(mu_squared=Fraction(400)),
        GaussianLoss(mu_squared=Fraction(1, 10**14)),
        LaplaceLoss(epsilon=Fraction(200)),
        DiscreteGaussianLoss(variance=Fraction(10**12), sensitivity=1),
        DiscreteLaplaceLoss(scale=Fraction(1), sensitivity=1000),
    ],
)
def test_what_is_out_of_range(base: Base) -> None:
    with pytest.raises(NotApplicable):
        cut(base, 3, 2, 256, 1e-20)
