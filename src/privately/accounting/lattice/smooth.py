"""One-step privacy curves of the laws with a density.

The part of a law that has a density is described by
    G(epsilon) = E[(1 - e^(epsilon - L))+] - p (1 - e^epsilon)+        p  its mass, the same under P and under Q
which is nonnegative and falls on both sides of 0. With y the loss of the pair without sampling, G_1 its curve:

    remove   e^L = 1 - q + q e^y,   G(epsilon) = q G_1(y)              q  the rate
    add      L is minus that,       G(epsilon) = e^epsilon G_remove(-epsilon)
    glued    the first above 0, the second below

Where y and L are not the same, cuts are made at a y, which is then exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log1p
from privately.accounting.lattice.bases import Base, ExponentialBase, NormalBase
from privately.accounting.lattice.frame import scalar_exp, scalar_expm1
from privately.accounting.losses import (
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import NEAR_ONE, NotApplicable
from privately.rounding import Enclosure

Form = Literal["remove", "add", "glued"]

_LEAST_RATIO = 2.0**-40
_ROUNDED = Fraction(1, 2**52)


@dataclass(frozen=True)
class Masses:
    """P(L > l) and Q(L > l), each within its error."""

    first: float
    first_error: float
    second: float
    second_error: float


NOTHING = Masses(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Smooth:
    """The part with a density of a loss law; `rate` is 1 without sampling, otherwise within UNIT of the truth."""

    base: Base
    rate: float
    form: Form

    def __post_init__(self) -> None:
        if not (self.rate == 1 or 1e-9 < self.rate < NEAR_ONE):
            raise NotApplicable("the rate is out of range")

    def mass(self) -> tuple[float, float]:
        """p, and a bound on its error."""
        if self.form == "glued":
            masses = self.above(0.0)
            return masses.first + masses.second, masses.first_error + masses.second_error + UNIT
        return self.base.mass, 4 * ERROR * self.base.mass

    def curve(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """G and bounds on its errors, where each epsilon stands for one within UNIT of it, relative.

        Theorem: G is as above, and as a function of e^y the curve G_1 has slopes of at most Q(L > y) for y > 0 and of
            at most P(L > -y) for y < 0, in absolute value.
        Reference: Zhu-Dong-Wang 2022; Balle-Barthe-Gaboardi 2018, Theorem 2
        Proof: docs/theory/accounting/lattice.md#curves-under-sampling
        Checked-by: tests/accounting/lattice/test_smooth.py::test_curves_are_within_their_errors
        """
        if self.form == "remove":
            return self._removed(epsilon)
        value, error = self._removed(np.abs(epsilon) if self.form == "glued" else -epsilon)
        falls = exp(np.minimum(epsilon, 0.0) if self.form == "glued" else epsilon)
        value = value * falls
        return value, error * falls * (1 + 4 * ERROR) + value * (2 * ERROR + 2 * UNIT * np.abs(epsilon))

    def _removed(self, epsilon: Floats) -> tuple[Floats, Floats]:
        lost = np.zeros(epsilon.shape, dtype=bool)
        if self.rate == 1:
            y, moved = epsilon, 2 * UNIT * np.abs(epsilon)
        else:
            rise = expm1(epsilon) / self.rate
            lost = rise < _LEAST_RATIO - 1
            y = log1p(np.maximum(rise, _LEAST_RATIO - 1))
            moved = ERROR * (1 + np.abs(y)) + UNIT * (8 + np.abs(epsilon))
        tails = self.base.tails(np.abs(y))
        falls = exp(np.minimum(y, 0.0))
        slope = np.where(y >= 0, tails.discounted + tails.discounted_error, tails.above + tails.above_error)
        value = self.rate * tails.curve * falls
        error = self.rate * (tails.curve_error * falls + moved * slope) * (1 + 8 * ERROR) + value * (4 * ERROR)
        # G_1 rises below 0: where y is cut off, its value there bounds the truth.
        return np.where(lost, 0.0, value), np.where(lost, error + value, error)

    def above(self, y: float) -> Masses:
        """Of losses above the one that belongs to y >= 0; not for add."""
        tails = self.base.tails(np.array([y]))
        curve, curve_error, _, _, discounted, discounted_error = (float(part[0]) for part in tails)
        fall, rise = scalar_exp(-y), self.rate * scalar_expm1(y)
        second = discounted * fall
        second_error = discounted_error * fall + 4 * ERROR * second
        first = self.rate * curve + (1 + rise) * second
        first_error = self.rate * curve_error + (1 + rise) * second_error + 8 * ERROR * first
        return Masses(first, first_error * (1 + 8 * ERROR), second, second_error * (1 + 8 * ERROR))

    def loss(self, y: float) -> float:
        """The loss that belongs to y, roughly; for add its negative."""
        return y if self.rate == 1 else math.log1p(self.rate * math.expm1(min(y, 700.0)))

    def loss_between(self, y: float) -> tuple[float, float]:
        """Floats below and above the loss that belongs to y, whatever the rate was rounded from."""
        if self.rate == 1:
            return y, y
        grown = Enclosure.of(Fraction(y)).exp() - 1
        ends = [(1 + Fraction(self.rate) * (1 + moved) * grown).log() for moved in (-_ROUNDED, _ROUNDED)]
        low, high = min(end.lower for end in ends), max(end.upper for end in ends)
        return math.nextafter(float(low), -math.inf), math.nextafter(float(high), math.inf)

    def plain(self, loss: float) -> float:
        """The y that belongs to a loss, roughly; -infinity below all."""
        if self.rate == 1:
            return loss
        ratio = math.expm1(min(loss, 700.0)) / self.rate
        return math.log1p(ratio) if ratio > -1 else -math.inf

    def fall(self, tilt: float, right: float, frequencies: Floats) -> Floats:
        """Bounds on |E[e^((tilt + iw) L)]| of the part with y < `right`, for all |w| from each frequency on."""
        if self.form == "add":
            return self.base.fall(-tilt, self.rate, -math.inf, math.inf, frequencies)
        left = 0.0 if self.form == "glued" else -math.inf
        found = self.base.fall(tilt + 1, self.rate, left, right, frequencies)
        if self.form == "glued":
            found = found + self.base.fall(-tilt, self.rate, left, math.inf, frequencies)
        return found

    def ends(self) -> tuple[float, float]:
        """Below and above which losses G is 0, roughly: -infinity and infinity if nowhere."""
        low, high = self.base.spread()
        bounded = self.base.mass < 1
        least = self.loss(low) if bounded else (math.log1p(-self.rate) if self.rate < 1 else -math.inf)
        most = self.loss(high) if bounded else math.inf
        if self.form == "add":
            return -most, -least
        return (-most if self.form == "glued" else least), most

    def sketch(self, highest: float) -> tuple[Floats, Floats]:
        """Losses up to that of the y `highest`, and the logarithms of their masses under P, roughly."""
        left, right = self.base.spread()
        if self.form != "add":
            right = min(right, highest)
        y = np.linspace(left, right, 201)
        mass = self.base.log_density(y) + math.log(y[1] - y[0])
        loss = np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + y) if self.rate < 1 else y
        if self.form == "remove":
            return loss, mass + loss
        if self.form == "add":
            return -loss, mass
        positive = loss > 0
        loss, mass = loss[positive], mass[positive]
        return np.concatenate([loss, -loss]), np.concatenate([mass + loss, mass])


def smooth(law: Loss) -> Smooth | None:
    """The part of a law that has a density, if there is one."""
    match law:
        case GaussianLoss() | LaplaceLoss():
            return Smooth(_base(law), 1.0, "remove")
        case SampledGaussianLoss(mu_squared=mu_squared):
            return Smooth(_normal(mu_squared), _rate(law.rate), law.direction)
        case SampledLaplaceLoss(epsilon=epsilon):
            return Smooth(ExponentialBase(float(epsilon)), _rate(law.rate), law.direction)
        case GluedLoss(base=GaussianLoss() | LaplaceLoss() as base):
            return Smooth(_base(base), _rate(law.rate), "glued")
    return None


def _rate(rate: Fraction) -> float:
    """Below 1 as a float too: 1 would mean that nothing is sampled."""
    if rate >= NEAR_ONE:
        raise NotApplicable("the rate is out of range")
    return float(rate)


def _base(law: GaussianLoss | LaplaceLoss) -> Base:
    return _normal(law.mu_squared) if isinstance(law, GaussianLoss) else ExponentialBase(float(law.epsilon))


def _normal(mu_squared: Fraction) -> NormalBase:
    """The root of a rounded square: each rounding counts half or once."""
    return NormalBase(math.sqrt(float(mu_squared)))
