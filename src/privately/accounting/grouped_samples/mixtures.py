"""How many rows of a group are in a sample, and the losses of noise around that many: two lists, on either side.

P has noise around i rows, i binomial among the removed ones, and Q around -j rows, j binomial among the added ones.
Beside noise around 0 they are 1 + A and 1 + B; P/Q - 1 = (A - B)/(1 + B) is known well however rare samples are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp_and_expm1, log, log1p
from privately.accounting.grouped_samples.noises import Base, Cut, cut
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading import Losses, Side

_LEAST_RATE, _HIGHEST_RATE = Fraction(1, 10**30), 1 - Fraction(1, 2**20)
_FINEST = 2.0**-10
_MOST_ROWS = 1 << 10
_LEAST, _LEAST_SHARE = 1e-280, Fraction(1, 10**250)
_FEW, _FEW_PIECES = 2, 64
_LESS_RARE = 2.0**20
"""Rows that are rarer than so many times what may be left out do not matter either."""
_HALF = 0.5
_SHARP = 1e-11
"""By at most this part of it, what is beyond a sharp end was taken from above."""


Split = tuple[int, int]
"""So many rows are removed, and so many added."""


@dataclass(frozen=True)
class Step:
    """Noise on a Poisson sample."""

    base: Base
    rate: Fraction


@dataclass(frozen=True)
class Numbers:
    """Probabilities of 0, 1, 2, ... rows in the sample, each off by a unit of rounding; `missing` is that of more."""

    shares: tuple[float, ...]
    missing: Fraction

    @classmethod
    def of(cls, rows: int, rate: Fraction, side: Side, rare: float, most: int = _MOST_ROWS) -> Numbers:
        """For the lower side more rows are counted as the last number, for the upper one they are left out: those that
        are rare, and those beyond the most.

        Theorem: fewer rows in the sample, on either side of a pair, make a profile that is nowhere larger; what is left
            out of P counts as seen, and what is left out of Q only makes the profile larger.
        Reference: none; a row that is ignored
        Proof: docs/theory/accounting/group_samples.md#few-rows
        Checked-by: tests/accounting/grouped_samples/test_mixtures.py::test_numbers_of_rows
        """
        if not _LEAST_RATE < rate < _HIGHEST_RATE or rows > _MOST_ROWS:
            raise NotApplicable("the rate is out of range, or the group is too large")
        exact: list[Fraction] = []
        left = Fraction(1)
        while len(exact) <= min(rows, most) and (len(exact) < _FEW or left > rare):
            i = len(exact)
            exact.append(math.comb(rows, i) * rate**i * (1 - rate) ** (rows - i))
            left -= exact[-1]
        if min(exact) < _LEAST_SHARE:
            raise NotApplicable("some number of rows is hardly ever in the sample")
        if side == "lower":
            exact[-1] += left
            left = Fraction(0)
        return cls(tuple(float(share) for share in exact), left)

    @property
    def most(self) -> int:
        return len(self.shares) - 1


@dataclass(frozen=True)
class Ratios:
    """A mixture over noise around 0, at every edge or outcome: the ratio, that less 1, and how far both may be off."""

    ratio: Floats
    part: Floats
    """By which the ratio may be off."""
    rise: Floats
    error: Floats

    @classmethod
    def of(cls, numbers: Numbers, pieces: Cut, sign: int) -> Ratios:
        nothing = np.zeros(pieces.exponents(0)[0].size)
        ratio, rise, error, doubt = nothing + numbers.shares[0], nothing, nothing, nothing
        rounded = 4 * (numbers.most + 4) * UNIT
        for i, share in enumerate(numbers.shares[1:], start=1):
            exponents, off = pieces.exponents(sign * i)
            grown, more = exp_and_expm1(exponents)
            ratio, rise, doubt = ratio + share * grown, rise + share * more, np.maximum(doubt, off)
            error = error + share * ((2 * ERROR + rounded) * np.abs(more) + 2 * off * grown)
        return cls(ratio, 2 * doubt + 2 * ERROR + rounded, rise, error)


@dataclass(frozen=True)
class _Masses:
    """Of all pieces under a mixture, and by how much they are more than around 0; both with their errors."""

    mass: Floats
    mass_error: Floats
    more: Floats
    error: Floats

    @classmethod
    def of(cls, numbers: Numbers, pieces: Cut, sign: int) -> _Masses:
        around, around_off = pieces.masses(0)
        mass, mass_error = numbers.shares[0] * around, numbers.shares[0] * around_off
        more, error = np.zeros(around.size), np.zeros(around.size)
        rounded = 4 * (numbers.most + 4) * UNIT
        for i, share in enumerate(numbers.shares[1:], start=1):
            found, off = pieces.masses(sign * i)
            mass, mass_error = mass + share * found, mass_error + share * off
            more = more + share * (found - around)
            error = error + share * (off + around_off + rounded * (found + around))
        return cls(mass, mass_error * (1 + rounded) + rounded * mass, more, error * (1 + rounded))


def listed(step: Step, split: Split, side: Side, count: int, rare: float) -> Losses:
    """One step as so many removed rows and so many added ones see it, cut into about so many pieces.

    Theorem: a cell may be taken for its two ends, with a + b = m and a r0 + b r1 = n, r the ratio of P and Q there, m
        and n their masses: that costs at least as much, and so does more of m, and more of it at the upper end. Taken
        for one outcome, it costs at most as much.
    Reference: the cell is the image of the two under a map that forgets which; data processing
    Proof: docs/theory/accounting/group_samples.md#cells
    Checked-by: tests/accounting/grouped_samples/test_mixtures.py::test_lists_are_on_their_sides
    """
    removed, added, pieces = _in_range(step, split, side, count, rare)
    first, second = Ratios.of(removed, pieces, 1), Ratios.of(added, pieces, -1)
    offset = float(added.missing - removed.missing)
    points = PairPoints.of(first, second, offset)
    p, q = _Masses.of(removed, pieces, 1), _Masses.of(added, pieces, -1)
    if not pieces.are_cells:
        found = points.single(p, side)
    elif side == "upper":
        found = points.spread(p, q, _gained(p, q, pieces, offset))
    else:
        found = _joined(p, q, _gained(p, q, pieces, offset))
    return _with_ends(found, points, removed, pieces, side)


def is_in_range(step: Step, split: Split, rare: float) -> bool:
    """Whether all numbers of rows that matter are listed; otherwise there is so little noise that some are left out."""
    try:
        removed, added, _ = _in_range(step, split, "upper", _FEW_PIECES, rare)
    except NotApplicable:
        return False
    return max(removed.missing, added.missing) <= _LESS_RARE * rare


def _in_range(step: Step, split: Split, side: Side, count: int, rare: float) -> tuple[Numbers, Numbers, Cut]:
    """With as many rows as matter or, where there is so little noise that they are out of range, as are in range."""
    most = _MOST_ROWS
    while True:
        removed, added = (Numbers.of(rows, step.rate, side, rare / 2, most) for rows in split)
        try:
            return removed, added, cut(step.base, removed.most, added.most, count, rare)
        except NotApplicable:
            most = max(removed.most, added.most) - 1
            if not most:
                raise


@dataclass(frozen=True)
class PairPoints:
    """P/Q - 1 and the loss, ln(P/Q), at every edge or outcome, each within its error."""

    gain: Floats
    gain_error: Floats
    loss: Floats
    loss_error: Floats

    @classmethod
    def of(cls, first: Ratios, second: Ratios, offset: float) -> PairPoints:
        difference = (first.rise - second.rise) + offset
        off = first.error + second.error + 4 * UNIT * (np.abs(first.rise) + np.abs(second.rise) + abs(offset))
        gain = difference / second.ratio
        gain_error = 2 * off / second.ratio + np.abs(gain) * (2 * second.part + 4 * UNIT)
        loss, loss_error = logarithm(gain, gain_error, first.ratio / second.ratio, first.part + second.part)
        return cls(gain, gain_error, loss, loss_error)

    def single(self, p: _Masses, side: Side) -> tuple[Floats, Floats]:
        """Outcomes as they are."""
        sign = 1 if side == "upper" else -1
        return self.loss + sign * self.loss_error, np.maximum(p.mass + sign * p.mass_error, 0.0)

    def spread(self, p: _Masses, q: _Masses, gained: _Known) -> tuple[Floats, Floats]:
        """Every cell as its two ends; where these cannot be told apart, as the upper one."""
        low, high = self.gain[:-1], self.gain[1:]
        low_off, high_off = self.gain_error[:-1], self.gain_error[1:]
        wide, wide_off = high - low, low_off + high_off + 4 * UNIT * (np.abs(low) + np.abs(high))
        is_told = wide_off <= _FINEST * wide
        wide = np.where(is_told, wide - wide_off, 1.0)
        most = q.mass + q.mass_error
        rounded = gained.error + 8 * UNIT * np.abs(gained.value)
        above = gained.value - low * q.mass + rounded + np.abs(low) * (q.mass_error + 8 * UNIT * most) + most * low_off
        upper = np.clip(above / wide * (1 + 8 * UNIT), 0.0, most)
        losses = self.loss + self.loss_error
        ratios = 1 + self.gain + self.gain_error
        lower = np.where(is_told, (most - upper) * ratios[:-1] * (1 + 8 * UNIT), 0.0)
        upper = np.where(is_told, upper * ratios[1:], p.mass + p.mass_error) * (1 + 8 * UNIT)
        return losses, np.append(lower, 0.0) + np.append(0.0, upper)


@dataclass(frozen=True)
class _Known:
    value: Floats
    error: Floats


def _gained(p: _Masses, q: _Masses, pieces: Cut, offset: float) -> _Known:
    """What P has more than Q."""
    around, off = pieces.masses(0)
    found = (p.more - q.more) + offset * around
    return _Known(found, p.error + q.error + abs(offset) * (off + 4 * UNIT * around) + 4 * UNIT * np.abs(found))


def _joined(p: _Masses, q: _Masses, gained: _Known) -> tuple[Floats, Floats]:
    """Every cell as one outcome; those that are known too badly are left out."""
    kept = (p.mass_error < _FINEST * p.mass) & (q.mass_error < _FINEST * q.mass) & (q.mass > _LEAST)
    n, n_off, m, m_off = p.mass[kept], p.mass_error[kept], q.mass[kept], q.mass_error[kept]
    gain, off = gained.value[kept] / m, gained.error[kept]
    gain_off = 2 * (off + np.abs(gain) * m_off) / m + 4 * UNIT * np.abs(gain)
    loss, error = logarithm(gain, gain_off, n / m, 2 * (n_off / n + m_off / m))
    return loss - error, np.maximum(n - n_off, 0.0)


def logarithm(gain: Floats, gain_off: Floats, ratio: Floats, part: Floats) -> tuple[Floats, Floats]:
    """ln(1 + gain) = ln(ratio), by whichever is known better, and how far it may be off."""
    is_near = np.abs(gain) < _HALF
    near = log1p(np.where(is_near, gain, 0.0))
    loss = np.where(is_near, near, log(np.maximum(ratio, _LEAST)))
    off = np.where(is_near, 4 * gain_off, 2 * part + 4 * UNIT)
    return loss, off + 2 * ERROR * np.abs(loss)


def _with_ends(found: tuple[Floats, Floats], points: PairPoints, removed: Numbers, pieces: Cut, side: Side) -> Losses:
    """With what P has beyond the first and the last edge."""
    (losses, masses), sign = found, 1 if side == "upper" else -1
    beyond = [pieces.beyond(i) for i in range(removed.most + 1)]
    low, high = (
        math.fsum(share * both[end] for share, both in zip(removed.shares, beyond, strict=True)) * (1 + 8 * UNIT)
        for end in (0, 1)
    )
    outside = float(removed.missing) * (1 + 4 * UNIT)
    if pieces.ends_are_sharp:
        ends = points.loss[[0, -1]] + sign * points.loss_error[[0, -1]]
        weights = np.array([low, high]) * (1 if side == "upper" else 1 - _SHARP)
        return Losses.of(np.append(losses, ends), np.append(masses, weights), outside)
    if side == "lower":
        return Losses.of(losses, masses)
    if not pieces.are_cells:
        return Losses.of(losses, masses, outside + low + high)
    first = points.loss[0] + points.loss_error[0]
    return Losses.of(np.append(losses, first), np.append(masses, low), outside + high)
