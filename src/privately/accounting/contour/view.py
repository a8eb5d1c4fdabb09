"""What the contour integral sees of a loss law."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privately.accounting.elementary import ERROR, LARGEST_ANGLE, UNIT, Floats, expm1, turn_minus_one
from privately.accounting.roads import NotApplicable

Complex = NDArray[np.complex128]

_SLACK = 1 + 2.0**-20
BLOCK = 1 << 15
_FAITHFUL = 0.28
_HOPELESS = 2.0  # as far as two points of the unit disk can be apart


def enlarged(bound: float) -> float:
    """A bound that was itself computed in floats, made safe: its own relative error is far below 2^-20."""
    return bound * _SLACK


def exp_above(x: float) -> float:
    """A power of two at or above e^x, less than four times as large."""
    exponent = math.ceil(x * 1.4426950408889635 + 2.0**-20)
    return math.ldexp(1.0, max(exponent, -1000)) if exponent < 1000 else math.inf


@dataclass(frozen=True)
class Rough:
    """Points and log-weights that give ln M(c) nearly: to choose a contour by, not to claim by."""

    losses: Floats
    base: Floats

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """K(c) = ln M(c) and its first two derivatives."""
        top, weights, total = self._weights(c)
        mean = float(weights @ self.losses) / total
        centred = self.losses - mean
        return top + math.log(total), mean, float(weights @ (centred * centred)) / total

    def levels(self, heights: Floats) -> Floats:
        """K alone, at several places."""
        exponents = self.base + heights[:, None] * self.losses
        top = exponents.max(axis=1)
        exponents -= top[:, None]
        found: Floats = top + np.log(np.exp(exponents).sum(axis=1))
        return found

    def _weights(self, c: float) -> tuple[float, Floats, float]:
        exponents = self.base + c * self.losses
        top = float(exponents.max())
        weights = np.exp(exponents - top)
        return top, weights, float(weights.sum())


@dataclass(frozen=True)
class View:
    """A loss law seen from Re z = c: weighted points that stand for its tilted law.

    With L~ = L - centre and phi(w) = E_c[e^(i w L~)]: |phi(w) - 1 - sum of weights (e^(i w losses) - 1)| <=
    `error` + w `slope` for w >= 0 up to the reach it was made for; ln M(c) lies between `log_mass`. Points on a line
    beside the real one have complex weights and losses, these with imaginary parts >= 0.
    """

    log_mass: tuple[float, float]
    centre: float | Fraction
    weights: Floats | Complex
    losses: Floats | Complex
    error: float
    slope: float

    def transforms(self, step: float, count: int) -> tuple[Complex, Floats]:
        """phi - 1 at step, 2 step, ..., count step, and bounds on the errors.

        Theorem: a_(p+q) = a_p + a_q + a_p a_q for a_n = e^(i n x) - 1, and doubling loses at most 2^-48 |n x| a level.
        Reference: Higham 2002, section 3.6
        Proof: docs/theory/accounting/contour.md#turning-by-doubling
        Checked-by: tests/accounting/contour/test_view.py::test_turning_by_doubling
        """
        if step * float(np.abs(self.losses.real).max()) > LARGEST_ANGLE:
            raise NotApplicable("the sum turns too often")
        rows = max(BLOCK // count, 1)
        found = np.zeros(count, dtype=np.complex128)
        for start in range(0, self.losses.size, rows):
            turns = turns_minus_one(step * self.losses[start : start + rows], count)
            found += _weighted(self.weights[start : start + rows], turns)
        rounding = turn_error(count) + 4 * self.losses.size * UNIT
        spread = float(_sizes(self.weights) @ _sizes(self.losses))
        places = step * np.arange(1, count + 1, dtype=np.float64)
        return found, (self.error + places * (self.slope + rounding * spread)) * _SLACK


class _Workspace(threading.local):
    """Memory that is kept: to ask the system for it again takes longer than to fill it."""

    def __init__(self) -> None:
        self.block = np.empty(BLOCK, dtype=np.complex128)


_WORKSPACE = _Workspace()


def turn_error(count: int) -> float:
    """Of `turns_minus_one` up to count, relative to count times the angle, angles themselves rounded."""
    return 2 * ERROR + count.bit_length() * 2.0**-48


def turns_minus_one(angles: Floats | Complex, count: int) -> Complex:
    """e^(i n angle) - 1 for n = 1, ..., count. The next call in this thread may write to the same memory."""
    size = angles.size * count
    block = _WORKSPACE.block
    if size > block.size:
        block = np.empty(size, dtype=np.complex128)
    turns = block[:size].reshape(angles.size, count)
    turns[:, 0] = turn_minus_one(angles.real)
    if np.iscomplexobj(angles):
        turns[:, 0] += (1 + turns[:, 0]) * expm1(-angles.imag)
    done = 1
    while done < count:
        more = min(done, count - done)
        whole, part = turns[:, done - 1 : done], turns[:, :more]
        target = turns[:, done : done + more]
        np.multiply(whole, part, out=target)
        target += part
        target += whole
        done += more
    return turns


def _weighted(weights: Floats | Complex, turns: Complex) -> Complex:
    found = weighted_rows(weights.real, turns.view(np.float64)).view(np.complex128)
    if np.iscomplexobj(weights):
        found = found + 1j * weighted_rows(weights.imag, turns.view(np.float64)).view(np.complex128)
    return found


def weighted_rows(weights: Floats, rows: Floats) -> Floats:
    """weights @ rows: einsum starts no threads, which cost more than they bring here."""
    found: Floats = np.einsum("j,jn->n", weights, rows)
    return found


def _sizes(a: Floats | Complex) -> Floats:
    return np.sqrt(a.real * a.real + a.imag * a.imag) if np.iscomplexobj(a) else np.abs(a.real)


def size_of(a: Complex) -> Floats:
    """|a|, by operations that are correctly rounded."""
    size: Floats = np.sqrt(a.real * a.real + a.imag * a.imag)
    return size


def power(minus_one: Complex, error: Floats, times: int) -> tuple[Complex, Floats]:
    """(1 + a)^times - 1 by squaring, with a bound on the error; the truth of |1 + a| is at most 1.

    Theorem: with k products on the way, b = error + 64 k u (|a| + 2 error) and times b <= 1/4, the error is at most
        (1 + b)^times - 1 <= 1.14 times b.
    Reference: Higham 2002, section 3.3
    Proof: docs/theory/accounting/contour.md#powers
    Checked-by: tests/accounting/contour/test_view.py::test_powers
    """
    levels = 2 * times.bit_length()
    each = error + (64 * levels * UNIT) * (_at_most(minus_one) + 2 * error)
    off = (1.14 * times * _SLACK) * each
    bounds = np.where(off <= _FAITHFUL, off, _HOPELESS)
    square = minus_one
    while not times & 1:
        square, times = square * (2 + square), times >> 1
    result = square
    while times := times >> 1:
        square = square * (2 + square)
        if times & 1:
            more = result * square
            more += result
            more += square
            result = more
    return result, bounds


def product(a: Complex, a_error: Floats, b: Complex, b_error: Floats) -> tuple[Complex, Floats]:
    """(1 + a)(1 + b) - 1, likewise."""
    value = a * b
    value += a
    value += b
    error = a_error + b_error + a_error * b_error + 16 * UNIT * (_at_most(a) + _at_most(b))
    return value, np.minimum(error, _HOPELESS)


def together(found: Complex, error: Floats) -> tuple[Complex, Floats]:
    """The product of all 1 + a along the first axis, less 1, two halves at a time."""
    while found.shape[0] > 1:
        half = found.shape[0] // 2
        rest = found[2 * half :], error[2 * half :]
        paired = product(found[:half], error[:half], found[half : 2 * half], error[half : 2 * half])
        found, error = (np.concatenate(both) for both in zip(paired, rest, strict=True))
    return found[0], error[0]


def raised(found: Complex, error: Floats, times: Sequence[int]) -> tuple[Complex, Floats]:
    """The product of all (1 + a)^times along the first axis, less 1: equal times are raised together."""
    groups: dict[int, list[int]] = {}
    for place, many in enumerate(times):
        groups.setdefault(many, []).append(place)
    total: tuple[Complex, Floats] | None = None
    for many, places in groups.items():
        both = (found, error) if len(groups) == 1 else (found[places], error[places])
        one = power(*together(*both), many)
        total = one if total is None else product(*total, *one)
    return total if total is not None else (np.zeros(found.shape[1:], dtype=np.complex128), np.zeros(error.shape[1:]))


def _at_most(a: Complex) -> Floats:
    """A bound on |a|, cheaply."""
    return np.abs(a.real) + np.abs(a.imag)
