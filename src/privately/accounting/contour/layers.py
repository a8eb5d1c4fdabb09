"""How fast sampled Laplaces fall although their losses are small: their densities spread out in layers."""

from __future__ import annotations

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log1p

SAFE = 2.0**-16
_CELLS = 256
_LARGEST = 500.0


def spread_out(
    epsilon: Floats, rate: Floats, s: float, shares: tuple[Floats, Floats], frequencies: Floats, *, cells: int = 0
) -> Floats:
    """At most what 1 - |phi(w)| is of each law for all w at or above each of these frequencies, as its density spreads
    out; `shares` are those of the atoms of the law, tilted by s. Fewer cells take less time, and the bounds are lower.

    Theorem: where a density falls, or rises, it is a mixture of even ones that begin where it is largest; an even
    one of length l has a transform of at most sup |sin v|/v over v >= w l/2.
    Reference: Khinchine 1938
    Proof: docs/theory/accounting/contour.md#layers
    Checked-by: tests/accounting/contour/test_sampled_laplace.py::test_rare_samples_fall_as_well
    """
    cells = cells or _CELLS
    x, epsilon, rate = np.arange(cells + 1.0) / cells, epsilon[:, None], rate[:, None]
    whole_loss = epsilon * (1 - 2 * x)
    lifted = rate * expm1(whole_loss)
    loss, share = log1p(lifted), rate * exp(whole_loss) / (1 + lifted)
    is_first = (shares[0] > shares[1])[:, None]
    start, begin = np.where(is_first, loss[:, :1], loss[:, -1:]), np.where(is_first, 0.0, 1.0)
    exponent = epsilon * (x - begin) + s * (loss - start)
    off = 2 * ERROR * np.abs(loss) + 4 * ERROR * np.abs(lifted) / (1 + lifted) + 32 * UNIT * epsilon * share
    is_known = (exponent.max(axis=1) <= _LARGEST) & (abs(s) * off.max(axis=1) <= SAFE / 4)
    larger = np.maximum(*shares)[:, None]
    heights = larger / 2 * exp(np.clip(exponent, -600.0, _LARGEST)) / share * (1 - SAFE)
    lowest = heights.argmin(axis=1)[:, None]
    found = _one_side(heights, loss, off, lowest, frequencies)
    found += _one_side(heights[:, ::-1], loss[:, ::-1], off[:, ::-1], cells - lowest, frequencies)
    return np.where(is_known[:, None], found, 0.0)


def _one_side(heights: Floats, loss: Floats, off: Floats, lowest: Floats, frequencies: Floats) -> Floats:
    """What the part of each density before its lowest place adds."""
    place = np.arange(heights.shape[1])
    levels = np.where(place < lowest, np.minimum.accumulate(heights, axis=1), 0.0)
    layers = levels.copy()
    layers[:, :-1] -= levels[:, 1:]
    lengths = np.maximum(np.abs(loss - loss[:, :1]) - off - off[:, :1], 0.0)
    masses = lengths * layers
    columns = [np.einsum("jk,jk->j", _fallen(w * lengths / 2), masses) for w in frequencies.tolist()]
    return np.stack(columns, axis=1)


def _fallen(turns: Floats) -> Floats:
    """1 - |sin v|/v, from below, for all v at or above each of these."""
    square = np.minimum(turns, 2.0) ** 2
    return np.asarray(np.maximum(square / 6 * (1 - square / 20), 1 - 1 / np.maximum(turns, 1.0)) * (1 - SAFE))
