"""Profiles by mpmath with many digits, from the definition of each pair of laws. Shares no code with the roads.

alpha = e^epsilon. In all pairs L = ln(dP/dQ) rises (or falls) with the outcome, so that {L > y} is a half line.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import mpmath
from mpmath import mp

from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)

Real = Any  # an mpf: mpmath has no types

DIGITS = 260


@contextmanager
def many_digits() -> Iterator[None]:
    with mp.workdps(DIGITS):
        yield


def real(value: Fraction | int) -> Real:
    return mp.mpf(value.numerator) / value.denominator


def exact(value: Real) -> Fraction:
    """An mpf is a binary fraction; what is below 10^-900 is taken for 0."""
    if abs(value) < mp.mpf(10) ** -900:
        return Fraction(0)
    sign, mantissa, exponent, _ = value._mpf_
    size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -size if sign else size


def holds(value: Real, lower: Fraction | float, upper: Fraction | float) -> bool:
    """Whether it lies between both ends, up to the digits worked with."""
    room = abs(exact(value)) / 10**100 + Fraction(1, 10**200)
    return lower <= exact(value) + room and exact(value) - room <= upper


def true_delta(law: Loss, epsilon: Fraction) -> Real:
    """delta at epsilon of one law."""
    alpha = mp.exp(real(epsilon))
    match law:
        case GluedLoss(base=glued, rate=rate):
            return _removed(glued, real(rate), alpha)
        case SampledGaussianLoss(mu_squared=square, rate=rate, direction=direction):
            base: Any = GaussianLoss(mu_squared=square)
        case SampledLaplaceLoss(epsilon=loss, rate=rate, direction=direction):
            base = LaplaceLoss(epsilon=loss)
        case SampledDiscreteGaussianLoss(variance=variance, sensitivity=far, rate=rate, direction=direction):
            base = DiscreteGaussianLoss(variance=variance, sensitivity=far)
        case SampledDiscreteLaplaceLoss(scale=scale, sensitivity=far, rate=rate, direction=direction):
            base = DiscreteLaplaceLoss(scale=scale, sensitivity=far)
        case _:
            return _whole(law, alpha)
    return (_removed if direction == "remove" else _added)(base, real(rate), alpha)


def _whole(law: Any, alpha: Real) -> Real:
    p, q = _above(law, mp.log(alpha))
    return p - alpha * q


def _removed(base: Any, rate: Real, alpha: Real) -> Real:
    """(1-q)Q + qP against Q: the set where (1-q) + q e^l > alpha."""
    p, q = _above(base, mp.log((alpha - 1 + rate) / rate))
    return (1 - rate) * q + rate * p - alpha * q


def _added(base: Any, rate: Real, alpha: Real) -> Real:
    """P against (1-q)P + qQ: the set where 1 > alpha (1 - q + q e^-l)."""
    left = 1 / alpha - 1 + rate
    if left <= 0:
        return mp.mpf(0)
    p, q = _above(base, -mp.log(left / rate))
    return p - alpha * ((1 - rate) * p + rate * q)


def _above(law: Any, y: Real) -> tuple[Real, Real]:
    """P(L > y) and Q(L > y), for y > -(the largest loss)."""
    match law:
        case GaussianLoss(mu_squared=square):
            mu = mp.sqrt(real(square))
            edge = y / mu + mu / 2
            return _normal_tail(edge - mu), _normal_tail(edge)
        case LaplaceLoss(epsilon=loss):  # P at loss, Q at 0, L = |x| - |x - loss| > y from (y + loss)/2 on
            far = real(loss)
            edge = (y + far) / 2
            if edge >= far:
                return mp.mpf(0), mp.mpf(0)
            return 1 - mp.exp(edge - far) / 2, mp.exp(-edge) / 2
        case DiscreteGaussianLoss(variance=variance, sensitivity=far):
            v = real(variance)
            edge = int(mp.floor(y * v / far + mp.mpf(far) / 2)) + 1
            total = mpmath.jtheta(3, 0, mp.exp(-1 / (2 * v)))
            return _discrete_tail(edge - far, v) / total, _discrete_tail(edge, v) / total
        case DiscreteLaplaceLoss(scale=scale, sensitivity=far):
            edge = int(mp.floor((y * real(scale) + far) / 2)) + 1
            if edge > far:
                return mp.mpf(0), mp.mpf(0)
            shrink = mp.exp(-1 / real(scale))
            return 1 - shrink ** (far - edge + 1) / (1 + shrink), shrink**edge / (1 + shrink)
    raise AssertionError(law)


def _normal_tail(x: Real) -> Real:
    return mp.erfc(x / mp.sqrt(2)) / 2


def _discrete_tail(k: int, variance: Real) -> Real:
    """The sum of e^(-j^2/2v) over j >= k, term by term."""
    total, j = mp.mpf(0), k
    while True:
        term = mp.exp(-(mp.mpf(j) ** 2) / (2 * variance))
        total += term
        if j > 0 and term < total * mp.mpf(10) ** -(DIGITS + 5):
            return total
        j += 1


def true_binomial_delta(probability: Real, losses: tuple[Real, Real], times: int, epsilon: Fraction) -> Real:
    """delta of `times` losses, the larger one with that probability; from the least count above epsilon upward.

    By Bernstein's inequality, less than e^-900 is left out more than 60 standard deviations and 600 below the mean.
    """
    large, small = losses
    mean, spread = times * probability, mp.sqrt(times * probability * (1 - probability))
    first = max(int(mp.floor((real(epsilon) - times * small) / (large - small))) + 1, 0)
    if first > times:
        return mp.mpf(0)
    first = max(first, int(mp.floor(mean - 60 * spread - 600)))
    logs = mp.loggamma(times + 1) - mp.loggamma(first + 1) - mp.loggamma(times - first + 1)
    term = mp.exp(logs + first * mp.log(probability) + (times - first) * mp.log(1 - probability))
    odds, shrink = probability / (1 - probability), mp.exp(small - large)
    fallen = mp.exp(real(epsilon) - first * large - (times - first) * small)
    total = mp.mpf(0)
    for k in range(first, times + 1):
        total += term * (1 - fallen)
        growing = (times - k) * odds > k + 1
        term = term * (times - k) / (k + 1) * odds
        fallen = fallen * shrink
        if not growing and term < total * mp.mpf(10) ** -60:
            break
    return total
