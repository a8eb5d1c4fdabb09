"""The part of a composition in which every step lands on one of two atoms: a binomial sum, exact.

It does not fall along the contour, so it is taken out of the integral and added afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privately.accounting.contour.view import Complex, View, dot, enlarged, power
from privately.accounting.elementary import ERROR, LOWEST, UNIT, Floats, exp, exp_one, expm1, log, log_one
from privately.accounting.kept import Kept

MOST_STEPS = 1 << 21
_SMALLEST = 1e-40


@dataclass(frozen=True)
class Atoms:
    """Two tilted atoms, each step of `times` on one of them. Errors are relative for weights, absolute for losses."""

    times: int
    c: float
    weights: Floats
    losses: Floats
    weight_error: float
    loss_error: float

    variation: float
    """V such that the rest of the law's transform is at most V/w."""

    @classmethod
    def of(cls, view: View, c: float, times: int, variation: float, errors: tuple[float, float]) -> Atoms:
        """The first and the last point of a view; errors of weights and losses."""
        ends = [0, -1]
        weight_error, loss_error = (enlarged(error) for error in errors)
        return cls(
            times, c, view.weights.real[ends], view.losses.real[ends], weight_error, loss_error, enlarged(variation)
        )

    def falls(self, reaches: Floats) -> Floats:
        """Lower bounds on -ln |phi^T - alpha^T| for all w at or above each reach, alpha the atoms' part of phi."""
        doubt = 1 + 2 * self.weight_error
        rest = np.minimum(self.variation * doubt / reaches, 1.0)
        inside = np.minimum(enlarged(self.mass) * doubt + rest, 1.0)
        once, often = log(np.array([self.times * rest, inside]))
        found: Floats = -once - (self.times - 1) * often - 2.0**-20
        return found

    @Kept
    def mass(self) -> float:
        return float(self.weights.sum())

    @Kept
    def _log_mass(self) -> float:
        return log_one(self.mass)

    @Kept
    def whole(self) -> float:
        """The weight of all steps together: mass^times."""
        return exp_one(max(self.times * self._log_mass, LOWEST))

    @Kept
    def doubt(self) -> float:
        """The relative error of `whole`."""
        exponent = max(1.0, abs(self._log_mass))
        return enlarged(self.times * (self.weight_error + 2 * ERROR * exponent) + 2 * ERROR)

    @property
    def taken(self) -> float:
        """The weight of all paths that are taken out: their transform at 0."""
        return self.whole

    @property
    def taken_error(self) -> float:
        """How far that may be off."""
        return self.doubt * self.whole

    def transforms(self, step: float, count: int) -> tuple[Complex, Floats]:
        """Their transform to the power `times`, centred, and bounds on the errors."""
        alone = View((0.0, 0.0), 0.0, self.weights, self.losses, self.weight_error, self.loss_error)
        found, error = alone.transforms(step, count)
        raised, off = power(found + (self.mass - 1), error + 4 * UNIT, self.times)
        return 1 + raised, off + 2 * UNIT

    def part(self, s: float) -> tuple[float, float, float]:
        """Their part of the profile at centre + s, without e^(K - c epsilon), a bound on its error; and its slope in s,
        nearly.

        Theorem: with k steps on the first atom the loss is k l1 + (times - k) l2, with a binomial weight.
        Reference: Kairouz-Oh-Viswanath 2015
        Proof: docs/theory/accounting/contour.md#atoms-and-variation
        Checked-by: tests/accounting/contour/test_atoms.py::test_the_binomial_sum
        """
        weights, losses, weight_error = self._binomial
        place = int(np.searchsorted(losses, s)) if losses.size else 0
        weights, excess = weights[place:], losses[place:] - s
        discounts = exp(-self.c * excess)
        gained = discounts * -expm1(-excess)
        moved = self._moved(s)
        value = float(weights @ gained)
        error = enlarged(value * (weight_error + 4 * ERROR + self.c * moved) + moved * self.whole)
        return value, error, (self.c + 1) * value - float(weights @ discounts)

    def nearly(self, s: float) -> tuple[float, float, float]:
        """The same without a promise."""
        weights, losses, weight_error = self._binomial
        place = int(np.searchsorted(losses, s)) if losses.size else 0
        excess = losses[place:] - s
        discounted = weights[place:] * np.exp(-self.c * excess)
        value = -dot(discounted, np.expm1(-excess))
        moved = self._moved(s)
        error = value * (weight_error + 4 * ERROR + self.c * moved) + moved * self.whole
        return value, error, (self.c + 1) * value - float(discounted.sum())

    def _moved(self, s: float) -> float:
        """How far a sum of losses less s may be off."""
        return self.times * (self.loss_error + self._scale) + 4 * UNIT * abs(s)

    @Kept
    def _scale(self) -> float:
        return 4 * UNIT * float(np.abs(self.losses).sum())

    @Kept
    def _binomial(self) -> tuple[Floats, Floats, float]:
        return self._binomial_of(self.times, self.whole)

    def _binomial_of(self, times: int, whole: float) -> tuple[Floats, Floats, float]:
        """C(times, k) p1^k p2^(times - k) with the losses, these increasing: weights from their ratios, as their sum is
        known. Weights below 10^-40 of the largest are left out; the error covers them.
        """
        p, q = self.weights
        k = np.arange(times + 1.0)
        ratios = (times - k[:-1]) / (k[:-1] + 1) * (p / max(q, 1e-290))
        mode = int(np.searchsorted(-ratios, -1.0))
        shape = np.concatenate([np.cumprod(1 / ratios[:mode][::-1])[::-1], [1.0], np.cumprod(ratios[mode:])])
        kept = np.flatnonzero(shape > _SMALLEST)
        shape, k = shape[kept], k[kept]
        error = 2 * self.doubt + 16 * UNIT * times
        losses = k * self.losses[0] + (times - k) * self.losses[1]
        weights = shape * (whole / shape.sum())
        if self.losses[0] < self.losses[1]:
            weights, losses = weights[::-1], losses[::-1]
        return weights, losses, error + times * _SMALLEST
