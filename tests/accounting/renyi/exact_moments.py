"""Logarithmic moments K(c) = ln E[(P/Q)^c] over P, in high precision and with other code than the library's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath as mp

from privately.rounding import Enclosure, End
from tests.guarantees.enumeration import Law

DIGITS = 50
PLACES = [Fraction(1, 100), Fraction(3, 10), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(47, 10), Fraction(12)]


def moment(p: Law, q: Law, c: Fraction) -> Any:
    """Of two finite laws; infinite if something has probability 0 under q alone."""
    with mp.workdps(DIGITS):
        if any(mass and not q.get(outcome) for outcome, mass in p.items()):
            return mp.inf
        total = sum(_real(mass) * (_real(mass) / _real(q[outcome])) ** _real(c) for outcome, mass in p.items() if mass)
        return mp.log(total)


def sampled_normal(mu: Fraction, rate: Fraction, c: Fraction, *, removes: bool) -> Any:
    """Normal noise on a Poisson sample, by a sum so fine that it is off by less than e^-150."""
    with mp.workdps(DIGITS):
        m, q, s = _real(mu), _real(rate), _real(c) + 1 if removes else -_real(c)
        fine = 16 * max(math.ceil(mu), 1)
        left, right = math.floor((min(s, 0) * m - 14) * fine), math.ceil((max(s, 0) * m + 14) * fine)
        total = mp.mpf(0)
        for place in range(left, right + 1):
            total += normal_term(mp.mpf(place) / fine, m, q, s)
        return mp.log(total / fine / mp.sqrt(2 * mp.pi))


def steep_sampled_normal(mu: Fraction, rate: Fraction, c: Fraction, *, removes: bool) -> Any:
    """The same by quadrature around the places where something happens, in fewer digits."""
    with mp.workdps(DIGITS // 2):
        m, q, s = _real(mu), _real(rate), _real(c) + 1 if removes else -_real(c)
        bend = m / 2 - mp.log(q / (1 - q)) / m
        centres = {mp.mpf(0), max(s, 0) * m, bend}
        ends = sorted({centre + k for centre in centres for k in range(-14, 15, 2)} | {bend - 1 / m, bend + 1 / m})
        return mp.log(mp.quad(lambda x: normal_term(x, m, q, s), ends) / mp.sqrt(2 * mp.pi))


def normal_term(x: Any, mu: Any, rate: Any, power: Any) -> Any:
    """The normal density, but for 1/sqrt(2 pi), times the ratio of the laws to a power."""
    return mp.exp(-x * x / 2 + power * mp.log(1 - rate + rate * mp.exp(mu * x - mu * mu / 2)))


def sampled_laplace(epsilon: Fraction, rate: Fraction, c: Fraction, *, removes: bool) -> Any:
    """Laplace noise on a Poisson sample; at rate 1 on the whole data."""
    with mp.workdps(DIGITS):
        e, q, s = _real(epsilon), _real(rate), _real(c) + 1 if removes else -_real(c)

        def power(loss: Any) -> Any:
            return (1 - q + q * mp.exp(loss)) ** s

        inside = mp.quad(lambda loss: mp.exp(-(e + loss) / 2) / 4 * power(loss), [-e, -e / 2, 0, e / 2, e])
        return mp.log(power(-e) / 2 + mp.exp(-e) * power(e) / 2 + inside)


def discrete(
    weight: Callable[[int], Any], shift: int, width: int, rate: Fraction, c: Fraction, *, removes: bool
) -> Any:
    """Noise on whole numbers from -width to width, in proportion to `weight`, on a Poisson sample."""
    with mp.workdps(DIGITS):
        q, s = _real(rate), _real(c) + 1 if removes else -_real(c)
        weights = {k: weight(k) for k in range(-width - shift, width + 1)}
        total = sum(weights[k] for k in range(-width, width + 1))
        mixed = (weights[k] * (1 - q + q * weights[k - shift] / weights[k]) ** s for k in range(-width, width + 1))
        return mp.log(sum(mixed) / total)


def normal_weight(variance: Fraction) -> Callable[[int], Any]:
    return lambda k: mp.exp(-k * k / (2 * _real(variance)))


def laplace_weight(scale: Fraction) -> Callable[[int], Any]:
    return lambda k: mp.exp(-abs(k) / _real(scale))


def gap(found: End, truth: Any) -> float:
    """By how much a bound is above the truth, relative to it; negative if it is no bound."""
    with mp.workdps(DIGITS):
        return float((_real(Fraction(found)) - truth) / truth) if found != math.inf else math.inf


@dataclass(frozen=True)
class OfPairs:
    """The worst of finitely many pairs, as the library's bounds are given."""

    pairs: tuple[tuple[Law, Law], ...]

    @classmethod
    def of(cls, pairs: Iterable[tuple[Law, Law]]) -> OfPairs:
        return cls(tuple(pairs))

    @property
    def largest(self) -> End:
        ratios = [_ratio(p[o], q.get(o)) for p, q in self.pairs for o in p if p[o]]
        top = max(ratios, default=Fraction(1))
        return math.inf if top == math.inf else Fraction(Enclosure.of(Fraction(top)).log().upper)

    def above(self, c: Fraction) -> End:
        found = max((moment(p, q, c) for p, q in self.pairs), default=mp.mpf(0))
        if found == mp.inf:
            return math.inf
        with mp.workdps(DIGITS):
            return max(Fraction(mp.nstr(found + mp.mpf(10) ** -40, 45)), Fraction(0))

    def rough(self, c: float) -> float:
        return float(self.above(Fraction(c)))


def _ratio(mass: Fraction, other: Fraction | None) -> End:
    return mass / other if other else math.inf


def _real(value: Fraction | int) -> Any:
    return mp.mpf(value.numerator) / value.denominator
