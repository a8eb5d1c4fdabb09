"""The sums along one contour for many alike steps of a sampled Gaussian, in both directions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from privately.accounting.contour.chernoff import log_chernoff
from privately.accounting.contour.expanding import Expansion, expanded
from privately.accounting.contour.falling import QUARTER_TURN
from privately.accounting.contour.saddle import Shape
from privately.accounting.contour.sampled_gaussian import SampledGaussian, Shares, falls_of
from privately.accounting.contour.swift_points import Means, SwiftPoints
from privately.accounting.contour.view import FAITHFUL, Complex, enlarged, exp_above, plain_power, plain_transforms
from privately.accounting.elementary import ERROR, LARGEST_ANGLE, UNIT, Floats, log_between
from privately.accounting.roads import NotApplicable

_TURN_BELOW = 6.283185307179586
_PER_TURN_BELOW, _PER_TURN_ABOVE = 0.15915494309189532, 0.1591549430918954
_LARGEST = 1.3
"""No |phi^T| is larger, with its error."""
_MOST_DOUBT = 2.0**-24
_STEEPER, _CLEARLY = 1.2, 0.05
"""At this height, over that of the first direction, the other may be below, and by so much it should seem to be."""
_CLOSE = 1e-4
_ROUNDS = 6
_COUNTING = np.arange(1.0, 1024.0)


class Side(NamedTuple):
    """One direction: ln M(c) of all steps from below and from above; how far errors of the terms may move the sum, what
    they do more where it is taken one unit away from 0; what is left out.
    """

    log_mass: tuple[float, float]
    error: float
    turning: float
    truncated: float


class SwiftSums:
    """The sum for "remove" along a contour and, unless a Chernoff bound seems to be enough, that for "add"."""

    def __init__(self, points: SwiftPoints, times: int, contour: Shape, count: int, log_delta: float) -> None:
        self.points, self.times, self.count = points, times, count
        self.c, self.step, self.guess = contour.saddle.c, contour.step, contour.epsilon
        c, self.last = self.c, count * contour.step
        self.base = c * (c + 1)
        self.first = 1 / self.base
        heights = [contour.above, contour.below] if contour.below else [contour.above]
        rows, (own, other, steeper, *rest) = points.tilted([c + 1, -c, -_STEEPER * c, *(b + 1 for b in heights)])
        self.heights = [self._height(b, means) for b, means in zip(heights, rest, strict=True)]
        if not contour.below:
            self.heights.append(self._height(0.0, None))
        self.chernoff = self._lowest(other, steeper, log_delta=log_delta)
        sides = [own] if self.chernoff else [own, other]  # both turn by the same losses, one backwards
        weights = rows[: len(sides)]
        for k, means in enumerate(sides):
            weights[k] /= means.total
        self.centre = self.guess / times
        self.near = times * self.centre
        self.sides = [self._side(means, row) for means, row in zip(sides, weights, strict=True)]
        self.places = _COUNTING[:count] * self.step
        self.terms = self._terms(weights)
        self.expansion = expanded(self.terms[0], self.places, 0.0)

    def _lowest(self, *means: Means, log_delta: float) -> Means | None:
        """Where a Chernoff bound on the other direction is lowest; None where that seems to be above ln delta."""
        level, lowest = math.inf, None
        for one in means:
            b = -one.power
            found = self.times * math.log(one.total) - b * (self.guess + math.log1p(1 / b)) - math.log1p(b)
            if found < level:
                level, lowest = found, one
        return lowest if level < log_delta - _CLEARLY else None

    def _law(self, means: Means) -> SampledGaussian:
        law = self.points.law
        return law if means.power > 0 else SampledGaussian(law.mu, law.rate, removes=False)

    def _log_mass_above(self, means: Means, height: float) -> float:
        """ln M of all steps at another height, from above."""
        missing = self._law(means).aliasing(height, 0.0, self.points.extent.step) + self.points.outside(means)
        doubt = self.points.doubt(means, missing)
        if doubt > _MOST_DOUBT:
            raise NotApplicable("the points miss too much")
        found = self.times * log_between(means.total * (1 + doubt))[1]
        return found + 4 * UNIT * abs(found)

    def _side(self, means: Means, weights: Floats) -> Side:
        """What is known of one direction without its terms.

        Theorem: where a transform of size at most 1 is off by at most b and T b <= 1/4, its power T is off by at most
            1.14 T b, and by 1.3 (4T + 8) u more as it is computed; errors of at most e in all terms, but for their
            denominators, add at most e/(2 sqrt(c (c + 1))) to the sum.
        Reference: Higham 2002, sections 3.1 and 3.6
        Proof: docs/theory/accounting/contour.md#many-alike-steps
        Checked-by: tests/accounting/contour/test_swift_sums.py::test_what_the_terms_leave_open
        """
        points, times, last, total = self.points, self.times, self.last, means.total
        law, step, outside = self._law(means), points.extent.step, points.outside(means)
        doubt = points.doubt(means, law.aliasing(self.c, last, step) + outside)
        spread = math.sqrt(means.loss_square / total) + self.centre
        rounding = (16 * self.count + 4 * points.size + 16) * UNIT
        each = 2 * doubt + rounding + last * (points.wrong(means) + 4 * UNIT * spread)
        off = enlarged(1.14 * times * each)
        if not (doubt <= _MOST_DOUBT and off <= FAITHFUL):
            raise NotApplicable("too many steps for floats, or points that miss too much")
        off += _LARGEST * (4 * ERROR + (4 * times + 8 + 4 * self.count) * UNIT)
        shares = Shares(points.share, weights, (means.share / total, means.share_square / total, 0.0, 0.0))
        missing = law.aliasing(self.c, 0.0, step, QUARTER_TURN) + outside
        (fall,) = falls_of(law, self.c, [last * (1 - 2.0**-40)], shares, missing)
        share, (low, high) = 1 / (2 * math.sqrt(self.base)), log_between(total)
        return Side(
            log_mass=(times * (low - enlarged(doubt)), times * (high + doubt)),  # ln(1 - doubt), ln(1 + doubt)
            error=enlarged(off * share),
            turning=enlarged(_LARGEST * 4 * UNIT * last * share),
            truncated=enlarged(exp_above(-fall * times * (1 - 2.0**-20)) / (3.14159 * last)),
        )

    def _terms(self, weights: Floats) -> Complex:
        """M(z)/M(c)/(z (z + 1)) at all nodes, centred, a row for each direction."""
        loss, places = self.points.loss, self.places
        angles = loss - self.centre
        angles *= self.step
        if max(abs(float(angles[0])), abs(float(angles[-1]))) > LARGEST_ANGLE:
            raise NotApplicable("the sum turns too often")
        value = plain_power(plain_transforms(weights, angles, self.count), self.times)
        if len(value) > 1:
            np.conjugate(value[1:], out=value[1:])
        under = np.empty(self.count, dtype=np.complex128)
        np.multiply(places, places, out=under.imag)
        np.subtract(self.base, under.imag, out=under.real)
        np.multiply(places, 2 * self.c + 1, out=under.imag)
        value /= under
        return value

    def solved(self, low: float, high: float) -> tuple[float, float]:
        """Floats below and above the epsilon at which ln D passes ln delta, which lies between `low` and `high`."""
        near, c, slope = self.near, self.c, -self.c
        s, middle = self.guess - near, sum(self.sides[0].log_mass) / 2
        for _ in range(_ROUNDS):
            level, slope, bend = self._near(s).at(s)
            total = self.first + 2 * level
            if not total > 0:
                raise NotApplicable("the sum is not positive")
            slope, bend = 2 * slope / total, 2 * bend / total
            slope, bend = slope - c, bend - slope * slope
            if not slope < 0:
                raise NotApplicable("the profile is too flat")
            missing = low - (middle - c * (near + s) + math.log(self.step * _PER_TURN_BELOW * total))
            stride = missing / slope
            s += stride - bend * stride * stride / (2 * slope)
            if abs(missing) < _CLOSE:
                break
        below, above = self._gaps(s, low, high)
        flat, least = 1.02 / -slope, abs(s) * 2.0**-50
        left, right = s - max(below, 0.0) * flat - least, s + max(above, 0.0) * flat + least
        if not (self.upper(right) <= low and self.lower(left) >= high):
            raise NotApplicable("no ends were found")
        return near + left - 4 * UNIT * (near + abs(left)), near + right + 4 * UNIT * (near + abs(right))

    def _near(self, s: float) -> Expansion:
        """The sum near s."""
        if not self.expansion.reaches(s, self.first / 2 + self.expansion.coefficients[0]):
            self.expansion = expanded(self.terms[0], self.places, s)
        return self.expansion

    def _gaps(self, s: float, low: float, high: float) -> tuple[float, float]:
        """About how far the lower bound is below `high`, and the upper one above `low`."""
        least, most, total, off = self._known(self.sides[0], self._near(s), s, self.near + s)
        rest = total - off - self._aliases(self.near + s, least)
        if not rest > 0:
            raise NotApplicable("no lower end")
        return high - least - math.log(rest), most + math.log(total + off) - low

    def upper(self, s: float) -> float:
        """ln D at T centre + s, from above.

        Theorem: the sum over all n is a sum of shifted profiles, one of which is D; the others are its aliases.
        Reference: Abate-Whitt 1992 (Poisson summation for Laplace transforms)
        Proof: docs/theory/accounting/contour.md#many-alike-steps
        Checked-by: tests/accounting/contour/test_swift_sums.py::test_bounds_hold
        """
        _, high, total, off = self._known(self.sides[0], self._near(s), s, self.near + s)
        return high + log_between(total + off)[1]

    def lower(self, s: float) -> float:
        """ln D at T centre + s, from below."""
        low, _, total, off = self._known(self.sides[0], self._near(s), s, self.near + s)
        rest = total - off - self._aliases(self.near + s, low)
        return low + log_between(rest)[0] if rest > 0 else -math.inf

    def _known(self, side: Side, near: Expansion, s: float, epsilon: float) -> tuple[float, float, float, float]:
        """ln M(c) - c epsilon from below and from above, the sum, and how far it may be off but for its aliases; s is
        epsilon as seen from the centre.
        """
        c, (low, high) = self.c, side.log_mass
        level, grown, missing = near.bounded(s)
        off = grown * (side.error + side.turning * abs(near.place)) + 2 * self.step * _PER_TURN_ABOVE * missing
        off = enlarged(off + side.truncated + 8 * UNIT * self.step * self.first)
        slack, away = 8 * UNIT * (c * (self.near + abs(s)) + abs(low) + abs(high)), c * epsilon
        total = self.step * _PER_TURN_BELOW * (self.first + 2 * level)
        return low - away - slack, high - away + slack, total, off

    def _aliases(self, epsilon: float, scale: float) -> float:
        """The terms with k != 0, over e^scale, by Chernoff bounds from two other heights."""
        total = 0.0
        for height, log_mass, share in self.heights:
            total += exp_above(log_mass - height * epsilon - scale + 8 * UNIT * abs(height * epsilon)) * share
        return total

    def _height(self, height: float, means: Means | None) -> tuple[float, float, float]:
        """With ln M of all steps there, from above, and what all aliases on that side are of the first one at most."""
        ratio = exp_above(-abs(height - self.c) * (_TURN_BELOW / self.step * (1 - 2.0**-40)))
        share = ratio / (1 - ratio) if ratio < 1 else math.inf
        return height, 0.0 if means is None else self._log_mass_above(means, height), share

    def is_other_below(self, epsilon: float, log_delta: float) -> bool:
        """Whether ln D of the other direction at this epsilon is at most this.

        Theorem: M(z) of "add" is the mean of e^(-zL) over the same x, and e^(-iwL) is the conjugate of e^(iwL).
        Reference: Zhu-Dong-Wang 2022, Theorem 11
        Proof: docs/theory/accounting/contour.md#many-alike-steps
        Checked-by: tests/accounting/contour/test_swift_sums.py::test_what_is_below_is_certain
        """
        if self.chernoff is not None:
            b = -self.chernoff.power
            mass = self._log_mass_above(self.chernoff, b)
            slack = 8 * UNIT * ((b + 1) * (abs(epsilon) + 1) + abs(mass))
            return mass - b * epsilon + log_chernoff(b) + slack <= log_delta
        s = self.near + epsilon  # its centre is on the other side of 0
        _, high, total, off = self._known(self.sides[1], expanded(self.terms[1], self.places, s), s, epsilon)
        return high + log_between(total + off)[1] <= log_delta
