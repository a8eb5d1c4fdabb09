"""The transforms M(z) = E_P[e^(zL)] and the profiles of single laws, by Arb's rigorous integration and closed forms.

None of it uses what it is there to test: no equally spaced or Chebyshev points, no tilting, no floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise

from flint import acb, arb, ctx
from mpmath import mp, mpf

BITS = 140
PIECES = 16
Number = float | complex


@contextmanager
def precision(bits: int = BITS) -> Iterator[None]:
    """For everything Arb does inside."""
    before, ctx.prec = ctx.prec, bits
    try:
        yield
    finally:
        ctx.prec = before


def integral(function: Callable[[acb, bool], acb], left: float, right: float) -> acb:
    """In pieces, which keeps the balls small."""
    edges = [left + (right - left) * k / PIECES for k in range(PIECES + 1)]
    total = acb(0)
    for a, b in pairwise(edges):
        total += acb.integral(function, acb(a), acb(b), rel_tol=arb(2) ** -100, abs_tol=arb(2) ** -400)
    return total


def sampled_gaussian(mu: float, rate: float, removes: bool, z: Number) -> acb:
    """M(z): over a standard normal x, s is z + 1 or -z."""
    return _sampled_gaussian(mu, rate, removes, complex(z), ctx.prec)


@lru_cache(maxsize=4096)
def _sampled_gaussian(mu: float, rate: float, removes: bool, z: complex, _bits: int) -> acb:
    s = acb(z) + 1 if removes else -acb(z)
    centre = float(s.real.mid()) * mu
    reach = 25.0

    def integrand(x: acb, analytic: bool) -> acb:
        whole = 1 + arb(rate) * ((arb(mu) * x - arb(mu) ** 2 / 2).exp() - 1)
        return (s * whole.log(analytic=analytic) - x * x / 2).exp()

    left, right = min(centre, 0.0) - reach, max(centre, 0.0) + reach
    return integral(integrand, left, right) / (2 * arb.pi()).sqrt()


def sampled_laplace(epsilon: float, rate: float, removes: bool, z: Number) -> acb:
    """M(z): atoms at both ends, a density between."""
    s = acb(z) + 1 if removes else -acb(z)
    whole = arb(epsilon)

    def value(x: acb, analytic: bool) -> acb:
        return (s * (1 + arb(rate) * ((whole * (1 - 2 * x)).exp() - 1)).log(analytic=analytic)).exp()

    inside = integral(lambda x, analytic: value(x, analytic) * (-whole * (1 - x)).exp(), 0.0, 1.0)
    return value(acb(0), False) * (-whole).exp() / 2 + value(acb(1), False) / 2 + inside * whole / 2


def laplace(epsilon: float, z: Number) -> acb:
    """M(z) of the Laplace mechanism by integration under P, not by the closed form."""
    whole, at = arb(epsilon), acb(z)
    inside = integral(lambda x, _: (at * whole * (1 - 2 * x) - whole * x).exp(), 0.0, 1.0)
    return (at * whole).exp() / 2 + (-at * whole - whole).exp() / 2 + inside * whole / 2


def gaussian_profile(mu: mpf, epsilon: mpf) -> mpf:
    """delta at any real epsilon."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def sampled_gaussian_profile(mu: mpf, rate: mpf, removes: bool, epsilon: mpf) -> mpf:
    """delta of one step, in closed form: where the mixture passes e^epsilon is one point x."""
    if removes:  # (1-q)Q + qP against Q: q (P - e^x Q) with e^x = (e^epsilon - (1 - q))/q
        ratio = (mp.exp(epsilon) - (1 - rate)) / rate
        return 1 - mp.exp(epsilon) if ratio <= 0 else rate * gaussian_profile(mu, mp.log(ratio))
    kept = 1 - mp.exp(epsilon) * (1 - rate)  # Q against (1-q)Q + qP: (1 - e^epsilon (1-q)) Q - e^epsilon q P
    return mpf(0) if kept <= 0 else kept * gaussian_profile(mu, mp.log(mp.exp(epsilon) * rate / kept))


def two_steps(mu: mpf, rate: mpf, removes: bool, epsilon: mpf) -> mpf:
    """delta of two steps: the mean over the first loss of the profile of the second."""

    def loss(x: mpf) -> mpf:
        return mp.log1p(rate * mp.expm1(mu * x - mu * mu / 2))

    def mean(x: mpf) -> mpf:
        here = loss(x)
        if removes:
            return mp.npdf(x) * mp.exp(here) * sampled_gaussian_profile(mu, rate, removes, epsilon - here)
        return mp.npdf(x) * sampled_gaussian_profile(mu, rate, removes, epsilon + here)

    lowest = mp.log1p(-rate)
    kinks = [edge for edge in (epsilon - lowest, lowest - epsilon) if mp.exp(edge) - 1 + rate > 0]
    places = {mpf(-14), mpf(-7), mpf(-3), mpf(0), mpf(3), mpf(7), mpf(14) + mu}
    places |= {(mp.log1p(mp.expm1(edge) / rate) + mu * mu / 2) / mu for edge in kinks}
    return mp.quad(mean, sorted(place for place in places if -14 <= place <= 14 + mu))
