"""What the contour integral sees of a loss law."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privately.accounting.elementary import ERROR, LARGEST_ANGLE, UNIT, Floats, expm1, turn, turn_minus_one
from privately.accounting.roads import NotApplicable

Complex = NDArray[np.complex128]

_SLACK = 1 + 2.0**-20
BLOCK = 1 << 15
_ALONE = 1 << 15
"""Matrix products of at most so many complex multiplications are not shared among threads."""
_LARGE, _TILE = 1 << 12, 32
"""Larger products are made of tiles, which stay in the caches of the processor."""
_FEW_POINTS, _FEW_TURNS = 4, 1024
"""For so few, no products are worth their while."""
_MOST_ALONE = 4096
_DEAD = 43.0
_PLAIN_DIGITS = 8
_MOST_RAISED = 1 << 16
"""More numbers are raised to a power in parts, which takes less memory."""
_UNITY, _ONE = np.array(1.0), np.array(1.0 + 0j)
_FAINT = 1e-6
FAITHFUL = 0.28
_LARGEST_POWER = 1.3
_HOPELESS = 2.0  # as far as two points of the unit disk can be apart


def largest(a: Floats) -> float:
    """The largest |a|."""
    return max(float(np.maximum.reduce(a)), -float(np.minimum.reduce(a)))


def _is_complex(a: Floats | Complex) -> bool:
    return a.dtype.kind == "c"


def dot(a: Floats, b: Floats) -> float:
    """The sum of the products; of many, without the threads that a library would start."""
    return float(a @ b) if a.size <= _MOST_ALONE else float(np.add.reduce(a * b))


def enlarged(bound: float) -> float:
    """A bound that was itself computed in floats, made safe: its own relative error is far below 2^-20."""
    return bound * _SLACK


def exp_above(x: float) -> float:
    """A power of two at or above e^x, less than four times as large."""
    exponent = math.ceil(x * 1.4426950408889635 + 2.0**-20)
    return math.ldexp(1.0, max(exponent, -1000)) if exponent < 1000 else math.inf


@dataclass(eq=False)
class Rough:
    """Points and log-weights that give ln M(c) nearly: to choose a contour by, not to claim by."""

    losses: Floats
    base: Floats

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """K(c) = ln M(c) and its first two derivatives."""
        top, weights, total = self._weights(c)
        weighted = weights * self.losses
        mean = float(np.add.reduce(weighted)) / total
        spread = float(weighted @ self.losses) / total - mean * mean
        if spread < _FAINT * mean * mean:
            centred = self.losses - mean
            spread = float(weights @ (centred * centred)) / total
        return top + math.log(total), mean, spread

    def levels(self, heights: Floats) -> Floats:
        """K alone, at several places."""
        exponents = np.multiply.outer(heights, self.losses)
        exponents += self.base
        top = np.maximum.reduce(exponents, axis=1)
        exponents -= top[:, None]
        found: Floats = top + np.log(np.add.reduce(np.exp(exponents, out=exponents), axis=1))
        return found

    def _weights(self, c: float) -> tuple[float, Floats, float]:
        exponents = c * self.losses
        exponents += self.base
        top = float(np.maximum.reduce(exponents))
        exponents -= top
        weights = np.exp(exponents, out=exponents)
        return top, weights, float(np.add.reduce(weights))


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
    spread: float | None = field(default=None, kw_only=True)
    """The sum of |weights| |losses|, if that is known."""

    def transforms(self, step: float, count: int) -> tuple[Complex, Floats]:
        """phi - 1 at step, 2 step, ..., count step, and bounds on the errors.

        Theorem: a_(p+q) = a_p + a_q + a_p a_q for a_n = e^(i n x) - 1, and doubling loses at most 2^-48 |n x| a level.
        Reference: Higham 2002, section 3.6
        Proof: docs/theory/accounting/contour.md#turning-by-doubling
        Checked-by: tests/accounting/contour/test_view.py::test_turning_by_doubling
        """
        found, slope, _ = self.turned(step, count)
        places = step * np.arange(1, count + 1, dtype=np.float64)
        return found, (self.error + places * slope) * _SLACK

    @property
    def repeated(self) -> int:
        """How often what `turned` gives is in it; 0 where that does not say all."""
        return 1 if type(self) is View else 0

    def turned(self, step: float, count: int) -> tuple[Complex, float, float]:
        """phi - 1 at these places, how the bounds on the errors grow with w, and how phi - 1 itself does at most."""
        if step * largest(self.losses.real) > LARGEST_ANGLE:
            raise NotApplicable("the sum turns too often")
        found = turned_sums(self.weights, step * self.losses, count)
        rounding = turn_error(count) + 4 * self.losses.size * UNIT
        spread = float(_sizes(self.weights) @ _sizes(self.losses)) if self.spread is None else self.spread
        return found, self.slope + rounding * spread, spread


class _Workspace(threading.local):
    """Memory that is kept: to ask the system for it again takes longer than to fill it."""

    def __init__(self) -> None:
        self.block = np.empty(BLOCK, dtype=np.complex128)


_WORKSPACE = _Workspace()


def turn_error(count: int) -> float:
    """Of turns up to count, relative to count times the angle, angles themselves rounded."""
    return 2 * ERROR + (count.bit_length() + 4) * 2.0**-48


@dataclass(frozen=True)
class Turns:
    """e^(i n angle) - 1 in rows: for n = 1, ..., m, and for the multiples m, 2m, ... below the count."""

    small: Complex
    large: Complex

    @classmethod
    def of(cls, angles: Floats | Complex, count: int) -> Turns:
        """The next call in this thread may write to the same memory."""
        few, many = _split(count)
        size, block = angles.size, _WORKSPACE.block
        if size * (few + many) > block.size:
            block = np.empty(size * (few + many), dtype=np.complex128)
        turns = block[: size * (few + many)].reshape(few + many, size)
        turns[0] = turn_minus_one(angles.real)
        if _is_complex(angles):
            turns[0] += (1 + turns[0]) * expm1(-angles.imag)
        small, large = turns[:few], turns[few:]
        _doubled(small)
        if many:
            large[0] = small[-1]
            _doubled(large)
        return cls(small, large)

    def sums(self, weights: Floats | Complex, count: int, part: slice = slice(None)) -> Complex:
        """The sum of weights (e^(i n angle) - 1) for n = 1, ..., count, over all angles or a part of them.

        Theorem: for n = r m + q it is the sum of w (1 + a_rm) a_q and of w a_rm, and the products may be added up in
            any order: the rounding is at most 2^-48 |n x| and 4 N u |q x| more, N the number of angles.
        Reference: Higham 2002, section 3.1
        Proof: docs/theory/accounting/contour.md#sums-of-turns
        Checked-by: tests/accounting/contour/test_view.py::test_sums_of_turns
        """
        small = self.small[:, part]
        left = np.empty((self.large.shape[0] + 1, small.shape[1]), dtype=np.complex128)
        left[0] = weights
        first, rows = left[0], left[1:]
        np.multiply(self.large[:, part], first, out=rows)
        whole = np.add.reduce(rows, axis=1)
        rows += first
        found = _product(left, small)
        found[1:] += whole[:, None]
        return found.reshape(-1)[:count]


def every_turn(angles: Floats, count: int) -> Complex:
    """e^(i n angle) - 1 for n = 1, ..., count, in rows. The next call in this thread may write to the same memory."""
    size, block = angles.size * count, _WORKSPACE.block
    if size > block.size:
        block = np.empty(size, dtype=np.complex128)
    turns = block[:size].reshape(count, angles.size)
    turns[0] = turn_minus_one(angles)
    _doubled(turns)
    return turns


def _split(count: int) -> tuple[int, int]:
    """m, a power of two near the square root, and how many of its multiples are below the count."""
    few = 1 << (count.bit_length() // 2)
    return few, (count - 1) // few


def _product(left: Complex, right: Complex) -> Complex:
    """left right^T, in parts so small that no threads are started: these cost more than they bring here."""
    if left.shape[0] * right.shape[0] <= _LARGE:
        return _in_parts(left, right)
    found: Complex = np.empty((left.shape[0], right.shape[0]), dtype=np.complex128)
    for row in range(0, left.shape[0], _TILE):
        for column in range(0, right.shape[0], _TILE):
            part = _in_parts(left[row : row + _TILE], right[column : column + _TILE])
            found[row : row + _TILE, column : column + _TILE] = part
    return found


def _in_parts(left: Complex, right: Complex) -> Complex:
    """left right^T, some columns at a time."""
    size = left.shape[1]
    most = max(_ALONE // (left.shape[0] * right.shape[0]), 1)
    found: Complex = left[:, :most] @ right[:, :most].T
    for start in range(most, size, most):
        found += left[:, start : start + most] @ right[:, start : start + most].T
    return found


def points_at_once(count: int) -> int:
    """So many fit into the memory that is kept."""
    return max(BLOCK // sum(_split(count)), 1)


def _doubled(turns: Complex) -> None:
    """Fills the rows 2, 3, ... from the first: a_(p+q) = a_p + (1 + a_p) a_q."""
    done, count = 1, turns.shape[0]
    while done < count:
        more = min(done, count - done)
        last, target = turns[done - 1], turns[done : done + more]
        np.multiply(turns[:more], last + _ONE, out=target)
        target += last
        done += more


def turned_sums(weights: Floats | Complex, angles: Floats | Complex, count: int) -> Complex:
    """The sum of weights (e^(i n angle) - 1) for n = 1, ..., count."""
    is_short = angles.size <= _FEW_POINTS and count <= _FEW_TURNS and not _is_complex(angles)
    if is_short and count * largest(angles.real) < LARGEST_ANGLE:
        turns = turn_minus_one(angles.real[:, None] * np.arange(1.0, count + 1))
        return np.asarray(np.einsum("j,jn->n", weights, turns), dtype=np.complex128)
    most = points_at_once(count)
    if angles.size <= most:
        return Turns.of(angles, count).sums(weights, count)
    found = np.zeros(count, dtype=np.complex128)
    for start in range(0, angles.size, most):
        part = slice(start, start + most)
        alive = _alive(angles[part], count)
        found[:alive] += Turns.of(angles[part], alive).sums(weights[part], alive)
        if alive < count:
            found[alive:] -= weights[part].sum()
    return found


def _alive(angles: Floats | Complex, count: int) -> int:
    """After so many turns nothing is left of any e^(i n angle).

    Theorem: where n Im x >= 42, |e^(inx)| <= e^-42 < 2^-60, so that -1 stands for e^(inx) - 1 within 2^-65 |nx|.
    Reference: none needed
    Proof: docs/theory/accounting/contour.md#sums-of-turns
    Checked-by: tests/accounting/contour/test_view.py::test_turns_that_have_died_out
    """
    slowest = float(angles.imag.min()) if _is_complex(angles) else 0.0
    return min(math.ceil(_DEAD / slowest), count) if slowest * count > _DEAD else count


def plain_transforms(weights: Floats, angles: Floats, count: int) -> Complex:
    """The sums of weights e^(i n angle) for n = 1, ..., count: a row for each row of weights of sum 1.

    Theorem: with N >= 3 angles each sum is off by at most (16 count + 4N + 16) u.
    Reference: Higham 2002, section 3.6
    Proof: docs/theory/accounting/contour.md#many-alike-steps
    Checked-by: tests/accounting/contour/test_view.py::test_plain_transforms
    """
    few, many = _split(count)
    small = np.empty((few, angles.size), dtype=np.complex128)
    small[0] = turn(angles)
    done = 1
    while done < few:
        np.multiply(small[:done], small[done - 1], out=small[done : 2 * done])
        done *= 2
    left = np.empty((many + 1, len(weights), angles.size), dtype=np.complex128)
    left[0] = weights
    done, factor = 1, small[-1]
    while done <= many:
        more = min(done, many + 1 - done)
        np.multiply(left[:more], factor, out=left[done : done + more])
        done += more
        factor = factor * factor if done <= many else factor
    found = _product(left.reshape(-1, angles.size), small)
    if len(weights) > 1:
        found = found.reshape(many + 1, len(weights), few).swapaxes(0, 1)
    return found.reshape(len(weights), -1)[:, :count]


def plain_power(value: Complex, times: int) -> Complex:
    """value^times by squaring, nothing kept apart."""
    found = value
    for digit in bin(times)[3:]:
        found = found * found
        if digit == "1":
            found *= value
    return found


def weighted_rows(weights: Floats, rows: Floats) -> Floats:
    """weights @ rows: einsum starts no threads, which cost more than they bring here."""
    found: Floats = np.einsum("j,jn->n", weights, rows)
    return found


def _sizes(a: Floats | Complex) -> Floats:
    return np.sqrt(a.real * a.real + a.imag * a.imag) if _is_complex(a) else np.abs(a.real)


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
    if minus_one.size > _MOST_RAISED and minus_one.ndim == 1:
        value, off = np.empty_like(minus_one), np.empty_like(error)
        for start in range(0, minus_one.size, _MOST_RAISED):
            part = slice(start, start + _MOST_RAISED)
            value[part], off[part] = power(minus_one[part], error[part], times)
        return value, off
    by_error, by_size = power_errors(times)
    off = by_error * error + by_size * _at_most(minus_one)
    return raised_to(minus_one, times), np.where(off <= FAITHFUL, off, _HOPELESS)


def power_errors(times: int) -> tuple[float, float]:
    """What an error of a, and the size of a, add to the error of (1 + a)^times - 1, if the sum is at most FAITHFUL."""
    each, rounding = 1.14 * times * _SLACK, 128 * times.bit_length() * UNIT
    return each * (1 + 2 * rounding), each * rounding


def raised_to(minus_one: Complex, times: int) -> Complex:
    """(1 + a)^times - 1, by squaring."""
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
    return result


def whole_power(minus_one: Complex, times: int) -> tuple[Complex, float]:
    """(1 + a)^times, with a bound on what rounding adds to the errors of `power`: the last digits of `times` are done
    as there, the first few plainly.

    Theorem: n factors of size at most 1 but for their errors, multiplied in any order, add at most 4 n u.
    Reference: Higham 2002, section 3.6
    Proof: docs/theory/accounting/contour.md#a-law-alone
    Checked-by: tests/accounting/contour/test_view.py::test_whole_powers
    """
    later = max(times.bit_length() - _PLAIN_DIGITS, 0)
    first, last = times >> later, times & ((1 << later) - 1)
    base = raised_to(minus_one, 1 << later) if later else minus_one
    base = base + _UNITY
    value = base
    for digit in bin(first)[3:]:
        value = value * value
        if digit == "1":
            value *= base
    if last:
        rest = raised_to(minus_one, last)
        rest += _UNITY
        value = value * rest
    return value, _LARGEST_POWER * (4 * first + 8) * UNIT


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
