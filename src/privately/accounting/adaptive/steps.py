"""One step of bounded range: what the best choice of it, at every loss so far, makes of a profile."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log
from privately.rounding import Enclosure

LARGEST = 40.0
"""Of the range of one step."""
_NOISY = 8.0
_DOUBT = 0.35


@dataclass(frozen=True)
class Table:
    """The chances of a range of so many steps of the lattice: losses rise by i steps, or fall by `cells` - i.

    `ups` and `downs` are the probabilities under P, `cheap` and `dear` those under Q.
    """

    cells: int
    step: float
    grown: float
    """e^range."""
    growth: float
    """e^range - 1."""
    wide: float
    """e^step - 1."""
    ups: Floats
    downs: Floats
    cheap: Floats
    dear: Floats
    roots: Floats
    """e^(rise/2)."""

    @property
    def slack(self) -> float:
        """The relative error of a chance, and of few operations with it."""
        return 8 * ERROR + 32 * UNIT * (1 + self.cells * self.step)


@lru_cache(maxsize=64)
def table(cells: int, step: Fraction) -> Table:
    """For a range of `cells` times `step`.

    Theorem: with E = e^range, two outcomes of losses t and t - range have the probabilities (1 - e^(t - range))/
        (1 - e^-range) and (e^t - 1)/(E - 1) under P, and e^-t and e^(range - t) times these under Q.
    Reference: Dong-Durfee-Rogers 2020, section 4
    Proof: docs/theory/accounting/adaptive.md#one-step
    Checked-by: tests/accounting/adaptive/test_steps.py::test_chances_are_two_laws
    """
    width = float(step)
    rise = np.arange(cells + 1.0) * width
    fall = rise[::-1]
    growth = _growth(cells * step)
    ups, downs = expm1(-fall) * (growth + 1) / -growth, expm1(rise) / growth
    return Table(
        cells=cells,
        step=width,
        grown=growth + 1,
        growth=growth,
        wide=_growth(step),
        ups=ups,
        downs=downs,
        cheap=ups * exp(-rise),
        dear=downs * exp(fall),
        roots=exp(rise / 2),
    )


def _growth(loss: Fraction) -> float:
    """e^loss - 1, but for the rounding of the result."""
    return float((Enclosure.of(loss).exp() - 1).upper)


def play(curve: Curve, chances: Table) -> Curve:
    """The profile with one more step, chosen best at every loss: the first to be played, as games go backwards.

    Theorem: V'(y) is the largest value at y of a chord of V from z to E z, over z from y/E to y. Chords of a function
        that is not below V, between lattice points, are not below; between two neighbours z the value is f - X e^s -
        Y e^-s, s the distance from the first, whose largest value is (sqrt X - sqrt Y)^2 above that at s = 0.
    Reference: Dong-Durfee-Rogers 2020, section 5, for the recursion
    Proof: docs/theory/accounting/adaptive.md#one-step
    Checked-by: tests/accounting/adaptive/test_steps.py::test_one_step_is_known_exactly,
        tests/accounting/adaptive/test_steps.py::test_two_steps_against_a_search
    """
    cells = chances.cells
    before = curve.widened(cells, 2 * cells)
    best, chosen = _at_places(before.upper, chances)
    between = _Cells.of(before.upper, chances)
    _between_places(before.upper, chances, between, best)
    best = best * (1 + chances.slack) + _where_noisy(between, chances)
    start = np.arange(cells, before.upper.size - cells) - chosen
    powers = chances.ups[chosen] * before.powers[start] + chances.downs[chosen] * before.powers[start + cells]
    prices = chances.cheap[chosen] * before.prices[start] + chances.dear[chosen] * before.prices[start + cells]
    found = replace(
        before,
        first=0,
        top=curve.top + cells,
        upper=np.minimum.accumulate(np.minimum(best, 1.0)),
        powers=powers * (1 - chances.slack),
        prices=np.minimum(prices * (1 + chances.slack), 1.0),
    )
    found.upper[found.top :] = 0.0
    return found


def _at_places(upper: Floats, chances: Table) -> tuple[Floats, NDArray[np.intp]]:
    """The best of all rises by whole steps of the lattice, and which it is."""
    cells, size = chances.cells, upper.size
    best, chosen = np.full(size - 2 * cells, -1.0), np.zeros(size - 2 * cells, np.intp)
    value, fallen = np.empty_like(best), np.empty_like(best)
    for i, (up, down) in enumerate(zip(chances.ups.tolist(), chances.downs.tolist(), strict=True)):
        np.multiply(upper[cells - i : size - cells - i], up, out=value)
        np.multiply(upper[2 * cells - i : size - i], down, out=fallen)
        np.add(value, fallen, out=value)
        is_more = value > best
        np.copyto(best, value, where=is_more)
        np.copyto(chosen, i, where=is_more)
    return best, chosen


@dataclass(frozen=True)
class _Cells:
    """X and Y e^-(rise) of all cells between neighbours, how far they may be off, and where nobody can tell."""

    x: Floats
    y: Floats
    noise: Floats
    are_noisy: NDArray[np.bool_]

    @classmethod
    def of(cls, upper: Floats, chances: Table) -> _Cells:
        near = upper[: upper.size - chances.cells]
        far = upper[chances.cells :]
        fall, far_fall = near[:-1] - near[1:], far[:-1] - far[1:]
        grown = chances.grown * fall
        x = (grown - far_fall) / (chances.wide * chances.growth)
        y = ((near[:-1] - far[:-1]) + (fall - far_fall) / chances.wide) / chances.growth
        noise = (near[:-1] + (grown + far_fall) / chances.wide) * (32 * UNIT * chances.grown / chances.growth)
        return cls(x, y, noise, np.minimum(x, y) * chances.step <= _NOISY * noise)


def _between_places(upper: Floats, chances: Table, found: _Cells, best: Floats) -> None:
    """Raises the best values to those between whole steps of the lattice, where these are larger."""
    cells = chances.cells
    where = np.flatnonzero(~found.are_noisy)
    x, y, noise = found.x[where], found.y[where], found.noise[where]
    rise = log(x / y) / chances.step
    root, across, noise = np.sqrt(x), np.sqrt(y), 2 * noise
    lowest, highest = np.ceil(rise - _DOUBT), np.minimum(rise + 2 + _DOUBT, cells)
    lowest = np.maximum(np.maximum(lowest, cells - where), 1.0)
    highest = np.minimum(highest, upper.size - cells - 1 - where)
    for more in range(3):
        keep = np.flatnonzero(lowest + more <= highest)
        i = lowest[keep].astype(np.intp) + more
        at, one, other = where[keep], root[keep], across[keep] * chances.roots[i]
        gain = np.abs(one - other) + noise[keep] * (1 / one + 1 / other) + 2 * ERROR * other
        value = chances.ups[i] * upper[at] + chances.downs[i] * upper[at + cells]
        np.maximum.at(best, at + (i - cells), value + gain * gain)


def _where_noisy(found: _Cells, chances: Table) -> Floats | float:
    """What to add where cells are noisy, and so nearly flat: the largest of all that can be reached."""
    cells, step = chances.cells, chances.step
    if not found.are_noisy.any():
        return 0.0
    bulge = 4.01 * math.sinh(step / 4) ** 2 * math.exp(step) * chances.grown * (_NOISY / step + 2)
    reached = np.where(found.are_noisy, bulge * found.noise, 0.0)  # from cell c the places c + 1 to c + cells
    wide = 1
    while wide < cells:
        more = min(wide, cells - wide)
        reached[more:] = np.maximum(reached[more:], reached[:-more])
        wide += more
    return reached[cells - 1 : reached.size]
