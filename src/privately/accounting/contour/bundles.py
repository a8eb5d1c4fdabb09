"""Many sampled Gaussians at once: the points of all laws in one row, so that a step for all of them is one operation.

Sums are taken law by law. Of few laws those on a line beside the real one, and everything else, stay alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privately.accounting.contour.discrete_rows import DiscreteNoises
from privately.accounting.contour.falling import QUARTER_TURN, fallen_rows, law_by_law
from privately.accounting.contour.laplace_rows import SampledLaplaces
from privately.accounting.contour.points import Points
from privately.accounting.contour.protocols import Gridded, Law
from privately.accounting.contour.rows import Row, RowView, total_of
from privately.accounting.contour.sampled_gaussian import WIDEST, Extent, Plan, SampledGaussian, aliases, points_at
from privately.accounting.contour.sampled_laplace import SampledLaplace
from privately.accounting.contour.segments import MOST_KEPT, MOST_TOGETHER, Segments, packs
from privately.accounting.contour.shifted import Beside, Turned, missing_beside
from privately.accounting.contour.split import Law as Split
from privately.accounting.contour.split_rows import near_grids
from privately.accounting.contour.streamed import Streamed
from privately.accounting.contour.view import Complex, View, enlarged
from privately.accounting.elementary import UNIT, Floats, exp, expm1, turn_minus_one

_MOST_LIFTED = 1 << 17
"""So many points, over all frequencies, are looked at together."""
_LARGEST_LOSS = 600.0
_NO_POINTS: Floats = np.empty(0)
_LEAST_EXCESS = -0.5
_MANY = 64
"""Of more laws, those on lines beside the real one are laid together, too."""
_MOST_ALONE, _STREAMED = 6000, 1 << 11
_STREAMED_KINDS = (SampledGaussian, SampledLaplace, SampledLaplaces)
_FEW_ROWS = 3
"""Of more laws those whose points stay alone are laid when they are needed, so many at a time; discrete noises are if
they are more than some rows.
"""


def grids(
    parts: Sequence[tuple[Law, int]], c: float, highest: float, reach: float, quiets: Sequence[float]
) -> list[tuple[Gridded, int]]:
    """The points of every part, as `Law.grid` lays them; those of many laws together where that is possible."""
    if len(parts) == 1:
        (law, times), quiet = parts[0], quiets[0]
        return [(law.grid(c, highest, reach, quiet), times)]
    found: list[tuple[Gridded, int]] = []
    alike: dict[tuple[bool, bool], Rows] = {}
    streamed: list[tuple[Law, int, float]] = []
    is_many = sum(getattr(law, "number", 1) for law, _ in parts) > _MOST_ALONE
    split = [((law, times), quiet) for (law, times), quiet in zip(parts, quiets, strict=True) if isinstance(law, Split)]
    if split:
        near = near_grids([part for part, _ in split], c, highest, [quiet for _, quiet in split])
        found += [(grid, times) for grid, ((_, times), _) in zip(near, split, strict=True)]
    for (law, times), quiet in zip(parts, quiets, strict=True):
        if isinstance(law, Split):
            continue
        if isinstance(law, SampledGaussian) and law.is_tame(highest):
            plan = law.plan(c, highest, reach, quiet)
            is_beside = plan.line.height > 0
            if plan.size <= MOST_TOGETHER and (not is_beside or len(parts) > _MANY):
                alike.setdefault((law.removes, is_beside), Rows([], [], array("d"))).add(law, times, plan)
                continue
        if (is_many and isinstance(law, _STREAMED_KINDS)) or (
            len(parts) > _FEW_ROWS and isinstance(law, DiscreteNoises)
        ):
            streamed.append((law, times, quiet))
        else:
            found.append((law.grid(c, highest, reach, quiet), times))
    found += [(Streamed(some, c, highest, reach), 1) for some in _few(streamed)]
    total = sum(sum(rows.sizes) for rows in alike.values())
    for rows in alike.values():
        for part in packs(rows.sizes):
            row = rows.part(part)
            found.append((Bundle.of(row) if total <= MOST_KEPT else Relaid(row), 1))
    return found


def _few(rows: Sequence[tuple[Law, int, float]]) -> Iterator[Sequence[tuple[Law, int, float]]]:
    """So many at a time."""
    for start in range(0, len(rows), _STREAMED):
        yield rows[start : start + _STREAMED]


@dataclass(frozen=True, slots=True)
class Rows:
    """Laws whose points are laid one after the other, how often each comes, and for each, in turn, the step of its
    points, the place of the first, how many they are, and the height of their line.
    """

    laws: list[SampledGaussian]
    times: list[int]
    places: array[float]

    def add(self, law: SampledGaussian, times: int, plan: Plan) -> None:
        """One more."""
        self.laws.append(law)
        self.times.append(times)
        self.places.extend((plan.step, plan.first, plan.size, plan.line.height))

    @property
    def sizes(self) -> list[int]:
        """How many points each law has."""
        return [int(size) for size in self.places[2::4]]

    def part(self, part: slice) -> Rows:
        """Some of them."""
        return Rows(self.laws[part], self.times[part], self.places[4 * part.start : 4 * part.stop])


@dataclass(frozen=True)
class Bundle:
    """Equally spaced x for each law, on the real line, and the points there.

    Theorem: every bound of a single law holds for each law here, as the operations on a point are the same and a sum
    may be taken in any order.
    Reference: Higham 2002, section 3.1
    Proof: docs/theory/accounting/contour.md#many-laws-in-a-row
    Checked-by: tests/accounting/contour/test_bundles.py::test_log_masses,
        tests/accounting/contour/test_bundles.py::test_the_transform,
        tests/accounting/contour/test_bundles.py::test_how_fast_it_falls
    """

    laws: tuple[SampledGaussian, ...]
    times: tuple[int, ...]
    segments: Segments
    x: Floats
    step: Floats
    points: Points
    share: Floats
    height: Floats | None = None
    """Of the line beside the real one on which each law's transform is taken, if that is not the real one."""
    _tilts: dict[float, _Tilts] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, rows: Rows) -> Bundle:
        step, first, sizes, height = np.array(rows.places).reshape(-1, 4).T
        segments = Segments(sizes.astype(np.int64))
        mu, rate = np.array([(law.mu, law.rate) for law in rows.laws]).T
        mu, rate, steps, first = segments.spread(np.array([mu, rate, step, first]))
        x = (first + segments.places) * steps
        points, share = points_at(mu, rate, x, steps)
        beside = height if height[0] else None
        return cls(tuple(rows.laws), tuple(rows.times), segments, x, step, points, share, beside)

    @property
    def size(self) -> int:
        """How many points."""
        return self.x.size

    @property
    def is_endless(self) -> bool:
        """Its points are laid for frequencies up to a reach."""
        return False

    @cached_property
    def removes(self) -> bool:
        return self.laws[0].removes

    @cached_property
    def mu(self) -> Floats:
        return np.array([law.mu for law in self.laws])

    @cached_property
    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of each law's first and last point."""
        return self.segments.starts, self.segments.starts + self.segments.sizes - 1

    @cached_property
    def extents(self) -> list[Extent]:
        first, last = self.ends
        ends = (self.step, self.x[first], self.x[last], self.share[first])
        rows = zip(self.laws, *(row.tolist() for row in ends), strict=True)
        return [Extent(*row) for row in rows]

    def log_mass_above(self, c: float) -> float:
        """The sum of all ln M(c), from above."""
        tilts = self._tilted(c)
        return tilts.row.log_mass(self._missing(tilts, 0.0))[1]

    def view(self, c: float, reach: float) -> RowView:
        """What the integral needs at c."""
        tilts = self._tilted(c)
        if self.height is not None:
            return self._beside(tilts, self.height)
        losses = self.points.loss if self.removes else -self.points.loss
        return tilts.row.view(losses, self._missing(tilts, reach))

    def _beside(self, tilts: _Tilts, height: Floats) -> RowView:
        """The same by points on the lines, as `Line.view`."""
        row, tilted, points, segments = tilts.row, tilts.row.tilted, self.points, self.segments
        spread, sums, sign = segments.spread, segments.sums, 1 if self.removes else -1
        turn, missing = turn_minus_one(self.mu * height), self._missing(tilts, 0.0)
        line = Turned(*spread(np.array([height, -turn.real, turn.imag, exp(height * height / 2)])))
        seen = Beside.of(line, self.x, points, self.share, (tilted.s, row.shares, sign))
        centres = sums(row.shares * (sign * points.loss))
        centred = seen.real - spread(centres)
        loss_error = seen.loss_error + spread(4 * UNIT * np.abs(centres))
        doubt = row.doubt(missing)
        slopes = sums(seen.slopes(centred, loss_error, tilted.error + spread(doubt), tilted.s))
        gap, edge = missing_beside(self.mu, height, self.step, None if self.removes else tilts.c)
        return RowView(
            log_mass=row.log_mass(missing),
            centre=total_of(self.times, centres.tolist()),
            weights=seen.weights,
            losses=centred + 1j * seen.angle,
            error=0.0,
            slope=0.0,
            segments=segments,
            times=self.times,
            errors=2 * (gap + tilts.outside * edge) * enlarged(1.0),
            slopes=slopes * enlarged(1.0) * (1 + 2 * doubt),
            spreads=sums(seen.sizes * (np.abs(centred) + seen.angle)),
        )

    def atoms(self, c: float, view: View, times: int) -> None:
        """None that could be taken out."""

    def decay(self, c: float, frequencies: Floats) -> Floats:
        """Lower bounds on the sum of all -ln |phi(w)|, for all w at or above each frequency, as `Grid.decay`."""
        tilts, segments = self._tilted(c), self.segments
        mean = segments.sums(tilts.row.shares * self.share)
        pulls, costs = law_by_law(frequencies, self.mu, mean, 0.0 if self.removes else c)
        rows = max(_MOST_LIFTED // self.size, 1)
        blocks = [self._gains(tilts, pulls[i : i + rows]) for i in range(0, pulls.shape[0], rows)]
        gains = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        missing = self._missing(tilts, 0.0, QUARTER_TURN)
        found = fallen_rows(gains, costs, missing, frequencies.size)
        total: Floats = found @ np.array(self.times, dtype=np.float64) * (1 - 2.0**-20)
        return total

    def _gains(self, tilts: _Tilts, pulls: Floats) -> Floats:
        """E[1 - e^(-pull share)] of each law."""
        turned = self.segments.spread(-pulls)
        turned *= self.share
        return self.segments.sums(expm1(turned) * -tilts.row.shares)

    def _missing(self, tilts: _Tilts, reach: float, widest: float = WIDEST) -> Floats:
        """What each law's sum misses."""
        c = None if self.removes else tilts.c
        found: Floats = aliases(self.mu, self.step, c, reach, widest) + tilts.outside + self.untilted
        return found

    @cached_property
    def untilted(self) -> Floats:
        """The same for the base weights."""
        found: Floats = aliases(self.mu, self.step, None, 0.0) + [one.outside_base() for one in self.extents]
        return found

    def mirrored(self) -> Bundle:
        """The other direction by the same points, on the real line."""
        laws = tuple(SampledGaussian(law.mu, law.rate, not law.removes) for law in self.laws)
        other = replace(self, laws=laws, height=None, _tilts={})
        other.__dict__["untilted"] = self.untilted
        return other

    def levels(self, heights: Floats) -> Floats:
        """The sum of all ln M at several places, nearly."""
        powers = heights + 1 if self.removes else -heights
        lifted = np.minimum(powers[:, None] * self.points.loss, _LARGEST_LOSS)
        np.expm1(lifted, out=lifted)
        lifted *= self.points.base
        excess = np.maximum(self.segments.sums(lifted), _LEAST_EXCESS)
        found: Floats = np.log1p(excess) @ np.array(self.times, dtype=np.float64)
        return found

    def _tilted(self, c: float) -> _Tilts:
        if c not in self._tilts:
            row = Row.of(self.segments, self.times, self.points, self.laws[0].power(c))
            first, last = (row.tilted.weights[end].tolist() for end in self.ends)
            ends = zip(self.extents, first, last, row.total.tolist(), strict=True)
            outside = np.array([one.outside(row.tilted.s, left, right) / whole for one, left, right, whole in ends])
            self._tilts[c] = _Tilts(c, row, outside)
        return self._tilts[c]


class Relaid:
    """A bundle whose points are laid whenever they are needed: these are too many, in all, to be kept."""

    is_endless = False

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.size = sum(rows.sizes)

    def log_mass_above(self, c: float) -> float:
        """As a bundle's."""
        return Bundle.of(self.rows).log_mass_above(c)

    def view(self, c: float, reach: float) -> RelaidView:
        """As a bundle's, of which only what has to be known before is kept."""
        found = Bundle.of(self.rows).view(c, reach)
        return RelaidView(found.log_mass, found.centre, _NO_POINTS, _NO_POINTS, 0.0, 0.0, of=(self.rows, c, reach))

    def atoms(self, c: float, view: View, times: int) -> None:
        """None that could be taken out."""

    def decay(self, c: float, frequencies: Floats) -> Floats:
        """As a bundle's."""
        return Bundle.of(self.rows).decay(c, frequencies)


@dataclass(frozen=True)
class _Tilts:
    """All laws tilted to c, and what is beyond the ends of each."""

    c: float
    row: Row
    outside: Floats


@dataclass(frozen=True)
class RelaidView(View):
    """The view of a bundle that is laid again for its transforms."""

    of: tuple[Rows, float, float]

    def transforms(self, step: float, count: int) -> tuple[Complex, Floats]:
        """As those of the bundle's view."""
        rows, c, reach = self.of
        return Bundle.of(rows).view(c, reach).transforms(step, count)
