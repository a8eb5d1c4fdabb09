"""Integrals over [0, 1] from values at Chebyshev points."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from privately.accounting.elementary import PI_EXACT, Floats, cos_sin

ABSOLUTE = 2.0**-42
"""Nodes are off by at most this; weights by at most this times 2/n, for n up to 4096."""

_TURN = float(2 * PI_EXACT)
_AT_ONCE = 1 << 17
"""More products in one block would take memory and save no time."""


@lru_cache(maxsize=64)
def clenshaw_curtis(n: int) -> tuple[Floats, Floats]:
    """n + 1 nodes and weights, n even: exact for polynomials of degree n.

    Theorem: the weights are positive with sum 1, and the error for f with |f| <= B in the ellipse with foci 0 and 1 and
    semi-axes of sum rho/2 is at most (8/3) B rho^-n/(rho - 1).
    Reference: Trefethen 2008
    Proof: docs/theory/accounting/contour.md#clenshaw-curtis
    Checked-by: tests/accounting/contour/test_clenshaw_curtis.py::test_the_error_bound
    """
    cosines, _ = cos_sin(_TURN / n * np.arange(n, dtype=np.float64))
    half = n // 2
    j = np.arange(1, half + 1)
    terms = np.where(j == half, 1.0, 2.0) / (4.0 * j * j - 1)
    k = np.arange(half + 1)
    rows = max(_AT_ONCE // half, 1)
    sums = np.concatenate(
        [cosines[np.outer(part, j) % n] @ terms for part in (k[i : i + rows] for i in range(0, half + 1, rows))]
    )
    weights = np.empty(n + 1)
    weights[: half + 1] = (1 - sums) / n
    weights[half + 1 :] = weights[half - 1 :: -1]
    weights[[0, n]] /= 2
    angles, _ = cos_sin(_TURN / (2 * n) * np.arange(half + 1, dtype=np.float64))
    nodes = np.empty(n + 1)
    nodes[: half + 1] = (1 - angles) / 2
    nodes[half:] = 1 - nodes[half::-1]
    for array in (nodes, weights):
        array.flags.writeable = False
    return nodes, weights
