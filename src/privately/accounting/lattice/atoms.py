"""Losses that carry mass by themselves: where they are, how much they carry, and how they come onto a lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log1p
from privately.accounting.lattice.frame import scalar_exp
from privately.accounting.lattice.smooth import NOTHING, Masses, smooth
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import NEAR_ONE, NotApplicable
from privately.laws.gaussian_sums import whole_sum
from privately.rounding import Enclosure

MOST = 1 << 18
"""More atoms than this are refused."""

_QUIET = 38.0
_HIGHEST = 600.0


@dataclass(frozen=True)
class Atoms:
    """Losses and their probabilities under P, each within its error; at most `outside` is missing."""

    losses: Floats
    loss_errors: Floats
    masses: Floats
    mass_errors: Floats
    outside: float = 0.0

    def below(self) -> Floats:
        """Not above any of the true losses, but for one rounding."""
        return self.losses - self.loss_errors

    def up_to(self, highest: float) -> tuple[Atoms, Masses]:
        """Those of losses up to that, and what the others have under P and under Q."""
        kept = self.losses <= highest
        if kept.all():
            return self, NOTHING
        rest = ~kept
        first, first_errors = self.masses[rest], self.mass_errors[rest]
        falls = exp(-self.losses[rest])
        slack = 2 * (first.size + 8) * UNIT
        second, second_errors = first * falls, (first_errors + first * (2 * self.loss_errors[rest] + 2 * ERROR)) * falls
        found = Masses(
            float(first.sum()),
            float(first_errors.sum() + slack * first.sum()),
            float(second.sum()),
            float(second_errors.sum() + slack * second.sum()),
        )
        return Atoms(
            self.losses[kept], self.loss_errors[kept], self.masses[kept], self.mass_errors[kept], self.outside
        ), found


_EMPTY: Floats = np.zeros(0)
NONE = Atoms(_EMPTY, _EMPTY, _EMPTY, _EMPTY)


@dataclass(frozen=True)
class _Pair:
    """Losses y of a symmetric pair without sampling, and their probabilities under Q."""

    y: Floats
    y_errors: Floats
    masses: Floats
    mass_errors: Floats
    outside: float = 0.0


@lru_cache(maxsize=256)
def atoms(law: Loss) -> Atoms:
    """All atoms of a law; none for normal losses."""
    match law:
        case FiniteLoss():
            listed = law.atoms()
            return _listed([loss for _, loss in listed], [mass for mass, _ in listed])
        case LaplaceLoss() | DiscreteLaplaceLoss() | DiscreteGaussianLoss():
            return _mirrored(_pair(law))
        case SampledLaplaceLoss(epsilon=epsilon):
            return _sampled(_laplace(epsilon), law.rate, removes=law.direction == "remove")
        case SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            return _sampled(_discrete_laplace(scale, sensitivity), law.rate, removes=law.direction == "remove")
        case SampledDiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
            return _sampled(_discrete_gaussian(variance, sensitivity), law.rate, removes=law.direction == "remove")
        case GluedLoss(base=base):
            dense = smooth(law)
            return _glued(_pair(base), law.rate, dense.mass() if dense else (0.0, 0.0))
    return NONE


def _pair(base: GaussianLoss | LaplaceLoss | DiscreteGaussianLoss | DiscreteLaplaceLoss) -> _Pair:
    match base:
        case LaplaceLoss(epsilon=epsilon):
            return _laplace(epsilon)
        case DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            return _discrete_laplace(scale, sensitivity)
        case DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
            return _discrete_gaussian(variance, sensitivity)
    return _Pair(_EMPTY, _EMPTY, _EMPTY, _EMPTY)


def _listed(losses: list[Enclosure], masses: list[Enclosure]) -> Atoms:
    at, off = _floats(losses)
    carried, carried_off = _floats(masses)
    if at.size > MOST or np.abs(at).max() > _HIGHEST:
        raise NotApplicable("too many outcomes, or too large a loss")
    return Atoms(at, off, carried, carried_off)


def _floats(values: list[Enclosure]) -> tuple[Floats, Floats]:
    """The lower ends, rounded, and how far the upper ends are from them: around 0 that is not relative."""
    near = np.array([float(value.lower) for value in values])
    wide = np.array([float(value.upper - value.lower) for value in values])
    return near, 4 * UNIT * np.abs(near) + 2 * wide + 1e-300


def _laplace(epsilon: Fraction) -> _Pair:
    """At +-epsilon, under Q: e^-epsilon/2 and 1/2."""
    (y, y_errors), (mass, errors) = _floats([Enclosure.of(epsilon)]), _floats([Enclosure.of(-epsilon).exp() / 2])
    half = np.array([0.5])
    return _Pair(
        np.concatenate([y, -y]),
        np.concatenate([y_errors, y_errors]),
        np.concatenate([mass, half]),
        np.concatenate([errors, 0 * half]),
    )


def _discrete_laplace(scale: Fraction, sensitivity: int) -> _Pair:
    """At (2k - s)/scale, k = 0, ..., s. Under Q, with r = e^(-1/scale): 1/(1+r) and r^s/(1+r) at the ends, else
    (1-r)/(1+r) r^k.
    """
    if sensitivity >= MOST or sensitivity > _HIGHEST * scale:
        raise NotApplicable("the sensitivity is too large")
    k = np.arange(sensitivity + 1.0)
    per = float(1 / scale)
    y = (2 * k - sensitivity) * per
    ratio = Enclosure.of(-1 / scale).exp()
    ends, _ = _floats([1 / (1 + ratio), (1 - ratio) / (1 + ratio)])
    masses = exp(-k * per) * np.where((k == 0) | (k == sensitivity), ends[0], ends[1])
    return _Pair(y, 4 * UNIT * np.abs(y), masses, masses * (2 * ERROR + 4 * UNIT * k * per))


def _discrete_gaussian(variance: Fraction, sensitivity: int) -> _Pair:
    """At s (2k - s)/(2 variance) for all k, under Q in proportion to exp(-k^2/(2 variance)).

    Theorem: what is left out beyond k = last is at most the last term times r/(1 - r), r = e^(-last/variance).
    Reference: comparison with the geometric series
    Proof: docs/theory/accounting/lattice.md#atoms
    Checked-by: tests/accounting/lattice/test_atoms.py::test_atoms_are_within_their_errors
    """
    spread = math.sqrt(variance) if variance < 10**12 else math.inf
    most = _QUIET * spread + 4
    if 2 * most + sensitivity > MOST or sensitivity * (most + sensitivity) > _HIGHEST * variance:
        raise NotApplicable("too many outcomes, or too large a loss")
    last = math.floor(most)
    k = np.arange(float(-last), last + sensitivity + 1.0)
    y = (2 * k - sensitivity) * float(sensitivity / (2 * variance))
    total, _ = _floats([whole_sum(variance)])
    exponent = k * k * float(1 / (2 * variance))
    masses = exp(-exponent) / total[0]
    ratio = scalar_exp(-last / float(variance)) * (1 + 4 * ERROR)
    outside = 2 * float(masses[0]) / (1 - ratio) * (1 + 1e-9) + 1e-290
    return _Pair(y, 4 * UNIT * np.abs(y), masses, masses * (2 * ERROR + 8 * UNIT * exponent) + 1e-307, outside)


def _mirrored(pair: _Pair) -> Atoms:
    """Without sampling: L under P has the law of -L under Q."""
    return Atoms(-pair.y, pair.y_errors, pair.masses, pair.mass_errors, pair.outside)


def _sampled(pair: _Pair, rate: Fraction, *, removes: bool) -> Atoms:
    loss, loss_error, ratio, ratio_error = _mixed(pair, rate)
    if not removes:
        return Atoms(-loss, loss_error, pair.masses, pair.mass_errors, pair.outside)
    masses = pair.masses * ratio
    errors = pair.mass_errors * (ratio + ratio_error) + pair.masses * ratio_error + 4 * UNIT * masses
    return Atoms(loss, loss_error, masses, errors, pair.outside)


def _mixed(pair: _Pair, rate: Fraction) -> tuple[Floats, Floats, Floats, Floats]:
    """ln r and r = 1 - rate + rate e^y, each with its error."""
    share = float(rate)
    if not 1e-9 < share < NEAR_ONE:
        raise NotApplicable("the rate is out of range")
    rise = share * expm1(pair.y)
    ratio = 1 + rise
    off = np.abs(rise) * (ERROR + 4 * UNIT) + 2 * share * exp(pair.y) * pair.y_errors + UNIT * ratio
    loss = log1p(rise)
    return loss, 2 * off / ratio + ERROR * np.abs(loss), ratio, off


def _glued(pair: _Pair, rate: Fraction, dense: tuple[float, float]) -> Atoms:
    """Those of remove above 0, those of add below, and at 0 what is left: `dense` is the mass of the density."""
    positive = pair.y > 0
    half = _Pair(pair.y[positive], pair.y_errors[positive], pair.masses[positive], pair.mass_errors[positive])
    above, below = _sampled(half, rate, removes=True), _sampled(half, rate, removes=False)
    carried = float(above.masses.sum() + below.masses.sum())
    off = float(above.mass_errors.sum() + below.mass_errors.sum()) + 2 * pair.outside
    off += 2 * (2 * half.y.size + 4) * UNIT + dense[1]
    return Atoms(
        np.concatenate([above.losses, below.losses, [0.0]]),
        np.concatenate([above.loss_errors, below.loss_errors, [0.0]]),
        np.concatenate([above.masses, below.masses, [max(1 - carried - dense[0], 0.0)]]),
        np.concatenate([above.mass_errors, below.mass_errors, [off]]),
        2 * pair.outside,
    )
