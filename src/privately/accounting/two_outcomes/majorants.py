"""Upper values of a profile with one more step before it, by functions above the profile.

y        e^loss, as in `adaptive.curves`; V(y) the profile of what follows, s = y / (y at some place)
k        an exponent: 1 - a or a, for each listed order a
G        s^k - 1 - k (s - 1), which is convex, and 0 only at s = 1
Above V  V_1 + slope (s - 1) + lift + C G, of one exponent or of two in some shares
Bend     a second derivative at the first of two neighbours times the square of their distance
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from privately.accounting.elementary import ERROR, UNIT, Floats, Integers, exp, expm1
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.bends import more_bent, summit
from privately.accounting.two_outcomes.sketches import Found, Lattice, Sketch

_LARGEST_POWER = 600.0
_SLACK, _DOUBT, _LITTLE = 8 * UNIT, 1e-9, 1e-12
_TINY, _EIGHTH = 1e-300, 0.125 * (1 + 1e-6)
_CHUNK = 48


class Powers:
    """G, its bend, and its mean after a step, for all exponents and all differences of places."""

    def __init__(self, statement: AtOrders, lattice: Lattice, mirrored: int | None = None) -> None:
        """Of the other direction so many orders, if not all."""
        self.lattice = lattice
        orders = [order for order, _ in statement.bounds]
        self.exponents = np.array([*(float(1 - order) for order in orders), *map(float, orders[:mirrored])])
        exact = [math.nextafter(float((a - 1) * bound), math.inf) for a, bound in statement.bounds]
        if max(exact) > _LARGEST_POWER:
            raise NotApplicable("bounds that are too large")
        self.grown = expm1(np.array([*exact, *exact[:mirrored]])) * (1 + 2 * ERROR)
        self.first = -lattice.places - lattice.down - lattice.left
        self.losses = np.arange(float(self.first), lattice.beyond + _CHUNK + 2) * lattice.step
        k = self.exponents[:, None]
        raised = np.minimum(k * self.losses, _LARGEST_POWER)
        self.powers = exp(raised) * (1 + 2 * self.doubt)
        rise, more = expm1(self.losses), expm1(raised)
        size = self.doubt * (np.abs(more) + np.abs(k * rise))
        self.g = np.maximum(more - k * rise - size, 0.0)
        with np.errstate(over="ignore"):  # infinite where nothing is known
            after = more - k * rise + size + self.grown[:, None] * self.powers
        self.after = np.where(k * self.losses < _LARGEST_POWER, after, np.inf)
        self.rise, self.fall = rise + self.doubt * np.abs(rise), -rise + self.doubt * np.abs(rise)
        self.ratios = exp(self.losses) * (1 - 2 * self.doubt)
        """s, rounded down."""
        self.bends = self.powers * self.bent[:, None] * (1 + _DOUBT)

    def falls(self, row: Integers, at: Integers) -> Floats:
        """At least the size of s times the slope of G."""
        power, ratio = self.powers[row, at], self.ratios[at]
        size = 4 * self.doubt * (power + ratio)
        found: Floats = np.maximum(np.abs(self.exponents[row]) * (np.abs(power - ratio) - size), 0.0)
        return found

    @cached_property
    def doubt(self) -> float:
        """Relative to the sizes of all terms."""
        farthest = np.abs(self.losses).max() * (1 + np.abs(self.exponents).max())
        return float(16 * ERROR + 16 * UNIT * farthest)

    @cached_property
    def bent(self) -> Floats:
        """The bend of a power, over the power there."""
        k = self.exponents
        found: Floats = k * (k - 1) * math.expm1(self.lattice.step) ** 2
        return found

    @cached_property
    def straighter(self) -> tuple[Floats, Floats]:
        """At least and at most by how much the second derivative changes up to the next place."""
        far = (self.exponents - 2) * self.lattice.step
        return np.exp(np.minimum(far, 0.0)) * (1 - _DOUBT), np.exp(np.maximum(far, 0.0)) * (1 + _DOUBT)

    @cached_property
    def steepest(self) -> Floats:
        """At least how steep G is, so far beyond where it touches."""
        away, k = self.lattice.beyond, self.exponents
        return np.abs(k * expm1(np.minimum((k - 1) * away * self.lattice.step, _LARGEST_POWER))) * (1 - _DOUBT)


@dataclass(frozen=True)
class Tried:
    """Functions that touch at a run of places: which exponents, or which for each, and the shares of the first."""

    rows: tuple[int, int] | tuple[Integers, Integers]
    start: int
    shares: Floats
    away: int = 0
    """So many places before where they touch they are meant to count."""
    rests: Floats | None = None
    """The shares of the second, if they are not what is left."""

    @property
    def terms(self) -> list[tuple[Integers, Floats]]:
        """For each function a row, and its share; and another one if there are two."""
        one, two = (np.broadcast_to(np.asarray(row), self.shares.shape) for row in self.rows)
        rest = 1 - self.shares if self.rests is None else self.rests
        return [(one, self.shares)] if (one == two).all() else [(two, rest), (one, self.shares)]

    def mixed(self, parts: Floats, at: Integers) -> Floats:
        """Of one row of numbers for each exponent, at some differences of places."""
        (row, share), *others = self.terms
        found: Floats = parts[row[:, None], at]
        if others:
            ((other, rest),) = others
            found = share[:, None] * found + rest[:, None] * parts[other[:, None], at]
        return found


@dataclass(frozen=True)
class Above:
    """V_1 + slope (s - 1) + lift + C G, above the profile everywhere."""

    tried: Tried
    slopes: Floats
    bases: Floats
    """V_1 + lift, rounded up."""
    factors: Floats


def above(sketch: Sketch, powers: Powers, tried: Tried) -> Above:
    """The least C that is found for each, and the lift that makes it hold.

    Theorem: let the profile be at most d and e above a function at two neighbours, and between them at most as much as
        some function through these values with a bend of at least b, and c at least the bend of the former. Between
        them the profile is at most max over x of (1-x) d + x e + max(c-b, 0) x(1-x)/2 above it.
    Reference: none
    Proof: docs/theory/accounting/two_outcomes.md#functions-above
    Checked-by: tests/accounting/two_outcomes/test_majorants.py::test_above_everywhere
    """
    many = tried.shares.size
    places = slice(tried.start + powers.lattice.left, tried.start + powers.lattice.left + many)
    factors, lifts = np.empty(many), np.empty(many)
    for start in range(0, many, _CHUNK):
        part = slice(start, min(start + _CHUNK, many))
        factors[part], lifts[part] = _Chunk(sketch, powers, tried, part).found()
    bases = (sketch.upper[places] + lifts) * (1 + 2 * _SLACK)
    return Above(tried, sketch.slopes[places], bases, factors)


class _Chunk:
    """Some of the functions, all at once: a row for each, a column for each place."""

    def __init__(self, sketch: Sketch, powers: Powers, tried: Tried, part: slice) -> None:
        lattice = powers.lattice
        start, many = tried.start + part.start, part.stop - part.start
        self.sketch, self.powers = sketch, powers
        self.columns = min(start + many - 1 + lattice.beyond, lattice.last) + lattice.left + 1
        self.offset = -lattice.left - start - powers.first
        own = slice(start + lattice.left, start + lattice.left + many)
        self.slopes = -sketch.slopes[own]
        self.own = sketch.upper[own] * (1 - 2 * _SLACK)
        self.terms = [(row[part], share[part]) for row, share in tried.terms]
        self.starts = self.offset - np.arange(many)
        self.small = self._of_each(powers.after[:, -tried.away - powers.first])
        """What C costs: G is larger where it has to be enough."""
        self.rise = self._shifted(powers.rise)
        self.g = self._mixed(powers.g)
        self.bends = self._mixed(powers.bends, powers.straighter[1])[:, :-1]
        self.over_line = self.slopes[:, None] * self.rise
        self.over_line -= self.own[:, None]
        self.over_line += sketch.upper[: self.columns] * (1 + _SLACK)
        self.rising = self.slopes / self._of_each(powers.steepest) * (1 + _DOUBT)

    def _shifted(self, numbers: Floats) -> Floats:
        many = self.slopes.size
        found: Floats = sliding_window_view(numbers, self.columns)[self.offset - many + 1 : self.offset + 1][::-1]
        return found

    def _of_each(self, parts: Floats) -> Floats:
        """Of one number for each exponent."""
        return sum((parts[row] * share for row, share in self.terms), np.zeros(self.slopes.size))

    def _mixed(self, parts: Floats, scales: Floats | None = None) -> Floats:
        """Of one row of numbers for each exponent, each times its scale."""
        if len(self.terms) == 1 and scales is None:
            return self._rows(parts, self.terms[0][0])
        found = np.zeros((self.slopes.size, self.columns))
        for row, share in self.terms:
            found += (share if scales is None else share * scales[row])[:, None] * self._rows(parts, row)
        return found

    def _rows(self, parts: Floats, row: Integers) -> Floats:
        if (row == row[0]).all():
            return self._shifted(parts[row[0]])
        found: Floats = sliding_window_view(parts, self.columns, axis=1)[row, self.starts]
        return found

    def found(self) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(self.g > self.small[:, None], self.over_line / self.g, 0.0)
        factors = np.maximum(ratios.max(axis=1), self.rising)
        who, cell, over = self._over(factors)
        least = np.minimum(self.g[who, cell], self.g[who, cell + 1])
        more = np.zeros(factors.size)
        missing = np.maximum(over, 0.0) / np.maximum(least, _TINY)
        np.maximum.at(more, who, np.where(least > self.small[who], missing, 0.0))
        factors = (factors + more * (1 + 1e-6)) * (1 + 4 * UNIT)
        lifts = np.zeros(factors.size)
        who, _, over = self._over(factors)
        np.maximum.at(lifts, who, over)
        return factors, np.maximum(lifts, self._before(factors)) * (1 + _LITTLE)

    def _before(self, factors: Floats) -> Floats:
        """How far 1 is above the tangents at the first place, at y = 0."""
        falls = sum((share * self.powers.falls(row, self.starts) for row, share in self.terms), np.zeros(factors.size))
        falls = (factors * falls + self.slopes * self._shifted(self.powers.ratios)[:, 0]) * (1 - _SLACK)
        found: Floats = self.over_line[:, 0] - factors * self.g[:, 0] - falls
        return found

    def _over(self, factors: Floats) -> tuple[Integers, Integers, Floats]:
        """Where the profile may be above between two places, and at most how far."""
        gaps = factors[:, None] * self.g
        np.subtract(self.over_line, gaps, out=gaps)
        rough = self.bends * (factors[:, None] * _EIGHTH)
        rough += np.maximum(gaps[:, 1:], gaps[:, :-1])
        who, cell = np.nonzero(~(rough <= 0))  # also what is no number, which makes a function useless
        sketch, c = self.sketch, factors[who]
        there, then = c * self.g[who, cell], c * self.g[who, cell + 1]
        own = [self._own(term, who, cell, c) for term in self.terms]
        bends = sum((bend * most for _, bend, most in own), np.zeros(who.size))
        straight = summit(gaps[who, cell], gaps[who, cell + 1], bends)
        line = self.slopes[who] * self.rise[who, cell] - self.own[who] - there
        later = self.slopes[who] * self.rise[who, cell + 1] - self.own[who] - then
        bent = np.full(who.size, -np.inf)
        for known in sketch.branches:
            exponents, known_bends = known.bent(self.powers.exponents)
            more = more_bent(
                [(k, bend) for k, bend, _ in own],
                [*zip(exponents[:, cell], known_bends[:, cell], strict=True)],
                self.powers.lattice.step,
            )
            more = np.maximum(more + _DOUBT * bends, 0.0)
            np.maximum(bent, summit(known.starts[cell] + line, known.ends[cell] + later, more), out=bent)
        return who, cell, np.minimum(straight, bent) + _LITTLE * bends

    def _own(
        self, term: tuple[Integers, Floats], who: Integers, cell: Integers, factors: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Exponents, bends, and at most by how much these grow up to the next place."""
        row, share = term[0][who], term[1][who]
        bend: Floats = factors * self.powers.bends[row, cell - who + self.offset] * share
        return self.powers.exponents[row], bend, self.powers.straighter[1][row]


def lowered(found: Found, powers: Powers, known: Above, offsets: range) -> int:
    """Puts in what each function is worth after the step, at places so far from where it touches, if that is less.

    Where this helped: one more than the last such place.

    Theorem: a function above the profile, of these powers with factors that are not negative, has after the step a
        mean of at most the same with each power e^((a-1) bound) times as large.
    Reference: Mironov 2017, for the moments
    Proof: docs/theory/accounting/two_outcomes.md#functions-above
    Checked-by: tests/accounting/two_outcomes/test_majorants.py::test_one_step_is_the_statement
    """
    tried, lattice = known.tried, powers.lattice
    at = np.arange(tried.start, tried.start + tried.shares.size)
    before, near = found.upper.copy(), np.array([[-1, 0, 1]])
    for offset in offsets:
        places = at + offset
        kept = (places >= 0) & (places < lattice.places)
        where = offset - powers.first + near
        after = tried.mixed(powers.after, where) * (1 + _SLACK)
        fall = known.slopes[:, None] * powers.fall[where]
        values = known.bases[:, None] * (1 + _SLACK) - fall + known.factors[:, None] * after
        slopes, bends = _shape(powers, known, where[:, 1:2], found)
        found.offer(places[kept], values[kept], slopes[kept], *(one[kept] for one in bends))
    helped = np.flatnonzero(found.upper < before * (1 - _DOUBT))
    return int(helped[-1]) + 1 if helped.size else 0


def _shape(powers: Powers, known: Above, where: Integers, found: Found) -> tuple[Floats, tuple[Floats, ...]]:
    """How steep the functions are after the step, and the bends of their powers, at least, as they are kept."""
    s = powers.rise[where] + 1
    grown = (1 + powers.grown[:, None]) * powers.powers[:, where[0]]
    turned = powers.exponents[:, None] * (grown - s)
    first, tried = np.zeros((1, 1), dtype=np.int64), known.tried
    slopes = known.slopes * s[0, 0] + known.factors * tried.mixed(turned, first)[:, 0]
    kept = np.zeros((slopes.size, found.bends.shape[1]))
    exponents = np.zeros(kept.shape)
    for k, (row, share) in enumerate(tried.terms):
        bend = known.factors * (share * (grown[row, 0] * powers.bent[row])) * (1 - _DOUBT)
        bend = np.nan_to_num(bend, nan=0.0, posinf=0.0)
        if found.exponents is None:
            kept[np.arange(row.size), row] = bend
        else:
            kept[:, k], exponents[:, k] = bend, powers.exponents[row]
    return slopes, (kept,) if found.exponents is None else (kept, exponents)
