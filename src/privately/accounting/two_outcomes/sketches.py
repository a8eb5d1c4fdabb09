"""A profile on a lattice from above, with more than its values: functions above it that nearly touch it at each place.

Names are those of `adaptive.curves`: V(y) at places y = e^(j step). The bend of a power is its second derivative at
the first of two neighbours times the square of their distance; slopes are in shares of y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, Integers, exp, expm1
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.hulls import convex

_RISING, _NEARLY_ALL = 16.0, 12.0
_SLACK, _DOUBT, _TAIL_DOUBT = 8 * UNIT, 1e-9, 1e-8
_UNKNOWN = 1e300


@dataclass(frozen=True)
class Lattice:
    """Places of which `places` count, from 0 on; with some more on the left, and on the right."""

    step: float
    places: int
    down: int
    """So far down the functions that are tried touch."""
    order: float
    """The lowest."""

    @property
    def left(self) -> int:
        return min(self.places - 1, math.ceil(_NEARLY_ALL / self.step))

    @property
    def beyond(self) -> int:
        """So far from where they touch functions rise, and need not be looked at."""
        return math.ceil(_RISING / self.order / self.step) + 1

    @property
    def last(self) -> int:
        return self.places + self.down + self.beyond


@dataclass(frozen=True)
class Found:
    """The least functions at all places that count, by their values before, at and after each place.

    Also how steep they are, and the bends of their powers, at least: a column for each exponent.
    """

    values: Floats
    slopes: Floats
    bends: Floats
    exponents: Floats | None = None
    """Those of each place, if they are not the same everywhere."""

    @classmethod
    def nothing(cls, statement: AtOrders, lattice: Lattice) -> Found:
        """The larger of 1 - y and 0."""
        many = lattice.places
        return cls(np.zeros((many, 3)), np.zeros(many), np.zeros((many, 2 * len(statement.bounds))))

    @classmethod
    def tails(cls, statement: AtOrders, lattice: Lattice, times: int) -> Found:
        """What so many steps reveal at most, by single orders."""
        logs, best = _tails(statement, lattice, times, lattice.places)
        excess = np.where(logs < 0, statement.tangents()[0][best], 0.0)
        far = np.array([[1.0, 0.0, -1.0]]) * lattice.step
        values = np.exp(np.minimum(logs, 0.0)[:, None] + excess[:, None] * far) * (1 + _TAIL_DOUBT)
        bends = np.zeros((lattice.places, 2 * len(statement.bounds)))
        bent = values[:, 1] * excess * (excess + 1) * (1 - 2 * _TAIL_DOUBT)
        bends[np.arange(best.size), best] = bent * math.expm1(lattice.step) ** 2
        return cls(values, -excess * values[:, 1], bends)

    @property
    def upper(self) -> Floats:
        return self.values[:, 1]

    def of_two(self, exponents: Floats) -> Found:
        """The same by two powers at each place, where each function has no more, and their exponents."""
        rows = np.argsort(-self.bends, axis=1, kind="stable")[:, :2]
        return Found(self.values, self.slopes, np.take_along_axis(self.bends, rows, axis=1), exponents[rows])

    def copied(self) -> Found:
        exponents = None if self.exponents is None else self.exponents.copy()
        return Found(self.values.copy(), self.slopes.copy(), self.bends.copy(), exponents)

    def offer(
        self, places: Integers, values: Floats, slopes: Floats, bends: Floats, exponents: Floats | None = None
    ) -> None:
        """Takes what is less."""
        less = values[:, 1] < self.upper[places]
        chosen = places[less]
        self.values[chosen], self.slopes[chosen], self.bends[chosen] = values[less], slopes[less], bends[less]
        if self.exponents is not None and exponents is not None:
            self.exponents[chosen] = exponents[less]


def _tails(statement: AtOrders, lattice: Lattice, times: int, places: int) -> tuple[Floats, Integers]:
    """Logarithms, and which orders they are for."""
    excess, moments = statement.tangents()
    logs = times * moments - excess * np.log1p(1 / excess) - np.log1p(excess)
    found = logs - excess * (np.arange(float(places))[:, None] * lattice.step)
    best = found.argmin(axis=1)
    return found[np.arange(places), best], best


@dataclass(frozen=True)
class Sketch:
    """At all places of a lattice, from its left end on, and between each two of them."""

    upper: Floats
    slopes: Floats
    starts: Floats
    """Between two places it is not above some function, which has at most these values at both ends ..."""
    ends: Floats
    bends: Floats
    """... and powers with bends of at least so much, a row for each exponent."""
    exponents: Floats | None = None
    """Those of each, if they are not the same everywhere."""
    others: tuple[Sketch, ...] = ()
    """If it is the largest of several: these."""

    @property
    def branches(self) -> tuple[Sketch, ...]:
        """Wherever it is, one of these is not less."""
        return self.others or (self,)

    def bent(self, exponents: Floats) -> tuple[Floats, Floats]:
        """Between two places each, two exponents and the bends of these powers; no function has more of them."""
        rows, bends = self._largest_bends
        return (exponents[rows] if self.exponents is None else np.take_along_axis(self.exponents, rows, axis=0)), bends

    @cached_property
    def _largest_bends(self) -> tuple[Integers, Floats]:
        rows = np.argsort(-self.bends, axis=0, kind="stable")[:2]
        return rows, np.take_along_axis(self.bends, rows, axis=0)

    @classmethod
    def largest(cls, sketches: Sequence[Sketch], step: float) -> Sketch:
        """Of several profiles.

        Theorem: the largest of convex functions is convex, and is below a function wherever all of them are.
        Reference: none
        Proof: docs/theory/accounting/two_outcomes.md#functions-above
        Checked-by: tests/accounting/two_outcomes/test_sketches.py::test_the_largest_of_two
        """
        if len(sketches) == 1:
            return sketches[0]
        every = np.stack([one.upper for one in sketches])
        which = every.argmax(axis=0), np.arange(every.shape[1])
        slopes = np.stack([one.slopes for one in sketches])[which]
        unknown = np.full(slopes.size - 1, _UNKNOWN)
        return cls(convex(every[which], step), slopes, unknown, unknown, unknown[None] * 0, None, tuple(sketches))

    @classmethod
    def of(cls, found: Found, statement: AtOrders, lattice: Lattice, times: int) -> Sketch:
        """The values at places that count are known, after so many steps.

        Theorem: a profile falls, is convex and at most 1, and V(y) = 1 - y + y V(1/y). A function above it has its
            image above it, 1 - y + y times the same at 1/y, with 1 - k in place of each exponent k.
        Reference: none
        Proof: docs/theory/accounting/two_outcomes.md#functions-above
        Checked-by: tests/accounting/two_outcomes/test_sketches.py::test_between_places
        """
        logs, best = _tails(statement, lattice, times, lattice.last + 1)
        tails = np.exp(np.minimum(logs, 0.0)) * (1 + _TAIL_DOUBT) if times else np.zeros(logs.size)
        upper = np.minimum(tails, np.append(found.upper, np.full(logs.size - lattice.places, found.upper[-1])))
        upper = np.minimum.accumulate(np.minimum(upper, 1.0))
        before = np.arange(float(lattice.left), 0, -1)
        slopes = np.append(found.slopes, -(statement.tangents()[0][best] * upper)[lattice.places :])
        whole = convex(np.append(image(upper[lattice.left : 0 : -1], before, lattice.step), upper), lattice.step)
        whole[0] = 1.0
        turned = np.exp(-before * lattice.step) * (upper[lattice.left : 0 : -1] - 1 - slopes[lattice.left : 0 : -1])
        return cls(whole, np.minimum(np.append(turned, slopes), 0.0), *_between(found, statement, lattice))

    @classmethod
    def straight(cls, upper: Floats, lattice: Lattice, exponents: int) -> Sketch:
        """Of a function that is straight between its values at the places that count, and constant after the last."""
        values = np.append(upper, np.full(lattice.last + 1 - lattice.places, upper[-1]))
        before = np.arange(float(lattice.left), 0, -1)
        whole = np.append(image(values[lattice.left : 0 : -1], before, lattice.step), values)
        whole[0] = 1.0
        unknown = np.full(whole.size - 1, _UNKNOWN)
        slopes = np.minimum(np.gradient(whole, lattice.step), 0.0)
        return cls(whole, slopes, unknown, unknown, np.zeros((exponents, unknown.size)))

    def between(self, lattice: Lattice, exponents: Floats, parts: int) -> Floats:
        """Upper values at places that are so many times as close, from 0 on to the last one that counts."""
        first = self.upper.size - lattice.last - 1
        cells = slice(first, first + lattice.places - 1)
        least = np.exp(np.minimum(exponents - 2, 0.0) * lattice.step) * (1 - _DOUBT)
        bend = (self.bends[:, cells] * least[:, None]).sum(axis=0)
        x = (expm1(np.arange(float(parts)) * (lattice.step / parts)) / math.expm1(lattice.step))[:, None]
        here, later = self.upper[cells], self.upper[cells.start + 1 : cells.stop + 1]
        chord = (1 - x) * here + x * later
        bent = (1 - x) * self.starts[cells] + x * self.ends[cells] - bend * x * (1 - x) / 2
        return np.append(np.minimum(chord, bent).T, later[-1]) * (1 + _DOUBT)


def image(values: Floats, places: Floats, step: float) -> Floats:
    """1 - y + y V(1/y) so many places before 0, rounded up."""
    losses = -places * step
    found: Floats = (exp(losses) * values - expm1(losses)) * (1 + 4 * ERROR)
    return found


def _between(
    found: Found, statement: AtOrders, lattice: Lattice
) -> tuple[Floats, Floats, Floats] | tuple[Floats, Floats, Floats, Floats]:
    """Of both functions that touch at its ends the one that is less off at the other; and exponents, if they differ."""
    orders = np.array([float(order) for order, _ in statement.bounds])
    exponents = np.append(1 - orders, orders)[None] if found.exponents is None else found.exponents
    grown = np.broadcast_to(np.exp(exponents * lattice.step), found.bends.shape)[1:]
    here, later = found.values[:-1], found.values[1:]
    first = here[:, 2] - later[:, 1] <= later[:, 0] - here[:, 1]
    starts, ends = np.where(first, here[:, 1], later[:, 0]), np.where(first, here[:, 2], later[:, 1])
    bends = np.where(first[:, None], found.bends[:-1], found.bends[1:] / grown).T * (1 - _DOUBT)
    step, before = lattice.step, np.arange(float(lattice.left), 0, -1)
    rest = np.full(lattice.last - starts.size, _UNKNOWN)
    mirrored = slice(lattice.left - 1, None, -1)
    both = np.broadcast_to(exponents, found.bends.shape)
    powers = np.where(first[:, None], both[:-1], both[1:]).T
    turned = bends * np.exp(powers * step)
    turned = turned if found.exponents is not None else np.roll(turned, orders.size, axis=0)
    turned = turned[:, mirrored] * (np.exp(-before * step) * (1 - _DOUBT))
    unknown = np.zeros((bends.shape[0], rest.size))
    known = (
        np.concatenate([image(ends[mirrored], before, step), starts, rest]) * (1 + _SLACK),
        np.concatenate([image(starts[mirrored], before - 1, step), ends, rest]) * (1 + _SLACK),
        np.concatenate([turned, bends, unknown], axis=1),
    )
    return (
        known
        if found.exponents is None
        else (*known, np.concatenate([1 - powers[:, mirrored], powers, unknown], axis=1))
    )
