"""Between the numbers people have and the integers noise is added to.

Without a step values must be integers. With one, a power of two, they are rounded to its nearest multiple, and what
the rounding can add to the distance of neighbours is added to the sensitivity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, frexp
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.errors import InvalidParameter
from privately.guarantees import Sensitivity
from privately.noise.kernels import Draws
from privately.rounding import Number, rational

FARTHEST = 2**62
"""Rounded values are moved to at most so many steps from zero, which brings no two of them further apart."""

LOWEST, HIGHEST = -(2**63), 2**63 - 1

SMALLEST_STEP = Fraction(1, 2**1000)
LARGEST_STEP = Fraction(2**900)


@dataclass(frozen=True, init=False)
class Grid:
    """The multiples of a power of two, or the integers as they are.

    Answers on a grid leave as floats, which are exact within 2^53 steps of zero; error bars are meant for those.
    """

    step: Fraction | None

    def __init__(self, step: Number | None) -> None:
        exact = None if step is None else rational(step, "grid", minimum=SMALLEST_STEP, maximum=LARGEST_STEP)
        if exact is not None and (exact.numerator & exact.numerator - 1 or exact.denominator & exact.denominator - 1):
            raise InvalidParameter("grid", f"{exact} is not a power of two, such as 1/1024.")
        object.__setattr__(self, "step", exact)

    @property
    def unit(self) -> Fraction:
        """One step, as a number."""
        return Fraction(1) if self.step is None else self.step

    @property
    def rounding(self) -> Fraction:
        """How far a value may move when it is put on the grid."""
        return Fraction(0) if self.step is None else self.step / 2

    def snap(self, value: Any, dimension: int) -> NDArray[np.int64]:
        """The nearest grid points, counted in steps; one value, or a vector of so many entries. Ties go to even."""
        if isinstance(value, (list, tuple, int, float)):
            return self._snap_listed(value if isinstance(value, (list, tuple)) else [value], dimension)
        array = _entries(value, dimension)
        if array.dtype.kind in "iu":
            fits = np.minimum(array, HIGHEST) if array.dtype == np.uint64 else array
            whole: NDArray[np.int64] = fits.astype(np.int64, copy=False)
            return whole if self.step is None else _shifted(whole, -self._exponent)
        if self.step is None:
            raise InvalidParameter("value", "has entries that are not integers.", hint="Give a grid for floats.")
        if not np.isfinite(array).all():
            raise InvalidParameter("value", "holds a NaN or an infinity.")
        with np.errstate(over="ignore", under="ignore"):
            steps = np.rint(np.ldexp(array.astype(np.result_type(array, np.float64)), -self._exponent))
        near: NDArray[np.int64] = np.clip(steps, -FARTHEST, FARTHEST).astype(np.int64)
        return near

    def _snap_listed(self, values: Sequence[Any], dimension: int) -> NDArray[np.int64]:
        """The same for Python's numbers, one by one and exactly, however long they are."""
        _check_size(len(values), (len(values),), dimension)
        steps = [_exact(one, self.step) for one in values]
        low, high = (LOWEST, HIGHEST) if self.step is None else (-FARTHEST, FARTHEST)
        return np.array([min(max(one, low), high) for one in steps], np.int64)

    def steps(self, sensitivity: Sensitivity, dimension: int) -> Sensitivity:
        """How far the snapped values of neighbours lie apart, in steps.

        Theorem: rounding moves an entry by at most half a step, so it adds at most one step to the distance of two
            entries: d steps in L1, sqrt(d) in L2, one in Linf. Distances of integer vectors in L1 and Linf are whole.
        Reference: triangle inequality
        Proof: docs/theory/mechanisms.md#grids
        Checked-by: tests/mechanisms/test_grids.py::test_snapped_neighbours_stay_within_the_widened_sensitivity
        """
        if self.step is None:
            return sensitivity
        added = Sensitivity(value=1, norm="Linf").to(sensitivity.norm, dimension=dimension)
        value = sensitivity.value / self.step + added.value
        whole = sensitivity.norm != "L2" or dimension == 1
        return Sensitivity(
            value=floor(value) if whole else value, norm=sensitivity.norm, neighbors=sensitivity.neighbors
        )

    def back(self, steps: Draws) -> NDArray[np.int64] | NDArray[np.float64]:
        """From steps to numbers: int64 without a step, otherwise floats; both saturate at the ends of 64 bits."""
        within = np.clip(steps, LOWEST, HIGHEST).astype(np.int64) if steps.dtype == object else steps.astype(np.int64)
        return within if self.step is None else np.ldexp(within.astype(np.float64), self._exponent)

    def values(self, steps: list[int]) -> list[Any]:
        """So many steps, as the numbers that `snap` takes."""
        return steps if self.step is None else [float(one * self.step) for one in steps]

    @property
    def _exponent(self) -> int:
        """The step is two to this power."""
        return frexp(float(self.unit))[1] - 1


def _shifted(whole: NDArray[np.int64], exponent: int) -> NDArray[np.int64]:
    """whole 2^exponent, rounded to integers; exact, as floats are not from 2^53 on."""
    if exponent >= 0:
        up = min(exponent, 62)
        return np.clip(whole, -(FARTHEST >> up), FARTHEST >> up) << up
    down = -exponent
    if down > 63:
        return np.zeros_like(whole)
    floors, rest, half = whole >> down, whole & (1 << down) - 1, 1 << down - 1
    rounded: NDArray[np.int64] = floors + ((rest > half) | (rest == half) & (floors & 1 == 1))
    return rounded


def _exact(value: Any, step: Fraction | None) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value) if step is None else round(int(value) / step)
    if isinstance(value, (float, np.floating)) and not np.isfinite(value):
        raise InvalidParameter("value", "holds a NaN or an infinity.")
    if not isinstance(value, (float, np.floating)):
        kind = type(value).__name__
        raise InvalidParameter("value", f"holds a {kind}.", hint="Give integers, or floats together with a grid.")
    if step is None:
        raise InvalidParameter("value", "has entries that are not integers.", hint="Give a grid for floats.")
    return round(Fraction(*value.as_integer_ratio()) / step)


def _entries(value: Any, dimension: int) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidParameter("value", "has a mask.", hint="Decide what masked entries are worth first.")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter("value", "is not a vector of numbers.") from None
    if array.dtype.kind not in "iuf":
        raise InvalidParameter("value", f"of type {array.dtype.type.__name__} is not made of numbers.")
    _check_size(array.size, array.shape, dimension)
    return array.reshape(dimension)


def _check_size(size: int, shape: tuple[int, ...], dimension: int) -> None:
    if size == 0:
        raise InvalidParameter("value", "is empty.")
    if len(shape) > 1 or size != dimension:
        expected = "one number is" if dimension == 1 else f"a vector of {dimension} numbers is"
        raise InvalidParameter("value", f"has another shape; {expected} expected.", hint="Set dimension.")
