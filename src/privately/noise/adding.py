"""Noise on values, without rounding and without overflow."""

from __future__ import annotations

import sys
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privately.errors import InvalidParameter
from privately.noise.kernels import Draws


def add(values: ArrayLike, noise: ArrayLike) -> Draws:
    """The exact sums: int64 if all of them fit, otherwise Python integers. Which one says no more than the sums do.

    >>> add(np.array([2**63 - 1]), np.array([1]))
    array([9223372036854775808], dtype=object)
    """
    exact, drawn = _integers(values, "values"), _integers(noise, "noise")
    if exact.shape != drawn.shape:
        raise InvalidParameter("noise", f"has shape {drawn.shape}, the values have {exact.shape}.")
    if np.dtype(object) not in {exact.dtype, drawn.dtype}:
        with np.errstate(over="ignore"):
            total: NDArray[np.int64] = np.asarray(np.add(exact, drawn))
        if not _may_overflow(exact, drawn) or not (((exact ^ total) & (drawn ^ total)) < 0).any():
            return total
    sums = [one + other for one, other in zip(exact.ravel().tolist(), drawn.ravel().tolist(), strict=True)]
    fits = all(-(2**63) <= one < 2**63 for one in sums)
    return np.array(sums, np.int64 if fits else object).reshape(exact.shape)


def _may_overflow(exact: Draws, noise: Draws) -> bool:
    """Whether the largest or the smallest of both would; a glance that spares a look at every sum."""
    highest = int(exact.max(initial=0)) + int(noise.max(initial=0))
    lowest = int(exact.min(initial=0)) + int(noise.min(initial=0))
    return lowest < -(2**63) or highest >= 2**63


def _integers(values: ArrayLike, field: str) -> Draws:
    """The same numbers as int64, or as Python integers."""
    # Where numpy.ma was never loaded nothing is masked; asking for its class would load it.
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray):
        raise InvalidParameter(field, "have a mask.", hint="Decide what masked entries are worth first.")
    try:
        # Of a list NumPy would make floats if its integers fit neither int64 nor uint64.
        array = np.asarray(values) if isinstance(values, np.ndarray) else np.asarray(values, object)
    except ValueError:
        raise InvalidParameter(field, "must be numbers in an array of one shape.") from None
    if array.dtype == object and all(isinstance(one, Integral) and not isinstance(one, bool) for one in array.flat):
        return np.array([int(one) for one in array.flat], object).reshape(array.shape)
    if array.dtype.kind not in "iu":
        raise InvalidParameter(field, "must be integers in an array of one shape.", hint="Put floats on a grid first.")
    if array.dtype == np.uint64:
        return array.astype(object)
    return array.astype(np.int64, copy=False)
