"""The sum along the contour near one place: its derivatives there, taken in one pass, serve all places around."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from privately.accounting.contour.view import Complex
from privately.accounting.elementary import LARGEST_ANGLE, Floats, cos_sin
from privately.accounting.roads import NotApplicable

ORDER = 10
_FACTORS = [(1, 1, -1, -1)[k % 4] / math.factorial(k) for k in range(ORDER)]
"""Of the real part of (-i)^k (x + iy)/k!, which is x or y but for the sign."""
_NEXT = 1 / math.factorial(ORDER)
_FARTHEST = 0.5
_NEGLIGIBLE = 2.0**-42
_BLOCK = 2048
"""So many nodes at once: matrix products as small as these are not shared among threads."""


class Expansion(NamedTuple):
    """The real part of the sum of terms e^(-i w s) near s = place, by powers of W (s - place)."""

    place: float
    last: float
    """W, the largest frequency."""
    coefficients: list[float]
    rest: float
    """What the next power is multiplied by, at most."""

    def at(self, s: float) -> tuple[float, float, float]:
        """The sum at s and its first two derivatives, but for what is missing."""
        if s == self.place:
            first, second, third = self.coefficients[:3]
            return first, self.last * second, 2 * self.last * self.last * third
        x = (s - self.place) * self.last
        total = slope = bend = 0.0
        for coefficient in reversed(self.coefficients):
            bend = bend * x + slope
            slope = slope * x + total
            total = total * x + coefficient
        return total, self.last * slope, 2 * self.last * self.last * bend

    def bounded(self, s: float) -> tuple[float, float, float]:
        """The sum at s, how much larger the errors of its terms may be than at the place, and what later powers add at
        most.

        Theorem: |e^(ix) - its first K powers| <= |x|^K/K!, and an error of a term counts at most e^|x| times.
        Reference: Katznelson 2004, section VI.1
        Proof: docs/theory/accounting/contour.md#near-one-place
        Checked-by: tests/accounting/contour/test_expanding.py::test_the_sum_near_a_place
        """
        x = (s - self.place) * self.last
        total = 0.0
        for coefficient in reversed(self.coefficients):
            total = total * x + coefficient
        x = abs(x)
        return total, 1 / (1 - x), x**ORDER * self.rest

    def reaches(self, s: float, total: float) -> bool:
        """Whether what is missing at s is negligible beside this total."""
        x = abs(s - self.place) * self.last
        return x <= _FARTHEST and x**ORDER * self.rest <= _NEGLIGIBLE * total


def expanded(terms: Complex, places: Floats, s: float) -> Expansion:
    """The sum of these terms, at the multiples of the first frequency, near s."""
    count, last = places.size, float(places[-1])
    if last * abs(s) > LARGEST_ANGLE:
        raise NotApplicable("the sum turns too often")
    if count <= _BLOCK:
        sums = _sums(terms, places, s, _powers(count))
    else:
        sums = np.zeros((3, ORDER + 1))
        for start in range(0, count, _BLOCK):
            part = slice(start, start + _BLOCK)
            sums += _sums(terms[part], places[part], s, _powers_of(places[part] / last))
    level, turned, sizes = sums.tolist()
    found = [factor * (turned if k & 1 else level)[k] for k, factor in enumerate(_FACTORS)]
    return Expansion(s, last, found, _NEXT * sizes[ORDER])


def _sums(terms: Complex, places: Floats, s: float, powers: Floats) -> Floats:
    """Of the real and imaginary parts of terms e^(-i w s), and of bounds on their sizes, with all powers."""
    rows, real, imaginary = np.empty((3, places.size)), terms.real, terms.imag
    level, turned, sizes = rows
    if s:
        cosine, sine = cos_sin(places * s)
        np.multiply(real, cosine, out=level)
        np.multiply(imaginary, cosine, out=turned)
        level += imaginary * sine
        turned -= real * sine
    else:
        level[:], turned[:] = real, imaginary
    np.abs(turned, out=sizes)
    sizes += np.abs(level)
    found: Floats = rows @ powers
    return found


@lru_cache(maxsize=16)
def _powers(count: int) -> Floats:
    """(n/count)^k, a row for each n."""
    return _powers_of(np.arange(1.0, count + 1) / count)


def _powers_of(shares: Floats) -> Floats:
    powers = np.ones((ORDER + 1, shares.size))
    for k in range(ORDER):
        np.multiply(powers[k], shares, out=powers[k + 1])
    return np.ascontiguousarray(powers.T)
