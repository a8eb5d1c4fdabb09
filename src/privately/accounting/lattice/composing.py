"""The profile of a composition at any epsilon, enclosed: one sum over the nodes of a frame.

With M = b + t for every law, b its atoms on the lattice and t its density,

    D(epsilon) = D_b(epsilon) + 1/(2 pi) integral of (prod M^T - prod b^T) e^(-z epsilon)/(z (z + 1)) dw

where D_b is the profile of the atoms alone, an integral over one period. The N-point sums in place of the integrals are
sums of D(epsilon + k N a) e^(c k N a) over all k, so never too small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, cos_sin
from privately.accounting.lattice.fourier import Complex, modulus
from privately.accounting.lattice.frame import KERNEL_ERROR, Frame, enlarged, scalar_exp, scalar_expm1
from privately.accounting.lattice.pieces import Piece, dot, real_bound
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure

_PER_PI_ABOVE = 0.31830988618379075
_TINY = 1e-290
_BITS = 33
_HALF = Decimal("0.5")
_BLOCK = 1 << 14


@dataclass(frozen=True)
class Part:
    """One law so many times: atoms and density."""

    times: int
    base: Piece | None
    extra: Piece | None

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple(piece for piece in (self.base, self.extra) if piece is not None)


@dataclass(frozen=True)
class Value:
    """A sum in units of the scale, within its error."""

    total: float
    error: float


class Sum:
    """All that does not depend on epsilon. Losses are meant less the offsets."""

    def __init__(self, frame: Frame, parts: Sequence[Part], *, height: float, softness: float = 0.0) -> None:
        """`height` serves to bound aliases; `softness` is the variance of a normal loss among the parts."""
        self.frame, self.parts, self.height, self.softness = frame, parts, height, softness
        self.has_base = all(part.base is not None for part in parts)
        self.units = [sum(float(piece.values[0].real) for piece in part.pieces) for part in parts]
        if not all(0 < unit < math.inf for unit in self.units):
            raise NotApplicable("no mass on the contour")
        self._multiply()

    @cached_property
    def log_unit(self) -> Enclosure:
        """ln of the scale at epsilon = 0."""
        logs = (part.times * exactly(unit).log() for part, unit in zip(self.parts, self.units, strict=True))
        return sum(logs, Enclosure.of(0))

    def _multiply(self) -> None:
        """prod (b + t)^T - prod b^T over the kernel, and its error.

        Theorem: if |b| + |t| <= R for the true and for the computed numbers, which are e_b and e_t apart, then the
            difference is off by at most prod R^T times sum T e_t/R + (sum T e_b/R) min(sum T |t|/R, 2).
        Reference: mean value inequality
        Proof: docs/theory/accounting/lattice.md#powers
        Checked-by: tests/accounting/lattice/test_composing.py::test_powers_are_within_their_error
        """
        nodes = self.frame.count // 2 + 1
        self.terms: Complex = np.empty(nodes, dtype=np.complex128)
        self.alone: Complex | None = np.empty(nodes, dtype=np.complex128) if self.has_base else None
        self.alone_errors = np.empty(nodes) if self.has_base else np.empty(0)
        self._sizes = self._errors = relative = total = 0.0
        for start in range(0, nodes, _BLOCK):  # no node knows of another one, and memory is scarce
            part = slice(start, min(start + _BLOCK, nodes))
            error = self._multiply_block(part)
            if part.stop == nodes:
                self.terms[-1] = 0
                error[-1] = 0
            sizes, weights, repeats = modulus(self.terms[part]), self.frame.size[part], self.frame.repeats[part]
            relative += dot(error / weights, repeats)
            total += dot(sizes, repeats)
            self._sizes += dot(sizes, weights * repeats)
            self._errors += dot(error, repeats)
        off = relative + total * (4 * ERROR + 2 * (nodes + 16) * UNIT)
        self.rounding = enlarged(off / self.frame.period * (1 + 1e-9)) + self._beyond() + _TINY

    def _multiply_block(self, part: slice) -> Floats:
        """The products at some nodes, and their errors."""
        nodes = part.stop - part.start
        whole: Complex = np.ones(nodes, dtype=np.complex128)
        alone: Complex = np.ones(nodes, dtype=np.complex128)
        radius, alone_radius = np.ones(nodes), np.ones(nodes)
        from_extra, from_base, share, alone_error = (np.zeros(nodes) for _ in range(4))
        for law, unit in zip(self.parts, self.units, strict=True):
            times = law.times
            b, b_error, b_bound = _normed(law.base, unit, part)
            t, t_error, t_bound = _normed(law.extra, unit, part)
            reach = b_bound + t_bound + _TINY
            if times * (float(reach.max()) - 1) > 1:
                raise NotApplicable("too many steps for the precision")
            whole, radius = whole * _power(b + t, times), radius * _power_above(reach, times)
            from_extra += times * (t_error / reach + 16 * UNIT)
            from_base += times * b_error / reach
            share += times * t_bound / reach
            if self.has_base:
                own = b_bound + _TINY
                alone, alone_radius = alone * _power(b, times), alone_radius * _power_above(own, times)
                alone_error += times * (b_error / own + 8 * UNIT)
        if self.alone is None:
            self.terms[part] = whole / self.frame.weight[part]
            error: Floats = radius * (from_extra + from_base) + 4 * UNIT * radius
            return error
        self.terms[part] = (whole - alone) / self.frame.weight[part]
        self.alone[part] = alone
        self.alone_errors[part] = alone_radius * alone_error + 8 * UNIT * alone_radius
        both: Floats = radius * (from_extra + from_base * np.minimum(share, 2.0)) + 4 * UNIT * (radius + alone_radius)
        return both

    def _beyond(self) -> float:
        """What the nodes from the last one on add, at most.

        Theorem: where |b| <= B and |t| <= F, |prod (b + t)^T - prod b^T| <= prod (B + F)^T min(1, sum T F/(B + F)); and
            the sum of 1/w_n^2 over |n| >= N/2 is at most 2 (a/pi)^2 (1 + N/2).
        Reference: comparison with an integral
        Proof: docs/theory/accounting/lattice.md#the-last-nodes
        Checked-by: tests/accounting/lattice/test_composing.py::test_the_last_nodes_are_bounded
        """
        product = self._last_nodes()
        return product * self.frame.step * _PER_PI_ABOVE**2 * (1 + 2 / self.frame.count) * (1 + 1e-9)

    def _last_nodes(self) -> float:
        product, share = 1.0, 0.0
        for part, unit in zip(self.parts, self.units, strict=True):
            base = part.base.beyond / unit if part.base is not None else 0.0
            extra = part.extra.beyond / unit if part.extra is not None else 0.0
            product *= float(_power_above(np.array([base + extra + _TINY]), part.times)[0])
            share += part.times * extra / (base + extra + _TINY)
        if self.has_base:
            product *= min(share, 1.0)
        return product

    def share(self, epsilon: Fraction, *, up: bool) -> Fraction:
        """The next epsilon/(N a) of few bits, so that all angles w_n epsilon are exact."""
        exact = epsilon / self._period * 2**_BITS
        return Fraction(math.ceil(exact) if up else math.floor(exact), 2**_BITS)

    @property
    def _period(self) -> Fraction:
        return self.frame.count * Fraction(self.frame.step)

    def at(self, share: Fraction) -> Value:
        """The profile at epsilon = share N a, without the scale e^(log_unit - c epsilon)."""
        turns = np.arange(self.frame.count // 2 + 1.0) * float(share % 1)
        cosine, sine = cos_sin((turns - np.rint(turns)) * (2 * math.pi))
        step = 1 / self.frame.period
        total = step * dot(self.terms.real * cosine + self.terms.imag * sine, self.frame.repeats)
        error = self.rounding
        if self.alone is not None:
            more = self._lattice_sum(self.alone, share)
            total, error = total + more.total, error + more.error
        return Value(total, error + 8 * UNIT * abs(total))

    def change(self, share: Fraction) -> float:
        """m e^(m/8) times the density at epsilon = share N a, from above, without the scale.

        Theorem: with D_m and f_m the profile and the density of the losses with a normal one of variance m,
            D_m - m e^(m/8) f_m <= D <= D_m; the nodes from the last one on add at most their bound there times
            2/(N a) + a/(pi^2 m) to f_m.
        Reference: docs/theory/accounting/contour.md#a-little-normal-loss
        Proof: docs/theory/accounting/lattice.md#blurs
        Checked-by: tests/accounting/lattice/test_laying.py::test_blurred_sums
        """
        m, frame = self.softness, self.frame
        if not m:
            return 0.0
        turns = np.arange(frame.count // 2 + 1.0) * float(share % 1)
        cosine, sine = cos_sin((turns - np.rint(turns)) * (2 * math.pi))
        values = self.terms * frame.weight
        total = dot(values.real * cosine + values.imag * sine, frame.repeats)
        off = self._errors + self._sizes * (4 * ERROR + 2 * (frame.count // 2 + 64) * UNIT)
        density = enlarged((max(total, 0.0) + off) / frame.period) * (1 + 1e-9)
        beyond = self._last_nodes() * (2 * m / frame.period + frame.step * _PER_PI_ABOVE**2)
        return (m * density + beyond) * (1 + m / 4) * (1 + 1e-9) + _TINY

    def _lattice_sum(self, alone: Complex, share: Fraction) -> Value:
        """D_b, for losses on the lattice."""
        frame = self.frame
        a, c = frame.step, frame.tilt
        point = math.ceil(share * frame.count)
        above = float(point - share * frame.count) * a
        less, falls = -scalar_expm1(-above), scalar_exp(-c * above)
        kernel = frame.kernel / a + less * (1 + frame.second)
        turned = np.conj(frame.turned(point))
        total = dot((alone * turned * kernel).real, frame.repeats)
        of_kernel, of_rest = self._lattice_errors
        off = (of_kernel / a + less * of_rest) * (1 + 1e-9)
        return Value(total * falls / frame.count, enlarged(off * falls / frame.count) * (1 + 1e-9) + _TINY)

    @cached_property
    def _lattice_errors(self) -> tuple[float, float]:
        """The errors of all terms of the sum for the atoms, for both parts of what they are multiplied with."""
        frame = self.frame
        if self.alone is None:
            return 0.0, 0.0
        off = self.alone_errors + modulus(self.alone) * (2 * KERNEL_ERROR + 2 * (frame.count + 16) * UNIT)
        off = off * frame.repeats
        return dot(off, modulus(frame.kernel)), dot(off, modulus(1 + frame.second))

    def aliases(self, share: Fraction) -> Enclosure:
        """How much the sum may exceed the profile, at most: the terms with k < 0 and with k > 0.

        Theorem: a profile is at most 1, and at most e^(ln M(c') - c' epsilon) for every c' > 0.
        Reference: Chernoff 1952; Markov's inequality
        Proof: docs/theory/accounting/lattice.md#aliases
        Checked-by: tests/accounting/lattice/test_composing.py::test_aliases_are_bounded
        """
        period, gap = self._period, Fraction(self.height) - Fraction(self.frame.tilt)
        below = _geometric((-Enclosure.of(Fraction(self.frame.tilt) * period)).exp())
        ratio = (-Enclosure.of(gap * period)).exp()
        if ratio.upper > _HALF:
            raise NotApplicable("the period is too short")
        first = self._log_bound - Fraction(self.height) * self.epsilon(share) - gap * period
        return below + first.exp() / (1 - ratio)

    @cached_property
    def _log_bound(self) -> Enclosure:
        """K at another height, from above."""
        total = Enclosure.of(0)
        for part in self.parts:
            bound = sum(real_bound(piece.curve, piece.weights, self.frame, self.height) for piece in part.pieces)
            if not 0 < bound < math.inf:
                raise NotApplicable("no bound beyond the window")
            total = total + part.times * exactly(bound * (1 + 1e-12)).log()
        return total

    def epsilon(self, share: Fraction) -> Fraction:
        """share N a."""
        return share * self._period

    def above(self, share: Fraction) -> Enclosure:
        """Not below D at epsilon = share N a, without anything at infinite loss."""
        value = self.at(share)
        return self._scale(share) * exactly(max(value.total + value.error, 0.0))

    def below(self, share: Fraction) -> Enclosure:
        """Not above D at epsilon = share N a, of the losses without the normal one."""
        value = self.at(share)
        least = self._scale(share) * exactly(max(value.total - value.error - self.change(share), 0.0))
        return (least - self.aliases(share)).nonnegative()

    def _scale(self, share: Fraction) -> Enclosure:
        return (self.log_unit - Fraction(self.frame.tilt) * self.epsilon(share)).exp()

    def profile(self, share: Fraction) -> Enclosure:
        """D at epsilon = share N a, without anything at infinite loss."""
        return Enclosure(self.below(share).lower, self.above(share).upper)


def exactly(value: float) -> Enclosure:
    """The enclosure of a float."""
    return Enclosure.of(Fraction(value))


def _geometric(ratio: Enclosure) -> Enclosure:
    """ratio + ratio^2 + ..."""
    if ratio.upper > _HALF:
        raise NotApplicable("the period is too short")
    return ratio / (1 - ratio)


def _normed(piece: Piece | None, unit: float, part: slice) -> tuple[Complex, Floats, Floats]:
    if piece is None:
        nodes = part.stop - part.start
        return np.zeros(nodes, dtype=np.complex128), np.zeros(nodes), np.zeros(nodes)
    values, errors = piece.values[part], piece.errors[part]
    bounds = np.minimum(piece.bounds[part], modulus(values) * (1 + 4 * UNIT) + errors)
    return values / unit, errors / unit, bounds * ((1 + 8 * UNIT) / unit)


def _power(values: Complex, times: int) -> Complex:
    """By squaring: the relative error is at most 4 UNIT for every factor."""
    result: Complex | None = None
    while True:
        if times & 1:
            result = values if result is None else result * values
        times >>= 1
        if not times:
            return result if result is not None else np.ones_like(values)
        values = values * values


def _power_above(values: Floats, times: int) -> Floats:
    return _power(values.astype(np.complex128), times).real * (1 + 8 * UNIT * times)
