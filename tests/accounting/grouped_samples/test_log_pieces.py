"""Pieces of noise in logarithms, against the same with many digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privately.accounting.grouped_samples.log_pieces import (
    DiscreteLaplacePieces,
    DiscreteNormalPieces,
    Ends,
    LaplacePieces,
    NormalPieces,
    cut_in_logs,
)
from privately.accounting.grouped_samples.noises import Base
from privately.accounting.losses import DiscreteGaussianLoss, DiscreteLaplaceLoss, GaussianLoss, LaplaceLoss
from privately.accounting.roads import NotApplicable

ROWS = -2, 0, 1, 4


def check(ends: Ends, place: int, truth: mpmath.mpf, widest: float) -> None:
    low, high = (float(end[place]) for end in ends)
    assert low <= truth <= high
    assert high - low <= widest


@pytest.mark.parametrize(("mu", "count", "widest"), [(10, 1 << 14, 1e-9), (10, 200, 60.0), (100, 1 << 14, 10.0)])
def test_pieces_hold_their_masses(mu: int, count: int, widest: float) -> None:
    """Near and far cells; those that are far out are hardly ever of interest, and are known roughly alone."""
    pieces = cut_in_logs(GaussianLoss(mu_squared=Fraction(mu**2)), range(5), -2, count, 1e-25)
    assert isinstance(pieces, NormalPieces)
    with mpmath.workdps(60):
        for rows in ROWS:
            found = pieces.masses(rows)
            for place in np.linspace(0, pieces.x.size - 1, 9).astype(int).tolist():
                ends = [mpmath.mpf(float(pieces.x[place])) + more - rows * mu for more in (0, pieces.wide)]
                ends = ends if ends[0] > 0 else [-ends[1], -ends[0]]
                truth = mpmath.log((mpmath.erfc(ends[0] / mpmath.sqrt(2)) - mpmath.erfc(ends[1] / mpmath.sqrt(2))) / 2)
                check(found, place, truth, widest)
                for known, x in ((pieces.at_lower_ends, 0.0), (pieces.at_upper_ends, pieces.wide)):
                    at = mpmath.mpf(float(pieces.x[place])) + x
                    check(known(rows), place, at * rows * mu - mpmath.mpf(rows * mu) ** 2 / 2, 1e-9)


def test_nothing_but_a_little_is_outside() -> None:
    """Around every number of rows, not only around 0."""
    for base in (GaussianLoss(mu_squared=Fraction(900)), DiscreteGaussianLoss(variance=Fraction(2), sensitivity=40)):
        pieces = cut_in_logs(base, range(4), 0, 4096, 1e-12)
        assert 0 < pieces.outside < 4e-12
        for rows in range(4):
            inside = float(np.exp(pieces.masses(rows)[1]).sum())
            assert 1 - 1e-9 < inside < 1 + 1e-9


def test_laplace_pieces() -> None:
    pieces = cut_in_logs(LaplaceLoss(epsilon=Fraction(100)), range(5), -2, 600, 1e-25)
    assert isinstance(pieces, LaplacePieces)
    with mpmath.workdps(60):
        for rows in ROWS:
            x = [mpmath.mpf(float(one)) / pieces.each * 100 - rows * 100 for one in pieces.places]
            masses, low, high = pieces.masses(rows), pieces.at_lower_ends(rows), pieces.at_upper_ends(rows)
            for cell in (0, 1, 250, len(x) - 2):
                ends = [x[cell], x[cell + 1]] if x[cell] >= 0 else [-x[cell + 1], -x[cell]]
                truth = mpmath.log((mpmath.exp(-ends[0]) - mpmath.exp(-ends[1])) / 2)
                check(masses, cell + 1, truth, 1e-9)
                check(low, cell + 1, -abs(x[cell]), 1e-9)
                check(high, cell + 1, -abs(x[cell + 1]), 1e-9)
            for end in (0, -1):
                check(masses, end, -abs(x[end]) - mpmath.log(2), 1e-9)
                check(low, end, -abs(x[end]), 1e-9)
                check(high, end, -abs(x[end]), 1e-9)


def test_discrete_pieces() -> None:
    normal = DiscreteGaussianLoss(variance=Fraction(1, 100), sensitivity=1)
    laplace = DiscreteLaplaceLoss(scale=Fraction(1, 200), sensitivity=2)
    first, second = cut_in_logs(normal, range(5), -2, 0, 1e-25), cut_in_logs(laplace, range(5), -2, 0, 1e-25)
    assert isinstance(first, DiscreteNormalPieces)
    assert isinstance(second, DiscreteLaplacePieces)
    with mpmath.workdps(400):
        total = mpmath.fsum(mpmath.exp(-mpmath.mpf(50) * k * k) for k in range(-9, 10))
        falls = mpmath.exp(-200)
        for rows in ROWS:
            for place, k in enumerate(first.k.tolist()):
                check(first.masses(rows), place, -50 * mpmath.mpf(k - rows) ** 2 - mpmath.log(total), 1e-9)
            for place, k in enumerate(second.k.tolist()):
                share = 1 if place in {0, second.k.size - 1} else 1 - falls
                truth = -200 * mpmath.mpf(abs(k - 2 * rows)) + mpmath.log(share / (1 + falls))
                check(second.masses(rows), place, truth, 1e-9)


@pytest.mark.parametrize(
    "base",
    [
        GaussianLoss(mu_squared=Fraction(10**12)),
        LaplaceLoss(epsilon=Fraction(10**7)),
        DiscreteGaussianLoss(variance=Fraction(10**12), sensitivity=1),
        DiscreteLaplaceLoss(scale=Fraction(1), sensitivity=10**6),
    ],
)
def test_what_is_out_of_range(base: Base) -> None:
    with pytest.raises(NotApplicable):
        cut_in_logs(base, range(4), -2, 256, 1e-20)
