"""The two outcomes of a step of bounded range: their probabilities, on a lattice of losses."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1
from privately.rounding import Enclosure

LARGEST = 40.0
"""Of the range of one step."""


@dataclass(frozen=True)
class Table:
    """The chances of a range of `cells` steps of the lattice, or a part of one more: losses rise by i steps, or fall.

    `ups` and `downs` are the probabilities under P, `cheap` and `dear` those under Q. Where the range is no multiple of
    the step, the last rise is more than the range; it stands for a chord that ends at the place itself.
    """

    cells: int
    nearest: int
    """About the range, in steps."""
    step: float
    rest: float
    """How far the end of a chord is beyond `cells` steps, on the line from there to the next place, rounded down."""
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
    def reach(self) -> int:
        """So many steps are at least the range."""
        return self.ups.size - 1

    @property
    def slack(self) -> float:
        """The relative error of a chance, and of few operations with it."""
        return 8 * ERROR + 32 * UNIT * (1 + self.reach * self.step)


@lru_cache(maxsize=256)
def table(size: Fraction, step: Fraction) -> Table:
    """For this range.

    Theorem: with E = e^range, two outcomes of losses t and t - range have the probabilities (1 - e^(t - range))/
        (1 - e^-range) and (e^t - 1)/(E - 1) under P, and e^-t and e^(range - t) times these under Q.
    Reference: Dong-Durfee-Rogers 2020, section 4
    Proof: docs/theory/accounting/adaptive.md#one-step
    Checked-by: tests/accounting/adaptive/test_chances.py::test_chances_are_two_laws
    """
    cells, rest = size // step, size % step
    rise = np.arange(cells + 1.0) * float(step)
    fall = np.array([float(size - i * step) for i in range(cells + 1)])
    growth, wide = _growth(size), _growth(step)
    ups, downs = expm1(-fall) * (growth + 1) / -growth, expm1(rise) / growth
    if rest:
        ups, downs, rise = np.append(ups, 0.0), np.append(downs, 1.0), np.append(rise, (cells + 1) * float(step))
        fall = np.append(fall, 0.0)
    return Table(
        cells=cells,
        nearest=cells + (2 * rest >= step),
        step=float(step),
        rest=_growth(rest) / wide * (1 - 16 * UNIT) if rest else 0.0,
        grown=growth + 1,
        growth=growth,
        wide=wide,
        ups=ups,
        downs=downs,
        cheap=ups * exp(-rise),
        dear=downs * exp(fall),
        roots=exp(rise / 2),
    )


def _growth(loss: Fraction) -> float:
    """e^loss - 1, but for the rounding of the result."""
    return float((Enclosure.of(loss).exp() - 1).upper)
