"""Nodes and weights are right, and the error for analytic functions is below its bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from privately.accounting.contour.clenshaw_curtis import ABSOLUTE, clenshaw_curtis


@pytest.mark.parametrize("n", [2, 4, 8, 32, 96])
def test_polynomials_are_integrated_exactly(n: int) -> None:
    nodes, weights = clenshaw_curtis(n)
    assert nodes.size == weights.size == n + 1
    assert (weights > 0).all()
    assert abs(weights.sum() - 1) <= 1e-13
    assert (np.diff(nodes) > 0).all()
    for degree in range(n + 1):
        assert weights @ nodes**degree == pytest.approx(1 / (degree + 1), rel=1e-12)


def test_the_degree_is_not_higher() -> None:
    """T_(n+2) on [0, 1] is not integrated exactly: degree n is all that is claimed (n + 1 comes by symmetry)."""
    nodes, weights = clenshaw_curtis(8)
    values = np.cos(10 * np.arccos(2 * nodes - 1))
    assert abs(weights @ values - 1 / (1 - 100)) > 1e-3


@pytest.mark.parametrize("n", [8, 64, 500, 4096])
def test_nodes_and_weights(n: int) -> None:
    nodes, weights = clenshaw_curtis(n)
    half = n // 2
    with mp.workdps(40):
        for k in sorted({0, 1, 2, half // 3, half - 1, half, half + 1, n - 1, n}):
            node = (1 - mp.cos(mp.pi * k / n)) / 2
            assert abs(node - mpf(float(nodes[k]))) <= mpf(ABSOLUTE)
            terms = (
                mp.cos(2 * mp.pi * j * k / n) * (1 if j == half else 2) / (4 * j * j - 1) for j in range(1, half + 1)
            )
            weight = (1 - sum(terms)) / n / (2 if k in (0, n) else 1)
            assert abs(weight - mpf(float(weights[k]))) <= mpf(ABSOLUTE) * 2 / n


@pytest.mark.parametrize("pole", [1.01, 1.2, 2.0, 5.0])
def test_the_error_bound(pole: float) -> None:
    """1/(pole - t) on [-1, 1]: it is analytic in every ellipse short of the pole, and largest beside it."""
    furthest = pole + math.sqrt(pole * pole - 1)
    needed = False
    for n in (4, 8, 16, 32):
        nodes, weights = clenshaw_curtis(n)
        found = weights @ (1 / (pole - (2 * nodes - 1)))
        truth = math.log((pole + 1) / (pole - 1)) / 2
        for part in (0.3, 0.7, 0.95):
            rho = 1 + (furthest - 1) * part
            largest = 1 / (pole - (rho + 1 / rho) / 2)
            bound = 8 / 3 * largest * rho**-n / (rho - 1)
            assert abs(found - truth) <= bound + 1e-14
            needed = needed or bool(abs(found - truth) > 1e-4 * bound > 1e-12)
    assert needed


def test_the_bound_needs_the_ellipse() -> None:
    """With a larger ellipse than the function allows the bound is wrong."""
    nodes, weights = clenshaw_curtis(16)
    found = weights @ (1 / (1.05 - (2 * nodes - 1)))
    truth = math.log(2.05 / 0.05) / 2
    rho = 2.5  # the pole is at 1.37
    assert abs(found - truth) > 8 / 3 * 20 * rho**-16 / (rho - 1)


def test_arrays_are_shared_and_so_cannot_be_written() -> None:
    nodes, _ = clenshaw_curtis(8)
    with pytest.raises(ValueError, match="read-only"):
        nodes[0] = 1
