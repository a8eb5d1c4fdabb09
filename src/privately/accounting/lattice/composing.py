"""The profile of a composition at any epsilon, enclosed: one sum over the nodes of a frame.

With M = b + t for every law, b its atoms on the lattice and t its density,

    D(epsilon) = D_b(epsilon) + 1/(2 pi) integral of (prod M^T - prod b^T) e^(-z epsilon)/(z (z + 1)) dw

where D_b is the profile of the atoms alone, an integral over one period. Of a single law, T b^(T-1) t may be taken out
of the product as well, and is known in closed form. The N-point sums in place of the integrals are sums of
D(epsilon + k N a) e^(c k N a) over all k, so never too small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, cos_sin
from privately.accounting.lattice.fourier import Complex, modulus
from privately.accounting.lattice.frame import KERNEL_ERROR, Frame, enlarged, scalar_exp, scalar_expm1
from privately.accounting.lattice.multiplying import BLOCK, TINY, Factor, Part, Product, power_above
from privately.accounting.lattice.one_off import OneOff
from privately.accounting.lattice.pieces import dot
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure

_PER_PI_ABOVE = 0.31830988618379075
_BITS, _MANY_BITS = 33, 60
_HALF = Decimal("0.5")
_SUMMED = 1 << 9


@dataclass(frozen=True)
class Value:
    """A sum in units of the scale, within its error."""

    total: float
    error: float


class Sum:
    """All that does not depend on epsilon. Losses are meant less the offsets."""

    def __init__(self, frame: Frame, parts: Iterable[Part], *, height: float, softness: float = 0.0) -> None:
        """`height` serves to bound aliases; `softness` is the variance of a normal loss among the parts.

        Each part is multiplied in before the next one is asked for, and not kept.
        """
        self.frame, self.height, self.softness = frame, height, softness
        self.factors: list[Factor] = []
        self._multiply(parts)

    @cached_property
    def log_unit(self) -> Enclosure:
        """ln of the scale at epsilon = 0."""
        return sum((one.times * exactly(one.unit).log() for one in self.factors), Enclosure.of(0))

    def _multiply(self, parts: Iterable[Part]) -> None:
        """prod (b + t)^T - prod b^T over the kernel, and its error.

        Theorem: if |b| + |t| <= R for the true and for the computed numbers, which are e_b and e_t apart, then the
            difference is off by at most prod R^T times sum T e_t/R + (sum T e_b/R) min(sum T |t|/R, 2). Of one law,
            (b + t)^T - b^T - T b^(T-1) t is off by at most R^T ((T e_t/R) min(s, 2) + (T e_b/R) min(s^2/2, 2 + s)),
            s = T |t|/R.
        Reference: mean value inequality
        Proof: docs/theory/accounting/lattice.md#powers
        Checked-by: tests/accounting/lattice/test_composing.py::test_powers_are_within_their_error
        """
        nodes = self.frame.count // 2 + 1
        product: Product | None = None
        self.once: OneOff | None = None
        for part in parts:
            if self.factors and (part.once or self.once):
                raise NotApplicable("paths with one step off the atoms are of one law only")
            self.once = part.once
            factor = Factor.of(part, self.frame, self.height)
            product = product or Product(nodes)
            bare = part.without_curves()
            del part
            product.take(bare, factor.unit)
            self.factors.append(factor)
            if len(self.factors) > 1 and (factor.wrong or self.factors[0].wrong):
                raise NotApplicable("wrong samples are bounded for a law alone")
            del bare
        product = product or Product(nodes)
        self.has_base, self.is_on_lattice = product.has_base, product.is_on_lattice
        self.terms: Complex = product.whole
        self.alone: Complex | None = product.alone if self.has_base else None
        self.alone_errors = product.alone_error
        self._sizes = self._errors = self.rounding = 0.0
        if self.is_on_lattice:  # D is D_b
            product.close_alone(slice(0, nodes))
        else:
            self._close(product)

    def _close(self, product: Product) -> None:
        nodes, relative, total = product.nodes, 0.0, 0.0
        for start in range(0, nodes, BLOCK):  # no node knows of another one, and memory is scarce
            place = slice(start, min(start + BLOCK, nodes))
            error = product.closed(place)
            self.terms[place] /= self.frame.weight[place]
            if place.stop == nodes:
                self.terms[-1] = 0
                error[-1] = 0
            sizes, weights, repeats = modulus(self.terms[place]), self.frame.size[place], self.frame.repeats[place]
            relative += dot(error / weights, repeats)
            total += dot(sizes, repeats)
            self._sizes += dot(sizes, weights * repeats)
            self._errors += dot(error, repeats)
        off = relative + total * (4 * ERROR + 2 * (nodes + 16) * UNIT)
        self.rounding = enlarged(off / self.frame.period * (1 + 1e-9)) + self._beyond() + TINY

    def _beyond(self) -> float:
        """What the nodes from the last one on add, at most.

        Theorem: where |b| <= B and |t| <= F, |prod (b + t)^T - prod b^T| <= prod (B + F)^T min(1, s), s the sum of
            T F/(B + F); of one law |(b + t)^T - b^T - T b^(T-1) t| <= (B + F)^T min(1, s^2/2); and the sum of 1/w_n^2
            over |n| >= N/2 is at most 2 (a/pi)^2 (1 + N/2).
        Reference: comparison with an integral
        Proof: docs/theory/accounting/lattice.md#the-last-nodes
        Checked-by: tests/accounting/lattice/test_composing.py::test_the_last_nodes_are_bounded
        """
        product = self._last_nodes()
        return product * self.frame.step * _PER_PI_ABOVE**2 * (1 + 2 / self.frame.count) * (1 + 1e-9)

    def _last_nodes(self) -> float:
        product, share = 1.0, 0.0
        for one in self.factors:
            base, extra = one.base_beyond / one.unit, one.extra_beyond / one.unit
            product *= float(power_above(np.array([base + extra + TINY]), one.times)[0])
            share += one.times * extra / (base + extra + TINY)
        if self.has_base:
            product *= min(share if self.once is None else share * share / 2 * (1 + 1e-9), 1.0)
        return product

    def share(self, epsilon: Fraction, *, up: bool) -> Fraction:
        """The next epsilon/(N a) of few bits, so that all angles w_n epsilon are exact; those of D_b always are."""
        bits = _MANY_BITS if self.is_on_lattice else _BITS
        exact = epsilon / self._period * 2**bits
        return Fraction(math.ceil(exact) if up else math.floor(exact), 2**bits)

    @property
    def _period(self) -> Fraction:
        return self.frame.count * Fraction(self.frame.step)

    def at(self, share: Fraction) -> Value:
        """The profile at epsilon = share N a, without the scale e^(log_unit - c epsilon), and without the paths
        that are one step off the atoms, if these are known.
        """
        if self.is_on_lattice and self.alone is not None:
            return self._lattice_sum(self.alone, share)
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
        return (m * density + beyond) * (1 + m / 4) * (1 + 1e-9) + TINY

    def _lattice_sum(self, alone: Complex, share: Fraction) -> Value:
        """D_b, for losses on the lattice."""
        frame = self.frame
        a, c = frame.step, frame.tilt
        point = math.ceil(share * frame.count)
        above = float(point - share * frame.count) * a
        less, falls = -scalar_expm1(-above), scalar_exp(-c * above)
        values = np.empty(alone.size)
        for start in range(0, alone.size, BLOCK):  # memory is scarce
            place = slice(start, min(start + BLOCK, alone.size))
            kernel = frame.kernel[place] / a + less * (1 + frame.second[place])
            turned = np.conj(frame.turned(point, place.start, place.stop))
            values[place] = (alone[place] * turned * kernel).real * frame.repeats[place]
        total = _blockwise(values)
        of_kernel, of_rest = self._lattice_errors
        off = (of_kernel / a + less * of_rest) * (1 + 1e-9)
        wrong = self.factors[0].wrong
        return Value(total * falls / frame.count, enlarged(off * falls / frame.count) * (1 + 1e-9) + wrong + TINY)

    @cached_property
    def _lattice_errors(self) -> tuple[float, float]:
        """The errors of all terms of the sum for the atoms, for both parts of what they are multiplied with."""
        frame = self.frame
        if self.alone is None:
            return 0.0, 0.0
        added = _SUMMED + self.alone.size // _SUMMED + 2
        of_kernel = of_rest = 0.0
        for part in frame.parts():
            off = self.alone_errors[part] + modulus(self.alone[part]) * (2 * KERNEL_ERROR + 2 * (added + 16) * UNIT)
            off *= frame.repeats[part]
            of_kernel += dot(off, modulus(frame.kernel[part]))
            of_rest += dot(off, modulus(1 + frame.second[part]))
        return of_kernel, of_rest

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
        for one in self.factors:
            if not 0 < one.bound < math.inf:
                raise NotApplicable("no bound beyond the window")
            total = total + one.times * exactly(one.bound * (1 + 1e-12)).log()
        return total

    def epsilon(self, share: Fraction) -> Fraction:
        """share N a."""
        return share * self._period

    def above(self, share: Fraction, carried: Fraction = Fraction(0)) -> Enclosure:
        """Not below D at epsilon = share N a, without anything at infinite loss; P of all losses is at least `carried`,
        if that is given.
        """
        value = self.at(share)
        found = self._scale(share) * exactly(max(value.total + value.error, 0.0)) + self._with_one_off(share)
        return (found - self.from_the_left(share, carried)).nonnegative() if carried else found

    def from_the_left(self, share: Fraction, carried: Fraction) -> Enclosure:
        """Aliases with k < 0, from below, where P of all losses is at least `carried`.

        Theorem: D(epsilon) >= P - e^epsilon Q, so the sum over k >= 1 of D(epsilon - k N a) e^(-c k N a) is at least
            P r/(1 - r) - e^epsilon s/(1 - s), r = e^(-c N a), s = e^(-(c + 1) N a), for Q at most 1.
        Reference: the test that always rejects
        Proof: docs/theory/accounting/lattice.md#aliases
        Checked-by: tests/accounting/lattice/test_composing.py::test_aliases_from_the_left
        """
        tilt = Fraction(self.frame.tilt)
        ratios = [(-Enclosure.of((tilt + more) * self._period)).exp() for more in (0, 1)]
        known, unknown = (ratio / (1 - ratio) for ratio in ratios)
        return (carried * known - Enclosure.of(self.epsilon(share)).exp() * unknown).nonnegative()

    def below(self, share: Fraction) -> Enclosure:
        """Not above D at epsilon = share N a, of the losses without the normal one."""
        value = self.at(share)
        least = self._scale(share) * exactly(max(value.total - value.error - self.change(share), 0.0))
        return (least - self.aliases(share)).nonnegative() + self._with_one_off(share)

    def _with_one_off(self, share: Fraction) -> Enclosure:
        """What paths add that were left out of the product."""
        if self.once is None:
            return Enclosure.of(0)
        value, error = self.once.at(self.epsilon(share))
        return Enclosure(exactly(max(value - error, 0.0)).lower, exactly(value + error).upper)

    def _scale(self, share: Fraction) -> Enclosure:
        return (self.log_unit - Fraction(self.frame.tilt) * self.epsilon(share)).exp()

    def profile(self, share: Fraction) -> Enclosure:
        """D at epsilon = share N a, without anything at infinite loss."""
        return Enclosure(self.below(share).lower, self.above(share).upper)


def _blockwise(values: Floats) -> float:
    """The sum of sums over blocks: each value takes part in few additions, in whatever order they are."""
    return float(np.add.reduceat(values, np.arange(0, values.size, _SUMMED)).sum())


def exactly(value: float) -> Enclosure:
    """The enclosure of a float."""
    return Enclosure.of(Fraction(value))


def _geometric(ratio: Enclosure) -> Enclosure:
    """ratio + ratio^2 + ..."""
    if ratio.upper > _HALF:
        raise NotApplicable("the period is too short")
    return ratio / (1 - ratio)
