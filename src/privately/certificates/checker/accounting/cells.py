"""Losses on a lattice, above the true ones: their sums are powers of polynomials with whole coefficients.

A law is replaced by one whose losses are multiples of `step`: its profile is that of the law at these losses and a line
between them, which lies above. Of the sum S of all losses only Q up to epsilon is needed,

    D(epsilon) = 1 - e^epsilon Q(S finite) + the sum over S <= epsilon of (e^epsilon - e^S) Q(S)

and rounding coefficients up, or moving some to smaller losses, makes that larger. docs/theory/certificates.md#cells
"""

from math import exp
from typing import NamedTuple

from ..elementary import exponential
from ..intervals import Interval, enclose, whole
from ..rationals import Rational
from ..schema import Invalid
from ..work import Work
from .numbers import BITS, near
from .profiles import profile
from .terms import Law, Terms, ordered

_GUARD = 64
_MOST_PLACES = 900
_RARE = 2.0**-18
_STEEPEST = 600.0
_QUICK_BITS, _QUICK = 14, 120
_OF_DISCRETE = 200_000


class Cells(NamedTuple):
    """Q of the losses (first + i) step, in units of 2^-places, from above."""

    first: int
    masses: list[int]
    finite: int
    """At least so much of Q has a finite loss,"""
    total: int
    """at most so much;"""
    excess: int
    """and all masses together are at most so much too large."""


class Lattice:
    """What is claimed, the step, and how many cells are kept of any sum of `steps` losses."""

    def __init__(
        self, step: Rational, most: int, *, epsilon: Rational, delta: Rational, steps: int, work: Work
    ) -> None:
        self.step, self.most, self.epsilon, self.work = step, most, epsilon, work
        grown = exponential(near(epsilon)).magnitude()
        small = delta.denominator.bit_length() - delta.numerator.bit_length()
        self.places = _GUARD + grown + max(small, 0) + (most * steps).bit_length()
        if self.places > _MOST_PLACES or delta.is_zero():
            raise Invalid("witness.method", "is not for so large an epsilon, or so small a delta")
        ratio = epsilon / step
        self.last = ratio.numerator // ratio.denominator
        """Of the multiples of the step the last one up to epsilon."""
        self.bits = self.places + _GUARD
        self.rare = delta.numerator / delta.denominator * _RARE / (2 * steps.bit_length() + 2) * 2.0**self.places

    def laid(self, law: Law, first: int, rest: int, *, removes: bool) -> Cells:
        """One law from the loss first * step on, where all other losses sum up to at least rest * step.

        The line from D(0) = 1 to D at the first loss ends there: what lies below has loss -infinity under Q. From one
        multiple of the step to the next D falls by the Q of all later ones, and all Q from the last cell on counts as
        if it were there.
        """
        count = max(min(self.last - rest + 1 - first, self.most - 1), 1)
        self.work.spend(400 * (count + 1) + (_OF_DISCRETE if "discrete" in law.name else 0))
        alpha = self._grown(first)
        here = profile(law, alpha, removes=removes)
        above = (whole(1, self.bits) - here) / alpha
        finite, total = above.fixed(self.places)
        masses: list[int] = []
        excess = 0
        for i in range(count):
            following = self._grown(first + i + 1)
            there = profile(law, following, removes=removes)
            beyond = (here - there) / (following - alpha)
            low, high = (above - beyond).fixed(self.places)
            masses.append(max(high, 0))
            excess += masses[-1] - max(low, 0)
            alpha, here, above = following, there, beyond
            if beyond.fixed(self.places)[1] <= 1:
                break
        low, high = above.fixed(self.places)
        masses.append(max(high, 0))
        return Cells(first, masses, max(finite, 0), max(total, 0), excess + masses[-1] - max(low, 0))

    def _grown(self, place: int) -> Interval:
        return exponential(enclose(self.step * Rational(place), self.bits))

    def power(self, cells: Cells, times: int, rest: int) -> Cells:
        """The sum of so many independent ones; `rest` is without any of them."""
        result, done = cells, 1
        for bit in bin(times)[3:]:
            done *= 2
            result = self.sum(result, result, rest + (times - done) * cells.first)
            if bit == "1":
                done += 1
                result = self.sum(result, cells, rest + (times - done) * cells.first)
        return result

    def sum(self, one: Cells, other: Cells, rest: int) -> Cells:
        """Of two independent sums of losses: both lists of masses as one number each, which are multiplied."""
        places, size = self.places, (2 * self.places + 23) // 8
        count = len(one.masses) + len(other.masses) - 1
        self.work.spend(_multiplying(8 * size * max(len(one.masses), len(other.masses))) + 4 * count)
        more, others = sum(one.masses), sum(other.masses)
        if max(more, others) >> (places + 1):
            raise Invalid("witness", "the cells are too vague")
        first = one.first + other.first
        left = _packed(one.masses, size)
        right = left if other is one else _packed(other.masses, size)
        kept = max(min(count, self.last - rest + 2 - first), 1)
        masses = [-(-mass >> places) for mass in _unpacked(left * right, size, kept)]
        excess = -(-(one.excess * others + other.excess * more) >> places) + count
        total = -(-one.total * other.total >> places)
        found = Cells(first, masses, one.finite * other.finite >> places, total, excess)
        return self._kept(found, is_whole=kept == count)

    def _kept(self, cells: Cells, *, is_whole: bool) -> Cells:
        """Rare small losses count as -infinity, and large ones as the last that is kept.

        Which ones is said by floats; what that costs is counted.
        """
        first, masses, finite, total, excess = cells
        unit, rare, skipped = self.step.numerator / self.step.denominator, self.rare, 0
        while skipped < len(masses) - 1 and first + skipped < self.last:
            rare -= masses[skipped] * exp(max(min((first + skipped) * unit, _STEEPEST), -_STEEPEST))
            if rare < 0:
                break
            skipped += 1
        gone, masses = sum(masses[:skipped]), masses[skipped:]
        total -= max(gone - excess, 0)
        if len(masses) > self.most or not is_whole:
            masses = masses[: self.most]
            masses[-1] = max(total - sum(masses[:-1]) + excess, 0)
            excess += total - max(finite - gone, 0)
        return Cells(first + skipped, masses, max(finite - gone, 0), total, excess)

    def delta(self, cells: Cells) -> Interval:
        """D(epsilon), from above."""
        places = self.places
        low, high = exponential(enclose(self.epsilon, self.bits)).fixed(places)
        place, ratio = self._grown(cells.first).fixed(places)[0], self._grown(1).fixed(places)[0]
        total = 0
        for mass in cells.masses[: max(self.last - cells.first + 1, 0)]:
            total += mass * (high - place)
            place = place * ratio >> places
        found = (1 << 2 * places) - low * cells.finite + total
        return Interval(found, found, -2 * places, BITS)


def delta_by_cells(terms: Terms, lattice: Lattice, firsts: list[int], *, removes: bool) -> Interval:
    """An upper bound of D(epsilon) for all laws together."""
    return lattice.delta(cells_of(terms, lattice, firsts, removes=removes))


def cells_of(terms: Terms, lattice: Lattice, firsts: list[int], *, removes: bool) -> Cells:
    """The sum of all losses; each law begins at its own first loss."""
    listed = ordered(terms)
    if len(firsts) != len(listed):
        raise Invalid("witness.firsts", "must be one for each law")
    rest = sum(first * times for first, (_, times) in zip(firsts, listed, strict=True))
    done: Cells | None = None
    for first, (law, times) in zip(firsts, listed, strict=True):
        before = done.first if done else 0
        one = lattice.laid(law, first, before + rest - first, removes=removes)
        rest -= first * times
        one = lattice.power(one, times, before + rest)
        done = one if done is None else lattice.sum(done, one, rest)
    if done is None:
        raise Invalid("witness.firsts", "must be one for each law")
    return done


def _packed(masses: list[int], size: int) -> int:
    return int.from_bytes(b"".join(mass.to_bytes(size, "little") for mass in masses), "little")


def _unpacked(number: int, size: int, count: int) -> list[int]:
    data = (number & ((1 << 8 * size * count) - 1)).to_bytes(size * count, "little")
    return [int.from_bytes(data[i : i + size], "little") for i in range(0, size * count, size)]


def _multiplying(bits: int) -> int:
    """The work of a product of two numbers of so many bits: three times as much for twice as many."""
    units: int = _QUICK * 3 ** (bits >> _QUICK_BITS).bit_length()
    return units
