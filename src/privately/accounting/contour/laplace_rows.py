"""Many sampled Laplaces at once: the points of all laws in one row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from privately.accounting.contour.ellipses import Ellipses
from privately.accounting.contour.layers import SAFE, spread_out
from privately.accounting.contour.points import Points
from privately.accounting.contour.rough_bundles import RoughBundle, Unlaid
from privately.accounting.contour.rows import Row, RowView
from privately.accounting.contour.sampled_laplace import SampledLaplace, needed, nodes_between, points_between
from privately.accounting.contour.segments import Segments
from privately.accounting.contour.view import View, enlarged
from privately.accounting.elementary import ERROR, Floats, log

_LARGEST_EPSILON = 10.0
AT_ONCE = 512
_ROUGH = 12.0
_CELLS = 64


@dataclass(frozen=True)
class SampledLaplaces:
    """Laws of one direction, each so many times.

    Theorem: every bound of a single law holds for each law here, as the operations on a point are the same.
    Reference: Higham 2002, section 3.1
    Proof: docs/theory/accounting/contour.md#many-laws-in-a-row
    Checked-by: tests/accounting/contour/test_laplace_rows.py::test_they_tell_the_same
    """

    epsilon: Floats
    rate: Floats
    removes: bool
    times: tuple[int, ...]

    @classmethod
    def some(cls, laws: Sequence[tuple[SampledLaplace, int]]) -> Iterator[SampledLaplaces]:
        """Rows of so many laws as are not too many at once."""
        for removes in (True, False):
            alike = [(law, times) for law, times in laws if law.removes == removes]
            alike.sort(key=lambda part: part[0].epsilon)
            for start in range(0, len(alike), AT_ONCE):
                part = alike[start : start + AT_ONCE]
                epsilon, rate = np.array([(law.epsilon, law.rate) for law, _ in part]).T
                yield cls(epsilon, rate, removes, tuple(times for _, times in part))

    @property
    def number(self) -> int:
        """How many laws."""
        return len(self.times)

    def power(self, c: float) -> float:
        """The real part of s."""
        return c + 1 if self.removes else -c

    @cached_property
    def ellipses(self) -> Ellipses:
        return Ellipses(self.epsilon, self.rate)

    @cached_property
    def counts(self) -> Floats:
        return np.array(self.times, dtype=np.float64)

    def rough(self, highest: float) -> RoughBundle | Unlaid:
        """For contours up to this height; of a full row, as there may be many, nothing is kept."""
        lay = partial(self._rough, highest)
        return Unlaid(lay) if self.number == AT_ONCE else lay()

    def _rough(self, highest: float) -> RoughBundle:
        grid = self._laid((self.power(highest),) * 2, 0.0, np.full(self.number, _ROUGH))
        base, loss = np.log(grid.points.factor) + grid.points.log_base, grid.points.loss
        return RoughBundle(grid.segments, *((loss, base + loss) if self.removes else (-loss, base)), self.counts)

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> LaplaceRow:
        """As `SampledLaplace.grid`; each law is as quiet as all of them must be."""
        return self._laid((self.power(c), self.power(highest)), reach, quiet + np.log(self.counts * self.number))

    def _laid(self, powers: tuple[float, float], reach: float, quiet: Floats) -> LaplaceRow:
        return LaplaceRow.over(self, needed(self.ellipses, powers, reach, quiet))


def is_tame(law: SampledLaplace) -> bool:
    """Whether its losses are small enough for a row, whose weights are not scaled."""
    return law.epsilon <= _LARGEST_EPSILON


@dataclass(frozen=True)
class LaplaceRow:
    """Chebyshev points between the atoms of each law, which are its first and its last point."""

    laws: SampledLaplaces
    n: Floats
    segments: Segments
    points: Points
    shares: Floats
    """The part of the mixture that comes from the row, at all points."""

    @classmethod
    def over(cls, laws: SampledLaplaces, n: Floats) -> LaplaceRow:
        segments = Segments(n.astype(np.int64) + 3)
        x, weights, inside = (np.concatenate(rows) for rows in zip(*map(nodes_between, n.astype(int)), strict=True))
        epsilon, rate = segments.spread(np.array([laws.epsilon, laws.rate]))
        factor = weights * (epsilon / 2)
        factor[segments.starts] = factor[segments.starts + segments.sizes - 1] = 0.5
        points, shares = points_between(epsilon, rate, x, factor, inside)
        return cls(laws, n, segments, points, shares)

    @property
    def size(self) -> int:
        """How many points."""
        return self.points.loss.size

    @property
    def is_endless(self) -> bool:
        """Its points are laid for frequencies up to a reach."""
        return False

    def log_mass_above(self, c: float) -> float:
        """The sum of all ln M(c), from above."""
        row = self._row(c)
        return row.log_mass(self._missing(row, 0.0))[1]

    def view(self, c: float, reach: float) -> RowView:
        """What the integral needs at c."""
        row = self._row(c)
        losses = self.points.loss if self.laws.removes else -self.points.loss
        return row.view(losses, self._missing(row, reach))

    def atoms(self, c: float, view: View, times: int) -> None:
        """None that could be taken out."""

    def decay(self, c: float, frequencies: Floats) -> Floats:
        """Lower bounds on the sum of all -ln |phi(w)|, for all w at or above each frequency, as `Grid.decay`."""
        row, laws = self._row(c), self.laws
        doubt = 2 * row.doubt(self._missing(row, 0.0))
        places = self.segments.starts, self.segments.starts + self.segments.sizes - 1
        first, last = (row.shares[place] for place in places)
        whole = (first + last) * enlarged(1.0) * (1 + doubt)
        variation = (first / self.shares[places[0]] + last / self.shares[places[1]]) * enlarged(1.0) * (1 + doubt)
        inside = np.minimum(whole[:, None] + variation[:, None] / frequencies, 1.0)
        rare = np.flatnonzero((inside[:, -1] > (1 + whole) / 2) & (doubt < SAFE))
        if rare.size:
            ends = first[rare], last[rare]
            spread = spread_out(laws.epsilon[rare], laws.rate[rare], row.tilted.s, ends, frequencies, cells=_CELLS)
            inside[rare] = np.minimum(inside[rare], 1 - spread * (1 - 2 * SAFE))
        found: Floats = laws.counts @ np.maximum(-log(inside) - 4 * ERROR, 0) * (1 - 2.0**-20)
        return found

    def _missing(self, row: Row, reach: float) -> Floats:
        ellipses = self.laws.ellipses
        return ellipses.missing(row.tilted.s, reach, self.n) + ellipses.missing(1.0, 0.0, self.n)

    def _row(self, c: float) -> Row:
        return Row.of(self.segments, self.laws.times, self.points, self.laws.power(c))
