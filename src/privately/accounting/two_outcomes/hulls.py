"""The largest convex function below some values."""

from __future__ import annotations

import numpy as np

from privately.accounting.elementary import Floats, exp

_CHORD_DOUBT = 1e-9


def convex(upper: Floats, step: float) -> Floats:
    """The largest convex function of y not above these values, rounded up: no profile below them is above it."""
    y = exp(np.arange(float(upper.size)) * step)
    hull: list[int] = []
    at, values = y.tolist(), upper.tolist()
    for k, value in enumerate(values):
        while len(hull) > 1 and (
            (values[hull[-1]] - values[hull[-2]]) * (at[k] - at[hull[-2]])
            >= (value - values[hull[-2]]) * (at[hull[-1]] - at[hull[-2]])
        ):
            hull.pop()
        hull.append(k)
    return np.minimum(np.interp(y, y[hull], upper[hull]) * (1 + _CHORD_DOUBT), upper)
