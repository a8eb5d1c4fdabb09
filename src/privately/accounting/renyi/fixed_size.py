"""Noise on samples of fixed size, under replacement: two profiles glued at epsilon = 0.

u = 1 - q + q r with r = P/Q of the base. The loss above 0 is that of the Poisson sample when a row is removed, below 0
that when a row is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from privately.accounting.losses import GaussianLoss, LaplaceLoss
from privately.accounting.renyi.amplification import Mixed
from privately.accounting.renyi.moments import Moments
from privately.accounting.renyi.numbers import Number, ceiling, exp, like, log
from privately.rounding import Enclosure, End, normal_cdf

_LARGEST_SQUARE = 2500
_LARGEST_EPSILON = 500


@dataclass(frozen=True)
class Halves:
    """Of the base: E_Q[(r-1)^2] where r > 1 and where r < 1, and E_Q[r-1] where r > 1."""

    above: Enclosure
    below: Enclosure
    distance: Enclosure


@dataclass(frozen=True)
class Glued:
    """The glued law of a base whose two directions are alike; `remove` and `add` are those of its Poisson sample.

    Theorem: e^K is at most e^K_remove + e^K_add - 1; and at most e^K_remove + min(c (c+1) q^2 A/2, c q D) - c (c+1) q^2
        (1-q)^max(c-1, 0) B/2 with A, B the squares above and below and D the distance.
    Reference: Zhu-Dong-Wang 2022, Theorem 11, for the profiles
    Proof: docs/theory/accounting/renyi.md#samples-of-fixed-size
    Checked-by: tests/accounting/renyi/test_fixed_size.py::test_glued_laws,
        tests/accounting/renyi/test_fixed_size.py::test_glued_laws_of_discrete_noise
    """

    remove: Moments
    add: Moments
    base: Moments
    rate: Fraction
    halves: Halves | None = None

    @property
    def largest(self) -> End:
        return Mixed(self.base, self.rate).largest

    def above(self, c: Fraction) -> End:
        bounds = [Mixed(self.base, self.rate).above(c), c * self.largest]
        remove, add = self.remove.above(c), self.add.above(c)
        if not isinstance(remove, float) and not isinstance(add, float):
            bounds.append(ceiling(together(Enclosure.of(remove), Enclosure.of(add))))
        if not isinstance(remove, float) and self.halves is not None:
            here = Enclosure.of(c)
            gained = _gained(here, Enclosure.of(self.rate), self.halves.above, self.halves.distance)
            lost = _lost(here, Enclosure.of(self.rate), self.halves.below)
            least = Enclosure(gained.upper, gained.upper) - Enclosure(lost.lower, lost.lower)
            bounds.append(ceiling(_shifted(Enclosure.of(remove), least).nonnegative()))
        return min(bounds)

    def rough(self, c: float) -> float:
        remove, rate = self.remove.rough(c), float(self.rate)
        bounds = [Mixed(self.base, self.rate).rough(c), together(remove, self.add.rough(c))]
        if self.halves is not None:
            above, below, distance = (
                float(half.upper) for half in (self.halves.above, self.halves.below, self.halves.distance)
            )
            bounds.append(_shifted(remove, _gained(c, rate, above, distance) - _lost(c, rate, below)))
        return max(min(bounds), 0.0)


def together(one: Number, other: Number) -> Number:
    """ln(e^one + e^other - 1), for numbers that are not negative."""
    if _height(one) < _height(other):
        one, other = other, one
    return one + log(1 + exp(other - one) - exp(-one))


def _height(x: Enclosure | float) -> float:
    return float(x.upper) if isinstance(x, Enclosure) else x


def _gained(c: Number, rate: Number, square: Number, distance: Number) -> Number:
    """E_Q[u^-c - 1 + c (u - 1)] where r > 1, from above."""
    short, long = c * (c + 1) * rate * rate * square / 2, c * rate * distance
    if isinstance(short, Enclosure) and isinstance(long, Enclosure):
        return short if short.upper < long.upper else long
    return min(short, long)


def _lost(c: Number, rate: Number, square: Number) -> Number:
    """E_Q[u^(c+1) - 1 - (c+1)(u-1)] where r < 1, from below."""
    steep = exp((c - 1) * log(1 - rate)) if _height(c) > 1 else like(c, 1)
    return c * (c + 1) * rate * rate * steep * square / 2


def _shifted(moment: Number, change: Number) -> Number:
    """ln(e^moment + change)."""
    return moment + log(1 + change * exp(-moment))


def gaussian_halves(law: GaussianLoss) -> Halves | None:
    """Of two normal laws; None where the squares are beyond reach."""
    if law.mu_squared > _LARGEST_SQUARE:
        return None
    mu, whole = law.mu, Enclosure.of(law.mu_squared).exp()
    near, far = normal_cdf(mu / 2), normal_cdf(3 * mu / 2)
    other = 1 - near
    return Halves(
        above=(whole * far - 2 * near + other).nonnegative(),
        below=(whole * normal_cdf(-3 * mu / 2) - 2 * other + near).nonnegative(),
        distance=near - other,
    )


def laplace_halves(law: LaplaceLoss) -> Halves | None:
    """Of two Laplace laws; None where the squares are beyond reach."""
    if law.epsilon > _LARGEST_EPSILON:
        return None
    root = Enclosure.of(law.epsilon / 2).exp()
    third = Fraction(1, 3)
    return Halves(
        above=(2 * third * root**2 - 2 + 4 * third / root).nonnegative(),
        below=(1 + third / root**4 - 4 * third / root).nonnegative(),
        distance=1 - 1 / root,
    )
