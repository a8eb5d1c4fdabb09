"""Very many laws of any kind: laid one after the other whenever something is asked of them, and nothing kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from privately.accounting.contour.protocols import Gridded, Law, Scattered
from privately.accounting.contour.scattering import Scattering
from privately.accounting.contour.view import Complex, View, raised
from privately.accounting.elementary import UNIT, Floats

_AT_ONCE = 1 << 14
_NO_POINTS: Floats = np.empty(0)


@dataclass(frozen=True)
class Streamed:
    """Laws, how often each comes and how quiet its points are to be, all for one contour.

    Theorem: ln M and -ln |phi| of independent losses add up, and the transforms multiply.
    Reference: none needed
    Proof: docs/theory/accounting/contour.md#many-laws-in-a-row
    Checked-by: tests/accounting/contour/test_streamed.py::test_they_tell_the_same
    """

    rows: Sequence[tuple[Law, int, float]]
    c: float
    highest: float
    reach: float

    @property
    def is_endless(self) -> bool:
        """Where all laws are, their points need not be laid again."""
        return all(getattr(law, "is_endless", False) for law, _, _ in self.rows)

    @cached_property
    def size(self) -> int:
        """How many points."""
        return sum(grid.size for grid, _ in self.laid())

    def laid(self) -> Iterator[tuple[Gridded, int]]:
        """One law after the other."""
        for law, times, quiet in self.rows:
            yield law.grid(self.c, self.highest, self.reach, quiet), times

    def log_mass_above(self, c: float) -> float:
        """The sum of all ln M(c), from above."""
        return _added([(grid.log_mass_above(c), times) for grid, times in self.laid()])[1]

    def view(self, c: float, reach: float) -> StreamedView:
        """What has to be known before the transforms are asked for."""
        lows, highs, centre, size = [], [], Fraction(0), 0
        for grid, times in self.laid():
            seen = grid.view(c, reach)
            lows.append((seen.log_mass[0], times))
            highs.append((seen.log_mass[1], times))
            centre += times * Fraction(seen.centre)
            size += grid.size
        self.__dict__["size"] = size
        log_mass = _added(lows)[0], _added(highs)[1]
        return StreamedView(log_mass, centre, _NO_POINTS, _NO_POINTS, 0.0, 0.0, of=(self, c, reach))

    def atoms(self, c: float, view: View, times: int) -> None:
        """None that could be taken out."""

    def decay(self, c: float, frequencies: Floats) -> Floats:
        """Lower bounds on the sum of all -ln |phi(w)|, for all w at or above each frequency."""
        total = np.zeros_like(frequencies)
        for grid, times in self.laid():
            total += times * grid.decay(c, frequencies)
        return total * (1 - 2.0**-20)

    def scatter(self, c: float, into: Scattering) -> None:
        """Adds the pairs of those laws that scatter."""
        for grid, _ in self.laid():
            if isinstance(grid, Scattered):
                grid.scatter(c, into)


@dataclass(frozen=True)
class StreamedView(View):
    """The view of laws that are laid again for their transforms."""

    of: tuple[Streamed, float, float]

    def transforms(self, step: float, count: int) -> tuple[Complex, Floats]:
        """phi - 1 of all laws together at step, 2 step, ..., count step, and bounds on the errors."""
        streamed, c, reach = self.of
        known: list[tuple[Complex, Floats]] = []
        often: list[int] = []
        for grid, times in streamed.laid():
            known.append(grid.view(c, reach).transforms(step, count))
            often.append(times)
            if len(known) * count > _AT_ONCE:
                known, often = [_raised(known, often)], [1]
        return _raised(known, often)


def _raised(known: Sequence[tuple[Complex, Floats]], times: Sequence[int]) -> tuple[Complex, Floats]:
    return raised(np.stack([found for found, _ in known]), np.stack([error for _, error in known]), times)


def _added(values: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """Bounds on the sum of all values, each so many times."""
    total = sum(times * value for value, times in values)
    slack = 4 * (len(values) + 4) * UNIT * sum(times * abs(value) for value, times in values)
    return total - slack, total + slack
