"""The largest chord of a profile at every place of a lattice, without a look at every chord."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privately.accounting.adaptive.chances import Table
from privately.accounting.elementary import ERROR, UNIT, Floats, log

Places = NDArray[np.intp]

_NOISY = 8.0
_DOUBT, _LEAST_DOUBT = 2.2, 1e-7
_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class Cells:
    """X and Y e^-(rise) of all cells between neighbours, and how far they may be off.

    `near` and `far` are values at the lower and at the upper ends of chords; a cell is from one place to the next.
    """

    near: Floats
    far: Floats
    x: Floats
    y: Floats
    noise: Floats
    doubt: Floats
    """How far a rise may be off; of little meaning where cells are noisy."""
    are_noisy: NDArray[np.bool_]

    @classmethod
    def of(cls, upper: Floats, chances: Table) -> Cells:
        near, far = upper[: upper.size - chances.reach], _far(upper, chances)
        fall, far_fall = near[:-1] - near[1:], far[:-1] - far[1:]
        grown = chances.grown * fall
        x = (grown - far_fall) / (chances.wide * chances.growth)
        y = ((near[:-1] - far[:-1]) + (fall - far_fall) / chances.wide) / chances.growth
        noise = (near[:-1] + (grown + far_fall) / chances.wide) * (32 * UNIT * chances.grown / chances.growth)
        least = np.minimum(x, y) * chances.step
        are_noisy = least <= _NOISY * noise
        doubt = _DOUBT * noise / np.where(are_noisy, 1.0, least) + _LEAST_DOUBT
        return cls(near, far, x, y, noise, doubt, are_noisy)


def _far(upper: Floats, chances: Table) -> Floats:
    """At the ends of chords, on the chord between two places if these ends are between them."""
    far = upper[chances.reach :]
    if not chances.rest:
        return far
    before = upper[chances.reach - 1 : -1]
    return np.asarray((before + (far - before) * chances.rest) * (1 + 4 * UNIT))


@dataclass(frozen=True)
class Raised:
    """Values that no chord is above, and the lower ends of chords that are nearly as good."""

    values: Floats
    starts: Places


def raised(upper: Floats, chances: Table) -> Raised:
    """For all places but `reach` on either side.

    Theorem: within a cell a chord's value at a place is largest at the end if the rise from the cell's first place is
        above rho + 2, at its beginning if it is below rho, and otherwise at most its value at the beginning and
        (sqrt X - sqrt Y)^2. So the largest of all is one of these last, or at a place between a cell of the first kind
        and one of the second, or at an end of all chords.
    Reference: a continuous function on an interval has a largest value
    Proof: docs/theory/accounting/adaptive.md#the-best-chord
    Checked-by: tests/accounting/adaptive/test_raising.py::test_no_chord_is_above,
        tests/accounting/adaptive/test_raising.py::test_the_best_chord_is_found
    """
    reach, size = chances.reach, upper.size
    cells = Cells.of(upper, chances)
    where = np.flatnonzero(~cells.are_noisy)
    rises = log(cells.x[where] / cells.y[where]) / chances.step
    best = upper[reach : size - reach].copy()
    if chances.rest:
        _at_first_ends(cells, chances, where, rises, best)
    _in_cells(cells, chances, where, rises, best)
    for start, rise in _between_cells(cells, chances, where, rises):
        _put(start, rise, cells, chances, best)
    values = best * (1 + chances.slack) + _where_noisy(cells, chances)
    return Raised(np.minimum.accumulate(np.minimum(values, 1.0)), _starts(where, rises, chances, best.size))


def _at_first_ends(cells: Cells, chances: Table, where: Places, rises: Floats, best: Floats) -> None:
    """Chords that end at the place itself begin within a cell, whose largest value may be at its beginning."""
    is_there = cells.are_noisy[: best.size].copy()
    found = where[rises + 2 + cells.doubt[where] >= chances.reach]
    is_there[found[found < best.size]] = True
    np.maximum(best, cells.far[: best.size], out=best, where=is_there)


def _in_cells(cells: Cells, chances: Table, where: Places, rises: Floats, best: Floats) -> None:
    """Raises the best values to those within cells that have their largest value there."""
    reach, doubt = chances.reach, cells.doubt[where]
    near, far, root, across = cells.near[where], cells.far[where], np.sqrt(cells.x[where]), np.sqrt(cells.y[where])
    noise = 2 * cells.noise[where] * (1 / root + 1 / across)
    lowest = np.maximum(np.ceil(rises - doubt), np.maximum(reach - where, 1)).astype(np.intp)
    highest = np.minimum(rises + 2 + doubt, np.minimum(best.size + reach - 1 - where, reach))
    for more in range(3):
        keep = _run(np.flatnonzero(lowest + more <= highest))
        i = lowest[keep] + more
        if not i.size:
            continue
        other = across[keep] * chances.roots[i]
        gain = np.abs(root[keep] - other) + noise[keep] + 2 * ERROR * other
        value = chances.ups[i] * near[keep] + chances.downs[i] * far[keep]
        np.maximum.at(best, where[keep] + (i - reach), value + gain * gain)


def _run(places: Places) -> Places | slice:
    """The same as a slice, which is sooner read, where none is left out."""
    if places.size and places[-1] - places[0] + 1 == places.size:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def _between_cells(cells: Cells, chances: Table, where: Places, rises: Floats) -> Iterator[tuple[Places, Places]]:
    """Where chords begin at a place between two cells, or at an end of a noisy one, and how far they rise."""
    apart = np.flatnonzero(np.diff(where) == 1)
    doubt, start = cells.doubt[where], where[apart + 1]
    first = np.maximum(np.floor(rises[apart] + 1 + doubt[apart]) + 1, 1)
    last = np.minimum(np.ceil(rises[apart + 1] - doubt[apart + 1]) - 1, chances.reach)
    count = np.maximum(last - first + 1, 0).astype(np.intp)
    total = int(count.sum())
    if total:
        more = np.arange(total) - np.repeat(np.cumsum(count) - count, count)
        yield np.repeat(start, count), np.repeat(first, count).astype(np.intp) + more
    noisy = np.flatnonzero(cells.are_noisy)
    noisy = noisy[cells.near[noisy] > cells.far[noisy + 1]]  # elsewhere all is constant
    if not noisy.size:
        return
    ends, all_rises = np.union1d(noisy, noisy + 1), np.arange(1, chances.reach + 1)
    rows = max(_AT_ONCE // chances.reach, 1)
    for begin in range(0, ends.size, rows):
        some = ends[begin : begin + rows]
        yield np.repeat(some, all_rises.size), np.tile(all_rises, some.size)


def _put(start: Places, rise: Places, cells: Cells, chances: Table, best: Floats) -> None:
    """Raises the best values to those of these chords."""
    place = start + rise - chances.reach
    is_inside = (place >= 0) & (place < best.size)
    start, rise = start[is_inside], rise[is_inside]
    value = chances.ups[rise] * cells.near[start] + chances.downs[rise] * cells.far[start]
    np.maximum.at(best, place[is_inside], value)


def _where_noisy(found: Cells, chances: Table) -> Floats | float:
    """What to add where cells are noisy, and so nearly flat: the largest of all that can be reached."""
    reach, step = chances.reach, chances.step
    if not found.are_noisy.any():
        return 0.0
    bulge = 4.01 * math.sinh(step / 4) ** 2 * math.exp(step) * chances.grown * (_NOISY / step + 2)
    reached = np.where(found.are_noisy, bulge * found.noise, 0.0)  # from cell c the places c + 1 to c + reach
    wide = 1
    while wide < reach:
        more = min(wide, reach - wide)
        reached[more:] = np.maximum(reached[more:], reached[:-more])
        wide += more
    return reached[reach - 1 : reached.size]


def _starts(where: Places, rises: Floats, chances: Table, count: int) -> Places:
    """Where the best chord for each place begins, if the best rise changes slowly."""
    place = np.arange(chances.reach, chances.reach + count)
    if not where.size:
        return place
    crossings = np.maximum.accumulate(where + rises + 1)
    found = np.append(where, where[-1] + 1)[np.searchsorted(crossings, place, side="right")]
    return np.asarray(np.minimum(np.maximum(found, place - chances.cells), place))
