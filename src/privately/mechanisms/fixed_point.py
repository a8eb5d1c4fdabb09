"""Bounded numbers as whole steps above their lower bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.errors import InvalidParameter
from privately.mechanisms.grids import LARGEST_STEP, SMALLEST_STEP
from privately.rounding import Number, rational

MAX_STEPS = 2**52
"""So many steps are told apart by floats."""


@dataclass(frozen=True, init=False)
class FixedPoint:
    """The numbers lower, lower + step, ..., upper."""

    lower: Fraction
    upper: Fraction
    step: Fraction

    def __init__(self, *, lower: Number, upper: Number, step: Number) -> None:
        low, high = rational(lower, "lower"), rational(upper, "upper")
        size = rational(step, "step", minimum=SMALLEST_STEP, maximum=LARGEST_STEP)
        if high <= low:
            raise InvalidParameter("upper", f"must be above lower, which is {low}.")
        if ((high - low) / size).denominator != 1:
            raise InvalidParameter("step", f"must divide the range, which is {high - low} wide.")
        if max(abs(low), abs(high), high - low) > MAX_STEPS * size:
            raise InvalidParameter(
                "step", f"leaves more than {MAX_STEPS} steps, or so many from zero; take a larger one."
            )
        for name, value in {"lower": low, "upper": high, "step": size}.items():
            object.__setattr__(self, name, value)

    @property
    def steps(self) -> int:
        """How many steps lead from lower to upper."""
        return int((self.upper - self.lower) / self.step)

    @property
    def rounding(self) -> Fraction:
        """How far a value within the bounds may be from what is read.

        Theorem: with bounds of at most M in size, the roundings of floats move a value by less than M/2^49, and going
            to the nearest step moves it by at most half a step.
        Reference: IEEE 754: a rounding moves a number by at most its 2^-53th part
        Proof: docs/theory/mechanisms.md#fixed-point
        Checked-by: tests/mechanisms/test_fixed_point.py::test_no_value_is_read_further_off_than_stated
        """
        return self.step / 2 + max(abs(self.lower), abs(self.upper)) / 2**49

    def read(self, values: Any) -> NDArray[np.int64]:
        """Each value clamped and in steps. How floats round moves a value, never a sensitivity: all is in range."""
        numbers = _numbers(values)
        low, high, step = float(self.lower), float(self.upper), float(self.step)
        clamped = np.clip(numbers, low, high)
        clamped -= low
        clamped /= step
        np.rint(clamped, out=clamped)
        return np.clip(clamped, 0, self.steps, out=clamped).astype(np.int64)

    def back(self, steps: int) -> Fraction:
        """The number so many steps above lower."""
        return self.lower + steps * self.step


def _numbers(values: Any) -> NDArray[np.float64]:
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidParameter("values", "have a mask.", hint="Decide what masked entries are worth first.")
    try:
        array = np.asarray([_moderate(one) for one in values] if isinstance(values, (list, tuple)) else values)
    except ValueError:  # lists of several lengths
        array = np.empty((0, 0))
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise InvalidParameter("values", "must be a list of numbers, without gaps.")
    with np.errstate(over="ignore"):  # a long double may become infinite, and is clamped
        numbers = array.astype(np.float64, copy=False)
    if array.dtype.kind == "f" and np.isnan(numbers).any():
        raise InvalidParameter("values", "hold a NaN.", hint="Drop or replace it first.")
    return numbers


def _moderate(value: Any) -> Any:
    """Integers that no float reaches are clamped like all others that lie out of bounds."""
    long = isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53
    return float(min(max(value, -_BEYOND), _BEYOND)) if long else value


_BEYOND = 2**1000
