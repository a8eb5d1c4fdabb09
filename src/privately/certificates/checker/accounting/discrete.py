"""Discrete noise: Q(k) in proportion to e^(-|k|/scale) or e^(-k^2/(2 variance)), P(k) = Q(k - sensitivity)."""

from functools import lru_cache
from math import isqrt

from ..elementary import exponential
from ..intervals import Interval, enclose, whole
from ..rationals import ONE, Rational
from ..schema import Invalid
from .numbers import exp_above
from .pairs import Outcome, Pair, Profile
from .terms import Law

MOST_OUTCOMES = 4_000
_QUIET = 300
"""Outcomes beyond about e^-300 are not told apart."""
_MORE = Rational(2)


@lru_cache(maxsize=16)
def discrete_pair(law: Law, bits: int) -> Pair:
    """The pair of discrete noise."""
    return _laplace(law, bits) if law.name == "discrete laplace" else _normal(law, bits)


@lru_cache(maxsize=16)
def discrete_profile(law: Law, bits: int) -> Profile:
    return Profile(discrete_pair(law, bits))


def _laplace(law: Law, bits: int) -> Pair:
    """Losses (m - 2j)/scale for j = 0, ..., m; with r = e^(-1/scale) the first has 1/(1+r) of P, the last r^m/(1+r)."""
    scale, most = law.number(0), law.number(1).numerator
    one = whole(1, bits)
    ratio = exponential(enclose(-ONE / scale, bits))
    first = one / (one + ratio)
    between = (one - ratio) * first
    powers = [one]
    for _ in range(most):
        powers.append(powers[-1] * ratio)
    inner: list[Outcome] = [(between * powers[j], between * powers[most - j]) for j in range(1, most)]
    return Pair(((first, first * powers[most]), *inner, (first * powers[most], first)), whole(0, bits), whole(0, bits))


def _normal(law: Law, bits: int) -> Pair:
    """For k from -R to m + R, by falling k; all beyond has less than 2 e^(-R^2/(2v)) (1 + v/R) of the sum at 0.

    The weights e^(-k^2/(2v)) of all integers sum up to at least 1, so that such a sum bounds a probability.
    """
    variance, shift = law.number(0), law.number(1).numerator
    reach = isqrt(2 * _QUIET * variance.numerator // variance.denominator) + 2
    if 2 * reach + shift > MOST_OUTCOMES:
        raise Invalid("witness.method", "is not for discrete normal noise of so large a variance")
    weights = [exponential(enclose(Rational(-k * k) / (_MORE * variance), bits)) for k in range(reach + shift + 1)]
    edge = enclose(Rational(-reach * reach) / (_MORE * variance), bits)
    tail = exp_above(edge) * enclose(_MORE * (ONE + variance / Rational(reach)), bits)
    missing = Interval(0, tail.high, tail.exponent, bits)
    total = weights[0] + missing
    for weight in weights[1 : reach + 1]:
        total += weight.scaled(1)
    outcomes = [
        (weights[abs(k - shift)] / total, weights[abs(k)] / total) for k in range(shift + reach, -reach - 1, -1)
    ]
    return Pair(tuple(outcomes), missing, missing)
