"""The transforms of all laws multiplied at all nodes, law after law, with bounds on their errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from privately.accounting.elementary import UNIT, Floats
from privately.accounting.lattice.fourier import Complex, modulus
from privately.accounting.lattice.frame import Frame, enlarged, scalar_exp
from privately.accounting.lattice.one_off import OneOff
from privately.accounting.lattice.pieces import Piece, dot, real_bound
from privately.accounting.roads import NotApplicable

TINY = 1e-290
BLOCK = 1 << 14
"""So many nodes at a time: memory is scarce."""
_NO_CURVE = np.zeros(0), np.zeros(0)


@dataclass(frozen=True)
class Part:
    """One law so many times: atoms and density.

    Of a single law with both, `once` may say what paths add on which one step is off the atoms; they are then left out
    of the product.
    """

    times: int
    base: Piece | None
    extra: Piece | None
    once: OneOff | None = None

    @property
    def pieces(self) -> tuple[Piece, ...]:
        return tuple(piece for piece in (self.base, self.extra) if piece is not None)

    def without_curves(self) -> Part:
        """All that is multiplied in: memory is scarce."""
        base, extra = (
            piece and replace(piece, curve=_NO_CURVE, weights=_NO_CURVE) for piece in (self.base, self.extra)
        )
        return replace(self, base=base, extra=extra)


@dataclass(frozen=True)
class Factor:
    """What is known of one law once it is multiplied in: its unit, what it is at most from the last node on, and its
    transform at another height, from above.
    """

    times: int
    unit: float
    base_beyond: float
    extra_beyond: float
    bound: float
    wrong: float
    """What wrong samples of its curve add to the profile, in its units: known of a law alone."""

    @classmethod
    def of(cls, part: Part, frame: Frame, height: float) -> Factor:
        unit = sum(float(piece.values[0].real) for piece in part.pieces)
        if not 0 < unit < math.inf:
            raise NotApplicable("no mass on the contour")
        base, extra = (piece.beyond if piece is not None else 0.0 for piece in (part.base, part.extra))
        bound = sum(real_bound(piece.curve, piece.weights, frame, height) for piece in part.pieces)
        wrong = _wrong(part.base, frame, unit, part.times) if part.base is not None else 0.0
        return cls(part.times, unit, base, extra, bound, wrong)


def _wrong(piece: Piece, frame: Frame, unit: float, times: int) -> float:
    """What wrong samples of its curve add to the profile of a law alone.

    Theorem: if the masses of a lattice law have the sum M, tilted, and its curve is off by at most e at every lattice
        point, tilted, by a law whose |masses| have the sum m, the profile of T steps is off by at most
        T (M + m)^(T-1) e between the points too, but for a factor e^(ca); and by at most the mean over all nodes of
        T R^(T-1) E/a, E the largest Fourier sum of the errors and R a bound on both transforms.
    Reference: none needed
    Proof: docs/theory/accounting/lattice.md#chords
    Checked-by: tests/accounting/lattice/test_composing.py::test_wrong_samples
    """
    if piece.wrong is None:
        return 0.0
    grown = 1 + (2 * piece.wrong.masses + float(piece.errors[0])) / unit * (1 + 1e-9)
    if times * (grown - 1) > 1:
        raise NotApplicable("too many steps for the precision")
    together = scalar_exp((times - 1) * (grown - 1)) * piece.wrong.largest
    apart = 0.0
    for part in frame.parts():
        reach = modulus(piece.values[part]) + piece.errors[part]
        reach += piece.wrong.sums * frame.step / modulus(frame.kernel[part])
        reach = np.minimum(reach, piece.bounds[part]) / unit * (1 + 1e-9)
        apart += dot(power_above(reach, times - 1), frame.repeats[part])
    apart = apart / frame.count * piece.wrong.sums
    return enlarged(times * min(together, apart) / unit) * (1 + 1e-9)


class Product:
    """prod (b + t)^T and prod b^T at all nodes, law after law, with what their errors follow from."""

    def __init__(self, nodes: int) -> None:
        self.nodes, self.has_base, self.is_on_lattice = nodes, True, True
        self.steps = 0
        self.alone: Complex = np.ones(nodes, dtype=np.complex128)
        self.alone_radius, self.alone_error = np.ones(nodes), np.zeros(nodes)
        self.whole: Complex = np.empty(0, dtype=np.complex128)
        self.radius, self.from_extra, self.from_base, self.share = (np.empty(0) for _ in range(4))

    def take(self, law: Part, unit: float) -> None:
        """One law more."""
        if law.extra is not None and self.is_on_lattice:
            self._leave_lattice()
        if law.base is None and self.has_base:
            self.has_base = False
            self.alone, self.alone_radius = np.empty(0, dtype=np.complex128), np.empty(0)
            self.alone_error = np.empty(0)
        for start in range(0, self.nodes, BLOCK):
            self._take_block(law, unit, slice(start, min(start + BLOCK, self.nodes)))
        self.steps += law.times

    def _leave_lattice(self) -> None:
        """Up to here both products are the same."""
        self.is_on_lattice = False
        self.whole, self.radius = self.alone.copy(), self.alone_radius.copy()
        self.from_base, self.share = self.alone_error.copy(), np.zeros(self.nodes)
        self.from_extra = np.full(self.nodes, 16 * UNIT * self.steps)

    def _take_block(self, law: Part, unit: float, place: slice) -> None:
        times = law.times
        b, b_error, b_bound = _normed(law.base, unit, place)
        t, t_error, t_bound = _normed(law.extra, unit, place)
        reach = b_bound + t_bound + TINY
        if times * (float(reach.max()) - 1) > 1:
            raise NotApplicable("too many steps for the precision")
        if not self.is_on_lattice:
            self._take_whole(law, place, (b, b_error), (t, t_error, t_bound), reach)
        if self.has_base:
            own = b_bound + TINY
            self.alone[place] *= power(b, times)
            self.alone_radius[place] *= power_above(own, times)
            self.alone_error[place] += times * (b_error / own + 8 * UNIT)

    def _take_whole(
        self,
        law: Part,
        place: slice,
        base: tuple[Complex, Floats],
        extra: tuple[Complex, Floats, Floats],
        reach: Floats,
    ) -> None:
        (b, b_error), (t, t_error, t_bound) = base, extra
        times = law.times
        self.whole[place] *= power(b + t, times)
        self.radius[place] *= power_above(reach, times)
        if law.once is not None:
            self.whole[place] -= times * power(b, times - 1) * t
            share = times * t_bound / reach
            of_extra, of_base = np.minimum(share, 2.0), np.minimum(share * share / 2, 2 + share)
            self.from_extra[place] = times * (t_error / reach * of_extra * (1 + 1e-9) + 32 * UNIT * (1 + share))
            self.from_base[place] = times * b_error / reach * of_base * (1 + 1e-9)
            self.share[place] = 1.0
        else:
            self.from_extra[place] += times * (t_error / reach + 16 * UNIT)
            self.from_base[place] += times * b_error / reach
            self.share[place] += times * t_bound / reach

    def closed(self, place: slice) -> Floats:
        """At some nodes: the difference in `whole`, whose error this is, and the error of `alone` in its place."""
        radius, extra, base = self.radius[place], self.from_extra[place], self.from_base[place]
        if not self.has_base:
            error: Floats = radius * (extra + base) + 4 * UNIT * radius
            return error
        self.whole[place] -= self.alone[place]
        alone_radius = self.alone_radius[place]
        self.close_alone(place)
        both: Floats = radius * (extra + base * np.minimum(self.share[place], 2.0))
        return both + 4 * UNIT * (radius + alone_radius)

    def close_alone(self, place: slice) -> None:
        """At some nodes: the error of `alone` in place of what it follows from."""
        radius = self.alone_radius[place]
        self.alone_error[place] = radius * self.alone_error[place] + 8 * UNIT * radius


def _normed(piece: Piece | None, unit: float, part: slice) -> tuple[Complex, Floats, Floats]:
    if piece is None:
        nodes = part.stop - part.start
        return np.zeros(nodes, dtype=np.complex128), np.zeros(nodes), np.zeros(nodes)
    values, errors = piece.values[part], piece.errors[part]
    bounds = np.minimum(piece.bounds[part], modulus(values) * (1 + 4 * UNIT) + errors)
    return values / unit, errors / unit, bounds * ((1 + 8 * UNIT) / unit)


def power(values: Complex, times: int) -> Complex:
    """By squaring: the relative error is at most 4 UNIT for every factor."""
    result: Complex | None = None
    while True:
        if times & 1:
            result = values if result is None else result * values
        times >>= 1
        if not times:
            return result if result is not None else np.ones_like(values)
        values = values * values


def power_above(values: Floats, times: int) -> Floats:
    return power(values.astype(np.complex128), times).real * (1 + 8 * UNIT * times)
