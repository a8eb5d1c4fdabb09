"""Many discrete noises at once, sampled or not: the outcomes of all laws in one row, but for the rarest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np

from privately.accounting.contour.points import Points
from privately.accounting.contour.rough_bundles import RoughBundle, Unlaid
from privately.accounting.contour.rows import Row, RowView
from privately.accounting.contour.scattering import Scattering
from privately.accounting.contour.segments import Segments
from privately.accounting.contour.view import View, enlarged
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log1p
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
)
from privately.accounting.roads import NEAR_ONE, NotApplicable

DiscreteLoss: TypeAlias = (
    DiscreteGaussianLoss | DiscreteLaplaceLoss | SampledDiscreteGaussianLoss | SampledDiscreteLaplaceLoss
)
_NORMAL = (DiscreteGaussianLoss, SampledDiscreteGaussianLoss)
_SAMPLED = (SampledDiscreteGaussianLoss, SampledDiscreteLaplaceLoss)

_AT_ONCE = 256
_LEAST_VARIANCE, _MOST_VARIANCE = 3, 2500
_LEAST_RATE, _NEARLY_ALL = 1e-9, float(NEAR_ONE)
_MOST_OUTCOMES, _LARGEST_LOSS = 64, 10
_ROOT_TURN = 2.5066282746310002  # sqrt(2 pi)
_ROUGH, _MARGIN = 12.0, 4.0
_LEAST_PART = 2.0**-10
_RARE = 1e-30
_LARGEST_EXPONENT = 300


def is_in_row(law: Loss) -> bool:
    """Whether it is of a size that can be laid with others."""
    if not isinstance(law, (*_NORMAL, DiscreteLaplaceLoss, SampledDiscreteLaplaceLoss)):
        return False
    if isinstance(law, _SAMPLED) and not _LEAST_RATE < law.rate < NEAR_ONE:
        return False
    if isinstance(law, _NORMAL):
        return _LEAST_VARIANCE <= law.variance <= _MOST_VARIANCE and law.sensitivity**2 <= 4 * law.variance
    return law.sensitivity < _MOST_OUTCOMES and law.sensitivity <= _LARGEST_LOSS * law.scale


@dataclass(frozen=True)
class DiscreteNoises:
    """Laws of one kind, each so many times."""

    laws: tuple[DiscreteLoss, ...]
    times: tuple[int, ...]

    @classmethod
    def some(cls, laws: Sequence[tuple[DiscreteLoss, int]]) -> Iterator[DiscreteNoises]:
        """Rows of one kind and of so many laws as are not too many at once."""
        kinds: dict[object, list[tuple[DiscreteLoss, int]]] = {}
        for law, times in laws:
            kinds.setdefault((type(law), getattr(law, "direction", None)), []).append((law, times))
        for alike in kinds.values():
            for start in range(0, len(alike), _AT_ONCE):
                yield cls(*zip(*alike[start : start + _AT_ONCE], strict=True))

    @property
    def number(self) -> int:
        """How many laws."""
        return len(self.times)

    @property
    def is_endless(self) -> bool:
        """Its outcomes serve all frequencies."""
        return True

    @cached_property
    def counts(self) -> Floats:
        return np.array(self.times, dtype=np.float64)

    @cached_property
    def sensitivity(self) -> Floats:
        return np.array([float(law.sensitivity) for law in self.laws])

    @cached_property
    def width(self) -> Floats:
        """The variance of normal noise, the scale of Laplace noise."""
        return np.array([float(law.variance if isinstance(law, _NORMAL) else law.scale) for law in self.laws])

    @cached_property
    def rate(self) -> Floats:
        return np.array([float(law.rate) if isinstance(law, _SAMPLED) else 1.0 for law in self.laws])

    @property
    def is_normal(self) -> bool:
        return isinstance(self.laws[0], _NORMAL)

    @property
    def removes(self) -> bool | None:
        """None without sampling."""
        first = self.laws[0]
        return first.direction == "remove" if isinstance(first, _SAMPLED) else None

    def rough(self, highest: float) -> RoughBundle | Unlaid:
        """For contours up to this height; of a full row, as there may be many, nothing is kept."""
        lay = partial(self._rough, highest)
        return Unlaid(lay) if self.number == _AT_ONCE else lay()

    def _rough(self, highest: float) -> RoughBundle:
        row = DiscreteRow.over(self, highest, np.full(self.number, _ROUGH))
        return RoughBundle(row.segments, row.points.loss, np.log(row.points.factor) + row.points.log_base, self.counts)

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> DiscreteRow:  # noqa: ARG002 - for all
        """Outcomes for heights up to the highest; what is left out is about e^-quiet of each law."""
        return DiscreteRow.over(self, max(c, highest), quiet + np.log(self.counts * self.number))


@dataclass(frozen=True)
class DiscreteRow:
    """Their outcomes: of Laplace noise all, of normal noise k = -reach, ..., reach + sensitivity.

    Theorem: for a variance of at least 3 the sum of all e^(-k^2/(2 variance)) is sqrt(2 pi variance) but for 10^-24 of
        it. What is left out is bounded as for each law alone.
    Reference: Poisson summation; comparison with the geometric series
    Proof: docs/theory/accounting/contour.md#many-discrete-noises
    Checked-by: tests/accounting/contour/test_discrete_rows.py::test_they_tell_the_same,
        tests/accounting/contour/test_discrete_rows.py::test_the_transform
    """

    noises: DiscreteNoises
    segments: Segments
    points: Points
    fall: Floats
    slope: Floats
    """Beyond its ends each term of a law falls by e^(fall - slope c) at least; fall is infinite where none is left."""

    @classmethod
    def over(cls, noises: DiscreteNoises, highest: float, quiet: Floats) -> DiscreteRow:
        s, width = noises.sensitivity, noises.width
        if noises.is_normal:
            reach, slope = _ends(noises, highest, quiet)
            segments = Segments((2 * reach + s).astype(np.int64) + 1)
            k, fall = segments.places - segments.spread(reach), reach / width * (1 - 2.0**-40)
        else:
            segments = Segments(s.astype(np.int64) + 1)
            k, fall, slope = segments.places, np.full(s.size, np.inf), np.zeros(s.size)
        return cls(noises, segments, _sampled(noises, segments, _pair(noises, segments, k)), fall, slope)

    @property
    def size(self) -> int:
        """How many points."""
        return self.points.loss.size

    @property
    def is_endless(self) -> bool:
        """It serves all frequencies."""
        return True

    def log_mass_above(self, c: float) -> float:
        """The sum of all ln M(c), from above."""
        row = self._row(c)
        return row.log_mass(self._missing(row))[1]

    def view(self, c: float, reach: float) -> RowView:  # noqa: ARG002 - for all
        """What the integral needs at c."""
        row = self._row(c)
        return row.view(self.points.loss, self._missing(row))

    def atoms(self, c: float, view: View, times: int) -> None:
        """None that could be taken out."""

    def decay(self, c: float, frequencies: Floats) -> Floats:  # noqa: ARG002 - the same at all frequencies
        """They may not fall at all: but see `scatter`."""
        return np.zeros_like(frequencies)

    def scatter(self, c: float, into: Scattering) -> None:
        """Adds pairs of outcomes, 1, 2, 4, ... apart, to those by which transforms are seen to fall."""
        row, loss, loss_error = self._row(c), self.points.loss, self.points.loss_error
        law = self.segments.spread(np.arange(self.noises.number, dtype=np.float64))
        counts = self.segments.spread(self.noises.counts)
        # what is missing of a law makes the others' shares smaller
        sure = self.segments.spread(np.maximum(1 - 4 * self._missing(row), 0.0))
        apart = 1
        while apart < self.segments.sizes.max():
            weights = counts[apart:] * sure[apart:] * row.shares[:-apart] * row.shares[apart:]
            weights *= (law[apart:] == law[:-apart]) & (weights > _RARE)
            kept = np.flatnonzero(weights)
            one, other = loss[:-apart][kept], loss[apart:][kept]
            into.add(np.abs(one - other), weights[kept], loss_error[:-apart][kept] + loss_error[apart:][kept])
            apart *= 2

    def _missing(self, row: Row) -> Floats:
        """What the outcomes that are left out have of each M(c) and of 1, at most."""
        first, last = self.segments.starts, self.segments.starts + self.segments.sizes - 1
        found, base = np.zeros(self.noises.number), self.points.base
        for s, weights in ((row.tilted.s, row.shares), (0.0, base)):
            rate = self.fall - self.slope * s
            if (rate < _LEAST_PART * np.minimum(self.fall, 1e300)).any():
                raise NotApplicable("too many outcomes matter")
            found = found + (weights[first] + weights[last]) / rate
        return found * enlarged(1.0) * (1 + 2.0**-20)

    def _row(self, c: float) -> Row:
        return Row.of(self.segments, self.noises.times, self.points, c)


def _ends(noises: DiscreteNoises, highest: float, quiet: Floats) -> tuple[Floats, Floats]:
    """How far outcomes are listed, and by how much losses can grow with each one beyond, as for a law alone."""
    s, width = noises.sensitivity, noises.width
    reach = (highest + 1) * s + np.sqrt(2 * width * (quiet + _MARGIN))
    odds = noises.rate / (1 - np.minimum(noises.rate, _NEARLY_ALL))
    if noises.removes is False:
        reach = np.minimum(reach, s + np.sqrt(2 * width * (quiet + _MARGIN + highest * odds)))
    reach = np.ceil(reach)
    if (s * (reach + s) > _LARGEST_EXPONENT * width).any():
        raise NotApplicable("losses beyond the range of floats")
    slope = s / width * enlarged(1.0)
    if noises.removes is False:
        lifted = s * (2 * reach + s) / (2 * width) * (1 - 2.0**-40)
        slope = slope * np.minimum(odds * enlarged(1.0) * exp(-lifted) * enlarged(1.0), 1.0)
    return reach, slope


@dataclass(frozen=True)
class _Pair:
    """Losses without sampling, and their probabilities under Q: factor e^log_base, with these relative errors."""

    y: Floats
    factor: Floats
    log_base: Floats
    off: Floats


def _pair(noises: DiscreteNoises, segments: Segments, k: Floats) -> _Pair:
    width, s = segments.spread(np.array([noises.width, noises.sensitivity]))
    if noises.is_normal:
        exponent = k * k / (2 * width)
        factor = 1 / (_ROOT_TURN * np.sqrt(width))
        return _Pair((2 * k - s) * (s / (2 * width)), factor, -exponent, 2 * ERROR + 8 * UNIT * exponent)
    exponent = k / width
    ends = np.where((k == 0) | (k == s), 1.0, -expm1(-1 / width))
    factor = ends / (1 + exp(-1 / width))
    return _Pair((2 * k - s) / width, factor, -exponent, 8 * ERROR + 8 * UNIT * exponent)


def _sampled(noises: DiscreteNoises, segments: Segments, pair: _Pair) -> Points:
    """Losses with sampling and their probabilities under P: without it, the loss under P is as -y under Q."""
    factor, off, y_error = pair.factor, pair.off, 8 * UNIT * np.abs(pair.y)
    if noises.removes is None:
        loss, loss_error = -pair.y, y_error
    else:
        rate = segments.spread(noises.rate)
        rise = rate * expm1(pair.y)
        ratio = 1 + rise
        wrong = np.abs(rise) * (2 * ERROR + 8 * UNIT) + 2 * (rise + rate) * y_error + UNIT * ratio
        loss = log1p(rise)
        loss_error = 2 * wrong / ratio + ERROR * np.abs(loss)
        if noises.removes:
            factor, off = factor * ratio, off + 2 * wrong / ratio + 4 * UNIT
        else:
            loss = -loss
    return Points(factor=factor, log_base=pair.log_base, weight_error=off + 4 * UNIT, loss=loss, loss_error=loss_error)


def outcomes_of(law: Loss) -> int:
    """About how many outcomes of a law in a row matter."""
    if isinstance(law, _NORMAL):
        return math.ceil(18 * math.sqrt(law.variance))
    return int(getattr(law, "sensitivity", 1)) + 1
