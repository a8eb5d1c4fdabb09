"""Noise on values, without rounding and without overflow."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privately.errors import InvalidParameter
from privately.noise.kernels import Draws


def add(values: ArrayLike, noise: Draws) -> Draws:
    """The exact sums: int64 if all of them fit, otherwise Python integers. Which one says no more than the sums do.

    >>> add(np.array([2**63 - 1]), np.array([1]))
    array([9223372036854775808], dtype=object)
    """
    exact, noise = _integers(values, "values"), _integers(noise, "noise")
    if exact.shape != noise.shape:
        raise InvalidParameter("noise", f"has shape {noise.shape}, the values have {exact.shape}.")
    if object not in {exact.dtype, noise.dtype}:
        with np.errstate(over="ignore"):
            total: NDArray[np.int64] = np.add(exact, noise)
        if not _may_overflow(exact, noise) or not (((exact ^ total) & (noise ^ total)) < 0).any():
            return total
    long: NDArray[np.object_] = exact.astype(object) + noise.astype(object)
    return long


def _may_overflow(exact: Draws, noise: Draws) -> bool:
    """Whether the largest or the smallest of both would; a glance that spares a look at every sum."""
    highest = int(exact.max(initial=0)) + int(noise.max(initial=0))
    lowest = int(exact.min(initial=0)) + int(noise.min(initial=0))
    return lowest < -(2**63) or highest >= 2**63


def _integers(values: ArrayLike, field: str) -> Draws:
    try:
        # Of a list NumPy would make floats if its integers fit neither int64 nor uint64.
        array = values if isinstance(values, np.ndarray) else np.asarray(values, object)
    except ValueError:
        raise InvalidParameter(field, "must be numbers in an array of one shape.") from None
    if array.dtype == object and all(isinstance(one, Integral) and not isinstance(one, bool) for one in array.flat):
        plain = [int(one) for one in array.flat]
        short = array is not values and all(-(2**63) <= one < 2**63 for one in plain)
        return np.array(plain, np.int64 if short else object).reshape(array.shape)
    if array.dtype.kind not in "iu":
        raise InvalidParameter(field, f"of type {array.dtype} are not integers.", hint="Put them on a grid first.")
    if array.dtype == np.uint64 and array.max(initial=0) > np.iinfo(np.int64).max:
        return array.astype(object)
    return array.astype(np.int64, copy=False)
