"""How fast the transform of a sampled Gaussian falls along the contour: on a line beside the real one, by its points.

What belongs to a law is a number, or an array with a column for each law.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from privately.accounting.elementary import Floats, log1p, log_between

Real = TypeVar("Real", float, Floats)

QUARTER_TURN = 1.57  # below pi/2
_SAFE = 2.0**-20
_GENTLE = 0.2
_SMALL_GAIN = 0.1
_SURE = 1 - 2.0**-30
_LESS = 2.5


class Aside(NamedTuple):
    """A line Im x = y on which, beyond the frequency, |phi| is at most e^cost E[e^(-pull share)]."""

    frequency: float
    pull: float
    cost: float


def aside(w: Real, k: Real, mu: Real, near: Real, weight: float) -> tuple[Real, Real]:
    """Pull and cost on the line with tan(mu y/2) = k; `weight` is c for "add" and 0 for "remove"; `near` is any share.

    Theorem: where mu y = theta, the integrand is at most e^(y^2/2 - w share sin theta) times as large, for "add" times
        e^(2 c k^2 share (1 - share)); and share (1 - share) <= near^2 + (1 - 2 near) share.
    Reference: Olver 1974, chapter 4
    Proof: docs/theory/accounting/contour.md#how-fast-the-integrand-falls
    Checked-by: tests/accounting/contour/test_falling.py::test_sizes_off_the_real_line
    """
    square = k * k
    y = 2 * k * (1 - square / 3 + square * square / 5) / mu
    swell = square * (2 * weight * (1 + _SAFE))
    pull = 2 * w * k / (1 + square) * (1 - _SAFE) - swell * (1 - 2 * near)
    return pull * (pull > 0), y * y * ((1 + _SAFE) / 2) + swell * near * near


def tangent(w: Real, mu: Real, mean: Real, near: Real, weight: float) -> Real:
    """A good k, for this mean share."""
    drift = mu * mu * mean
    best = w * drift / 2 / (1 + weight * drift * (1 - near))
    return best / (1 + 1.7 * best)


def lines(frequencies: Iterable[float], mu: float, mean: float, weight: float) -> list[Aside]:
    """One line or two for each frequency."""
    found: list[Aside] = []
    near = min(mean, 0.5)
    for w in frequencies:
        first = tangent(w, mu, mean, near, weight)
        tries = (first,) if first < _GENTLE else (first, first / _LESS)
        found += [Aside(w, *aside(w, k, mu, near, weight)) for k in tries]
    return found


def fallen(asides: Sequence[Aside], gains: Sequence[float], missing: float) -> dict[float, float]:
    """Lower bounds on -ln |phi| at each frequency: `gains` are E[1 - e^(-pull share)] over the points."""
    found: dict[float, float] = {}
    for (frequency, _, cost), gain in zip(asides, gains, strict=True):
        sure = min(gain * (1 - _SAFE) - 4 * missing, _SURE)
        lost = sure * (1 + sure / 2 * (1 + sure * (2 / 3))) if sure < _SMALL_GAIN else -log_between(-sure, 1)[1]
        found[frequency] = max((lost - cost) * (1 - _SAFE), found.get(frequency, 0.0))
    return found


def law_by_law(frequencies: Floats, mu: Floats, mean: Floats, weight: float) -> tuple[Floats, Floats]:
    """The pulls and costs of many laws: a row for each frequency, or two rounds of them."""
    w, near = frequencies[:, None], np.minimum(mean, 0.5)
    k = tangent(w, mu, mean, near, weight)
    if k.max() >= _GENTLE:
        w, k = np.concatenate([w, w]), np.concatenate([k, k / _LESS])
    return aside(w, k, mu, near, weight)


def fallen_rows(gains: Floats, costs: Floats, missing: Floats, many: int) -> Floats:
    """As `fallen`, for many laws at so many frequencies."""
    sure = np.minimum(gains * (1 - _SAFE) - 4 * missing, _SURE)
    found = (-log1p(-sure) - costs) * (1 - _SAFE)
    best: Floats = np.maximum(found.reshape(-1, many, *found.shape[1:]).max(axis=0), 0)
    return best
