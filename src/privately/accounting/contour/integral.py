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

import numpy as np

from privately.accounting.contour.expanding import Expansion, expanded
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
    size_of,
    together,
    whole_power,
)
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, log_between
from privately.accounting.kept import Kept
from privately.accounting.roads import NotApplicable

_PER_TURN_BELOW, _PER_TURN_ABOVE = 0.15915494309189532, 0.1591549430918954
add = np.add.reduce
_TURN_BELOW = 6.283185307179586
_CELLS_AT_ONCE = 1 << 18
_MIDDLE = 2.0**-20
"""So near 0, the sum is expanded there, where no term turns."""
_EXACT = 2**53
"""Whole numbers up to this are floats."""
_LARGEST = 1.3
"""No |phi^T| is larger, with its error."""


@dataclass(frozen=True)
class Bounds:
    """ln D, from below and from above."""

    lower: float
    upper: float


class Integral:
    """The sum along one contour, for any epsilon = centre + s."""

    takes_slopes = False
    """Whether the derivatives of the sum are of use, too: then it is expanded at every place that is asked for."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.c, self.step = layout.c, layout.step
        self.near_centre = _near_centre(layout)
        self._expansions: list[Expansion] = []
        self._looks: dict[float, tuple[float, float, float, float]] = {}
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

    @Kept
    def centre(self) -> Fraction:
        """From where s is counted, exactly."""
        return _exact_centre(self.layout)

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
        value, added = whole_power(found, times)
        each, weighed = float(add(shares)), dot(shares, self.places)
        fixed += added + _LARGEST * (4 * ERROR + 4 * layout.count * UNIT)
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
        total, slope, bend = self._near(s, is_exact=self.takes_slopes).at(s)
        scale = self.step * _PER_TURN_BELOW
        return scale * (self.first + 2 * total), 2 * scale * slope, 2 * scale * bend

    def _near(self, s: float, *, is_exact: bool = False) -> Expansion:
        """The sum near s, expanded there or at a place close by."""
        for known in self._expansions:
            if known.place == s or (not is_exact and known.reaches(s, self.first / 2 + known.coefficients[0])):
                return known
        is_middle = not is_exact and abs(s) * float(self.places[-1]) < _MIDDLE
        found = expanded(self.terms, self.places, 0.0 if is_middle else s)
        self._expansions.append(found)
        return found

    def estimate(self, s: float) -> tuple[float, float, float]:
        """ln D at centre + s and its first two derivatives, without bounds: to find an epsilon by."""
        level, slope, bend = self._near(s).at(s)
        total, scale = self.first + 2 * level, self.step * _PER_TURN_BELOW
        slope, bend = 2 * slope, 2 * bend
        if self.layout.atoms:
            atoms, _, atoms_slope = self.layout.atoms.nearly(s)
            total, slope, bend = total + atoms / scale, slope + atoms_slope / scale, 0.0
        if total <= 0:
            return -math.inf, -self.c, 0.0
        (low, high), slope = self.layout.log_mass, slope / total
        value = (low + high) / 2 - self.c * (self.near_centre + s) + math.log(scale * total)
        return value, slope - self.c, bend / total - slope * slope

    def bounds(self, s: float) -> Bounds:
        """ln D at centre + s.

        Theorem: the sum over all n is the sum of the shifted profiles above; the terms left out add at most
        e^(-falls)/(pi W), W the last frequency.
        Reference: Abate-Whitt 1992 (Poisson summation for Laplace transforms)
        Proof: docs/theory/accounting/contour.md#the-sum-is-a-bound
        Checked-by: tests/accounting/contour/test_integral.py::test_the_sum_is_a_bound
        """
        return Bounds(lower=self.lower(s), upper=self.upper(s))

    def upper(self, s: float) -> float:
        """ln D at centre + s, from above."""
        total, off, _, high = self._known(s)
        return high + log_between(max(total + off, 1e-300))[1]

    def lower(self, s: float) -> float:
        """ln D at centre + s, from below."""
        total, off, low, _ = self._known(s)
        rest = total - off - self._aliases(self.near_centre + s, low)
        return low + log_between(rest)[0] if rest > 0 else -math.inf

    def roughly(self, s: float) -> tuple[float, float]:
        """About what `lower` and `upper` say: to come near the ends by."""
        total, off, low, high = self._known(s)
        least = total - off - self._aliases(self.near_centre + s, low)
        return low + math.log(least) if least > 0 else -math.inf, high + math.log(max(total + off, 1e-300))

    def _known(self, s: float) -> tuple[float, float, float, float]:
        """As `_looked_at` says; both ends are asked for at the same place."""
        if s not in self._looks:
            self._looks[s] = self._looked_at(s)
        return self._looks[s]

    def _looked_at(self, s: float) -> tuple[float, float, float, float]:
        """The sum, how far it may be off but for its aliases, and K - c epsilon from below and from above."""
        layout, c, centre = self.layout, self.c, self.near_centre
        near = self._near(s, is_exact=self.takes_slopes)
        level, grown, missing = near.bounded(s)
        off = 2 * self.step * _PER_TURN_ABOVE * (grown * (self.rounding + self.turning * abs(near.place)) + missing)
        off += layout.truncated + 8 * UNIT * self.step * self.first
        total = self.step * _PER_TURN_BELOW * (self.first + 2 * level)
        if layout.atoms:
            part, doubt, _ = layout.atoms.part(s)
            total += part
            off += doubt + self.step * layout.atoms.taken_error / (c * (c + 1))
        low, high = layout.log_mass
        slack = 8 * UNIT * (c * abs(centre) + abs(c * s) + max(-low, high))
        away = c * (centre + s)
        return total, enlarged(off), low - away - slack, high - away + slack

    def _aliases(self, epsilon: float, scale: float) -> float:
        """The terms with k != 0, over e^scale, by Chernoff bounds from two other heights."""
        total = 0.0
        for (height, log_mass), share in zip(self.layout.heights, self._shares, strict=True):
            exponent = log_mass - height * epsilon - scale + 8 * UNIT * abs(height * epsilon)
            total += exp_above(exponent) * share
        return total

    @Kept
    def _shares(self) -> list[float]:
        """What the aliases on each side are of the first bound, in all."""
        period = _TURN_BELOW / self.step * (1 - 2.0**-40)
        ratios = [exp_above(-abs(height - self.c) * period) for height, _ in self.layout.heights]
        return [ratio / (1 - ratio) if ratio < 1 else math.inf for ratio in ratios]


def _near_centre(layout: Layout) -> float:
    """The nearest float: products of two floats are rounded correctly."""
    if len(layout.views) == 1 and not layout.gaussian:
        ((view, times),) = layout.views
        if isinstance(view.centre, float) and times <= _EXACT:
            return times * view.centre
    return float(_exact_centre(layout))


def _exact_centre(layout: Layout) -> Fraction:
    if len(layout.views) == 1 and not layout.gaussian:
        ((view, times),) = layout.views
        above, below = view.centre.as_integer_ratio()
        return Fraction(times * above, below)
    gaussian = Fraction((layout.c + 0.5) * layout.gaussian)
    return gaussian + sum((times * Fraction(view.centre) for view, times in layout.views), Fraction(0))
