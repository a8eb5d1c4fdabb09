"""Many laws of few outcomes at once: all outcomes in one row, as floats with bounds on their errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privately.accounting.contour.points import Points
from privately.accounting.contour.rough_bundles import RoughBundle
from privately.accounting.contour.rows import Row, RowView
from privately.accounting.contour.scattering import Scattering
from privately.accounting.contour.segments import Segments
from privately.accounting.contour.view import View
from privately.accounting.elementary import ERROR, UNIT, Floats, expm1, log1p
from privately.accounting.losses import FiniteLoss

_LARGEST_EPSILON = 10
_MOST_OUTCOMES = 8
_MOST = 10**100
_NUMBERS = 6
_AT_ONCE = 1 << 12


@dataclass(frozen=True)
class Finites:
    """Laws, each so many times, whose losses are at most 10.

    Theorem: weights a + b e^epsilon with a, b >= 0 are known to a relative error of r = 2 ERROR + 4 (1 + epsilon) u;
        so is a difference, as a multiple of 1 and one of e^epsilon - 1 of the same sign; and a loss ln(p/q) to
        3r + 3 ERROR of it.
    Reference: Higham 2002, section 3.1
    Proof: docs/theory/accounting/contour.md#many-finite-laws
    Checked-by: tests/accounting/contour/test_finites.py::test_outcomes_are_within_their_errors,
        tests/accounting/contour/test_finites.py::test_the_transform
    """

    segments: Segments
    times: tuple[int, ...]
    points: Points

    @classmethod
    def some(cls, laws: Sequence[tuple[FiniteLoss, int]]) -> Iterator[Finites]:
        """Rows of so many laws as are not too many at once."""
        return (cls.of(laws[start : start + _AT_ONCE]) for start in range(0, len(laws), _AT_ONCE))

    @classmethod
    def of(cls, laws: Sequence[tuple[FiniteLoss, int]]) -> Finites:
        """Of laws that `is_plain` allows."""
        segments = Segments(np.fromiter((len(law.outcomes) for law, _ in laws), dtype=np.int64))
        epsilon = segments.spread(np.fromiter((float(law.epsilon) for law, _ in laws), dtype=np.float64))
        listed = (number for law, _ in laws for number in _scaled(law))  # a list would take more than all that follows
        numbers = np.fromiter(listed, dtype=np.float64).reshape(-1, _NUMBERS)
        first, first_grown, second, second_grown, fixed, growing = numbers.T
        more = expm1(epsilon)
        p, q = first + first_grown * (1 + more), second + second_grown * (1 + more)
        gap = fixed + growing * more
        loss = np.copysign(log1p(np.abs(gap) / np.minimum(p, q)), gap)
        r = 2 * ERROR + 4 * UNIT * (1 + epsilon)
        probability = p / segments.spread(segments.sums(p))
        points = Points(
            factor=probability,
            log_base=np.broadcast_to(0.0, loss.shape),
            weight_error=3 * r,
            loss=loss,
            loss_error=np.abs(loss) * (3 * r + 3 * ERROR),
            known_base=probability,
            known_least=0.0,
        )
        return cls(segments, tuple(times for _, times in laws), points)

    @property
    def number(self) -> int:
        """How many laws."""
        return len(self.times)

    @property
    def size(self) -> int:
        """How many points."""
        return self.points.loss.size

    @property
    def is_endless(self) -> bool:
        """It is exact, whatever the frequency."""
        return True

    def rough(self, highest: float) -> RoughBundle:  # noqa: ARG002 - the same at all heights
        return RoughBundle(self.segments, self.points.loss, np.log(self.points.base), self._counts)

    @cached_property
    def _counts(self) -> Floats:
        return np.array(self.times, dtype=np.float64)

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> Finites:  # noqa: ARG002 - exact for all
        return self

    def log_mass_above(self, c: float) -> float:
        """The sum of all ln M(c), from above."""
        return self._row(c).log_mass(0.0)[1]

    def view(self, c: float, reach: float) -> RowView:  # noqa: ARG002 - exact for all
        """What the integral needs at c."""
        return self._row(c).view(self.points.loss, 0.0)

    def atoms(self, c: float, view: View, times: int) -> None:
        """None that could be taken out."""

    def decay(self, c: float, frequencies: Floats) -> Floats:  # noqa: ARG002 - the same at all frequencies
        """They may not fall at all: but see `scatter`."""
        return np.zeros_like(frequencies)

    def scatter(self, c: float, into: Scattering) -> None:
        """Adds all pairs of outcomes to those by which transforms are seen to fall.

        Theorem: -ln |phi| >= (1 - |phi|^2)/2 = the sum of p p' (1 - cos(w (L - L'))) over all pairs of outcomes.
        Reference: none needed
        Proof: docs/theory/accounting/contour.md#many-atoms-scatter
        Checked-by: tests/accounting/contour/test_finites.py::test_how_far_they_fall
        """
        row, starts, sizes = self._row(c), self.segments.starts, self.segments.sizes
        loss, loss_error = self.points.loss, self.points.loss_error
        for apart in range(1, int(sizes.max())):
            for begin in range(int(sizes.max()) - apart):
                laws = np.flatnonzero(sizes > begin + apart)
                one = starts[laws] + begin
                other = one + apart
                weights = self._counts[laws] * row.shares[one] * row.shares[other]
                into.add(np.abs(loss[one] - loss[other]), weights, loss_error[one] + loss_error[other])

    def _row(self, c: float) -> Row:
        return Row.of(self.segments, self.times, self.points, c)


def is_plain(law: FiniteLoss) -> bool:
    """Whether floats tell its outcomes: few, of whole numbers that are not negative nor very unlike, and with
    differences of P and Q in which nothing cancels.
    """
    if law.epsilon > _LARGEST_EPSILON or len(law.outcomes) > _MOST_OUTCOMES:
        return False
    for (a, b), (c, d) in law.outcomes:
        if any(number.denominator != 1 or not 0 <= number.numerator < _MOST for number in (a, b, c, d)):
            return False
        growing = b.numerator - d.numerator
        if growing * (a.numerator - c.numerator + growing) < 0:
            return False
    return True


def _scaled(law: FiniteLoss) -> Iterator[float]:
    """All numbers of the outcomes over the largest one; each difference as multiples of 1 and of e^epsilon - 1."""
    rows = [(a.numerator, b.numerator, c.numerator, d.numerator) for (a, b), (c, d) in law.outcomes]
    most = max(map(max, rows))
    for a, b, c, d in rows:
        yield from (number / most for number in (a, b, c, d, a + b - c - d, b - d))
