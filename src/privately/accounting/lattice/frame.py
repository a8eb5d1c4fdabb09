"""The nodes of the sum: a lattice of losses with step a, and N points on the contour Re z = c.

z_n = c + i w_n with w_n = 2 pi n/(N a), n = 0, ..., N/2: on these, e^(z j a) is e^(c j a) times a root of unity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, turn_minus_one
from privately.accounting.lattice import fourier
from privately.accounting.lattice.fourier import Complex, modulus
from privately.accounting.roads import NotApplicable

Repeats: TypeAlias = NDArray[np.int8]

KERNEL_ERROR = 16 * ERROR
"""Relative, of `Frame.kernel` and `Frame.second`."""

_STEEPEST = 1.0
_STEPS = 8
_BLOCK = 1 << 15


def exp_of_many(exponents: Floats) -> Floats:
    """exp in blocks: what is needed on the way takes little memory."""
    found = np.empty(exponents.shape)
    for start in range(0, exponents.size, _BLOCK):
        found[start : start + _BLOCK] = exp(exponents[start : start + _BLOCK])
    return found


@dataclass(frozen=True)
class Frame:
    """A step of the lattice, a power of two of nodes, and the height of the contour, all taken exactly."""

    step: float
    count: int
    tilt: float

    def __post_init__(self) -> None:
        if not (self.tilt > 0 and (self.tilt + 1) * self.step <= _STEEPEST):
            raise NotApplicable("the lattice is too coarse")

    @cached_property
    def frequencies(self) -> Floats:
        """w_n, to a relative error of 4 UNIT."""
        return np.arange(self.count // 2 + 1.0) * (2 * math.pi / (self.count * self.step))

    @cached_property
    def beyond(self) -> Floats:
        """Frequencies from that of the last node to twice that, in even steps, a little below the truth."""
        last = math.pi / self.step * (1 - 2.0**-40)
        return last * (1 + np.arange(_STEPS + 1.0) / _STEPS)

    @cached_property
    def weight(self) -> Complex:
        """z (z + 1), to a relative error of 16 UNIT."""
        z = self.tilt + 1j * self.frequencies
        return z * (z + 1)

    @cached_property
    def size(self) -> Floats:
        """|z (z + 1)|."""
        return modulus(self.weight)

    @cached_property
    def second(self) -> Complex:
        """1/(e^((z+1) a) - 1)."""
        found = self._minus_one(self.tilt + 1)
        return np.divide(1, found, out=found)

    @cached_property
    def kernel(self) -> Complex:
        """K(z) = a/(e^(z a) - 1) - a/(e^((z+1) a) - 1), the sum of 1/(z (z+1)) over all z + 2 pi i k/a.

        Written as a product, in which nothing cancels.
        """
        grown = self.step * scalar_expm1(self.step) * scalar_exp(self.tilt * self.step)
        found = self._minus_one(self.tilt)
        for part in self.parts():
            found[part] = self.second[part] * (grown / found[part])
            found[part] *= self.turned(1, part.start, part.stop)
        if self.count > _BLOCK:
            _turns_less_one.cache_clear()
        return found

    def parts(self) -> Iterator[slice]:
        """All nodes, so many at a time that what is needed on the way takes little memory."""
        nodes = self.count // 2 + 1
        for start in range(0, nodes, _BLOCK):
            yield slice(start, min(start + _BLOCK, nodes))

    def turned(self, j: int, start: int = 0, stop: int | None = None) -> Complex:
        """e^(i w j a), at all nodes or at some."""
        places = np.arange(start, self.count // 2 + 1 if stop is None else stop) * (j % self.count) % self.count
        return fourier.turned(places.astype(np.float64), self.count)

    @cached_property
    def repeats(self) -> Repeats:
        """How often each node counts in a sum over one period: the conjugates are not kept."""
        often = np.full(self.count // 2 + 1, 2, dtype=np.int8)
        often[0] = often[-1] = 1
        return often

    @property
    def period(self) -> float:
        """N a."""
        return self.count * self.step

    def _minus_one(self, power: float) -> Complex:
        """e^(power a + i w a) - 1, to a relative error of 5 ERROR.

        Theorem: |e^(s + it) - 1|^2 = (e^s - 1)^2 + 4 e^s sin^2(t/2); for 0 < s <= 1 and 0 <= t <= pi the errors of its
            two parts, ERROR (e^s - 1) and ERROR e^s t, therefore add up to at most 4 ERROR of it.
        Reference: half-angle formula
        Proof: docs/theory/accounting/lattice.md#the-kernel
        Checked-by: tests/accounting/lattice/test_frame.py::test_kernel_is_within_its_error
        """
        grown = scalar_expm1(power * self.step)
        found = (1 + grown) * _turns_less_one(self.count)
        found += grown
        return found


@lru_cache(maxsize=2)
def _turns_less_one(count: int) -> Complex:
    """e^(i w a) - 1 at all nodes."""
    angles = np.arange(count // 2 + 1.0) * (2 * math.pi / count)
    found = np.empty(angles.size, dtype=np.complex128)
    for start in range(0, angles.size, _BLOCK):
        found[start : start + _BLOCK] = turn_minus_one(angles[start : start + _BLOCK])
    found.flags.writeable = False
    return found


def scalar_exp(x: float) -> float:
    """e^x with the error of `elementary.exp`."""
    return float(exp(np.array([x]))[0])


def scalar_expm1(x: float) -> float:
    """e^x - 1 with the error of `elementary.expm1`."""
    return float(expm1(np.array([x]))[0])


def short(value: float, bits: int = 24) -> float:
    """A float of few bits, at most `value`."""
    fraction, exponent = math.frexp(value)
    return math.ldexp(math.floor(math.ldexp(fraction, bits)), exponent - bits)


def enlarged(value: float, operations: int = 8) -> float:
    """Above `value` by more than so many roundings could have lost."""
    return value * (1 + 2 * operations * UNIT)
