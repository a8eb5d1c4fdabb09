"""The losses y of two noises without sampling, as far as they have a density: normal and exponential.

Both pairs are symmetric: L under Q has the law of -L under P. So losses y >= 0 tell everything:
    above        P(L > y)
    discounted   e^y Q(L > y)
    curve        E[(1 - e^(y - L))+], the difference of the two
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, cos_sin, exp, expm1, log, log1p, normal_tail
from privately.accounting.roads import NotApplicable

_FARTHEST = 37.0
_LEAST_TAIL = 6e-300
_CELLS = 512
_REACH = 10.0
_TAIL = 1e-23  # above P(N > 10) for a standard normal N
_HIGHEST = 300.0
_THETAS = (0.5, 1.0, 2.0, 3.0)
_ROOT = 2.5066282746310002  # below sqrt(2 pi)


class Tails(NamedTuple):
    """Values at some y >= 0, each with a bound on its error."""

    curve: Floats
    curve_error: Floats
    above: Floats
    above_error: Floats
    discounted: Floats
    discounted_error: Floats


class Base(Protocol):
    """A pair without sampling."""

    @property
    def mass(self) -> float:
        """Of the part with a density, under P and under Q alike, to a relative error of 4 ERROR."""

    def tails(self, y: Floats) -> Tails:
        """At y >= 0, taken exactly."""

    def log_density(self, y: Floats) -> Floats:
        """ln of the density of y under Q, roughly."""

    def spread(self) -> tuple[float, float]:
        """Between which y there is anything of note, under Q and under P."""

    def fall(self, power: float, rate: float, left: float, right: float, frequencies: Floats) -> Floats:
        """Bounds on the integral of r^(power + iw) over the law of y under Q, left < y < right, for all larger |w| too.

        r = 1 - rate + rate e^y.
        """


@dataclass(frozen=True)
class NormalBase:
    """P = N(mu, 1), Q = N(0, 1); `mu` is within 2 UNIT, relative, of the truth."""

    mu: float
    mass = 1.0

    def __post_init__(self) -> None:
        if not 1e-7 < self.mu < 20:
            raise NotApplicable("mu is out of range")

    def tails(self, y: Floats) -> Tails:
        above, above_error = self._tail(y, -self.mu / 2)
        below, below_error = self._tail(y, self.mu / 2)
        growth = exp(np.minimum(y, 700.0))
        below, below_error = growth * below, growth * (below_error + 3 * ERROR * below)
        curve = np.maximum(above - below, 0)
        return Tails(curve, above_error + below_error + UNIT * above, above, above_error, below, below_error)

    def _tail(self, y: Floats, shift: float) -> tuple[Floats, Floats]:
        """P(N > y/mu + shift) for a standard normal N.

        Theorem: the hazard of the normal law is at most x + 1 for x >= 0 and at most 1 for x < 0.
        Reference: Birnbaum 1942
        Proof: docs/theory/accounting/lattice.md#normal-losses
        Checked-by: tests/accounting/lattice/test_bases.py::test_tails_are_within_their_errors
        """
        x = y / self.mu + shift
        inside = np.minimum(x, _FARTHEST)
        tail = normal_tail(inside)
        moved = 4 * UNIT * (y / self.mu + self.mu)
        error = tail * (ERROR + 2 * moved * (np.maximum(inside, 0) + 1))
        far = x > _FARTHEST
        return np.where(far, 0.0, tail), np.where(far, _LEAST_TAIL, error)

    def log_density(self, y: Floats) -> Floats:
        x = y / self.mu + self.mu / 2
        return -x * x / 2 - math.log(self.mu * _ROOT)

    def spread(self) -> tuple[float, float]:
        return -9 * self.mu - self.mu**2 / 2, _FARTHEST * self.mu + self.mu**2 / 2

    def fall(self, power: float, rate: float, left: float, right: float, frequencies: Floats) -> Floats:
        """By moving the path of integration to y + i theta.

        Theorem: for 0 < theta < pi/2 the integral is at most e^(theta^2/(2 mu^2)) times the sum of the integral of
            f |r(y + i theta)|^power e^(-w sin arg r(y + i theta)), f the density of y under Q, and of
            f(y) max(r(y), |r(y + i theta)|^power) min(theta, pi/(2 w s(y))) at each finite end, s = rate e^y/r.
        Reference: Cauchy's theorem
        Proof: docs/theory/accounting/lattice.md#normal-losses
        Checked-by: tests/accounting/lattice/test_bases.py::test_falls_are_above_the_transform
        """
        mu, half = self.mu, self.mu**2 / 2
        low, high = max(left, -half - _REACH * mu), min(right, half + 4 * _REACH * mu)
        if high > _HIGHEST or (power > 0 and high < right):
            raise NotApplicable("the window of losses is too wide")
        if low >= high:
            return np.zeros(frequencies.shape)
        y = np.linspace(low, high, _CELLS + 1)
        x = np.abs(y / mu + mu / 2)
        nearest = np.where((y[:-1] + half) * (y[1:] + half) <= 0, 0.0, np.minimum(x[:-1], x[1:]))
        best = np.full(frequencies.shape, math.inf)
        for theta in (*(mu * part for part in _THETAS if mu * part < 1.4), 1.4):
            sizes = log_size(y, rate, theta)
            turned = rate * _sine(theta) * exp(y) * exp(-sizes)
            lost = _lost(power, rate, sizes)
            sizes = power * sizes
            exponents = np.maximum(sizes[1:], sizes[:-1]) - nearest * nearest / 2 + lost
            exponents = exponents - frequencies[:, None] * turned[:-1] * (1 - 1e-9)
            lifted = theta * theta / (4 * half)
            if max(lifted, float(exponents.max())) > _HIGHEST:
                continue
            total = exp(np.maximum(exponents, -700.0)).sum(axis=1) * ((high - low) / _CELLS / (mu * _ROOT))
            for end, last in ((left, low), (right, high)):
                total += self._end(power, rate, theta, last, frequencies if end == last else None)
            best = np.minimum(best, total * exp_above(lifted))
        return best * (1 + 1e-9)

    def _end(self, power: float, rate: float, theta: float, y: float, frequencies: Floats | None) -> Floats:
        """The step from the real line to the path at a finite end; without frequencies, all that lies beyond y."""
        place = np.array([y])
        plain, turned = (float(log_size(place, rate, angle)[0]) for angle in (0.0, theta))
        lost = _lost(power, rate, np.array([plain, turned]))
        size = exp_above(max(power * plain, power * turned) + lost)
        if frequencies is None:
            least = exp_above(power * float(log1p(np.array([-rate]))[0]) + lost) if rate < 1 and power < 0 else 0.0
            return np.array([max(least, size) * _TAIL])
        share = rate * float(exp(place)[0]) * exp_above(-plain) * (1 - 1e-9)
        x = y / self.mu + self.mu / 2
        height = exp_above(-x * x / 2 + 1e-9) / (self.mu * _ROOT)
        return height * size * np.minimum(theta, 1.5708 / np.maximum(share * frequencies, 1e-300))


@dataclass(frozen=True)
class ExponentialBase:
    """Two Laplace laws of scale 1, `epsilon` apart: without the atoms, y lies between -epsilon and epsilon.

    `epsilon` is within UNIT, relative, of the truth.
    """

    epsilon: float

    def __post_init__(self) -> None:
        if not 1e-7 < self.epsilon < 300:
            raise NotApplicable("the scale is out of range")

    @property
    def mass(self) -> float:
        return float(-expm1(np.array([-self.epsilon]))[0]) / 2

    def tails(self, y: Floats) -> Tails:
        """With u = e^((y - epsilon)/2): the curve is (1 - u)^2/2, above is (1 - u)/2, discounted is u (1 - u)/2."""
        exponent = np.minimum((y - self.epsilon) / 2, 0.0)
        rest, part = -expm1(exponent), exp(exponent)
        off = ERROR * rest + 2 * UNIT * (y + self.epsilon)
        value = rest * rest / 2
        return Tails(
            value, off * (rest + off) + 4 * UNIT * value, rest / 2, off, rest * part / 2, off + 2 * ERROR * rest * part
        )

    def log_density(self, y: Floats) -> Floats:
        return -(y + self.epsilon) / 2 - math.log(4)

    def spread(self) -> tuple[float, float]:
        return -self.epsilon, self.epsilon

    def fall(self, power: float, rate: float, left: float, right: float, frequencies: Floats) -> Floats:
        """By the total variation of the density, which is at most twice the sum of its local maxima, or by its ends and
        the total variation of its slope.

        Theorem: as a density of ln r, the integrand has a logarithm with the derivative (power + 1) s(y) - 3/2 in y,
            s = rate e^y/r, which rises from above 0 to below 1. So it falls if power <= 1/2, and otherwise has at most
            one local extremum inside, a minimum: the local maxima are ends. As a function of ln r it is convex, with
            the slope (power + 1) - 3/(2 s) of its logarithm: the integral is also at most A/w + 2 B/w^2, A the sum of
            both ends and B that of the sizes of both slopes there.
        Reference: integration by parts; the logistic curve rises
        Proof: docs/theory/accounting/lattice.md#exponential-losses
        Checked-by: tests/accounting/lattice/test_bases.py::test_falls_are_above_the_transform
        """
        ends = np.array([max(left, -self.epsilon), min(right, self.epsilon)])
        if ends[0] > ends[1]:
            return np.zeros(frequencies.shape)
        mixed = log_size(ends, rate, 0.0)
        heights = (power + 1) * mixed - 1.5 * ends - self.epsilon / 2
        lost = _lost(power + 1, rate, mixed) + 1e-12 * 3 * self.epsilon
        sizes = [exp_above(float(height) + lost) / (4 * rate) * (1 + 1e-9) for height in heights]
        shares = [rate * exp_above(float(end - size)) * (1 - 1e-9) for end, size in zip(ends, mixed, strict=True)]
        slopes = [size * (abs(power + 1) + 1.5 / share) for size, share in zip(sizes, shares, strict=True)]
        by_ends = sum(sizes) / np.maximum(frequencies, 1e-300)
        by_slopes = 2 * sum(slopes) / np.maximum(frequencies, 1e-150) ** 2
        return (by_ends + np.minimum(by_ends, by_slopes)) * (1 + 1e-9)


def log_size(y: Floats, rate: float, theta: float) -> Floats:
    """ln |1 - rate + rate e^(y + i theta)| for 0 <= theta < pi/2, off by at most 10^-13 (1 + |it|).

    No term is negative, so nothing cancels.
    """
    if rate == 1:
        return y
    other = 1 - rate
    growth = rate * exp(np.minimum(y, _HIGHEST))
    cosine = float(cos_sin(np.array([theta]))[0][0])
    return log(other * other + growth * (2 * other * cosine + growth)) / 2


def _lost(power: float, rate: float, sizes: Floats) -> float:
    """How far power times a logarithm may be off, with the rounding of the rate."""
    other = 1 - rate if rate < 1 else 1.0
    return 1e-9 + abs(power) * (1e-12 + 4 * UNIT / other) + 1e-12 * float(np.abs(power * sizes).max())


def _sine(theta: float) -> float:
    return float(cos_sin(np.array([theta]))[1][0])


def exp_above(x: float) -> float:
    """e^x from above."""
    if x > 690:
        return math.inf
    return float(exp(np.array([x]))[0]) * (1 + 4 * ERROR) + 1e-300
