"""Samples of additive noise: sums over points that enclose the moment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.contour.sampled_laplace import SampledLaplace
from privately.accounting.contour.view import Rough
from privately.accounting.losses import DIRECTIONS, Direction, SampledGaussianLoss, SampledLaplaceLoss
from privately.accounting.renyi.amplification import poisson
from privately.accounting.renyi.closed_forms import laplace
from privately.accounting.renyi.moments import Moments, Quadratic
from privately.accounting.renyi.numbers import float_above, short
from privately.accounting.roads import NotApplicable
from privately.rounding import End

_QUIET = 48.0
_LEAST = 2.0**-8
_LARGEST_LOSS = 600.0
_FARTHEST = 4096.0
_WIDTH = 9.0


class Mass(Protocol):
    """ln E[e^(cL)] of one law; both raise NotApplicable where they end."""

    def log_mass(self, c: float) -> tuple[float, float]:
        """Between two ends."""

    def rough(self, c: float) -> float:
        """About it, fast."""


@dataclass(frozen=True)
class Enclosed:
    """A law whose moment is enclosed at floats; `beyond` is used where that ends.

    Theorem: K(c) <= K(c') c/c' for c' >= c.
    Reference: van Erven-Harremoes 2014, Corollary 2
    Proof: docs/theory/accounting/renyi.md#sampled-noise
    Checked-by: tests/accounting/renyi/test_sampled.py::test_orders_that_are_no_floats
    """

    law: Mass
    beyond: Moments

    @property
    def largest(self) -> End:
        return self.beyond.largest

    def above(self, c: Fraction) -> End:
        place = max(float_above(c), _LEAST)
        try:
            found = self.law.log_mass(place)[1]
        except NotApplicable:
            found = math.inf
        if not math.isfinite(found):
            return self.beyond.above(c)
        return short(min(max(Fraction(found), Fraction(0)) * c / Fraction(place), c * self.largest))

    def rough(self, c: float) -> float:
        try:
            return max(self.law.rough(c), 0.0)
        except NotApplicable:
            return self.beyond.rough(c)


@dataclass(frozen=True)
class OnContour:
    """The points of the contour integral, at a place on the real line.

    Theorem: the sum over the points, with what it misses, encloses ln E[e^(cL)] at every float c >= 0.
    Reference: Trefethen-Weideman 2014, Theorem 5.1; Trefethen 2008
    Proof: docs/theory/accounting/renyi.md#sampled-noise
    Checked-by: tests/accounting/renyi/test_sampled.py::test_sampled_gaussian,
        tests/accounting/renyi/test_sampled.py::test_sampled_laplace
    """

    law: SampledGaussian | SampledLaplace

    def log_mass(self, c: float) -> tuple[float, float]:
        return self.law.grid(c, c, 0.0, _QUIET).log_mass(c)

    def rough(self, c: float) -> float:
        exponent = math.ceil(math.log2(max(c, 1.0)))
        if exponent not in self._sketches:
            self._check(2.0**exponent)
            self._sketches[exponent] = self.law.rough(2.0**exponent)
        return self._sketches[exponent].cumulants(c)[0]

    def _check(self, c: float) -> None:
        """A sketch must stay within the range of floats."""
        if isinstance(self.law, SampledLaplace):
            reaches = c * self.law.epsilon < _LARGEST_LOSS
        else:
            end = max(self.law.power(c), 0.0) * self.law.mu + _WIDTH
            reaches = end * self.law.mu < _LARGEST_LOSS and c * self.law.mu < _FARTHEST
        if not reaches:
            raise NotApplicable("losses beyond the range of floats")

    @cached_property
    def _sketches(self) -> dict[int, Rough]:
        return {}


def sampled_gaussian(law: SampledGaussianLoss) -> Moments:
    """One direction of normal noise on a Poisson sample."""
    beyond = sample_of(Quadratic(law.mu_squared / 2), law.rate, law.direction)
    try:
        return Enclosed(OnContour(SampledGaussian.of(law)), beyond)
    except NotApplicable:
        return beyond


def sampled_laplace(law: SampledLaplaceLoss) -> Moments:
    """One direction of Laplace noise on a Poisson sample."""
    beyond = sample_of(laplace(law.epsilon), law.rate, law.direction)
    try:
        return Enclosed(OnContour(SampledLaplace.of(law)), beyond)
    except NotApplicable:
        return beyond


def sample_of(base: Moments, rate: Fraction, direction: Direction) -> Moments:
    """One direction of a Poisson sample of symmetric noise, from what is known of the noise."""
    return poisson((base, base), rate)[DIRECTIONS.index(direction)]
