"""How fast the transform of a sampled Gaussian falls along the contour: bounds cell by cell, for one law or for many.

What belongs to a law is a number, or an array with a column for each law.
"""

from __future__ import annotations

import numpy as np

from privately.accounting.elementary import Floats, exp, expm1, log1p
from privately.accounting.roads import NotApplicable

_SAFE = 2.0**-20
_GENTLE = 0.2
_LARGEST_LOSS = 600.0


def cells(
    x: Floats, pull: Floats, shares: Floats, step: Floats | float, inside: Floats | None = None
) -> tuple[Floats, Floats]:
    """The least tilted mass between neighbouring points, and the logarithm of how far the density may rise above its
    ends; its logarithmic slope at x is pull - x, pull monotone.

    Where `inside` is 0 the neighbours belong to different laws: the mass there is 0.
    """
    low = np.minimum(pull[1:], pull[:-1]) - x[1:]
    high = np.maximum(pull[1:], pull[:-1]) - x[:-1]
    dip = step * np.maximum(np.minimum(-low, high), 0)
    if inside is not None:
        dip *= inside
    if dip.max() > 1:
        raise NotApplicable("the grid is too coarse")
    least = np.minimum(shares[:-1], shares[1:]) * (1 - dip) * (1 - _SAFE)
    return (least if inside is None else least * inside), dip


def at_most(shares: Floats, dip: Floats, inside: Floats | None = None) -> Floats:
    """The largest tilted mass between neighbouring points."""
    most = np.maximum(shares[:-1], shares[1:]) * exp(dip) * (1 + _SAFE)
    return most if inside is None else most * inside


def tangents(best: Floats) -> tuple[Floats, int]:
    """Values of tan(mu y/2) to try at each frequency (a row), one or two rounds of them, and how many."""
    near = best / (1 + 1.7 * best)
    if near[-1].max() < _GENTLE:
        return near, 1
    return np.concatenate([near, near / 2.5]), 2


def lifted(share: Floats, k: Floats, w: Floats, c: float, *, removes: bool) -> Floats:
    """g - 1 for each row of k and w and each cell: how the integrand changes in size on Im x = y, at most.

    `share` is that of the points at the ends of all cells.
    """
    left, right = share[:-1], share[1:]
    square = k * k
    versed = 2 * square / (1 + square)
    slant = left * (2 * k / (1 + square))
    slant /= 1 - left * versed
    wide = slant * slant
    wide += 1
    np.sqrt(wide, out=wide)
    wide *= 2
    wide += 1
    slant *= w * (-3 * (1 - _SAFE))
    slant /= wide
    if not removes:
        mixed = np.minimum(right, 0.25) * (2 * versed)
        slant += mixed * (c / 2 * (1 + _SAFE)) / (1 - mixed)
        np.minimum(slant, _LARGEST_LOSS, out=slant)
    return expm1(slant)


def falls(gain: Floats, k: Floats, *, mu: Floats | float, missing: Floats | float, weight: float, tries: int) -> Floats:
    """Lower bounds on -ln |phi|, the best of all tries: `gain` is E[1 - g] over the cells; `weight` is c for "add"."""
    square = k * k
    y = 2 * k * (1 - square / 3 + square * square / 5) / mu
    beyond = 4 * missing * (2 * exp(np.minimum(weight * square / 2, _LARGEST_LOSS)) if weight else 1.0)
    gain = np.clip(gain - beyond, -1.0, 1 - 2.0**-30)
    lost = gain * (1 + gain / 2 * (1 + gain * (2 / 3))) if tries == 1 else -log1p(-gain)
    found = lost - y * y / 2 * (1 + _SAFE)
    if tries > 1:
        found = found.reshape(tries, -1, *found.shape[1:]).max(axis=0)
    best: Floats = np.maximum(found, 0) * (1 - _SAFE)
    return best
