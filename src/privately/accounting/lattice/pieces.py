"""Transforms of densities on the nodes of a frame, from samples of their curves.

Losses are shifted by an offset b, so that the atoms of a law can lie on the lattice: M(z) = E[e^(z (L - b))].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp
from privately.accounting.lattice import fourier
from privately.accounting.lattice.fourier import Complex, modulus
from privately.accounting.lattice.frame import (
    KERNEL_ERROR,
    Frame,
    Repeats,
    enlarged,
    exp_of_many,
    scalar_exp,
    scalar_expm1,
)
from privately.accounting.lattice.smooth import NOTHING, Masses, Smooth
from privately.accounting.roads import NotApplicable

_PER_TURN = 0.15915494309189538  # above 1/(2 pi)
_SQUARES = 2.59  # above the sums of 1/k^2 and 1/(k + 1/2)^2 over all k >= 1
_QUIET = 44.0
_STEEPEST = 600.0
_WIDEST = 1 << 19
_HIGHEST = 300.0
_APART = 1e-6
_BLOCK = 1 << 15


@dataclass(frozen=True)
class Piece:
    """A part of a law: its transform at the nodes, within `errors`; |transform| <= `bounds` for certain.

    From the last node on it is at most `beyond`. `curve` and `weights` are samples of its curve and masses at lattice
    points, both tilted; from these follow bounds at other heights.
    """

    values: Complex
    errors: Floats
    bounds: Floats
    beyond: float
    curve: tuple[Floats, Floats]
    weights: tuple[Floats, Floats]
    wrong: Wrong | None = None
    """How far the samples themselves are off, where the values are those of a curve with these samples."""


class Wrong(NamedTuple):
    """Errors of the samples of a curve, tilted: the largest, over the step; the sum of |masses| on the lattice of the
    law whose curve they are; and the largest value of their Fourier sum, over the step.
    """

    largest: float
    masses: float
    sums: float


def together(first: Piece, second: Piece) -> Piece:
    """Two parts of one law as one."""

    def joined(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])

    return Piece(
        first.values + second.values,
        (first.errors + second.errors + 4 * UNIT * (first.bounds + second.bounds)) * (1 + 4 * UNIT),
        (first.bounds + second.bounds) * (1 + 4 * UNIT),
        (first.beyond + second.beyond) * (1 + 4 * UNIT),
        joined(first.curve, second.curve),
        joined(first.weights, second.weights),
    )


def dot(first: Floats, second: Floats | Repeats) -> float:
    """The sum of the products; unlike a product of matrices it stays on one processor."""
    return float((first * second).sum())


def real_bound(curve: tuple[Floats, Floats], weights: tuple[Floats, Floats], frame: Frame, height: float) -> float:
    """The transform at another height on the real line, from above.

    Theorem: M(c) = c (c+1) times the integral of e^(c epsilon) E[(1 - e^(epsilon - L))+]; so it only grows when the
        curve is replaced by its chords, a lattice law with transform R(c) + a sum_j G(j a) e^(c j a)/K(c).
    Reference: Doroshenko-Ghazi-Kamath-Kumar-Manurangsi 2022
    Proof: docs/theory/accounting/lattice.md#chords
    Checked-by: tests/accounting/lattice/test_pieces.py::test_bounds_at_other_heights
    """
    a = frame.step
    total = 0.0
    for (j, values), scale in ((curve, _per_kernel(a, height)), (weights, 1.0)):
        exponents = (height - frame.tilt) * a * j
        if j.size and float(exponents.max()) > _STEEPEST:
            return math.inf
        grown = exp_of_many(exponents)
        del exponents
        grown *= values
        whole = float(grown.sum())
        sizes = float(np.abs(grown, out=grown).sum())
        total += scale * (whole + sizes * (4 * ERROR + 2 * (j.size + 8) * UNIT))
    return enlarged(total)


def _per_kernel(a: float, height: float) -> float:
    """1/K on the real line, from above."""
    product = scalar_expm1(height * a) * scalar_expm1((height + 1) * a)
    return product / (a * scalar_exp(height * a) * scalar_expm1(a)) * (1 + 8 * ERROR)


def smooth_piece(law: Smooth, frame: Frame, offset: float, right: float) -> Piece:
    """The part of a density with y <= right, which is infinite if nothing is cut off.

    Theorem: let R be the transform of a law at two lattice points that has the same mass as the piece under P and under
        Q, and G(epsilon) the curve of the piece less that of this law. Then z (z+1) (K R + a sum_j G(j a) e^(z j a))
        differs from the transform M of the piece by at most |z (z+1)| times the sum over k != 0 of
        |M(z_k)|/|z_k (z_k + 1)|, z_k = z + 2 pi i k/a.
    Reference: Poisson summation
    Proof: docs/theory/accounting/lattice.md#transforms-from-curves
    Checked-by: tests/accounting/lattice/test_pieces.py::test_smooth_piece_is_within_its_error
    """
    sampled = _sampled(law, frame, offset, right)
    values = frame.weight * sampled.sums
    scale = scalar_exp(-frame.tilt * offset) * (1 + 4 * ERROR)
    falls = np.minimum(law.fall(frame.tilt, right, frame.beyond) * scale, sampled.mass)
    kernel = frame.size * modulus(frame.kernel)
    found = kernel * sampled.matched_error + frame.size * sampled.error + 16 * UNIT * modulus(values)
    found = (found + _aliases(frame, falls)) * (1 + 1e-9)
    return _piece(values, found, sampled, float(falls[0]))


def chord_piece(law: Smooth, frame: Frame, offset: float, right: float) -> Piece:
    """The law on the lattice whose curve has chords in place of that of such a part: its profile is never below.

    Theorem: the chords, in e^epsilon, of the curve of a piece are the curve of a law on the lattice, with the transform
        R + a sum_j G(j a) e^(z j a)/K; and every profile to which it contributes only grows. Wrong samples are a law
        with other masses, of either sign.
    Reference: Doroshenko-Ghazi-Kamath-Kumar-Manurangsi 2022
    Proof: docs/theory/accounting/lattice.md#chords
    Checked-by: tests/accounting/lattice/test_pieces.py::test_chords_are_a_law_on_the_lattice
    """
    sampled = _sampled(law, frame, offset, right)
    values = np.divide(sampled.sums, frame.kernel, out=sampled.sums)
    found = np.empty(values.size)
    for part in frame.parts():
        found[part] = (KERNEL_ERROR + 16 * UNIT) * (modulus(values[part]) + sampled.matched)
    found += sampled.matched_error
    a, c = frame.step, frame.tilt
    kinks = (scalar_exp((c + 1) * a) + scalar_exp(a) + 2) / (a * scalar_expm1(a)) * (1 + 8 * ERROR)
    each = scalar_exp(c * a) / a * (1 + 8 * ERROR)
    wrong = Wrong(sampled.largest_error * each, sampled.all_errors * kinks, sampled.error * each)
    found *= 1 + 1e-9
    bound = (sampled.mass + wrong.masses + float(found.max())) * (1 + 1e-9)
    bounds = np.broadcast_to(np.float64(bound), found.shape)  # which takes no memory
    return Piece(values, found, bounds, sampled.mass, sampled.curve, sampled.weights, wrong)


@dataclass(frozen=True)
class _Sampled:
    """K R + a sum_j G(j a) e^(z j a) at the nodes: the second part within `error`, the first within |K| times
    `matched_error`, where |R| is at most `matched`; and the transform on the real line, from above.
    """

    sums: Complex
    error: float
    largest_error: float
    """Of one of the samples, with what the Fourier sum adds to it; and of all."""
    all_errors: float
    matched: float
    matched_error: float
    mass: float
    curve: tuple[Floats, Floats]
    weights: tuple[Floats, Floats]


def _sampled(law: Smooth, frame: Frame, offset: float, right: float) -> _Sampled:
    a, c = frame.step, frame.tilt
    top = law.above(right) if right < math.inf else NOTHING
    low, missing = _lowest(law, frame, offset)
    high = _highest(law, frame, offset, right)
    if c * a * high > _STEEPEST or high * a > _HIGHEST or high - low > max(_WIDEST, frame.count * 5 // 8):
        raise NotApplicable("the window of losses is too wide")
    j = np.arange(float(low), high + 1.0)
    samples, errors = np.empty_like(j), np.empty_like(j)
    for i in range(0, j.size, _BLOCK):  # what is needed on the way takes little memory
        block = slice(i, i + _BLOCK)
        samples[block], errors[block] = _samples(law, j[block] * a + offset, top)
    exponents = c * a * j
    tilts = exp_of_many(exponents)
    tilts *= a
    samples *= tilts
    errors *= tilts
    del tilts
    total = float(samples.sum())
    lost = float(errors.sum()) + dot(samples, np.abs(exponents)) * 4 * UNIT + total * 2 * ERROR + missing
    lost = enlarged(lost, j.size + 8)
    np.abs(exponents, out=exponents)
    exponents *= 4 * UNIT
    exponents += 4 * ERROR
    exponents *= samples
    exponents += errors
    largest = float(exponents.max())
    del exponents
    first, second, off = _lattice_law(law, top, offset, a)
    first, off = first * scalar_exp(-c * a), off * (1 + 4 * ERROR)
    cells, adding = folded(j, samples, frame.count)
    samples += errors
    del errors
    curve = np.append(j, low), np.append(samples, missing + 4 * ERROR * total)
    del j, samples
    weights = np.array([-1.0, 0.0]), np.array([first + off, second + off])
    size = abs(first) + abs(second)
    peak = max(float(cells.max()), 1e-300)
    squares = sum(float(np.square(block / peak).sum()) for block in np.split(cells, fourier.FEWEST))
    spread = fourier.spread_error(frame.count) * peak * math.sqrt(squares)
    overlaps, mass = adding / UNIT, real_bound(curve, weights, frame, c)
    sums = fourier.transform(cells)
    del cells
    fourier.forget(frame.count)
    for part in frame.parts():
        sums[part] += frame.kernel[part] * (first * np.conj(frame.turned(1, part.start, part.stop)) + second)
    return _Sampled(
        sums=sums,
        error=lost + total * (fourier.error(frame.count) + adding + 32 * UNIT),
        largest_error=enlarged(overlaps * (largest + overlaps * UNIT * peak) + missing + spread),
        all_errors=enlarged(lost + total * (adding + 32 * UNIT) + math.sqrt(frame.count) * spread),
        matched=size,
        matched_error=size * (KERNEL_ERROR + 8 * ERROR) + 2 * off,
        mass=mass,
        curve=curve,
        weights=weights,
    )


def _piece(values: Complex, found: Floats, sampled: _Sampled, beyond: float) -> Piece:
    """The transform is largest on the real line, where it is known within its error."""
    mass = min(sampled.mass, enlarged(abs(float(values[0].real)) + float(found[0])))
    bounds = np.full(values.shape, mass)
    return Piece(_within(values, bounds), np.minimum(found, 2 * bounds), bounds, beyond, sampled.curve, sampled.weights)


def _samples(law: Smooth, epsilon: Floats, top: Masses) -> tuple[Floats, Floats]:
    """The curve without what lies above the cut."""
    samples, errors = law.curve(epsilon)
    if top is NOTHING:
        return samples, errors
    positive = epsilon >= 0
    grown = exp(np.where(positive, epsilon, 0.0))
    less = np.maximum(samples - (top.first - grown * top.second), 0.0)
    off = top.first_error + grown * (1 + 4 * ERROR) * top.second_error + 4 * ERROR * (top.first + grown * top.second)
    return np.where(positive, less, samples), np.where(positive, errors + off, errors)


def _highest(law: Smooth, frame: Frame, offset: float, right: float) -> int:
    """Where to end: at the last point below the cut, or one point after the last loss."""
    if right == math.inf:
        return math.ceil((law.ends()[1] - offset) / frame.step) + 1
    first, last = (math.floor((loss - offset) / frame.step + part) for loss, part in _around(law, right))
    if first != last:
        raise NotApplicable("the cut is too near to a lattice point")
    return first


def _around(law: Smooth, y: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Bounds on a loss, each with more than the roundings of its place on the lattice."""
    low, high = law.loss_between(y)
    return (low, -_APART), (high, _APART)


def _lowest(law: Smooth, frame: Frame, offset: float) -> tuple[int, float]:
    """Where to begin, and a bound on the terms before.

    Theorem: below 0, G(epsilon) <= e^epsilon Q(L < epsilon).
    Reference: (e^(epsilon - L) - 1)+ <= e^(epsilon - L) for L < epsilon
    Proof: docs/theory/accounting/lattice.md#transforms-from-curves
    Checked-by: tests/accounting/lattice/test_pieces.py::test_nothing_below_the_window_is_lost
    """
    a, c = frame.step, frame.tilt
    end = law.ends()[0]
    if end > -_QUIET / (c + 1):
        return math.floor((end - offset) / a) - 1, 0.0
    depth, bounded = _QUIET / (c + 1), law.form == "remove" and law.rate < 1
    if not bounded:
        depth = min(depth, law.loss(-law.base.spread()[0]))
    low = math.floor((-depth - offset) / a) - 1
    rest = 1.0
    if not bounded:  # by symmetry, Q(L < -l) = P(L > l)
        loss = -low * a - offset
        y = law.plain(loss) * (1 - 1e-9)
        if y > 0 and law.loss_between(y)[1] <= loss * (1 - 4 * UNIT):
            beyond = law.above(y)
            rest = min(beyond.first + beyond.first_error, 1.0)
    return low, rest * scalar_exp((c + 1) * a * low) * scalar_exp(offset) / (c + 1) * (1 + 1e-9)


def _lattice_law(law: Smooth, top: Masses, offset: float, a: float) -> tuple[float, float, float]:
    """Masses at -a and 0 that together have those of a piece under P and Q, and a bound on the error of either."""
    mass, off = law.mass()
    width = scalar_expm1(a)
    part = (mass - top.second) * scalar_expm1(offset)
    moved = (part + (top.first - top.second)) / width
    rounding = 8 * ERROR * (part + top.first + top.second) + top.first_error + 2 * top.second_error + 2 * off * offset
    off += top.first_error + 2 * rounding / width + 8 * ERROR * (mass + moved)
    return moved, mass - top.first - moved, off * (1 + 1e-9)


def _aliases(frame: Frame, falls: Floats) -> Floats:
    """|z (z+1)| times the sum over k != 0 of |M(z_k)|/w_k^2, where |M| is at most `falls` from `frame.beyond` on.

    Theorem: with x = |w| a/(2 pi) <= 1/2, all |w_k| but the nearest are at least 2 pi/a, and the sum of their inverse
        squares is at most (a/(2 pi))^2 2.59.
    Reference: comparison term by term
    Proof: docs/theory/accounting/lattice.md#transforms-from-curves
    Checked-by: tests/accounting/lattice/test_pieces.py::test_alias_sums
    """
    unit = frame.step * _PER_TURN
    x = np.arange(frame.count // 2 + 1.0) / frame.count
    place = np.minimum(((1 - 2 * x) * (falls.size - 1)).astype(np.int64), falls.size - 1)
    nearest = falls[place] / ((1 - x) * (1 - x))
    return frame.size * (unit * unit) * (nearest + _SQUARES * float(falls[-1]))


def _within(values: Complex, bounds: Floats) -> Complex:
    """Brought back into discs that hold the truth: that never adds to an error."""
    size = modulus(values)
    beyond = np.flatnonzero(size > bounds)
    if beyond.size:
        values = values.copy()
        values[beyond] *= bounds[beyond] / np.maximum(size[beyond], 1e-300)
    return values


def folded(j: Floats, samples: Floats, count: int) -> tuple[Floats, float]:
    """Samples at all integers, added up modulo `count`; and the relative error of these sums, at most."""
    places = j.astype(np.int64)
    places %= count
    most = int(np.bincount(places, minlength=1).max())
    return np.bincount(places, weights=samples, minlength=count).astype(np.float64, copy=False), most * UNIT
