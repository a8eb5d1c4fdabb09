"""Transforms and profiles at high precision, by mpmath."""

from fractions import Fraction
from functools import lru_cache

import mpmath

from privately.certificates.checker.accounting.terms import Law, Terms, make_law, ordered
from privately.certificates.checker.intervals import Interval
from tests.certificates.checker.building import Number, mpf, rational

PLACES = 192


def law(name: str, *numbers: Number) -> Law:
    return make_law(name, *map(rational, numbers))


def enclosing(name: str, inside: list[Terms], *numbers: Number) -> Law:
    """A law made of lists of others."""
    return law(name, *numbers)._replace(inner=tuple(tuple(ordered(terms)) for terms in inside))


def high(x: Interval) -> mpmath.mpf:
    return mpmath.ldexp(x.high, x.exponent)


@lru_cache(maxsize=4096)
def sampled_normal(mu_squared: Fraction, rate: Fraction, z: mpmath.mpc, *, removes: bool) -> mpmath.mpc:
    """The transform, by quadrature."""
    with mpmath.workprec(100):
        mu, q = mpmath.sqrt(mpf(mu_squared)), mpf(rate)
        s = z + 1 if removes else -z

        def integrand(x: mpmath.mpf) -> mpmath.mpc:
            return mpmath.npdf(x) * (1 - q + q * mpmath.exp(mu * x - mu * mu / 2)) ** s

        ends = 12 + abs(mpmath.re(s)) * mu
        return mpmath.quad(integrand, mpmath.linspace(-ends, ends, int(ends) + 1))


def laplace(epsilon: Number, z: mpmath.mpc) -> mpmath.mpc:
    """The transform, piece by piece: atoms at +-epsilon, and the density between."""
    e = mpf(epsilon)
    between = mpmath.exp(-e / 2) * 2 * mpmath.sinh(e * (z + mpmath.mpf(1) / 2)) / (z + mpmath.mpf(1) / 2) / 4
    return mpmath.exp(z * e) / 2 + mpmath.exp(-e - z * e) / 2 + between


def binomial_profile(epsilon: Number, times: int, at: Number) -> mpmath.mpf:
    """delta of so many randomized responses."""
    e, level = mpf(epsilon), mpf(at)
    p = 1 / (1 + mpmath.exp(-e))
    total = mpmath.mpf(0)
    for k in range(times + 1):
        loss = (2 * k - times) * e
        if loss > level:
            total += mpmath.binomial(times, k) * p**k * (1 - p) ** (times - k) * (1 - mpmath.exp(level - loss))
    return total


def normal_profile(mu_squared: Number, at: Number) -> mpmath.mpf:
    mu, level = mpmath.sqrt(mpf(mu_squared)), mpf(at)
    near, far = (mpmath.erfc((level / mu + shift) / mpmath.sqrt(2)) / 2 for shift in (-mu / 2, mu / 2))
    return near - mpmath.exp(level) * far
