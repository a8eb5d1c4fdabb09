"""The integral along the contour as a sum that is a bound.

With D(epsilon) the privacy profile, z_n = c + i n h and M the transform of the composed loss,

    T(epsilon) = h/(2 pi) sum over all n of M(z_n) e^(-z_n epsilon)/(z_n (z_n + 1))
               = sum over all k of e^(2 pi k c/h) D(epsilon + 2 pi k/h)

so that T is above D, and D is above T less bounds on the terms with k != 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.contour.laying import Layout
from privately.accounting.contour.view import (
    FAITHFUL,
    Complex,
    View,
    dot,
    enlarged,
    exp_above,
    power,
    power_errors,
    raised_to,
    size_of,
    together,
)
from privately.accounting.elementary import ERROR, LARGEST_ANGLE, UNIT, Floats, cos_sin, exp, log_between
from privately.accounting.roads import NotApplicable

_PER_TURN_BELOW, _PER_TURN_ABOVE = 0.15915494309189532, 0.1591549430918954
add = np.add.reduce
_TURN_BELOW = 6.283185307179586
_CELLS_AT_ONCE = 1 << 18
_LARGEST = 1.3
"""No |phi^T| is larger, with its error."""
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Bounds:
    """ln D, from below and from above."""

    lower: float
    upper: float


class Integral:
    """The sum along one contour, for any epsilon = centre + s."""

    takes_slopes = False
    """Whether the derivatives of the sum are of use, too."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.c, self.step = layout.c, layout.step
        self.centre = _exact_centre(layout)
        self.near_centre = float(self.centre)
        self._sums: dict[float, tuple[float, float, float]] = {}
        self.places = np.arange(1.0, layout.count + 1)
        self.places *= layout.step
        self.squares = self.places * self.places
        base = self.c * (self.c + 1)
        shares = 1 / (self.squares + base)  # |z (z + 1)| is at least c (c + 1) + w^2
        known = self._alone(shares)
        if known is None:
            value, error = self._transform()
            sizes = size_of(value) * shares
            self.rounding = dot(error, shares) + float(add(sizes)) * (4 * ERROR + 4 * layout.count * UNIT)
            self.turning = 4 * UNIT * dot(sizes, self.places)
        else:
            value, self.rounding, self.turning = known
        weight = np.empty(layout.count, dtype=np.complex128)
        np.subtract(base, self.squares, out=weight.real)
        np.multiply(self.places, 2 * self.c + 1, out=weight.imag)
        self.terms = np.divide(value, weight, out=weight)
        self.first = (1 - (layout.atoms.taken if layout.atoms else 0.0)) / base

    def _alone(self, shares: Floats) -> tuple[Complex, float, float] | None:
        """M(z_n)/M(c) of a law alone with its rounding and turning: bounds on errors that grow linearly with w need no
        arrays.

        Theorem: |phi - 1| <= w E|l|, and |phi^T| is at most 1 but for its error.
        Reference: Higham 2002, section 3.3
        Proof: docs/theory/accounting/contour.md#a-law-alone
        Checked-by: tests/accounting/contour/test_integral.py::test_a_law_alone
        """
        layout = self.layout
        if len(layout.views) != 1 or layout.gaussian or layout.atoms:
            return None
        ((view, times),) = layout.views
        times *= view.repeated
        if not times:
            return None
        found, slope, spread = view.turned(self.step, layout.count)
        by_error, by_size = (enlarged(by) for by in power_errors(times))
        fixed, growing = by_error * view.error, by_error * (slope + by_size / by_error * 2 * spread)
        if not fixed + growing * self.step * layout.count <= FAITHFUL:
            return None
        value = raised_to(found, times)
        value += 1
        each, weighed = float(add(shares)), dot(shares, self.places)
        fixed += 2 * UNIT + _LARGEST * (4 * ERROR + 4 * layout.count * UNIT)
        return value, fixed * each + growing * weighed, _LARGEST * 4 * UNIT * weighed

    def _transform(self) -> tuple[Complex, Floats]:
        """M(z_n)/M(c), centred, with bounds on the errors; without the atoms where they are taken out."""
        gaussian, places = self.layout.gaussian, self.places
        known: tuple[Complex, Floats] | None = None
        if gaussian:
            fall = exp(-places * places * (gaussian / 2))
            known = fall.astype(np.complex128), fall * (ERROR + 4 * UNIT * places * (places + self.c + 1) * gaussian)
        for times, views in self._by_times():
            each = [view.transforms(self.step, self.layout.count) for view in views]
            found, off = each[0] if len(each) == 1 else together(*map(np.stack, zip(*each, strict=True)))
            del each
            found, off = power(found, off, times)
            found = 1 + found
            off = off + 2 * UNIT
            if known is None:
                known = found, off
                continue
            value, error = known
            size, other = size_of(found), size_of(value)
            known = value * found, error * (size + off) + other * off + 8 * UNIT * other * size
        if known is None:
            raise NotApplicable("nothing to add up")
        value, error = known
        if self.layout.atoms:
            taken, off = self.layout.atoms.transforms(self.step, self.layout.count)
            value, error = value - taken, error + off + UNIT
        return value, error

    def _by_times(self) -> list[tuple[int, list[View]]]:
        """Views that come equally often, not so many at once that their transforms fill the memory."""
        groups: dict[int, list[View]] = {}
        for view, times in self.layout.views:
            groups.setdefault(times, []).append(view)
        most = max(_CELLS_AT_ONCE // self.layout.count, 1)
        return [(times, views[at : at + most]) for times, views in groups.items() for at in range(0, len(views), most)]

    def sum_at(self, s: float) -> tuple[float, float, float]:
        """The sum at centre + s, without e^(K - c epsilon) and without the atoms, and two derivatives in s."""
        if s not in self._sums:
            self.look_at(s)
        return self._sums[s]

    def look_at(self, *places: float) -> None:
        """Takes the sums at all these s at once."""
        if self.places[-1] * max(map(abs, places)) > LARGEST_ANGLE:
            raise NotApplicable("the sum turns too often")
        where, scale = np.array(places)[:, None], self.step * _PER_TURN_BELOW
        found = self._sums_over(slice(0, _BLOCK), where)
        for start in range(_BLOCK, self.places.size, _BLOCK):  # so that many nodes take little memory
            found += self._sums_over(slice(start, start + _BLOCK), where)
        for s, total, slope, bend in zip(places, *found.tolist(), strict=True):
            self._sums[s] = scale * (self.first + 2 * total), 2 * scale * slope, -2 * scale * bend

    def _sums_over(self, part: slice, where: Floats) -> Floats:
        """The sums over some nodes, and those that belong to derivatives where these are of use."""
        nodes, terms = self.places[part], self.terms[part]
        cosine, sine = cos_sin(nodes * where)
        real, imaginary = terms.real, terms.imag
        level = real * cosine
        level += imaginary * sine
        found = np.zeros((3, where.size))
        add(level, axis=1, out=found[0])
        if self.takes_slopes:
            imaginary = imaginary * cosine
            imaginary -= real * sine
            imaginary *= nodes
            level *= self.squares[part]
            add(imaginary, axis=1, out=found[1])
            add(level, axis=1, out=found[2])
        return found

    @lru_cache(maxsize=2)  # noqa: B019 - as below
    def _nearly(self, s: float) -> tuple[float, float, float]:
        """The sum and two derivatives, without a promise."""
        turned = self.terms * np.exp(self.places * (-1j * s))
        real, scale = turned.real, self.step * _PER_TURN_BELOW
        total, slope, bend = float(add(real)), dot(self.places, turned.imag), dot(self.squares, real)
        return scale * (self.first + 2 * total), 2 * scale * slope, -2 * scale * bend

    @lru_cache(maxsize=8)  # noqa: B019 - as below
    def _atoms_part(self, s: float) -> tuple[float, float, float]:
        return self.layout.atoms.part(s) if self.layout.atoms else (0.0, 0.0, 0.0)

    @lru_cache(maxsize=2)  # noqa: B019 - as below
    def _atoms_nearly(self, s: float) -> tuple[float, float, float]:
        return self.layout.atoms.nearly(s) if self.layout.atoms else (0.0, 0.0, 0.0)

    def estimate(self, s: float) -> tuple[float, float, float]:
        """ln D at centre + s and its first two derivatives, without bounds: to find an epsilon by."""
        total, slope, bend = self._nearly(s)
        if self.layout.atoms:
            atoms, _, atoms_slope = self._atoms_nearly(s)
            total, slope, bend = total + atoms, slope + atoms_slope, 0.0
        if total <= 0:
            return -math.inf, -self.c, 0.0
        middle, slope = sum(self.layout.log_mass) / 2, slope / total
        level = middle - self.c * (self.near_centre + s) + math.log(total)
        return level, slope - self.c, bend / total - slope * slope

    def bounds(self, s: float) -> Bounds:
        """ln D at centre + s.

        Theorem: the sum over all n is the sum of the shifted profiles above; the terms left out add at most
        e^(-falls)/(pi W), W the last frequency.
        Reference: Abate-Whitt 1992 (Poisson summation for Laplace transforms)
        Proof: docs/theory/accounting/contour.md#the-sum-is-a-bound
        Checked-by: tests/accounting/contour/test_integral.py::test_the_sum_is_a_bound
        """
        return Bounds(lower=self.lower(s), upper=self.upper(s))

    def margins(self, s: float) -> tuple[float, float]:
        """About how far bounds on ln D at centre + s will be below and above an estimate."""
        part, doubt, _ = self._atoms_nearly(s)
        off, ends = self._off(s, doubt)
        total = self._nearly(s)[0] + part
        less = (off + self._aliases(self.near_centre + s, ends[0])) / total if total > 0 else math.inf
        apart = (ends[1] - ends[0]) / 2 + 16 * UNIT * max(map(abs, ends))
        above = math.log1p(off / total) + apart if total > 0 else math.inf
        return (-math.log1p(-less) + apart if less < 1 else math.inf), above

    def upper(self, s: float) -> float:
        """ln D at centre + s, from above."""
        total, off, ends = self._known(s)
        return ends[1] + log_between(max(total + off, 1e-300))[1]

    def lower(self, s: float) -> float:
        """ln D at centre + s, from below."""
        total, off, ends = self._known(s)
        rest = total - off - self._aliases(self.near_centre + s, ends[0])
        return ends[0] + log_between(rest)[0] if rest > 0 else -math.inf

    @lru_cache(maxsize=4)  # noqa: B019 - both ends are asked for at the same place, and an integral is short-lived
    def _known(self, s: float) -> tuple[float, float, tuple[float, float]]:
        """The sum, how far it may be off but for its aliases, and K - c epsilon from below and from above."""
        part, doubt, _ = self._atoms_part(s)
        off, ends = self._off(s, doubt)
        return self.sum_at(s)[0] + part, off, ends

    def _off(self, s: float, doubt: float) -> tuple[float, tuple[float, float]]:
        """How far the sum may be off but for its aliases, and K - c epsilon from below and from above."""
        layout, c = self.layout, self.c
        off = 2 * self.step * _PER_TURN_ABOVE * (self.rounding + self.turning * abs(s))
        off += layout.truncated + 8 * UNIT * self.step * self.first
        if layout.atoms:
            off += doubt + self.step * layout.atoms.taken_error / (c * (c + 1))
        off = enlarged(off)
        centre = self.near_centre
        slack = 8 * UNIT * (c * abs(centre) + abs(c * s) + max(map(abs, layout.log_mass)))
        low, high = layout.log_mass
        return off, (low - c * (centre + s) - slack, high - c * (centre + s) + slack)

    def _aliases(self, epsilon: float, scale: float) -> float:
        """The terms with k != 0, over e^scale, by Chernoff bounds from two other heights."""
        period = _TURN_BELOW / self.step
        total = 0.0
        for height, log_mass in self.layout.heights:
            ratio = exp_above(-abs(height - self.c) * period * (1 - 2.0**-40))
            exponent = log_mass - height * epsilon - scale + 8 * UNIT * abs(height * epsilon)
            total += exp_above(exponent) * ratio / (1 - ratio) if ratio < 1 else math.inf
        return total


def _exact_centre(layout: Layout) -> Fraction:
    if len(layout.views) == 1 and not layout.gaussian:
        ((view, times),) = layout.views
        above, below = view.centre.as_integer_ratio()
        return Fraction(times * above, below)
    gaussian = Fraction((layout.c + 0.5) * layout.gaussian)
    return gaussian + sum((times * Fraction(view.centre) for view, times in layout.views), Fraction(0))
